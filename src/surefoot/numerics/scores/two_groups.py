"""What do two groups of scores say about the weighted sum of their means, proved over all null points?

The null points of a target lie on a line. It is scanned, the best place is refined, and then every stretch of the
line is bounded: the joint p-value rises in both means, so on a stretch it is at most its value with both means at
their largest; each group's own p-value falls away from its estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores import group_tails, score_tails

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


RAISED = math.log1p(0.01)
"""By how much the largest p-value found is raised, in logarithms; what is proved is that none is above that."""

ENOUGH = 1e-5
"""A maximum is refined until its neighbours are this close, in logarithms."""

ROUGH, ROUGHLY = 0.3, 1e-5
"""The step of the integrals that only bound a stretch, and by how much, more than their error, these are raised."""

NARROW = 1e-13
SLACK = 1e-4
SCAN = np.linspace(-4.0, 4.0, 23)
ROUNDS, MOST = 40, 20_000
"""When the proof is given up, and the bound it has got to is the answer."""


@dataclass(frozen=True, slots=True)
class TwoGroups(group_tails.Groups):
    """The test of v_1 mean_1 + v_2 mean_2, with a p-value that is proved to be an upper bound."""

    def low_end(self, tail: float) -> float:
        """The largest target that is refused as too low with this error, to the slack; 0 when none is."""
        about = math.hypot(*(v * score_tails.error_of(one) for v, one in zip(self.weights, self.samples, strict=True)))
        guess, estimate = self.estimate + float(special.ndtri(tail)) * about, self.estimate

        known: dict[float, tuple[float, float]] = {}

        def high(target: float) -> float:
            known[target] = self._largest(target)
            return known[target][1] + RAISED

        if estimate <= 0.0:
            return 0.0
        # at the estimate itself the p-value is 1: nothing from there on is refused
        end = score_tails.root(high, tail, estimate, guess, about, slack=SLACK, near=1e-6 * about)
        while end > 0.0 and self._proved(end, known.get(end)) > math.log(tail):
            end = max(0.0, end - 0.01 * about)
        return end

    def may_refuse(self, target: float, tail: float) -> bool:
        """Whether the target might be refused, from one null point: most are settled so."""
        if target >= self.estimate:
            return False
        point = group_tails.projected(self.samples, np.array(self.weights), target)
        return float(self._heights(target, point[:1])[0]) + RAISED <= math.log(tail)

    def _second(self, target: float, first: Floats) -> Floats:
        v, w = self.weights
        return np.clip((target - v * first) / w, 0.0, 1.0)

    def _parts(self, target: float, first: Floats) -> tuple[Floats, Floats, Floats]:
        """At points of the line: the joint p-value, and each group's squared quantile."""
        second = self._second(target, first)
        joint, away = group_tails.log_parts(self.samples, np.array(self.weights), np.stack((first, second), axis=1))
        return joint, away[:, 0], away[:, 1]

    def _heights(self, target: float, first: Floats) -> Floats:
        joint, one, other = self._parts(target, first)
        return np.minimum(joint, group_tails.log_alone(one + other, 2))

    def _scan(self, target: float) -> Floats:
        """Where to look: near the point that both groups allow most, in units of the smaller reach, and at the ends."""
        v, w = self.weights
        left, right = max(0.0, (target - w) / v), min(1.0, target / v)
        point = float(group_tails.projected(self.samples, np.array(self.weights), target)[0])
        one, other = (score_tails.error_of(sample) for sample in self.samples)
        step = 1.0 / math.hypot(1.0 / one, v / w / other)
        inside = point + step * SCAN
        return np.unique(np.concatenate(([left, right], inside[(inside > left) & (inside < right)])))

    def _largest(self, target: float) -> tuple[float, float]:
        """The null point with the largest p-value that was found, and the logarithm of that."""
        places = more = self._scan(target)
        joint, alone = np.zeros(0), np.zeros(0)
        for _ in range(40):
            new_joint, one, other = self._parts(target, more)
            new_alone = group_tails.log_alone(one + other, 2)
            if joint.size:
                at = np.searchsorted(places, more)
                places = np.insert(places, at, more)
                joint, alone = np.insert(joint, at, new_joint), np.insert(alone, at, new_alone)
            else:
                joint, alone = new_joint, new_alone
            more = _where_more(places, joint, alone)
            if not more.size:
                break
        heights = np.minimum(joint, alone)
        best = int(np.argmax(heights))
        return float(places[best]), float(heights[best])

    def raised(self, target: float) -> float:
        """An upper bound of the largest log p-value over the line, within `RAISED` of one that is attained."""
        return self._proved(target)

    def _proved(self, target: float, largest: tuple[float, float] | None = None) -> float:
        """The same, where the largest that was found may be known already."""
        at, top = largest or self._largest(target)
        cuts = np.unique(np.append(self._scan(target), at))
        joint, one, other = self._parts(target, cuts)
        heights = np.minimum(joint, group_tails.log_alone(one + other, 2))
        second = self._second(target, cuts)
        near = _least(cuts, one, self.samples[0].mean) + _least(second, other, self.samples[1].mean)
        left, right, alone = cuts[:-1], cuts[1:], group_tails.log_alone(near, 2)
        high = np.maximum(heights[:-1], heights[1:])
        worst = -math.inf
        for turn in range(ROUNDS):
            kept = alone > top + RAISED  # no group's own scores rule the stretch out
            left, right, alone, high = left[kept], right[kept], alone[kept], high[kept]
            if not left.size:
                return top + RAISED
            corners = np.stack((right, self._second(target, left)), axis=1)
            joint = group_tails.log_joint(self.samples, np.array(self.weights), corners, ROUGH) + ROUGHLY
            bounds = np.minimum(joint, alone)
            kept = bounds > top + RAISED
            left, right, alone, high, bounds = (part[kept] for part in (left, right, alone, high, bounds))
            if not left.size:
                return top + RAISED
            worst = float(bounds.max())
            if left.size > MOST:
                break
            # what a stretch adds to the height at its ends shrinks with its length: so many pieces should do
            room = np.maximum(top + RAISED - high, 0.25 * RAISED)
            pieces = np.clip(np.ceil((bounds - high) / room), 2, 4 if turn > 2 else 12).astype(np.int64)
            left, right, alone, high = self._split(target, left, right, pieces, alone, high, fine=turn > 0)
            top = max(top, float(high.max()) if turn > 0 else top)
        return worst

    def _split(
        self,
        target: float,
        left: Floats,
        right: Floats,
        pieces: Ints,
        alone: Floats,
        high: Floats,
        *,
        fine: bool,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Every stretch in pieces; what is known of the whole holds for each, and is found anew where `fine`."""
        total, starts = int(pieces.sum()), np.cumsum(pieces) - pieces
        owner = np.repeat(np.arange(left.size), pieces)
        place = np.arange(total) - starts[owner]
        step = ((right - left) / pieces)[owner]
        begin = left[owner] + place * step
        end = np.where(place == pieces[owner] - 1, right[owner], begin + step)
        if not fine:
            return begin, end, alone[owner], high[owner]
        cuts = np.unique(np.concatenate((begin, end)))
        joint, one, other = self._parts(target, cuts)
        heights, second = np.minimum(joint, group_tails.log_alone(one + other, 2)), self._second(target, cuts)
        at, to = np.searchsorted(cuts, begin), np.searchsorted(cuts, end)
        near = _nearer(begin, end, one[at], one[to], self.samples[0].mean)
        near = near + _nearer(second[at], second[to], other[at], other[to], self.samples[1].mean)
        return begin, end, group_tails.log_alone(near, 2), np.maximum(heights[at], heights[to])


def _where_more(places: Floats, joint: Floats, alone: Floats) -> Floats:
    """Where a larger minimum of the two may hide: beside the peaks, and where one crosses the other."""
    heights = np.minimum(joint, alone)
    best, found = float(heights.max()), []
    for i in np.flatnonzero(heights >= best - 1.0).tolist():
        left, right = max(i - 1, 0), min(i + 1, places.size - 1)
        drop = float(heights[i] - min(heights[left], heights[right]))
        peak = heights[i] >= heights[left] and heights[i] >= heights[right]
        if peak and drop > ENOUGH and heights[i] + drop > best and places[right] - places[left] > NARROW:
            found += [np.linspace(places[left], places[i], 5)[1:-1], np.linspace(places[i], places[right], 5)[1:-1]]
    above = joint - alone
    most = np.minimum(np.maximum(joint[:-1], joint[1:]), np.maximum(alone[:-1], alone[1:]))
    crossing = (above[:-1] * above[1:] < 0.0) & (most > best + ENOUGH) & (np.diff(places) > NARROW)
    for i in np.flatnonzero(crossing).tolist():
        share = above[i] / (above[i] - above[i + 1])
        shares = np.clip([share - 0.05, share, share + 0.05], 0.02, 0.98)
        found.append(places[i] + shares * (places[i + 1] - places[i]))
    more = np.unique(np.concatenate(found)) if found else np.zeros(0)
    return np.setdiff1d(more, places)


def _least(places: Floats, distance: Floats, estimate: float) -> Floats:
    """The least squared quantile between each two neighbours."""
    return _nearer(places[:-1], places[1:], distance[:-1], distance[1:], estimate)


def _nearer(one: Floats, other: Floats, at_one: Floats, at_other: Floats, estimate: float) -> Floats:
    """The least squared quantile between two means: 0 where the estimate lies between them, else at the nearer."""
    holds = (np.minimum(one, other) <= estimate) & (estimate <= np.maximum(one, other))
    return np.where(holds, 0.0, np.minimum(at_one, at_other))
