"""Tables of two counts, of either kind: staircase sets of them, and what an exact test asks of one table.

The tables (x1, x2) of a staircase are, for each x2, all x1 from `first[x2]` on; one more than the largest x1 is none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.chebyshev import Need, Peak

    Inside = Callable[[Ints, Ints], Flags]

TIE = 1e-10
"""Values of z closer than this, relatively, are ties: far above rounding, so no tie is ever lost."""

_MOVES = 3
"""After so many steps up or down a staircase is not near, and is found afresh."""

_MANY = 200
"""Among so many tables that change sides it is not worth looking for each one's change."""


def moved(near: Ints, most: Ints, inside: Inside) -> Ints | None:
    """The staircase of the tables `inside`, reached from one near by a few steps; None where that is not enough."""
    first, open_ = near.copy(), np.arange(len(near))
    for _ in range(_MOVES):
        at = first[open_]
        below, here = np.split(inside(np.concatenate([at - 1, at]), np.concatenate([open_, open_])), 2)
        move = np.where(below & (at > 0), -1, np.where(here | (at > most[open_]), 0, 1))
        going = move != 0
        open_ = open_[going]
        if not len(open_):
            return first
        first[open_] += move[going]
    return None


def lowered(first: Ints, inside: Inside) -> Ints:
    """The staircase moved down until no table just below it is inside."""
    first = first.copy()
    open_ = np.nonzero(first)[0]
    while len(open_):
        open_ = open_[inside(first[open_] - 1, open_)]
        first[open_] -= 1
        open_ = open_[first[open_] > 0]
    return first


def changes(one: Ints, other: Ints, left: float, right: float, inside: Callable[[Ints, Ints, Floats], Flags]) -> Floats:
    """About where in [left, right] the tables between two staircases change sides, each looked at on finer grids.

    Args:
        one: The staircase at `left`.
        other: The staircase at `right`.
        left: A difference.
        right: A larger one.
        inside: Whether tables are inside, at differences given in a column for each of them.
    """
    low, high = np.minimum(one, other), np.maximum(one, other)
    count = high - low
    total = int(count.sum())
    if not 0 < total <= _MANY:
        return np.empty(0)
    x2 = np.repeat(np.arange(len(one)), count)
    x1 = np.arange(total) - np.repeat(np.cumsum(count) - count - low, count)
    before, after, rows = np.full(total, left), np.full(total, right), np.arange(total)
    while float((after - before).max()) > 1e-8:
        grid = before + (after - before) * np.linspace(0.0, 1.0, 17)[:, None]
        side = inside(x1, x2, grid)
        change = (side[1:] != side[0]).argmax(axis=0)
        before, after = grid[change, rows], grid[change + 1, rows]
    return np.asarray((before + after) / 2.0)


class Design(ABC):
    """All tables of one size.

    Attributes:
        draws: All draws, of which every probability here is a polynomial.
        largest: The most draws of one count.
        shrink: What the asymptotic statistic is multiplied by.
    """

    draws: int
    largest: int
    shrink: float

    @abstractmethod
    def swapped(self) -> Design:
        """The same with first and second swapped."""

    @abstractmethod
    def values(self, difference: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
        """The z of some tables."""

    @abstractmethod
    def every(self, difference: float) -> Floats:
        """The z of all tables."""

    @abstractmethod
    def differences(self, first: Any, second: Any) -> Any:
        """The observed differences of some tables."""

    @abstractmethod
    def most(self) -> Ints:
        """The largest first count for each second one."""

    @abstractmethod
    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level, ties included."""

    @abstractmethod
    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: Need) -> Peak:
        """Above the chance of two staircase sets together, for all d in [left, right] and all nuisances, proved.

        The second may be empty: no staircase at all.
        """

    @abstractmethod
    def cornered(self, estimate: float, width: float, error: float) -> float:
        """Above P_d(|Z_d| >= z_d) for all d in [-1, -1 + width] and all nuisances, for tables from `estimate` on."""

    def union(self, differences: Floats, levels: Floats, near: Ints | None = None) -> Ints:
        """The smallest first counts with z >= level at any of some differences, each with its own level."""
        column, bars = differences[:, None], (levels * (1.0 - TIE))[:, None]

        def inside(first: Ints, second: Ints) -> Flags:
            return np.asarray((self.values(column, first, second) >= bars).any(axis=0))

        found = None if near is None else moved(near, self.most(), inside)
        if found is None:
            found = self.staircase(float(differences[-1]), float(levels[-1]))
            found = found if len(levels) == 1 else lowered(found, inside)
        return found

    def sets(self, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
        """Staircases around {Z_d >= level} and {Z_d <= -level} for all d from the first cut to the last.

        The level may fall in d: levels[i] belongs to the right end of the i-th piece. Since Z_d falls in d for every
        table, the sets of one piece lie inside {Z_left >= level} and {Z_right <= -level}; those of all pieces are
        joined. With one cut they are exact.
        """
        up, down = near or (None, None)
        return (
            self.union(cuts[: len(levels)], levels, up),
            self.swapped().union(-cuts[-len(levels) :], levels, down),
        )


class Observed:
    """One table: how extreme it is under each difference of the rates.

    Attributes:
        estimate: The observed difference.
    """

    def __init__(self, design: Design, first: Any, second: Any) -> None:
        self.design, self.first, self.second = design, first, second
        self.estimate: float = design.differences(first, second)
        self.near: tuple[Ints, Ints] | None = None

    def mirrored(self) -> Self:
        """The same with first and second swapped."""
        return type(self)(self.design.swapped(), self.second, self.first)

    def statistic(self, differences: Floats) -> Floats:
        """The observed z at each difference."""
        return self.design.values(differences, self.first, self.second)

    def peak(self, cuts: Floats, levels: Floats, need: Need) -> Peak:
        """Above sup P_d(|Z_d| >= z_d) over all d from the first cut to the last, the closer the more cuts, proved.

        The levels are the observed z at the right ends of the pieces, or at the only cut.
        """
        self.near = self.design.sets(cuts, levels, self.near)
        return self.design.beyond(float(cuts[0]), float(cuts[-1]), self.near, need)

    def jumps(self, left: float, right: float) -> Floats:
        """About where tables come into or leave the tail between left and right, as far as the two ends show it."""
        z = self.statistic(np.array([left, right]))
        found = []
        for design, sign in ((self.design, 1.0), (self.design.swapped(), -1.0)):

            def inside(x1: Ints, x2: Ints, d: Floats, design: Design = design, sign: float = sign) -> Flags:
                return np.asarray(design.values(sign * d, x1, x2) >= self.statistic(d))

            one, other = (design.staircase(sign * d, float(v)) for d, v in zip((left, right), z, strict=True))
            found.append(changes(one, other, left, right, inside))
        return np.concatenate(found)

    def corner(self, width: float, error: float) -> float:
        """Above p(d) for all d in [-1, -1 + width]."""
        return self.design.cornered(self.estimate, width, error)
