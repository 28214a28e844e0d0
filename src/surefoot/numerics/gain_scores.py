"""The score statistic of a difference of two proportions, and the tables at least as extreme as a given value.

With p1 - p2 = d let (r1, r2) be the restricted maximum-likelihood rates of a table. The statistic is
z = (x1/n1 - x2/n2 - d) / sqrt(r1(1-r1)/n1 + r2(1-r2)/n2); the factor N/(N-1) of Miettinen and Nurminen is left to
the caller. z rises in x1 and falls in x2 and in d (proved in docs/decisions/0013-score-orderings.md), so the tables
with z above a value are, for each x2, all x1 from some count on: a staircase, found without trying every table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.staircase_sets import TIE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats, Ints


_WHOLE_TABLE = 700
"""Up to so many tables trying every one is faster than bisection."""


def restricted(
    x1: ArrayLike, n1: float | Ints, x2: ArrayLike, n2: float | Ints, difference: ArrayLike
) -> tuple[Floats, Floats]:
    """The maximum-likelihood rates with r1 - r2 = difference: the middle root of a cubic, polished by Newton."""
    x1, x2, d = np.asarray(x1, float), np.asarray(x2, float), np.asarray(difference, float)
    total = n1 + n2
    both = x1 + x2
    if d.ndim == 0 and d == 0.0:
        return both / total, both / total
    # a2 r2^3 + ... = 0 in r2, divided by N: the derivative of the log likelihood times r1(1-r1)r2(1-r2).
    b = ((n1 + 2.0 * n2) * d - total - both) / total
    c = ((n2 * d - total - 2.0 * x2) * d + both) / total
    e = x2 * (d * (1.0 - d)) / total
    shift = b / 3.0
    square = shift * shift
    q = (square - c / 2.0) * shift + e / 2.0
    p = np.copysign(np.sqrt(np.maximum(square - c / 3.0, 0.0)), q)
    low, high = np.maximum(0.0, -d), np.minimum(1.0, 1.0 - d)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(p == 0.0, 0.0, q / (p * p * p))
        r2 = 2.0 * p * np.cos((np.pi + np.arccos(_within(angle, -1.0, 1.0))) / 3.0) - shift
        r2 = _within(r2, low, high)
        for _ in range(2):
            value = ((r2 + b) * r2 + c) * r2 + e
            slope = (3.0 * r2 + 2.0 * b) * r2 + c
            move = value / slope
            r2 = _within(np.where(np.abs(move) < 1e-3, r2 - move, r2), low, high)
    if d.ndim:
        r2 = np.where(d == 0.0, both / total, r2)
    return _within(r2 + d, 0.0, 1.0), r2


def statistic(x1: ArrayLike, n1: int | Ints, x2: ArrayLike, n2: int | Ints, difference: ArrayLike) -> Floats:
    """The z of each table; 0 where both numerator and variance vanish, infinite where only the variance does."""
    r1, r2 = restricted(x1, n1, x2, n2, difference)
    gap = np.asarray(x1, float) / n1 - np.asarray(x2, float) / n2 - np.asarray(difference, float)
    variance = r1 * (1.0 - r1) / n1 + r2 * (1.0 - r2) / n2
    none = np.abs(gap) < 1e-15
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gap / np.sqrt(variance)
    return np.where(none, 0.0, z)


def _within(values: Floats, low: ArrayLike, high: ArrayLike) -> Floats:
    """What `numpy.clip` gives, at a third of its cost on short arrays."""
    return np.asarray(np.minimum(np.maximum(values, low), high))


def staircase(n1: int, n2: int, difference: float, level: float) -> Ints:
    """For each x2 the smallest x1 with z >= level, ties included; n1 + 1 where there is none.

    The curve z = level is followed first; where it is not clear which step it takes, tables are tried.
    """
    bar = level * (1.0 - TIE) if np.isfinite(level) else level
    x2 = np.arange(n2 + 1)
    if (n1 + 1) * (n2 + 1) <= _WHOLE_TABLE or n2 < 3:
        z = statistic(np.arange(n1 + 1)[:, None], n1, x2[None, :], n2, difference)
        inside = z >= bar
        return np.where(inside.any(axis=0), inside.argmax(axis=0), n1 + 1)
    trial, sure = _curve(n1, n2, difference, level)
    low, high = np.where(sure, trial, 0), np.where(sure, trial, n1 + 1)  # the answer lies in [low, high]
    stride, open_ = 1, x2[~sure]
    while len(open_):
        at = trial[open_]
        inside = statistic(at, n1, open_, n2, difference) >= bar
        high[open_] = np.where(inside, at, high[open_])
        low[open_] = np.where(inside, low[open_], at + 1)
        # Step outwards until the answer is bracketed, then halve.
        near = np.where(inside, np.maximum(at - stride, low[open_]), np.minimum(at + stride, high[open_] - 1))
        halved = (low[open_] + high[open_]) // 2
        trial[open_] = np.where(np.abs(near - at) < np.abs(halved - at), near, halved)
        stride = min(2 * stride, n1 + 1)
        open_ = open_[low[open_] < high[open_]]
    return low


def _curve(n1: int, n2: int, difference: float, level: float) -> tuple[Ints, Flags]:
    """The smallest x1 with z >= level for each x2, and where that is sure.

    On the curve, with r2 > x2/n2, the multiplier m = n2 (r2 - x2/n2) / (r2(1 - r2)) has m^2 (variance) = level^2 and
    x1 = n1 r1 + m r1(1 - r1): one equation in r2, solved by a few Newton steps. While x1 stays within [0, n1] it rises
    with r2, and so does z: a root there is the only one. It is sure when Newton has converged and x1 is far from whole.
    """
    least, most = max(0.0, -difference), min(1.0, 1.0 - difference)
    level = min(level, 1e6)
    hat = np.arange(n2 + 1) / n2
    c = level**2 * n1 / (n2 * (n1 + n2))
    r = (hat + c / 2.0 + np.sqrt(c * (hat * (1.0 - hat) + c / 4.0))) / (1.0 + c)  # the rate if both variances agree
    low = np.maximum(hat, least) + 1e-12
    for _ in range(5):
        r = np.clip(r, low, most - 1e-12)
        v1, v2 = (r + difference) * (1.0 - r - difference), r * (1.0 - r)
        root = np.sqrt(np.maximum(v1 / n1 + v2 / n2, 1e-300))
        value = n2 * (r - hat) * root - level * v2
        bend = ((1.0 - 2.0 * (r + difference)) / n1 + (1.0 - 2.0 * r) / n2) / (2.0 * root)
        slope = n2 * (root + (r - hat) * bend) - level * (1.0 - 2.0 * r)
        step = np.clip(value / np.where(np.abs(slope) < 1e-9, 1e-9, slope), -1.0, 1.0)
        r = r - step
    settled = (np.abs(step) < 1e-7) & (r > low) & (r < most - 1e-12)
    r = np.clip(r, low, most - 1e-12)
    r1 = r + difference
    x1 = n1 * r1 + n2 * (r - hat) / np.maximum(r * (1.0 - r), 1e-300) * r1 * (1.0 - r1)
    x1[[0, -1]] = 2.0 * x1[[1, -2]] - x1[[2, -3]]  # the rates are on the edge there: follow the neighbours
    settled[[0, -1]] = False
    sure = settled & (x1 > 0.0) & (x1 < n1) & (np.abs(x1 - np.rint(x1)) > 1e-5)
    return np.asarray(np.clip(np.ceil(np.nan_to_num(x1, nan=n1 / 2.0) - 1e-6), 0, n1), np.int64), sure
