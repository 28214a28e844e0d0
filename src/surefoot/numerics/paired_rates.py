"""Exact probabilities of staircase sets of discordant pairs, and the tail behind a paired unconditional p-value.

Of n pairs b have the first alone and c the second alone, with chances pb and pc, pb - pc = d. The nuisance t runs
over [0, 1]: with d >= 0, pb = d + (1 - d)t/2 and pc = (1 - d)t/2, mirrored for d < 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import chebyshev, log_factorials, staircase_sets
from surefoot.numerics.gain_scores import TIE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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


def union(n: int, differences: Floats, levels: Floats, near: Ints | None = None) -> Ints:
    """For each c the smallest b with z >= level at any of some differences, each with its own level."""
    column, bars = differences[:, None], (levels * (1.0 - TIE))[:, None]

    def inside(b: Ints, c: Ints) -> NDArray[np.bool_]:
        return np.asarray((statistic(b, c, n, column) >= bars).any(axis=0))

    found = None if near is None else staircase_sets.moved(near, n - np.arange(n + 1), inside)
    if found is None:
        found = staircase(n, float(differences[-1]), float(levels[-1]))
        found = found if len(levels) == 1 else staircase_sets.lowered(found, inside)
    return found


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


class PairedRates:
    """Discordant pairs: how extreme they are under each difference of the rates.

    Attributes:
        estimate: The observed difference.
        draws: All pairs, of which every probability here is a polynomial.
    """

    def __init__(self, b: int, c: int, n: int) -> None:
        self.b, self.c, self.n = b, c, n
        self.estimate = (b - c) / n
        self.draws = n
        self.most = n
        self.near: tuple[Ints, Ints] | None = None

    def mirrored(self) -> PairedRates:
        """The same pairs with the two swapped."""
        return PairedRates(self.c, self.b, self.n)

    def statistic(self, differences: Floats) -> Floats:
        """The observed score statistic."""
        return statistic(self.b, self.c, self.n, differences)

    def peak(self, cuts: Floats, levels: Floats, need: chebyshev.Need) -> chebyshev.Peak:
        """A proved upper end of sup P_d(|Z_d| >= z_d) over d between the cuts and over all nuisances."""
        self.near = sets(self.n, cuts, levels, self.near)
        return beyond(self.n, float(cuts[0]), float(cuts[-1]), self.near, need)

    def jumps(self, left: float, right: float) -> Floats:
        """About where tables come into or leave the tail between left and right, as far as the two ends show it."""
        z = self.statistic(np.array([left, right]))
        found = []
        for sign in (1.0, -1.0):

            def inside(b: Ints, c: Ints, d: Floats, sign: float = sign) -> NDArray[np.bool_]:
                return np.asarray(statistic(b, c, self.n, sign * d) >= self.statistic(d))

            one, other = (staircase(self.n, sign * d, float(v)) for d, v in zip((left, right), z, strict=True))
            found.append(staircase_sets.changes(one, other, left, right, inside))
        return np.concatenate(found)

    def corner(self, width: float, error: float) -> float:
        """Above p(d) for all d in [-1, -1 + width]."""
        return cornered(self.n, self.estimate, width, error)


def cornered(n: int, estimate: float, width: float, error: float) -> float:
    """Above P_d(|Z_d| >= z_d) for all d in [-1, -1 + width] and all nuisances, for tables from `estimate` on.

    As for two counts: n times the restricted variance is q - d^2 with q in [|d|, 1], between s(1-s) and s(2-s) with
    s = 1 + d, so k^2 = (1 - width)/(2 - width).
    """
    k = math.sqrt((1.0 - width) / (2.0 - width))
    if width >= (estimate + 1.0 - width) * k:
        return 1.0
    least = (estimate + 1.0) * k - 1.0
    c = np.arange(n + 1)
    first = np.clip(np.ceil(n * least + c - 1e-9), 0, n - c + 1).astype(np.int64)

    def chance(t: Floats, _: float) -> Floats:
        return above(n, *chances(width - 1.0, t), first)

    return chebyshev.bound(chance, n, error).high


def sets(n: int, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
    """Staircases around {Z_d >= level} and {Z_d <= -level}, as for two independent counts."""
    up, down = near or (None, None)
    return union(n, cuts[: len(levels)], levels, up), union(n, -cuts[-len(levels) :], levels, down)


def beyond(n: int, left: float, right: float, both: tuple[Ints, Ints], need: chebyshev.Need) -> chebyshev.Peak:
    """Above the chance of two staircase sets together, for all d in [left, right] and all nuisances, proved.

    The second may be empty: no staircase at all.
    """
    t = chebyshev.points(n, need.error)
    up, down = both

    def rising(difference: float) -> Floats:
        return above(n, *chances(difference, t), up)

    def falling(difference: float) -> Floats:
        pb, pc, rest = chances(difference, t)
        return above(n, pc, pb, rest, down)

    return chebyshev.between(rising, falling if len(down) else None, left, right, n, need)


def chances(difference: float, t: Floats) -> tuple[Floats, Floats, Floats]:
    """pb, pc and the concordant chance along the nuisance."""
    size = abs(difference)
    half = (1.0 - size) * t / 2.0
    rest = (1.0 - size) * (1.0 - t)
    return (size + half, half, rest) if difference >= 0.0 else (half, size + half, rest)
