"""Staircase sets of tables, moved from ones near by, and where a difference makes them change.

The tables (x1, x2) of a staircase are, for each x2, all x1 from `first[x2]` on; one more than the largest x1 is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Inside = Callable[[Ints, Ints], NDArray[np.bool_]]

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


def changes(
    one: Ints, other: Ints, left: float, right: float, inside: Callable[[Ints, Ints, Floats], NDArray[np.bool_]]
) -> Floats:
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
