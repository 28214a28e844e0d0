"""Exact probabilities of staircase sets of discordant pairs, and the tail behind a paired unconditional p-value.

Of n pairs b have the first alone and c the second alone, with chances pb and pc, pb - pc = d. The nuisance t runs
over [0, 1]: with d >= 0, pb = d + (1 - d)t/2 and pc = (1 - d)t/2, mirrored for d < 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.numerics import chebyshev, log_factorials
from surefoot.numerics.staircase_sets import TIE, Design

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints


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


def staircase(n: int, difference: float, level: float) -> Ints:
    """For each c the smallest b with z >= level, ties included; n - c + 1 where there is none."""
    bar = level * (1.0 - TIE) if np.isfinite(level) else level
    c = np.arange(n + 1)
    low, high = np.zeros(n + 1, np.int64), n - c + 1
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) // 2
        inside = statistic(middle, c, n, difference) >= bar
        high = np.where(open_ & inside, middle, high)
        low = np.where(open_ & ~inside, middle + 1, low)


def above(n: int, pb: Floats, pc: Floats, rest: Floats, first: Ints) -> Floats:
    """P(B >= first[C]) at each entry of the chances.

    Given C = c, B is binomial(n - c, r) with one r for all c. Walking c down the staircase, the tail
    P(B >= first[c]) only gains terms, so one cumulative sum of positive terms gives all of them.
    """
    live = np.nonzero(first <= n - np.arange(n + 1))[0]
    if not len(live):
        return np.zeros(len(pb))
    c = np.arange(live[-1], -1, -1)
    size, bar = n - c, first[c]
    before = np.concatenate([[size[0] + 1], bar[:-1]])
    lowered = before - bar
    # Per c: one term for the binomial growing by a draw, then one for each count the bar is lowered past.
    block = np.concatenate([[0], np.cumsum(lowered + 1)])
    m = np.repeat(size, lowered + 1)
    place = np.arange(block[-1]) - np.repeat(block[:-1], lowered + 1)
    j = np.repeat(before, lowered + 1) - place
    grows = place == 0
    m = m - grows
    j = j - grows  # the growing draw passes the bar: P(Bin(m - 1) = bar - 1) r
    with np.errstate(invalid="ignore", divide="ignore"):
        r, left = pb / (pb + rest), rest / (pb + rest)
    r, left = np.where(pb + rest > 0.0, r, 0.0), np.where(pb + rest > 0.0, left, 1.0)
    log_r, log_left = log_factorials.log_chances(r, left)
    logs_of = log_factorials.log_factorials(n)
    known = (j >= 0) & (j <= m)
    jj, mm = np.where(known, j, 0), np.where(known, m, 0)
    terms = np.exp(
        (logs_of[mm] - logs_of[jj] - logs_of[mm - jj])[:, None] + jj[:, None] * log_r + (mm - jj)[:, None] * log_left
    )
    terms[grows] *= r
    terms[~known] = 0.0
    terms[0] = 0.0  # the walk starts with an empty tail
    tails = np.cumsum(terms, axis=0)[block[1:] - 1]
    log_c, log_not = log_factorials.log_chances(pc, pb + rest)
    mass = np.exp(log_factorials.log_choose(n)[c][:, None] + c[:, None] * log_c + size[:, None] * log_not)
    return np.asarray(np.einsum("ij,ij->j", mass, tails))


class PairCounts(Design):
    """Discordant counts among n pairs."""

    shrink = 1.0

    def __init__(self, n: int) -> None:
        self.n, self.draws, self.largest = n, n, n

    def swapped(self) -> PairCounts:
        """The same with first and second swapped."""
        return self

    def values(self, difference: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
        """The z of some tables."""
        return statistic(first, second, self.n, difference)

    def every(self, difference: float) -> Floats:
        """The z of all tables."""
        b, c = np.meshgrid(np.arange(self.n + 1), np.arange(self.n + 1), indexing="ij")
        real = b + c <= self.n
        return self.values(difference, b[real], c[real])

    def differences(self, first: Any, second: Any) -> Any:
        """The observed differences of some tables."""
        return (first - second) / self.n

    def most(self) -> Ints:
        """The largest first count for each second one."""
        return np.arange(self.n, -1, -1)

    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level, ties included."""
        return staircase(self.n, difference, level)

    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: chebyshev.Need) -> chebyshev.Peak:
        """See `Design.beyond`."""
        t = chebyshev.points(self.n, need.error)
        up, down = both

        def rising(difference: float) -> Floats:
            return above(self.n, *chances(difference, t), up)

        def falling(difference: float) -> Floats:
            pb, pc, rest = chances(difference, t)
            return above(self.n, pc, pb, rest, down)

        return chebyshev.between(rising, falling if len(down) else None, left, right, self.n, need)

    def cornered(self, estimate: float, width: float, error: float) -> float:
        """See `Design.cornered`.

        As for two counts: n times the restricted variance is q - d^2 with q in [|d|, 1], between s(1-s) and s(2-s) with
        s = 1 + d, so k^2 = (1 - width)/(2 - width).
        """
        k = math.sqrt((1.0 - width) / (2.0 - width))
        if width >= (estimate + 1.0 - width) * k:
            return 1.0
        least = (estimate + 1.0) * k - 1.0
        c = np.arange(self.n + 1)
        first = np.clip(np.ceil(self.n * least + c - 1e-9), 0, self.n - c + 1).astype(np.int64)

        def chance(t: Floats, _: float) -> Floats:
            return above(self.n, *chances(width - 1.0, t), first)

        return chebyshev.bound(chance, self.n, error).high


def chances(difference: float, t: Floats) -> tuple[Floats, Floats, Floats]:
    """pb, pc and the concordant chance along the nuisance."""
    size = abs(difference)
    half = (1.0 - size) * t / 2.0
    rest = (1.0 - size) * (1.0 - t)
    return (size + half, half, rest) if difference >= 0.0 else (half, size + half, rest)
