"""Every table of a design that the exact inversion decides, found without inverting every table.

A table is decided when p(d) <= a for all d <= edge. Its statistic rises with the first count and falls with the second
for every d, so the decided tables form a staircase, and it is enough to look at the tables on its edge: those whose
p(edge) is small enough are found from one critical value, and one clearing of [-1, edge] serves them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from surefoot.numerics import gain_scores, inversion, paired_rates, two_rates
from surefoot.numerics.chebyshev import Need

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from surefoot.numerics.chebyshev import Peak

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Design(Protocol):
    """All tables of one size; `first[c]` below is the smallest first count for each second count c."""

    draws: int
    largest: int

    def values(self, difference: ArrayLike, first: Ints, second: Ints) -> Floats:
        """The z of some tables."""

    def every(self, difference: float) -> Floats:
        """The z of all tables."""

    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level."""

    def most(self) -> Ints:
        """The largest first count for each second one."""

    def sets(self, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
        """Staircases around |Z_d| >= level between the cuts."""

    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: Need) -> Peak:
        """A bound on the chance of two staircases for all d in [left, right]."""

    def cornered(self, estimate: float, width: float, error: float) -> float:
        """A bound on P(|Z_d| >= z_d) for all d in [-1, -1 + width]."""

    def differences(self, first: Ints, second: Ints) -> Floats:
        """The observed differences of some tables."""


class TwoCounts:
    """Independent counts out of n1 and n2."""

    def __init__(self, n1: int, n2: int) -> None:
        self.n1, self.n2, self.draws, self.largest = n1, n2, n1 + n2, max(n1, n2)

    def values(self, difference: ArrayLike, first: Ints, second: Ints) -> Floats:
        """The z of some tables."""
        return gain_scores.statistic(first, self.n1, second, self.n2, difference)

    def every(self, difference: float) -> Floats:
        """The z of all tables."""
        return gain_scores.statistic(
            np.arange(self.n1 + 1)[:, None], self.n1, np.arange(self.n2 + 1)[None, :], self.n2, difference
        ).ravel()

    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level."""
        return gain_scores.staircase(self.n1, self.n2, difference, level)

    def most(self) -> Ints:
        """The largest first count for each second one."""
        return np.full(self.n2 + 1, self.n1)

    def sets(self, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
        """The staircases of `two_rates.sets`."""
        return two_rates.sets(self.n1, self.n2, cuts, levels, near)

    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: Need) -> Peak:
        """The bound of `two_rates.beyond`."""
        return two_rates.beyond(self.n1, self.n2, left, right, both, need)

    def cornered(self, estimate: float, width: float, error: float) -> float:
        """The bound of `two_rates.cornered`."""
        return two_rates.cornered(self.n1, self.n2, estimate, width, error)

    def differences(self, first: Ints, second: Ints) -> Floats:
        """The observed differences of some tables."""
        return np.asarray(first / self.n1 - second / self.n2)


class PairCounts:
    """Discordant counts among n pairs."""

    def __init__(self, n: int) -> None:
        self.n, self.draws, self.largest = n, n, n

    def values(self, difference: ArrayLike, first: Ints, second: Ints) -> Floats:
        """The z of some tables."""
        return paired_rates.statistic(first, second, self.n, difference)

    def every(self, difference: float) -> Floats:
        """The z of all tables."""
        b, c = np.meshgrid(np.arange(self.n + 1), np.arange(self.n + 1), indexing="ij")
        real = b + c <= self.n
        return paired_rates.statistic(b[real], c[real], self.n, difference)

    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level."""
        return paired_rates.staircase(self.n, difference, level)

    def most(self) -> Ints:
        """The largest first count for each second one."""
        return np.arange(self.n, -1, -1)

    def sets(self, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
        """The staircases of `paired_rates.sets`."""
        return paired_rates.sets(self.n, cuts, levels, near)

    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: Need) -> Peak:
        """The bound of `paired_rates.beyond`."""
        return paired_rates.beyond(self.n, left, right, both, need)

    def cornered(self, estimate: float, width: float, error: float) -> float:
        """The bound of `paired_rates.cornered`."""
        return paired_rates.cornered(self.n, estimate, width, error)

    def differences(self, first: Ints, second: Ints) -> Floats:
        """The observed differences of some tables."""
        return np.asarray((first - second) / self.n)


def decided(design: Design, a: float, edge: float = 0.0) -> Ints:
    """For each second count the smallest first count whose accepted set at level `a` lies above `edge`.

    One more than the largest possible count where there is none.
    """
    most = design.most()
    first = design.staircase(edge, _critical(design, a, edge))
    cleared: set[tuple[int, int]] = set()
    while True:
        # The least extreme decided tables: the last second count of every run of equal first counts.
        ends = np.append(first[1:] > first[:-1], True) | np.append(first[1:] > most[1:], True)
        corners = np.nonzero(ends & (first <= most))[0]
        fresh = np.array([c for c in corners if (int(first[c]), int(c)) not in cleared], np.int64)
        if not len(fresh):
            return first
        border = _Border(design, first[fresh], fresh)
        wrong = inversion.held_back(border, a, edge)
        cleared |= {(int(first[c]), int(c)) for c in fresh}
        first[wrong] += 1


def _critical(design: Design, a: float, edge: float) -> float:
    """The smallest positive z of any table with sup P(|Z_edge| >= z) <= a; infinite where there is none."""
    z = np.abs(design.every(edge))
    levels = np.unique(z[np.isfinite(z) & (z > 0.0)])
    if not len(levels):
        return np.inf
    low, high = 0, len(levels)  # levels[high:] are small enough
    while low < high:
        middle = (low + high) // 2
        if _bound(design, edge, edge, float(levels[middle]), min(1e-11, a * 1e-7)) <= a:
            high = middle
        else:
            low = middle + 1
    return float(levels[low]) if low < len(levels) else np.inf


def _bound(design: Design, left: float, right: float, level: float, error: float) -> float:
    """Above P(|Z_d| >= level) for all d in [left, right]."""
    cuts = np.array([left, right]) if left < right else np.array([left])
    both = design.sets(cuts, np.array([level]))
    return design.beyond(left, right, both, Need(error)).high * (1.0 + inversion.ROUNDING)


class _Border:
    """Several tables at once: as extreme as the least extreme of them that is left."""

    def __init__(self, design: Design, first: Ints, second: Ints) -> None:
        self.design, self.first, self.second = design, first, second
        self.draws, self.most = design.draws, design.largest
        self.near: tuple[Ints, Ints] | None = None
        self.estimate = 1.0

    def statistic(self, differences: Floats) -> Floats:
        """The smallest z of the border; infinite when nothing is left of it."""
        z = self.design.values(differences[:, None], self.first, self.second)
        return np.asarray(z.min(axis=1, initial=np.inf))

    def peak(self, cuts: Floats, levels: Floats, need: Need) -> Peak:
        """Above the p-values of all tables of the border, between the cuts."""
        self.near = self.design.sets(cuts, levels, self.near)
        return self.design.beyond(float(cuts[0]), float(cuts[-1]), self.near, need)

    def jumps(self, _left: float, _right: float, /) -> Floats:
        """Not looked for."""
        return np.empty(0)

    def corner(self, width: float, error: float) -> float:
        """Above the p-values of all tables of the border, on all of [-1, -1 + width]."""
        if not len(self.first):
            return 0.0
        return self.design.cornered(float(self.design.differences(self.first, self.second).min()), width, error)

    def drop(self, left: float, right: float, a: float) -> list[int]:
        """Take out the tables whose p-value may exceed `a` in [left, right]; their second counts."""
        z = self.design.values(right, self.first, self.second)
        levels = np.unique(z)
        low, high = 0, len(levels)
        while low < high:
            middle = (low + high) // 2
            found = _bound(self.design, left, right, float(levels[middle]), a * 1e-7)
            low, high = (low, middle) if found <= a else (middle + 1, high)
        kept = z >= levels[low] if low < len(levels) else np.zeros(len(z), bool)
        gone = [int(c) for c in self.second[~kept]]
        self.first, self.second = self.first[kept], self.second[kept]
        return gone
