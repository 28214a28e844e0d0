"""Test of a weighted sum of the means of more than two groups of scores.

The null points of a target fill a plane. The largest p-value on it is a numerical maximum: many starting points are
looked at, the best are improved by sequential quadratic steps with slopes from the same integral, and what comes out
is raised by two parts in a hundred.

How sure is each group, by its own scores, that its mean is not this one? From tables, for many means at once.

The normal quantile of a group's own p-value is nearly straight in its mean. It is tabled once on both sides of the
observed mean and read by cubic pieces: good to some four digits, to be climbed with and never to be the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores import group_tails, score_tails
from surefoot.numerics.scores.exponential_sums import Sums, log_chance_and_slopes
from surefoot.numerics.scores.two_groups import TwoGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.scores.score_tails import Pooled


PIECES = 20


@dataclass(frozen=True, slots=True)
class Side:
    """The tables of all groups on the lower side of their observed means.

    Attributes:
        start: Where each table begins.
        span: How long it is, up to the observed mean; 0 where there is no such side.
        values: The quantiles at places even in the square root of the way.
        slopes: Their slopes in that root.
    """

    start: Floats
    span: Floats
    values: Floats
    slopes: Floats

    @classmethod
    def of(cls, samples: Sequence[Pooled], reach: float) -> Side:
        """The tables of samples, as far down as their quantile is `reach`."""
        rows = [_row(sample, reach) for sample in samples]
        start, span = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        values = np.array([row[2] for row in rows])
        slopes = np.gradient(values, 1.0 / PIECES, axis=1, edge_order=2)
        return cls(start, span, values, slopes)

    def at(self, means: Floats) -> tuple[Floats, Floats]:
        """The quantile at means, one column per group, and its slope."""
        span = np.maximum(self.span, 1e-300)
        way = np.clip((means - self.start) / span, 1e-6, 1.0)
        root = np.sqrt(way)
        piece = np.minimum((root * PIECES).astype(np.int64), PIECES - 1)
        groups = np.broadcast_to(np.arange(self.start.size), means.shape)
        share, width = root * PIECES - piece, 1.0 / PIECES
        left, right = self.values[groups, piece], self.values[groups, piece + 1]
        rise, fall = width * self.slopes[groups, piece], width * self.slopes[groups, piece + 1]
        # the cubic with these values and slopes at the ends of its piece
        bend, turn = 3.0 * (right - left) - 2.0 * rise - fall, 2.0 * (left - right) + rise + fall
        found = left + share * (rise + share * (bend + share * turn))
        slope = (rise + share * (2.0 * bend + 3.0 * share * turn)) * PIECES / (2.0 * span * root)
        # straight on beyond the table: no group may go there for nothing
        beyond = np.minimum(means - self.start, 0.0) / span
        known = self.span > 0.0
        return np.where(known, found - 50.0 * beyond, 0.0), np.where(
            known, np.where(beyond < 0.0, -50.0 / span, slope), 0.0
        )


def _row(sample: Pooled, reach: float) -> tuple[float, float, Floats]:
    about = score_tails.error_of(sample)
    low = 0.0
    if sample.most > score_tails.TINY:
        low = score_tails.root(
            lambda m: float(score_tails.log_above(sample, np.array([m]))[0]),
            float(special.ndtr(-reach)),
            sample.most,
            sample.mean - reach * about,
            about,
            slack=0.05,
        )
    low = min(max(low, 1e-6 * sample.mean), sample.mean)
    span = sample.mean - low
    if span <= 1e-12:
        return low, 0.0, np.zeros(PIECES + 1)
    places = low + span * np.linspace(0.0, 1.0, PIECES + 1) ** 2
    return low, span, -special.ndtri_exp(np.minimum(score_tails.log_above(sample, places), -1e-12))


@dataclass(frozen=True, slots=True)
class Curves:
    """The tables of all groups on both sides of their observed means.

    Attributes:
        means: The observed means.
        below: The side below them.
        above: The side above them, mirrored.
    """

    means: Floats
    below: Side
    above: Side

    @classmethod
    def of(cls, samples: Sequence[Pooled], reach: float) -> Curves:
        """The tables of samples, on each side as far as their quantile is `reach`."""
        means = np.array([sample.mean for sample in samples])
        mirrored = [score_tails.mirror(sample) for sample in samples]
        return cls(means, Side.of(samples, reach), Side.of(mirrored, reach))

    @property
    def lows(self) -> Floats:
        """Where the tables begin."""
        return self.below.start

    @property
    def highs(self) -> Floats:
        """Where they end."""
        return 1.0 - self.above.start

    def at(self, points: Floats) -> tuple[Floats, Floats]:
        """The quantile at points, one column per group, 0 or more, and its slope."""
        (left, rise), (right, fall) = self.below.at(points), self.above.at(1.0 - points)
        lower = points <= self.means
        found, slope = np.where(lower, left, right), np.where(lower, rise, -fall)
        return np.maximum(found, 0.0), np.where(found > 0.0, slope, 0.0)

    def inverse(self, quantiles: Floats) -> Floats:
        """About the means at which the quantiles are so large, below the observed ones; above them where negative."""
        return np.stack(
            [
                np.where(q >= 0.0, _inverse(self.below, g, q), 1.0 - _inverse(self.above, g, -q))
                for g, q in enumerate(quantiles.T)
            ],
            axis=1,
        )


def _inverse(side: Side, group: int, quantiles: Floats) -> Floats:
    values = np.maximum(side.values[group], 0.0)
    way = np.interp(-quantiles, -values, np.linspace(0.0, 1.0, PIECES + 1))
    return np.asarray(side.start[group] + side.span[group] * way**2, float)


RAISED = math.log1p(0.02)
"""By how much the largest p-value found is raised, in logarithms, for what the search may have missed."""

SLACK = 2e-3
FARTHEST = 12.0
"""The farthest normal quantile a group's own p-value is followed to."""

COLD, WARM, POLISHED = 96, 12, 3
"""How many points climb together at first and later, and how many of these are polished."""

CLIMBS, SHARP = 25, 8.0
"""How many steps a climb has, and how sharply the smaller of the two p-values rules it."""

PATTERNS = 400
"""How many patterns of groups pulled down, left and pushed up are tried."""

ROUNDS = 5
SHARES = np.array([-1.0, -0.6, -0.25, 0.25, 0.6, 1.0])
"""How far two groups exchange: shares of the way to where one of them is ruled out."""


def group_test(samples: Sequence[Pooled], weights: Sequence[float]) -> score_tails.OneSample | TwoGroups | ManyGroups:
    """The test of the weighted mean of groups; weights above 0, of any sum."""
    total = math.fsum(weights)
    shares = [weight / total for weight in weights]
    if len(samples) == 1:
        return score_tails.OneSample(samples[0])
    if len(samples) == 2:
        return TwoGroups(tuple(samples), tuple(shares))
    return ManyGroups(tuple(samples), tuple(shares))


@dataclass(frozen=True, slots=True)
class ManyGroups(group_tails.Groups):
    """The test of the weighted mean of groups by a search."""

    def raised(self, target: float) -> float:
        """The largest log p-value found, raised."""
        return _Search(self).largest(target) + RAISED

    def low_end(self, tail: float) -> float:
        """The largest target that is refused as too low with this error, to the slack; 0 when none is."""
        if self.estimate <= score_tails.TINY:
            return 0.0
        about = math.sqrt(
            sum((v * score_tails.error_of(one)) ** 2 for v, one in zip(self.weights, self.samples, strict=True))
        )
        end, search = self.estimate + float(special.ndtri(tail)) * about, _Search(self)
        for rough in (True, False):  # one look each on the way; the end itself is looked at with care

            def high(target: float, rough: bool = rough) -> float:
                return search.largest(target, rough=rough) + RAISED

            end = score_tails.root(high, tail, self.estimate, end, about, slack=SLACK, near=1e-3 * about)
        return end

    def may_refuse(self, target: float, tail: float) -> bool:
        """Whether the target might be refused, from one null point: most are settled so."""
        if target >= self.estimate:
            return False
        point = group_tails.projected(self.samples, np.array(self.weights), target)
        return float(_Search(self).heights(point[None])[0]) + RAISED <= math.log(tail)


@dataclass(slots=True)
class _Search:
    """The maximum over null points, warm from one target to the next."""

    test: ManyGroups
    best: Floats | None = None  # the best point of the last target
    reach: float = 0.0  # of the tables, which the first target makes
    curves: Curves = field(init=False)

    @property
    def _weights(self) -> Floats:
        return np.array(self.test.weights)

    @property
    def _scales(self) -> Floats:
        return np.asarray(self._weights / np.array([sample.size for sample in self.test.samples]), float)

    def heights(self, means: Floats) -> Floats:
        """The logarithm of the p-value of null points, exactly."""
        joint, away = group_tails.log_parts(self.test.samples, self._weights, means)
        return np.minimum(joint, group_tails.log_alone(away.sum(axis=1), len(self.test.samples)))

    def largest(self, target: float, *, rough: bool = False) -> float:
        """The largest log p-value found on the plane of a target.

        Args:
            target: The weighted mean.
            rough: Whether to improve the best start only, once: enough to tell where to look next.
        """
        samples, weights = self.test.samples, self._weights
        middle = group_tails.projected(samples, weights, target)
        floor = float(self.heights(middle[None])[0])
        # a point that beats the middle has no group farther out than this
        chance = 0.05 * math.exp(max(min(floor, 0.0), -600.0))
        far = min(FARTHEST, math.sqrt(2.0 * float(special.gammainccinv(0.5 * len(samples), chance))))
        if far > self.reach:
            self.reach = min(FARTHEST, far + 0.5)
            self.curves = Curves.of(samples, self.reach)
        points = self._starts(target, middle, far)
        best, top = middle, -math.inf
        for turn in range(1 if rough else ROUNDS):
            found = self._quick(points)
            climbed = self._climbed(self._apart(points, found, WARM if turn or self.best is not None else COLD), target)
            chosen = self._apart(climbed, self._quick(climbed), 1 if rough else POLISHED)
            ends = np.concatenate((chosen, [self._polished(point, target) for point in chosen]))
            heights = self.heights(ends)
            height, place = float(heights.max()), int(np.argmax(heights))
            if height <= top + 1e-3:
                break
            best, top = ends[place], height
            points = self._exchanged(best)
        self.best = best
        return max(floor, top)

    def _starts(self, target: float, middle: Floats, far: float) -> Floats:
        """Where to begin: the middle, the last best, and some groups far out with the others making up for it.

        In standard errors the plane is sum c x = const and the groups' own p-values allow a ball. The joint p-value
        grows with the squares of x, most for groups with few scores, so its peaks lie far out.
        """
        weights, count = self._weights, len(self.test.samples)
        points = [middle] if self.best is None else [middle, _onto(self.best, weights, target)]
        c = weights * np.array([score_tails.error_of(sample) for sample in self.test.samples])
        along = c / float(c @ c)
        x = (self.test.estimate - target) * along
        room = max(far**2 - float(x @ x), 0.0)
        rng = np.random.default_rng(14)  # fixed: the same data give the same answer
        size = (PATTERNS if self.best is None else PATTERNS // 4, count)
        signs = rng.choice([-1.0, 1.0], size) * (rng.random(size) < rng.random((size[0], 1)))
        ways = np.concatenate((np.eye(count), -np.eye(count), signs[np.abs(signs).sum(axis=1) > 0.0]))
        out = ways - (ways @ c)[:, None] * along
        out *= math.sqrt(room) / np.maximum(np.sqrt((out * out).sum(axis=1)), 1e-9)[:, None]
        moved = np.concatenate([x + share * out for share in (0.4, 0.7, 0.95)])
        return np.concatenate((np.array(points), _onto(self.curves.inverse(moved), weights, target)))

    def _apart(self, points: Floats, found: Floats, count: int) -> Floats:
        """The best points that lie apart from one another, in standard errors: each may climb a peak of its own."""
        errors = np.array([score_tails.error_of(sample) for sample in self.test.samples])
        chosen: list[int] = []
        for place in np.argsort(-found, kind="stable").tolist():
            away = np.abs(points[chosen] - points[place]) / errors
            if not chosen or away.max(axis=1).min() > 1.5:
                chosen.append(place)
            if len(chosen) == count:
                break
        return np.asarray(points[chosen], float)

    def _exchanged(self, point: Floats) -> Floats:
        """The point with every two groups exchanging some of their means, on the same plane."""
        weights = self._weights
        lows, highs = self.curves.lows, self.curves.highs
        first, second = np.triu_indices(point.size, 1)
        # a step of x moves the first mean by x / v and the second by -x / v
        up = np.minimum(weights[first] * (highs - point)[first], weights[second] * (point - lows)[second])
        down = np.minimum(weights[first] * (point - lows)[first], weights[second] * (highs - point)[second])
        steps = np.concatenate([np.maximum(up if share > 0.0 else down, 0.0) * share for share in SHARES])
        ones, others = np.tile(first, SHARES.size), np.tile(second, SHARES.size)
        points = np.repeat(point[None], steps.size, axis=0)
        rows = np.arange(steps.size)
        points[rows, ones] += steps / weights[ones]
        points[rows, others] -= steps / weights[others]
        return np.clip(points, 0.0, 1.0)

    def _quick(self, means: Floats) -> Floats:
        alone = group_tails.log_alone((self.curves.at(means)[0] ** 2).sum(axis=1), means.shape[1])
        return np.minimum(group_tails.log_joint(self.test.samples, self._weights, means), alone)

    def _polished(self, point: Floats, target: float) -> Floats:
        """A start improved: the largest t with t at most both log p-values, on the plane, inside [0, 1]."""
        from scipy.optimize import minimize

        weights, count, owner = self._weights, point.size, int(np.argmax(self._scales * point))
        errors = np.array([score_tails.error_of(sample) for sample in self.test.samples])
        kept: dict[bytes, tuple[Floats, Floats]] = {}

        def both(x: Floats) -> tuple[Floats, Floats]:
            key = x.tobytes()
            if key not in kept:
                moved = np.clip(point + errors * x[:-1], 0.0, 1.0)
                heights, slopes = self._with_slopes(moved[None], np.array([owner]))
                kept[key] = heights[0], slopes[0]
            return kept[key]

        def gaps(x: Floats) -> Floats:
            return np.asarray(both(x)[0] - x[-1], float)

        def gap_slopes(x: Floats) -> Floats:
            return np.asarray(np.concatenate((both(x)[1] * errors, -np.ones((2, 1))), axis=1), float)

        start = np.append(np.zeros(count), 0.0)
        start[-1] = float(both(start)[0].min())
        plane = np.append(weights * errors, 0.0)
        plane /= np.abs(plane).max()
        bounds = [*zip((-point / errors).tolist(), ((1.0 - point) / errors).tolist(), strict=True), (None, None)]
        slope = np.append(np.zeros(count), -1.0)

        def lost(x: Floats) -> tuple[float, Floats]:
            return -float(x[-1]), slope

        constraints = [
            {"type": "ineq", "fun": gaps, "jac": gap_slopes},
            {"type": "eq", "fun": lambda x: np.array([plane @ x]), "jac": lambda _: plane[None]},
        ]
        found = minimize(
            lost,
            start,
            jac=True,
            bounds=bounds,
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 60, "ftol": 1e-7},
        )
        moved = np.clip(point + errors * np.nan_to_num(found.x[:-1]), 0.0, 1.0)  # a step that failed is no step
        return _onto(moved, weights, target)

    def _with_slopes(self, means: Floats, owner: Ints) -> tuple[Floats, Floats]:
        """Both log p-values at null points (rows, 2), and their slopes in the means (rows, 2, groups).

        The extra exponential is that of one group, the owner. That is at most the largest, so the joint p-value is at
        most the true one, and it has no corners where the largest changes hands.
        """
        samples, scales, rows = self.test.samples, self._scales, np.arange(means.shape[0])
        spare = np.maximum(scales[owner] * means[rows, owner], score_tails.LEAST)
        c, counts = score_tails.columns(
            samples, np.broadcast_to(scales, means.shape), means, spare, [True] * len(samples)
        )
        sums = Sums(c, counts, np.minimum(c.min(axis=1), 0.0), np.maximum(c.max(axis=1), 0.0))
        starts = np.cumsum([0, *(sample.values.size for sample in samples)])
        joint, slopes = np.where(sums.most > 0.0, -700.0, 0.0), np.zeros(means.shape)
        real = (sums.most > 0.0) & (sums.least < 0.0)
        if real.any():
            joint[real], moves = log_chance_and_slopes(sums.rows(real), starts)
            slopes[real] = -scales * moves[:, :-1]
            slopes[np.flatnonzero(real), owner[real]] -= scales[owner[real]] * moves[:, -1]
        away, rises = self.curves.at(means)
        total, half = (away * away).sum(axis=1), 0.5 * len(samples)
        alone = group_tails.log_alone(total, len(samples))
        # the slope of a chi-square tail's logarithm is minus its density over it
        density = (half - 1.0) * np.log(np.maximum(0.5 * total, 1e-300)) - 0.5 * total
        density -= math.lgamma(half) + math.log(2.0)
        ratio = -np.exp(np.minimum(density - (alone + math.log(group_tails.ALONE)), 50.0))
        heights = np.stack((joint - math.log(group_tails.JOINT), alone), axis=1)
        return heights, np.stack((slopes, 2.0 * ratio[:, None] * away * rises), axis=1)

    def _climbed(self, points: Floats, target: float) -> Floats:
        """Points moved uphill together, along the plane, each at its own pace."""
        weights = self._weights
        errors = np.array([score_tails.error_of(sample) for sample in self.test.samples])
        across = weights * errors / math.sqrt(float((weights * errors) @ (weights * errors)))

        def found(at: Floats) -> tuple[Floats, Floats]:
            both, slopes = self._with_slopes(at, np.argmax(self._scales * at, axis=1))
            # near the ridge, where both are alike, both count
            share = special.expit(SHARP * (both[:, 1] - both[:, 0]))[:, None]
            way = (share * slopes[:, 0] + (1.0 - share) * slopes[:, 1]) * errors
            way = way - (way @ across)[:, None] * across
            return both.min(axis=1), way / np.maximum(np.abs(way).max(axis=1), 1e-300)[:, None]

        (top, way), step = found(points), np.full(points.shape[0], 0.5)
        for _ in range(CLIMBS):
            tried = _onto(points + step[:, None] * way * errors, weights, target)
            height, turn = found(tried)
            better = height > top
            points, way = np.where(better[:, None], tried, points), np.where(better[:, None], turn, way)
            top, step = np.where(better, height, top), np.where(better, 1.4 * step, 0.4 * step)
        return points


def _onto(points: Floats, weights: Floats, target: float) -> Floats:
    """Points moved onto the plane of a target, each mean by its share of the room it has, inside [0, 1]."""
    points = np.clip(points, 0.0, 1.0)
    short = target - points @ weights
    room = np.where(short[..., None] > 0.0, 1.0 - points, points)
    share = np.abs(short) / np.maximum(room @ weights, 1e-300)
    return np.asarray(np.clip(points + room * (np.sign(short) * np.minimum(share, 1.0))[..., None], 0.0, 1.0), float)
