"""The score statistic of a difference of two proportions, and the tables at least as extreme as a given value.

With p1 - p2 = d let (r1, r2) be the restricted maximum-likelihood rates of a table. The statistic is
z = (x1/n1 - x2/n2 - d) / sqrt(r1(1-r1)/n1 + r2(1-r2)/n2); the factor N/(N-1) of Miettinen and Nurminen is left to
the caller. z rises in x1 and falls in x2 and in d (proved in docs/decisions/0013-score-orderings.md), so the tables
with z above a value are, for each x2, all x1 from some count on: a staircase, found without trying every table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats, Ints


TIE = 1e-8
"""Values of z closer than this, relatively, are ties: far above rounding, so no tie is ever lost."""

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


def thresholds(n1: int, n2: int, x2: Ints, difference: Floats, level: Floats) -> Ints:
    """For each x2 the smallest x1 with z >= level, ties included; n1 + 1 where there is none.

    The curve z = level is followed first; where it is not clear which step it takes, tables are tried.

    Args:
        n1: Draws of the first count.
        n2: Draws of the second.
        x2: Second counts, one row for each question.
        difference: The difference of the rates, a column.
        level: The value of z, above 0, a column.
    """
    bar = level * (1.0 - TIE)
    if (n1 + 1) * x2.shape[1] <= _WHOLE_TABLE:
        z = statistic(np.arange(n1 + 1)[:, None], n1, x2[:, None, :], n2, difference[:, :, None])
        inside = z >= bar[:, :, None]
        return np.where(inside.any(axis=1), inside.argmax(axis=1), n1 + 1)
    trial, sure = _curve(n1, n2, x2, difference, level)
    low, high = np.where(sure, trial, 0).ravel(), np.where(sure, trial, n1 + 1).ravel()  # the answer is in [low, high]
    open_ = np.nonzero(~sure.ravel())[0]
    rows = open_ // x2.shape[1]
    second, apart, bars = x2.ravel()[open_], difference[rows, 0], bar[rows, 0]
    trial, stride = trial.ravel()[open_], 1
    while len(open_):
        inside = statistic(trial, n1, second, n2, apart) >= bars
        high[open_] = np.where(inside, trial, high[open_])
        low[open_] = np.where(inside, low[open_], trial + 1)
        # Step outwards until the answer is bracketed, then halve.
        near = np.where(inside, np.maximum(trial - stride, low[open_]), np.minimum(trial + stride, high[open_] - 1))
        halved = (low[open_] + high[open_]) // 2
        following = np.where(np.abs(near - trial) < np.abs(halved - trial), near, halved)
        stride = min(2 * stride, n1 + 1)
        left = low[open_] < high[open_]
        open_, second, apart, bars, trial = (v[left] for v in (open_, second, apart, bars, following))
    return low.reshape(x2.shape)


def _curve(n1: int, n2: int, x2: Ints, difference: Floats, level: Floats) -> tuple[Ints, Flags]:
    """The smallest x1 with z >= level for each x2, and where that is sure.

    On the curve, with r2 > x2/n2, the multiplier m = n2 (r2 - x2/n2) / (r2(1 - r2)) has m^2 (variance) = level^2 and
    x1 = n1 r1 + m r1(1 - r1): one equation in r2, solved by a few Newton steps. While x1 stays within [0, n1] it rises
    with r2, and so does z: a root there is the only one. It is sure when Newton has converged and x1 is far from whole.
    """
    level = np.minimum(level, 1e6)
    hat = x2 / n2
    c = level**2 * (n1 / (n2 * (n1 + n2)))
    r = (hat + c / 2.0 + np.sqrt(c * (hat * (1.0 - hat) + c / 4.0))) / (1.0 + c)  # the rate if both variances agree
    low = np.maximum(hat, np.maximum(0.0, -difference)) + 1e-12
    most = np.minimum(1.0, 1.0 - difference) - 1e-12
    for _ in range(5):
        r = _within(r, low, most)
        first = r + difference
        v2 = r * (1.0 - r)
        root = np.sqrt(np.maximum(first * (1.0 - first) / n1 + v2 / n2, 1e-300))
        value = n2 * (r - hat) * root - level * v2
        bend = ((0.5 - first) / n1 + (0.5 - r) / n2) / root
        slope = n2 * (root + (r - hat) * bend) - level * (1.0 - 2.0 * r)
        step = _within(value / np.where(np.abs(slope) < 1e-9, 1e-9, slope), -1.0, 1.0)
        r = r - step
    settled = (np.abs(step) < 1e-9) & (r > low) & (r < most) & (x2 > 0) & (x2 < n2)
    r = _within(r, low, most)
    r1 = r + difference
    x1 = n1 * r1 + n2 * (r - hat) / np.maximum(r * (1.0 - r), 1e-300) * r1 * (1.0 - r1)
    doubt = 1e-5 + 10.0 * TIE * (1.0 + level) * np.sqrt(n1)  # a tie of z, in counts, and the rounding of Newton's end
    sure = settled & (x1 > 0.0) & (x1 < n1) & (np.abs(x1 - np.rint(x1)) > doubt)
    return np.asarray(np.clip(np.ceil(np.nan_to_num(x1, nan=n1 / 2.0) - doubt), 0, n1), np.int64), sure
