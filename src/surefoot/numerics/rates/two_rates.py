"""Exact tail probabilities of two independent binomial counts, with the nuisance rate within limits of its own.

A batch holds tables of one design; a question is a table and a difference d of the rates. The nuisance is the second
rate t, and the first is t + d; both stay within their Clopper-Pearson limits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import log_factorials
from surefoot.numerics.rates import gain_scores, inversion

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


_COUNTED = 2000
"""Up to so many draws limits are found by sums of the window, above by the incomplete beta function."""

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
        return gain_scores.statistic(self.x1[which], self.n1, self.x2[which], self.n2, difference)

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
        start, mass = _masses(self.n2, nuisance, error / 2.0)
        width = mass.shape[1]
        begin = start.min(axis=1)
        wide = int((start.max(axis=1) + width - begin).max())
        begin = np.minimum(begin, self.n2 + 1 - wide)
        x2 = begin[:, None] + np.arange(wide)
        apart, bars = order.at[:, None], order.level[:, None]
        up = gain_scores.thresholds(self.n1, self.n2, x2, apart, bars)
        places = (np.arange(len(begin))[:, None] * wide + start - begin[:, None]).reshape(-1, 1) + np.arange(width)
        first = _Tail(self.n1, first_rate, error / 2.0, width)
        found = np.einsum("ij,ij->i", mass, first.at_least(up.ravel()[places]))
        if both:
            over = gain_scores.thresholds(self.n1, self.n2, self.n2 - x2, -apart, bars)
            found += np.einsum("ij,ij->i", mass, first.below(self.n1 + 1 - over.ravel()[places]))
        return np.asarray(found.reshape(nuisance.shape))


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
        from surefoot.numerics.rates import beta

        low = beta.exact_low(k, n, tail)
    else:  # without scipy: two tallies are compared by numpy alone
        least, places = np.unique(k, return_inverse=True)
        low = _lower_limits(np.maximum(least, 1), n, tail)[places] * (k > 0)
    return low[: len(count)], 1.0 - low[len(count) :]


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


def _masses(n: int, p: Floats, error: float) -> tuple[Ints, Floats]:
    """First counts of the windows, and the chances in them, one row for each entry of p."""
    half = _half(n, p * (1.0 - p), error)
    width = min(n + 1, 2 * half + 1)
    log_p, log_q = log_factorials.log_chances(p, 1.0 - p)
    odds, log_q = (log_p - log_q).reshape(-1, 1), log_q.reshape(-1, 1)
    start = np.clip(np.rint(n * p).astype(np.int64) - half, 0, n + 1 - width)
    begin = int(start.min())
    row = log_factorials.log_choose_between(n, begin, int(start.max()) + width)
    counts = start.reshape(-1, 1) + np.arange(width)
    exponent = counts * odds
    exponent += row[counts - begin]
    exponent += n * log_q
    return start, np.exp(exponent, out=exponent)
