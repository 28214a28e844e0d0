"""Exact tail probabilities of two independent binomial counts, with the nuisance rate within limits of its own.

A batch holds tables of one design; a question is a table and a difference d of the rates. The nuisance is the second
rate t, and the first is t + d; both stay within their Clopper-Pearson limits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import log_factorials
from surefoot.numerics.rates import inversion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats, Ints


_FEW, _COUNTED = 200, 2000
"""Up to so many draws limits are found by sums of the window, above by the incomplete beta function."""

_CELLS = 60_000  # chances held at once
_WIDE = 30
"""From so many counts in a window for each tail that is asked for, tails are computed one by one."""


def tables(x1: Ints, n1: int, x2: Ints, n2: int, gamma: float, ordering: float | None = None) -> TwoCounts:
    """Tables of one design, each with its mirror image after all of them.

    The mirror image counts failures for successes: its difference has the other sign. One-sided questions need the
    error that orders the tables.
    """
    return TwoCounts(n1, n2, np.append(x1, n1 - x1), np.append(x2, n2 - x2), gamma, ordering)


def above(n1: int, n2: int, p1: float, p2: float, first: Ints, begin: int = 0) -> float:
    """P(X1 >= first[X2 - begin]) for X2 among the counts that `first` is given for."""
    x2 = begin + np.arange(len(first))
    log_p, log_q = log_factorials.log_chances(np.array(p2), np.array(1.0 - p2))
    mass = np.exp(log_factorials.log_choose_between(n2, begin, begin + len(first)) + x2 * log_p + (n2 - x2) * log_q)
    tails = _Tail(n1, np.array([p1]), 1e-15, len(first)).at_least(first[None, :])
    return float(mass @ tails[0])


class TwoCounts:
    """Tables of two independent counts out of n1 and n2.

    Attributes:
        draws: All draws: every probability here is a polynomial of this degree in the nuisance.
        estimate: The observed differences.
        spread: Their standard errors, roughly.
        least: The smallest difference that the limits of the rates allow.
        shrink: What the factor N/(N-1) of the variance does to their asymptotic statistic.
        limit: Their score limits, by which one-sided questions order tables.
    """

    def __init__(self, n1: int, n2: int, x1: Ints, x2: Ints, gamma: float, ordering: float | None = None) -> None:
        self.n1, self.n2, self.x1, self.x2, self.gamma, self.draws = n1, n2, x1, x2, gamma, n1 + n2
        self.estimate = (x1 * n2 - x2 * n1) / (n1 * n2)
        (low1, high1), (low2, high2) = _limits(x1, n1, gamma / 4.0), _limits(x2, n2, gamma / 4.0)
        self.limits: tuple[Floats, Floats, Floats, Floats] = (low1, high1, low2, high2)
        self.least = np.maximum(low1 - high2, -1.0)
        pooled = (x1 + x2 + 1.0) / (n1 + n2 + 2.0)
        self.spread = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2))
        self.shrink = math.sqrt(1.0 - 1.0 / (n1 + n2))
        self.limit = np.full(len(x1), -1.0) if ordering is None else inversion.score_limits(self, ordering)

    def statistic(self, which: Ints, difference: Floats) -> Floats:
        """The observed z of each question."""
        return statistic(self.x1[which], self.n1, self.x2[which], self.n2, difference)

    def segment(self, which: Ints, difference: Floats) -> tuple[Floats, Floats]:
        """The smallest and the largest nuisance of each question; the wrong way round where there is none."""
        low1, high1, low2, high2 = (limit[which] for limit in self.limits)
        return np.maximum(low2, low1 - difference), np.minimum(high2, high1 - difference)

    def growth(self, nuisance: Floats, difference: Floats) -> Floats:
        """Above the logarithm of any probability's absolute value, at the largest of some complex nuisances.

        The last axis holds the corners of a polygon: |p| + |1 - p| is convex in p, so that its largest value in the
        polygon is at a corner, and a probability is at most the product of one such sum for each draw.
        """
        first = nuisance + difference[:, None, None]
        sums = [np.log(np.max(np.abs(p) + np.abs(1.0 - p), axis=-1)) for p in (first, nuisance)]
        return np.asarray(self.n1 * sums[0] + self.n2 * sums[1])

    def width(self, error: float) -> int:
        """About how many numbers a probability is summed from."""
        return sum(min(n + 1, 2 * _half(n, 0.25, error)) for n in (self.n1, self.n2))

    def tails(
        self, difference: Floats, nuisance: Floats, order: inversion.Order, error: float, *, both: bool
    ) -> Floats:
        """The chance of the tables as extreme as an order says, or as its mirror image with `both`; a row a question.

        Only counts within a Bernstein distance of their means are summed; the rest has at most `error` in all.
        """
        first_rate = np.clip(nuisance + difference[:, None], 0.0, 1.0)
        start, width = _windows(self.n2, nuisance, error / 2.0)
        begin = start.min(axis=1)
        wide = int((start.max(axis=1) + width - begin).max())
        begin = np.minimum(begin, self.n2 + 1 - wide)[:, None]
        x2 = begin + np.arange(wide)
        apart, bars = order.at[:, None], order.level[:, None]
        up = thresholds(self.n1, self.n2, x2, apart, bars)
        over = self.n1 + 1 - thresholds(self.n1, self.n2, self.n2 - x2, -apart, bars) if both else None
        found, step = np.empty(nuisance.shape), max(1, _CELLS // (self.width(error) * nuisance.shape[1]))
        for part in (slice(row, row + step) for row in range(0, len(begin), step)):
            start, mass = _masses(self.n2, nuisance[part], error / 2.0)
            rows = np.arange(len(start))[:, None] * wide
            places = (rows + start - begin[part]).reshape(-1, 1) + np.arange(mass.shape[1])
            first = _Tail(self.n1, first_rate[part], error / 2.0, mass.shape[1])
            chance = np.einsum("ij,ij->i", mass, first.at_least(up[part].ravel()[places]))
            if over is not None:
                chance += np.einsum("ij,ij->i", mass, first.below(over[part].ravel()[places]))
            found[part] = chance.reshape(start.shape)
        return found


class _Tail:
    """Tails of the first count, a row for each rate: sums of a window, or one by one where the window is too wide."""

    def __init__(self, n: int, p: Floats, error: float, asked: int) -> None:
        self.n, self.p, self.sums = n, p.reshape(-1, 1), None
        if min(n, 2 * _half(n, p * (1.0 - p), error)) < _WIDE * asked:
            start, mass = _masses(n, p, error)
            self.width = mass.shape[1]
            self.sums = np.zeros((len(mass), self.width + 1))
            np.cumsum(mass[:, ::-1], axis=1, out=self.sums[:, 1:])  # [:, j] holds the last j counts of the window
            self.ends = (start + self.width).reshape(-1, 1)
            self.rows = np.arange(len(mass))[:, None] * (self.width + 1)

    def at_least(self, counts: Ints) -> Floats:
        """P(X >= count)."""
        if self.sums is not None:
            return np.asarray(self.sums.ravel()[np.clip(self.ends - counts, 0, self.width) + self.rows])
        from scipy.special import betainc

        found = betainc(np.maximum(counts, 1.0), np.maximum(self.n - counts + 1.0, 1.0), self.p)
        return np.where(counts <= 0, 1.0, np.where(counts > self.n, 0.0, found))

    def below(self, counts: Ints) -> Floats:
        """P(X < count)."""
        if self.sums is not None:
            return self.sums[:, -1:] - self.at_least(counts)
        from scipy.special import betaincc

        found = betaincc(np.maximum(counts, 1.0), np.maximum(self.n - counts + 1.0, 1.0), self.p)
        return np.where(counts <= 0, 0.0, np.where(counts > self.n, 1.0, found))


def _limits(count: Floats | Ints, n: int, tail: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson limits with this error on each side, rounded outward; of real counts, those of the whole ones."""
    k = np.floor(np.append(count, n - count)).astype(np.int64)
    if n > _COUNTED:
        from surefoot.numerics.rates import binomial

        low = binomial.exact_low(k, n, tail)
    elif n <= _FEW:
        low = _every_lower_limit(n, tail)[k]
    else:  # without scipy: two tallies are compared by numpy alone
        least, places = np.unique(k, return_inverse=True)
        low = _lower_limits(np.maximum(least, 1), n, tail)[places] * (k > 0)
    return low[: len(count)], 1.0 - low[len(count) :]


@lru_cache(maxsize=64)
def _every_lower_limit(n: int, tail: float) -> Floats:
    """Those of all counts, which take as long as those of a few."""
    return np.append(0.0, _lower_limits(np.arange(1, n + 1), n, tail))


def _lower_limits(k: Ints, n: int, tail: float) -> Floats:
    """The p with P(X >= k) = tail, from below: Newton's method on log P, which is concave in log p.

    P(X >= k) <= C(n, k) p^k gives the start; d log P / d log p = k P(X = k) / P(X >= k).
    """
    log_choose, wanted = log_factorials.log_choose(n)[k], math.log(tail * (1.0 - 2e-3))
    log_p = (wanted - log_choose) / k
    for _ in range(40):
        p = np.exp(np.minimum(log_p, 0.0))
        beyond = _Tail(n, p, tail * 1e-3, n).at_least(k[:, None])[:, 0]
        here = np.exp(log_choose + k * log_p + (n - k) * np.log1p(-np.minimum(p, 1.0 - 1e-16)))
        step = (wanted - np.log(np.maximum(beyond, here))) * np.maximum(beyond, here) / (k * here)
        log_p = log_p + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(np.exp(np.minimum(log_p, 0.0)))


def _half(n: int, variance: float | Floats, error: float) -> int:
    """Half the width of a window: Bernstein's inequality leaves at most `error` outside."""
    bits = math.log(2.0 / error)
    return math.ceil(bits / 3.0 + math.sqrt(bits * bits / 9.0 + 2.0 * bits * n * float(np.max(variance)))) + 1


def _windows(n: int, p: Floats, error: float) -> tuple[Ints, int]:
    """First counts of the windows, and how many counts each holds."""
    half = _half(n, p * (1.0 - p), error)
    width = min(n + 1, 2 * half + 1)
    return np.clip(np.rint(n * p).astype(np.int64) - half, 0, n + 1 - width), width


def _masses(n: int, p: Floats, error: float) -> tuple[Ints, Floats]:
    """First counts of the windows, and the chances in them, one row for each entry of p."""
    start, width = _windows(n, p, error)
    log_p, log_q = log_factorials.log_chances(p, 1.0 - p)
    odds, log_q = (log_p - log_q).reshape(-1, 1), log_q.reshape(-1, 1)
    begin = int(start.min())
    row = log_factorials.log_choose_between(n, begin, int(start.max()) + width)
    counts = start.reshape(-1, 1) + np.arange(width)
    exponent = counts * odds
    exponent += row[counts - begin]
    exponent += n * log_q
    return start, np.exp(exponent, out=exponent)


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
