"""Which of many policies are the best few? Every set of so many that may be at least as good as all others.

A set is contradicted by its members that look worse than outsiders: those and the outsiders that look better get one
mean, which lies between two neighbours among the means, so each gap between neighbours is tried.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.betting.pools import NIL, Known, Pooled, on_groups
from surefoot.numerics.betting.weak_orders import Family

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

MOST_SETS = 20_000
"""The most sets that are hypotheses."""
MOST_POLICIES = 50
"""The most policies: a bit each tells who ran in a round."""


class TopSets(Family):
    """Every set of `top` of `size` policies: each of it is at least as good as each outside. One at least is true."""

    finds = True

    def __init__(self, size: int, top: int) -> None:
        inside = np.zeros((math.comb(size, top), size), bool)
        inside[np.arange(len(inside))[:, None], list(combinations(range(size), top))] = True
        super().__init__((~inside).astype(np.int8), strict=False)
        self.top, self.made = top, ("top_sets", size, top)
        self.last_place = np.where(inside, top, size)

    def smaller(self) -> Family:
        """The sets of all policies but the last."""
        return top_sets(self.size - 1, self.top)

    def bets(self, known: Known, where: tuple[Ints, Ints]) -> Pooled:
        """See `Family.bets`: one group for each set; equal ones are weighed once."""
        study, rows = where
        inside = self._group(known, study, self.leaders[rows])
        bits = inside @ (1 << np.arange(self.size, dtype=np.int64))
        _, group = np.unique(bits, return_inverse=True)
        _, first, number = np.unique(study * (len(bits) + 1) + group, return_index=True, return_inverse=True)
        u, trust = on_groups(known, study[first], inside[first])
        return Pooled(study[first], u * trust[:, None], np.where(u == 0.0, 0.0, trust[:, None]), number)

    def groups(self, known: Known, where: tuple[Ints, Ints]) -> tuple[Ints, Ints, Ints]:
        """Not asked for: there is one group for each set."""
        raise NotImplementedError

    def _group(self, known: Known, study: Ints, members: Flags) -> Flags:
        """Who is pooled for each set: its members below the pooled mean, and the outsiders above it."""
        order = np.argsort(known.means, axis=1, kind="stable")
        means = np.take_along_axis(known.means, order, axis=1)[study]
        own = order[study]
        weight = known.omega[study[:, None], own]
        inside = np.take_along_axis(members, own, axis=1)
        low, high = np.where(inside, weight, 0.0), np.where(inside, 0.0, weight)
        total = _below(low) + _above(high)
        with np.errstate(invalid="ignore"):
            level = (_below(low * means) + _above(high * means)) / total  # of the gap below each place, and the last
        edge = np.full((len(means), 1), np.inf)
        fits = (level >= np.append(-edge, means, axis=1) - NIL) & (level <= np.append(means, edge, axis=1) + NIL)
        gap = np.where(fits.any(axis=1), fits.argmax(axis=1), -1)[:, None]
        pooled = np.where(inside, np.arange(self.size) < gap, np.arange(self.size) >= gap) & (gap >= 0)
        found = np.empty_like(pooled)
        np.put_along_axis(found, own, pooled, axis=1)
        return found


def _below(values: Floats) -> Floats:
    """The sum of those before each place, and of all."""
    return np.append(np.zeros((len(values), 1)), np.cumsum(values, axis=1), axis=1)


def _above(values: Floats) -> Floats:
    """The sum of those from each place on, and nothing."""
    return _below(values[:, ::-1])[:, ::-1]


@cache
def top_sets(size: int, top: int) -> TopSets:
    """Every set of so many policies that may be the best."""
    return TopSets(size, top)
