"""Test of a weighted sum of two means of bounded scores, certified over all null points.

The null points of a target lie on a line. It is scanned, the best place is refined, and then every stretch of the
line is bounded: the joint p-value rises in both means, so on a stretch it is at most its value with both means at
their largest; each group's own p-value falls away from its estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores import group_tails, score_tails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.scores.score_tails import Pooled

RAISED = math.log1p(0.01)
"""By how much the largest p-value found is raised, in logarithms; what is proved is that none is above that."""

ENOUGH = 1e-5
"""A maximum is refined until its neighbours are this close, in logarithms."""

ROUGH, ROUGHLY = 0.3, 1e-5
"""The step of the integrals that only bound a stretch, and by how much, more than their error, these are raised."""

NARROW = 1e-13
SLACK = 1e-4
SCAN = np.linspace(-4.0, 4.0, 23)
BESIDE = np.array([-0.5, -0.1, -0.02, 0.0, 0.02, 0.1, 0.5])
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
            before = next(reversed(known.items()), None)
            known[target] = self._largest(target, before and self._beside(target, before[0], before[1][0]))
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

    def _beside(self, target: float, before: float, place: float) -> Floats:
        """Points about where the largest p-value should be, from where it was for a target nearby."""
        v, w = self.weights
        one, other = (score_tails.error_of(sample) for sample in self.samples)
        moved = place + (target - before) * v * one**2 / ((v * one) ** 2 + (w * other) ** 2)
        return moved + BESIDE / math.hypot(1.0 / one, v / w / other)

    def _largest(self, target: float, beside: Floats | None = None) -> tuple[float, float]:
        """The null point with the largest p-value that was found, and the logarithm of that.

        Looked for on the whole line, or beside points where it should be; where it is not among them, on the line.
        """
        scan = self._scan(target)
        near = beside is not None and scan[0] < beside[0] and beside[-1] < scan[-1]
        places = more = beside if near and beside is not None else scan
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
        if near and best in (0, places.size - 1):
            return self._largest(target)
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


@dataclass(frozen=True, slots=True)
class TaskGroups:
    """The test of a weighted mean over groups, in the direction "is it larger?".

    Attributes:
        samples: Scores that weigh alike within a group.
        scales: The weight of one score of each sample.
        owners: The group of each sample.
        weights: The weight of each group.
        means: Their observed means.
        spreads: kappa of each group, by which distances from the observed mean are multiplied.
        squares: Squared standard errors of the means, never 0.
        largest: The largest weight of a score in each group.
    """

    samples: tuple[Pooled, ...]
    scales: Floats
    owners: Ints
    weights: Floats
    means: Floats
    spreads: Floats
    squares: Floats
    largest: Floats

    @property
    def estimate(self) -> float:
        """The observed weighted mean."""
        return float(self.weights @ self.means)

    @property
    def mirrored(self) -> TaskGroups:
        """The same test of 1 - z."""
        return replace(self, samples=tuple(map(score_tails.mirror, self.samples)), means=1.0 - self.means)

    def log_p(self, target: float) -> float:
        """The logarithm of the p-value against "the weighted mean is at most so much"; it rises in the target."""
        if target >= self.estimate:
            return 0.0
        if target <= 0.0:
            return -math.inf
        fitted = fitted_means(self.means, self.squares, self.weights, target)
        means = self.means - (self.means - fitted) / self.spreads
        spare = np.array([float((self.largest * fitted).max())])
        scales = (self.scales * self.spreads[self.owners])[None]
        found = score_tails.log_tails(self.samples, scales, means[self.owners][None], spare)
        return min(0.0, float(found[0]) + math.log1p(score_tails.SAFE))

    def low_end(self, tail: float) -> float:
        """The largest target that is refused as too low with this error; 0 when none is."""
        estimate = self.estimate
        if estimate <= score_tails.TINY:
            return 0.0
        about = math.sqrt(float(self.weights**2 @ self.squares))
        guess = estimate + float(special.ndtri(tail)) * about
        return score_tails.root(self.log_p, tail, estimate, guess, about)


def task_groups(sides: Sequence[Sequence[Floats]], shares: Sequence[Floats]) -> TaskGroups:
    """The test of cells of scores: one list of cells for each policy, with the weight of each cell.

    Cells of one score of a policy are put together as one group; a lone one joins that policy's smallest other cell.
    """
    samples, scales, owners = [], [], []
    sizes: list[int] = []
    for cells, weights in zip(sides, shares, strict=True):
        for group in _grouped(cells, weights):
            each = np.concatenate([np.full(cells[cell].size, weights[cell] / cells[cell].size) for cell in group])
            scores = np.concatenate([cells[cell] for cell in group])
            for scale in np.unique(each):
                samples.append(score_tails.pool(scores[each == scale]))
                scales.append(float(scale))
                owners.append(len(sizes))
            sizes.append(scores.size)
    return _measured(tuple(samples), np.array(scales), np.array(owners), np.array(sizes, float))


def _grouped(cells: Sequence[Floats], weights: Floats) -> list[list[int]]:
    """Which cells of a policy share a group; never told by the order of tasks, nor by which policy is called first.

    Among the smallest cells of the least weight a lone score joins the one whose mean is farthest from it.
    """
    lone = [cell for cell, scores in enumerate(cells) if scores.size == 1]
    groups = [[cell] for cell, scores in enumerate(cells) if scores.size > 1]
    if len(lone) != 1 or not groups:
        return [*groups, lone] if lone else groups
    (single,) = lone

    def order(group: list[int]) -> tuple[float | tuple[float, ...], ...]:
        scores = cells[group[0]]
        away = np.round(np.abs(scores - cells[single][0]), 12)  # the same for 1 - z
        gap = round(abs(float(scores.mean() - cells[single][0])), 12)
        return scores.size, float(weights[group[0]]), -gap, tuple(np.sort(away).tolist())

    min(groups, key=order).extend(lone)
    return groups


def _measured(samples: tuple[Pooled, ...], scales: Floats, owners: Ints, sizes: Floats) -> TaskGroups:
    groups = sizes.size
    counts, centres = np.array([one.size for one in samples]), np.array([one.mean for one in samples])
    inside = np.array([one.spread for one in samples])
    weights = np.bincount(owners, scales * counts, groups)
    weights, scales = weights / weights.sum(), scales / weights.sum()
    means = np.clip(np.bincount(owners, scales * counts * centres, groups) / weights, 0.0, 1.0)
    around = inside + counts * (centres - means[owners]) ** 2
    spreads = kappa(sizes)
    squares = spreads**2 * np.bincount(owners, scales**2 * around, groups) / weights**2 + 0.25 / (sizes * (sizes + 1.0))
    largest = np.zeros(groups)
    np.maximum.at(largest, owners, scales)
    return TaskGroups(samples, scales, owners, weights, means, spreads, squares, largest)


def kappa(sizes: Floats) -> Floats:
    """By how much the distances of k scores from their mean are stretched; 1 for one score."""
    return np.sqrt(np.where(sizes > 1.0, 1.0 + (sizes + 1.0) / (sizes * np.maximum(sizes - 1.0, 1.0)), 1.0))


def fitted_means(means: Floats, squares: Floats, weights: Floats, target: float | Floats) -> Floats:
    """The means with this weighted sum, below the observed one: each falls the farther the less sure it is.

    The sum is convex and falls in the step x, so Newton's method from 0 rises to the root without passing it.

    Args:
        means: Observed means, the last axis over groups.
        squares: Their squared standard errors.
        weights: The weight of each group.
        target: The weighted sum wanted, one for each row of means; above 0.
    """
    known = means > score_tails.TINY
    slopes = np.where(known, weights * squares / np.where(known, means, 1.0), 0.0)
    x = np.zeros(means.shape[:-1])
    for _ in range(200):
        fitted = means / (1.0 + x[..., None] * slopes)
        over = fitted @ weights - target
        fall = (fitted * slopes / (1.0 + x[..., None] * slopes)) @ weights
        if (over <= 1e-15 * target).all() or not (fall > 0.0).all():
            break
        further = x + np.maximum(over, 0.0) / fall
        if (further - x <= 1e-16 * x).all():
            break
        x = further
    return fitted
