"""Every table of a design that the exact inversion decides, found without inverting every table.

A table is decided when p(d) <= a for all d <= edge. Its statistic rises with the first count and falls with the second
for every d, so the decided tables form a staircase, and it is enough to look at the tables on its edge: those whose
p(edge) is small enough are found from one critical value, and one clearing of [-1, edge] serves them all.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import inversion
from surefoot.numerics.chebyshev import Need
from surefoot.numerics.staircase_sets import Observed

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.staircase_sets import Design


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
        wrong = _held_back(border, a, edge)
        cleared |= {(int(first[c]), int(c)) for c in fresh}
        first[wrong] += 1


def _held_back(border: _Border, a: float, edge: float) -> list[int]:
    """Which tables of a border have p(d) > a for some d < edge: one clearing for all, dropping them on the way."""
    side, at, dropped = inversion.Side(border), -1.0, list[int]()
    while (at := side.clear(at, edge, a)) < edge:
        end = min(edge, at + side.tolerance / 2.0)
        dropped += border.drop(at, end, a)
        at = end
    return dropped


def _critical(design: Design, a: float, edge: float) -> float:
    """The smallest positive z of any table with sup P(|Z_edge| >= z) <= a; infinite where there is none."""
    z = np.abs(design.every(edge))
    levels = np.unique(z[np.isfinite(z) & (z > 0.0)])
    error = min(1e-11, a * 1e-7)
    place = bisect_left(levels, True, key=lambda level: _bound(design, edge, edge, float(level), error) <= a)
    return float(levels[place]) if place < len(levels) else np.inf


def _bound(design: Design, left: float, right: float, level: float, error: float) -> float:
    """Above P(|Z_d| >= level) for all d in [left, right]."""
    cuts = np.array([left, right]) if left < right else np.array([left])
    both = design.sets(cuts, np.array([level]))
    return design.beyond(left, right, both, Need(error)).high * (1.0 + inversion.ROUNDING)


class _Border(Observed):
    """Several tables at once: as extreme as the least extreme of them that is left."""

    def __init__(self, design: Design, first: Ints, second: Ints) -> None:
        super().__init__(design, first, second)
        self.estimate = 1.0

    def statistic(self, differences: Floats) -> Floats:
        """The smallest z of the border; infinite when nothing is left of it."""
        z = self.design.values(differences[:, None], self.first, self.second)
        return np.asarray(z.min(axis=1, initial=np.inf))

    def jumps(self, left: float, right: float) -> Floats:  # noqa: ARG002
        """Not looked for."""
        return np.empty(0)

    def corner(self, width: float, error: float) -> float:
        """Above the p-values of all tables of the border, on all of [-1, -1 + width]."""
        return self.design.cornered(float(self.design.differences(self.first, self.second).min()), width, error)

    def drop(self, left: float, right: float, a: float) -> list[int]:
        """Take out the tables whose p-value may exceed `a` in [left, right]; their second counts."""
        z = self.design.values(right, self.first, self.second)
        levels = np.unique(z)
        place = bisect_left(
            levels, True, key=lambda level: _bound(self.design, left, right, float(level), a * 1e-7) <= a
        )
        kept = z >= levels[place] if place < len(levels) else np.zeros(len(z), bool)
        gone = [int(c) for c in self.second[~kept]]
        self.first, self.second = self.first[kept], self.second[kept]
        return gone
