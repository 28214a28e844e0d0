"""Which gains on a fixed list of environments, run in random order, does an ending leave possible?

Of the list's N environments A are won by the first policy alone and B by the second: the counts after n pairs are
hypergeometric, and (A, B) takes finitely many values. Every one of them can be tried, so nothing has to be proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import log_factorials
from surefoot.numerics.designs import stopped_intervals

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags
    from surefoot.numerics.designs.stopping_states import Endings


_TIE = 1e-12


class Listed:
    """All endings of a walk over a list as long as its horizon."""

    def __init__(self, endings: Endings, horizon: int) -> None:
        self.endings, self.horizon = endings, horizon
        self.rest = endings.n - endings.first - endings.second
        self.ways = np.full((horizon + 1, horizon + 1), -np.inf)
        for size in range(horizon + 1):
            self.ways[size, : size + 1] = log_factorials.log_choose(size)
        self.weights = np.log(endings.chance) - self.ways[horizon, endings.n]

    def swapped(self) -> Listed:
        """The same with the policies swapped."""
        return Listed(self.endings.swapped(), self.horizon)

    def most(self, chosen: Flags, gap: int, enough: float) -> float:
        """The largest chance of the set over all lists with A - B = gap, or the first found above `enough`."""
        first, second = self.endings.first[chosen], self.endings.second[chosen]
        rest, weights, ways = self.rest[chosen], self.weights[chosen], self.ways
        best = 0.0
        order = np.arange((self.horizon - gap) // 2 + 1)
        for lost in order[np.argsort(np.abs(order - len(order) // 2), kind="stable")].tolist():
            neither = self.horizon - gap - 2 * lost
            terms = ways[gap + lost][first] + ways[lost][second] + ways[neither][rest] + weights
            best = max(best, float(np.exp(terms).sum()))
            if best > enough:
                break
        return best

    def near_end(self, place: int, level: float) -> float:
        """The least gain above 0 that the verdict at `place` leaves possible; none given up for futility."""
        chosen = stopped_intervals.as_far(self.endings, place, paired=True)
        highest = self._highest(place)
        left = self.horizon - int(self.endings.n[place])
        gaps = range(max(1, highest - 2 * left), highest + 1)
        return next((gap for gap in gaps if self.most(chosen, gap, level) > level), highest) / self.horizon

    def far_end(self, place: int, level: float) -> float:
        """The largest gain of 0 or more that the ending at `place` leaves possible, no verdict for the second."""
        gaps = range(max(0, self._highest(place)), -1, -1)
        return next((gap for gap in gaps if self._possible(place, gap, level)), 0) / self.horizon

    def _possible(self, place: int, gap: int, level: float) -> bool:
        gain = gap / self.horizon
        cell = max(i for i, edge in enumerate(stopped_intervals.EDGES[:-1]) if edge <= gain + _TIE)
        values = stopped_intervals.score(self.endings, stopped_intervals.CENTRES[True][cell], paired=True)
        chosen = (self.endings.verdict < 0) | (values <= values[place] + _TIE)
        return self.most(chosen, gap, level) > level

    def _highest(self, place: int) -> int:
        """The largest gap that the pairs not run can still make."""
        ends = self.endings
        return int(ends.first[place] - ends.second[place]) + self.horizon - int(ends.n[place])
