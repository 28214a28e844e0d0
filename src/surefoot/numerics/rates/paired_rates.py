"""Exact tail probabilities of discordant pairs, with the share of discordant pairs within limits of its own.

Of n pairs b have the first alone and c the second alone, with chances pb and pc, pb - pc = d. The nuisance is the share
t = pb + pc, at least |d|, within the Clopper-Pearson limits of b + c pairs among n.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.rates import inversion
from surefoot.numerics.rates.two_rates import TIE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints


STRIDE = 32
"""Of so many neighbouring counts one threshold is looked for among all counts."""


def statistic(b: ArrayLike, c: ArrayLike, n: int | Ints, difference: ArrayLike) -> Floats:
    """Tango's score statistic of each table; 0 where numerator and variance vanish."""
    b, c = np.asarray(b, float), np.asarray(c, float)
    d = np.asarray(difference, float)
    middle = (2.0 * n - b + c) * d - b - c
    last = -c * d * (1.0 - d)
    root = np.sqrt(np.maximum(middle**2 - 8.0 * n * last, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(middle > 0.0, -2.0 * last / (root + middle), (root - middle) / (4.0 * n))
    rate = np.maximum(rate, np.maximum(0.0, -d))
    variance = np.maximum(2.0 * rate + d * (1.0 - d), 0.0) / n
    gap = (b - c) / n - d
    gap = np.where(np.abs(gap) < 1e-15, 0.0, gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gap / np.sqrt(variance)
    return np.where(gap == 0.0, 0.0, z)


def thresholds(n: int, c: Ints, difference: Floats, level: Floats, between: tuple[Ints, Ints] | None = None) -> Ints:
    """For each c the smallest b with z >= level, ties included; n - c + 1 where there is none."""
    bar = level * (1.0 - TIE)
    low, high = (np.zeros(c.shape, np.int64), n - c + 1) if between is None else between
    while (low < high).any():
        middle = (low + high) // 2
        inside = statistic(middle, c, n, difference) >= bar
        open_ = low < high
        high = np.where(open_ & inside, middle, high)
        low = np.where(open_ & ~inside, middle + 1, low)
    return low


def tables(b: Ints, c: Ints, n: int, gamma: float, ordering: float | None = None) -> PairCounts:
    """Tables of one design, each with its mirror image after all of them: the policies swapped."""
    return PairCounts(n, np.append(b, c), np.append(c, b), gamma, ordering)


class PairCounts:
    """Discordant counts among n pairs.

    Attributes:
        draws: The pairs: every probability here is a polynomial of this degree in the nuisance.
        estimate: The observed differences.
        spread: Their standard errors, roughly.
        least: The smallest difference that the limits of the share allow.
        shrink: 1: Tango's statistic has no factor.
        limit: Their score limits, by which one-sided questions order tables.
    """

    shrink = 1.0

    def __init__(self, n: int, b: Ints, c: Ints, gamma: float, ordering: float | None = None) -> None:
        self.n, self.b, self.c, self.gamma, self.draws = n, b, c, gamma, n
        from surefoot.numerics.rates import binomial

        self.estimate = (b - c) / n
        self.low, self.high = binomial.exact_low(b + c, n, gamma / 2.0), binomial.exact_high(b + c, n, gamma / 2.0)
        self.least = -self.high
        self.spread = np.sqrt((b + c + 1.0) / (n + 2.0) / n)
        self.limit = np.full(len(b), -1.0) if ordering is None else inversion.score_limits(self, ordering)

    def statistic(self, which: Ints, difference: Floats) -> Floats:
        """The observed z of each question."""
        return statistic(self.b[which], self.c[which], self.n, difference)

    def segment(self, which: Ints, difference: Floats) -> tuple[Floats, Floats]:
        """The smallest and the largest nuisance of each question; the wrong way round where there is none."""
        return np.maximum(self.low[which], np.abs(difference)), self.high[which]

    def growth(self, nuisance: Floats, difference: Floats) -> Floats:
        """Above the logarithm of any probability's absolute value, at the largest of some complex nuisances.

        The last axis holds the corners of a polygon, in which the convex sum of absolute chances is largest.
        """
        apart = difference[:, None, None]
        sums = np.abs(nuisance + apart) / 2.0 + np.abs(nuisance - apart) / 2.0 + np.abs(1.0 - nuisance)
        return np.asarray(self.n * np.log(sums.max(axis=-1)))

    def width(self, error: float) -> int:
        """About how many numbers a probability is summed from."""
        return 2 * min(self.n + 1, 2 * _half(self.n, 0.25, error))

    def tails(
        self, difference: Floats, nuisance: Floats, order: inversion.Order, error: float, *, both: bool
    ) -> Floats:
        """The chance of the tables as extreme as an order says, or as its mirror image with `both`; a row a question.

        Only counts within a Bernstein distance of their means are summed; the rest has at most `error` in all.
        """
        apart = difference[:, None]
        more, fewer = np.maximum(nuisance + apart, 0.0) / 2.0, np.maximum(nuisance - apart, 0.0) / 2.0
        at, level = order.at[:, None], order.level[:, None]
        found = _above(self.n, more, fewer, at, level, error / 2.0)
        if both:
            found += _above(self.n, fewer, more, -at, level, error / 2.0)
        return found


def _half(n: int, variance: float, error: float) -> int:
    bits = math.log(2.0 / error)
    return math.ceil(bits / 3.0 + math.sqrt(bits * bits / 9.0 + 2.0 * bits * n * variance)) + 1


def _above(n: int, pb: Floats, pc: Floats, difference: Floats, level: Floats, error: float) -> Floats:
    """P(Z >= level), a row of chances for each question."""
    # each question sums over counts of its own: those of all together are many more
    half = np.array([_half(n, v, error) for v in (pc * (1.0 - pc)).max(axis=1).tolist()])
    begin = np.maximum(0, np.floor(n * pc.min(axis=1)).astype(np.int64) - half)
    end = np.minimum(n, np.ceil(n * pc.max(axis=1)).astype(np.int64) + half)
    first = staircases(n, begin, end, difference, level)
    rest = np.maximum(1.0 - pb - pc, 0.0)
    sizes = (end - begin + 1).tolist()
    return np.array([above(n, pb[i], pc[i], rest[i], first[i, :size], int(begin[i])) for i, size in enumerate(sizes)])


def staircases(n: int, begin: Ints, end: Ints, difference: Floats, level: Floats) -> Ints:
    """A row of thresholds for each question, of the counts from `begin` to `end`; what follows means nothing.

    They never fall until there is none: every one lies between those of a few counts.
    """
    steps = np.arange(0, int((end - begin).max()) + STRIDE, STRIDE)
    few = np.minimum(begin[:, None] + steps, end[:, None])
    known = thresholds(n, few, difference, level)
    c = np.minimum(begin[:, None] + np.arange(steps[-1]), end[:, None])
    after = np.where(known <= n - few, known, n + 1)[:, 1:]
    high = np.minimum(n - c + 1, np.repeat(after, STRIDE, axis=1))
    low = np.minimum(np.repeat(known[:, :-1], STRIDE, axis=1), high)
    return thresholds(n, c, difference, level, (low, high))


def above(n: int, pb: Floats, pc: Floats, rest: Floats, first: Ints, begin: int = 0) -> Floats:
    """P(B >= first[C - begin]) at each entry of the chances, for C among the counts that `first` is given for.

    Given C = c, B is binomial(n - c, r) with one r for all c. Walking c down the staircase, the tail
    P(B >= first[c]) only gains terms, so one cumulative sum of positive terms gives all of them.
    """
    from scipy.special import betainc, gammaln

    live = np.nonzero(first <= n - begin - np.arange(len(first)))[0]
    if not len(live):
        return np.zeros(len(pb))
    c = np.arange(begin + live[-1], begin - 1, -1)
    size, bar = n - c, first[c - begin]
    lowered = np.append(0, bar[:-1] - bar[1:])
    # Per c: one term for the binomial growing by a draw, then one for each count the bar is lowered past.
    block = np.concatenate([[0], np.cumsum(lowered + 1)])
    place = np.arange(block[-1]) - np.repeat(block[:-1], lowered + 1)
    grows = place == 0
    m = np.repeat(size, lowered + 1) - grows
    j = np.repeat(bar + lowered, lowered + 1) - place - grows  # the growing draw passes the bar: P(Bin(m) = bar - 1) r
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(pb + rest > 0.0, pb / (pb + rest), 0.0)
        log_r, log_left = np.log(np.maximum(r, 1e-300)), np.log(np.maximum(1.0 - r, 1e-300))
    known = (j >= 0) & (j <= m)
    jj, mm = np.where(known, j, 0).astype(float), np.where(known, m, 0).astype(float)
    choose = gammaln(mm + 1.0) - gammaln(jj + 1.0) - gammaln(mm - jj + 1.0)
    terms = _powers(choose, jj, log_r, mm - jj, log_left)
    terms[grows] *= r
    terms[~known] = 0.0
    # the walk starts with the tail of the first size
    terms[0] = betainc(float(bar[0]), float(size[0] - bar[0] + 1), r) if bar[0] > 0 else 1.0
    tails = np.cumsum(terms, axis=0)[block[1:] - 1]
    log_c, log_not = np.log(np.maximum(pc, 1e-300)), np.log(np.maximum(1.0 - pc, 1e-300))
    count = c.astype(float)
    choose = gammaln(n + 1.0) - gammaln(count + 1.0) - gammaln(n - count + 1.0)
    mass = _powers(choose, count, log_c, n - count, log_not)
    return np.asarray(np.einsum("ij,ij->j", mass, tails))


def _powers(log_choose: Floats, times: Floats, log_one: Floats, others: Floats, log_other: Floats) -> Floats:
    """Binomial probabilities, a row for each count: worked out in place, for there are many."""
    found = times[:, None] * log_one
    found += log_choose[:, None]
    found += others[:, None] * log_other
    return np.exp(found, out=found)
