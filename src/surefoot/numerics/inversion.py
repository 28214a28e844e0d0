"""One inversion of an exact unconditional test: both ends of the accepted set and the p-value, all proved.

For a difference d let p(d) be the supremum over the nuisance of P(|Z_d| >= |z_d|), z_d the observed score statistic.
The accepted set {d : p(d) > a} need not be connected and p(d) jumps, so no root finder may be trusted: whole intervals
of d are cleared by `peak`, which bounds p(d) on all of [left, right] at once. What is proved: no d outside
[low, high] has p(d) > a, no d <= 0 (observed difference >= 0) has p(d) above `tail`, and low > 0 exactly when
`tail` <= a. What is left open is width: low and high lie within about `tolerance` outside the accepted set's hull.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics import normal_quantiles
from surefoot.numerics.chebyshev import Need

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.staircase_sets import Observed


ROUNDING = 1e-11
"""Relative rounding of a sum of probabilities, added to every bound."""

TINY = 1e-9
"""A p-value below this may be given as this, where less cannot be proved at once."""

PATIENCE = 40
COARSE = 5e-5
"""Where p is flat for long, its supremum is rounded up by at most this share of it, after so many boxes."""

REACHES = 0.8 ** np.arange(64.0)
"""Shares of the way that are considered for one piece."""
LEAST_THRIFT = 1e-15
"""A piece that could not be cleared by trying ever shorter ones, some fifty times, is left: what was proved holds."""


class Inversion(NamedTuple):
    """Ends of the accepted set and the supremum of p(d) on the far side of 0."""

    low: float
    high: float
    tail: float


def invert(family: Observed, a: float) -> Inversion:
    """The hull of the accepted set at level `a`, and the p-value, of counts with an estimate of either sign."""
    if family.estimate < 0.0:
        low, high, tail = invert(family.mirrored(), a)
        return Inversion(-high, -low, tail)
    low, tail = _near_side(Side(family), a)
    return Inversion(low, -_end(Side(family.mirrored()), a, -1.0), tail)


def _near_side(side: Side, a: float) -> tuple[float, float]:
    if side.family.estimate == 0.0:
        return _end(side, a, -1.0), 1.0
    here = _small(lambda ceiling: side.at(0.0, ceiling))
    if here > a:  # 0 is accepted: clear up to the lower end first, then learn how high p rises between it and 0
        low = min(_end(side, a, -1.0), 0.0)
        if side.family.design.draws > 60:
            side.relative = 1e-3  # little hangs on the digits of a p-value that decides nothing
        return low, side.supremum(low, here)
    tail = side.supremum(-1.0, here)
    if tail > a and side.clear(-1.0, 0.0, a) < 0.0:  # the supremum is rounded up: `a` itself decides
        return min(_end(side, a, -1.0), 0.0), tail
    return max(_end(side, a, 0.0), 1e-12), min(tail, a)


def _small(bound: Callable[[float], float]) -> float:
    """A bound computed again until it is precise relative to itself."""
    ceiling = 1e-4
    while (found := bound(ceiling)) < 0.1 * ceiling and ceiling > 1e-270:
        ceiling = max(found, 1e-275)
    return found


def _end(side: Side, a: float, start: float) -> float:
    """The left end of the accepted set: everything in [start, end) is cleared."""
    if side.family.estimate <= start:
        return start
    return side.clear(start, side.end(a, start), a)


class Side:
    """The differences to the left of the estimate."""

    def __init__(self, family: Observed) -> None:
        self.family = family
        draws = family.design.draws
        few = draws <= 200
        self.tolerance = 1e-6 if few else 2e-5  # of an end, outward
        self.relative = 1e-6 if draws <= 60 else 1e-4 if few else 1e-3  # of the p-value, upward
        self.finer = 1e-3 if few else 1e-2  # of that, for one evaluation
        self.even = 16 if draws <= 60 else 6 if few else 3  # cuts of a piece, where tables are few and matter
        self.crowded = 0.7 if draws <= 60 else 0.5
        self.highest = 0.0
        self.known: dict[float, float] = {}

    def at(self, difference: float, ceiling: float) -> float:
        """p(d), rounded up, precise enough to be compared with `ceiling`."""
        return self.bound(np.array([difference]), ceiling)

    def rough(self, difference: float, ceiling: float) -> float:
        """p(d), precise enough to be compared with `ceiling`; not rounded up where it is above."""
        if difference not in self.known:
            self.known[difference] = self.bound(np.array([difference]), ceiling, settled=ceiling)
        return self.known[difference]

    def bound(self, cuts: Floats, ceiling: float, settled: float = math.inf) -> float:
        """Above p(d) for all d from the first cut to the last, precise enough to be compared with `ceiling`.

        Where it is sure to be above `settled` it may be below p(d) all the same.
        """
        levels = self.family.statistic(cuts[1:] if len(cuts) > 1 else cuts)
        if levels[-1] <= 0.0:
            return 1.0
        need = Need(self.error(ceiling), 0.98 * ceiling, settled)
        return min(1.0, float(self.family.peak(cuts, levels, need).high) * (1.0 + ROUNDING))

    def error(self, ceiling: float) -> float:
        """The error allowed to one evaluation that is compared with `ceiling`."""
        return max(min(1e-7, ceiling * self.relative * self.finer), 1e-280)

    def clear(self, start: float, goal: float, ceiling: float) -> float:
        """How far from `start` towards `goal` p(d) <= ceiling is proved; `highest` is the largest bound on the way."""
        at, self.highest, thrift = start, 0.0, 0.8
        self.known.clear()
        if start <= -1.0:
            at = self.corner(goal, ceiling)
        scale = self.scale(goal, ceiling)
        while at < goal:
            end = self.reach(at, goal, ceiling, thrift, scale)
            found = self.bound(self.cuts(at, end, goal), ceiling, settled=ceiling)
            if found <= ceiling:
                at, self.highest, thrift = end, max(self.highest, found), min(0.9, 1.3 * thrift)
            elif end - at < self.tolerance / 2.0 or thrift < LEAST_THRIFT:
                break
            else:
                thrift *= 0.5
                if end - at < 0.1 and self.rough(end, ceiling) > ceiling:
                    goal = self.bracket(at, end, ceiling)
                    scale = self.scale(goal, ceiling)
        return at

    def scale(self, difference: float, ceiling: float) -> float:
        """By how much the statistic must be multiplied for its normal tail to be p."""
        z, p = float(self.family.statistic(np.array([difference]))[0]), self.rough(difference, ceiling)
        return normal_quantiles.upper_quantile(max(p, 1e-290) / 2.0) / z if z > 0.0 and p < 1.0 and z < 1e100 else 1.0

    def reach(self, at: float, goal: float, ceiling: float, thrift: float, scale: float) -> float:
        """How far to try: as far as normal tails say that the bound stays below the ceiling, with some to spare.

        The bound on [at, end] exceeds p(end) because the lower tail is taken at `at`, where it is larger.
        """
        ends = at + (goal - at) * REACHES
        ends[0] = goal
        z = np.minimum(self.family.statistic(np.append(ends, at)) * scale, 1e3).tolist()
        for end, here in zip(ends.tolist(), z, strict=False):
            tail = normal_quantiles.tail(here)
            bend = (0.5 * self.family.design.largest * (end - at)) ** 2
            if min(normal_quantiles.tail(2.0 * here - z[-1]) - tail, bend) <= thrift * (ceiling - 2.0 * tail):
                return float(end)
        return min(goal, max(at + self.tolerance / 4.0, float(ends[-1])))

    def cuts(self, left: float, right: float, goal: float) -> Floats:
        """Where to cut [left, right], crowded towards the goal, where p is about to jump."""
        width = right - left
        even = np.linspace(left, right, self.even + 1)
        if right < goal:
            return even
        crowd = int(math.log(max(16.0 * width / self.tolerance, 2.0)) / -math.log(self.crowded))
        return np.concatenate(
            [even[:-1], right - (width / self.even) * self.crowded ** np.arange(1.0, crowd), even[-1:]]
        )

    def corner(self, goal: float, ceiling: float) -> float:
        """How far from -1 the corner is cleared."""
        width = 0.5 * (goal + 1.0)
        while width > 1e-9:
            found = self.family.corner(width, self.error(ceiling)) * (1.0 + ROUNDING)
            if found <= ceiling:
                self.highest = found
                return width - 1.0
            width *= 0.5
        return -1.0

    def supremum(self, start: float, here: float) -> float:
        """The supremum of p(d) over d <= 0 where p(0) = here and p <= here is known up to `start`, rounded up."""
        best = here
        ceiling = best * (1.0 + self.relative)
        brink = -self.tolerance / 16.0  # tables that tie at 0 come in there: p jumps
        last = self.bound(np.array([brink, 0.0]), ceiling)
        if last > ceiling:
            last, brink = 0.0, 0.0
        at = self.clear(start, brink, ceiling)
        best = max(best, self.highest, last)
        if at == brink:
            return min(1.0, best)
        if here < TINY:  # so small a p-value need not be proved to the last digit
            best = TINY
            at = self.clear(start, 0.0, best)
            if at == 0.0:
                return best
        # p rises above p(0) somewhere in between: branch and bound, highest possible rise first.
        edges = (at, at + 0.05 * self.tolerance, 0.0)  # it may have jumped there
        best = max(best, *(self.at(edge, best) for edge in edges[:2]))
        boxes = [(-self.bound(np.array(box), best), *box) for box in itertools.pairwise(edges)]
        heapq.heapify(boxes)
        looked = 0
        while True:
            top, left, right = heapq.heappop(boxes)
            fine, looked = self.relative if looked < PATIENCE else max(self.relative, COARSE), looked + 1
            if -top <= best * (1.0 + fine) or right - left <= 1e-6:
                return min(1.0, max(best, -top))  # in a box this narrow the bound is attained, nearly
            middle = (left + right) / 2.0
            best = max(best, self.at(middle, best))
            for box in ((left, middle), (middle, right)):
                heapq.heappush(boxes, (-self.bound(np.linspace(*box, self.even + 1), best), *box))

    def end(self, a: float, start: float) -> float:
        """Left of the left end of the accepted set by less than the tolerance, as far as is known without a proof."""
        family = self.family
        wanted = normal_quantiles.upper_quantile(a / 2.0)
        outer, inner = start, family.estimate
        guess = _asymptotic(family, wanted, start)
        stride = 1.0
        self.known.clear()
        for _ in range(8):
            if not outer < guess < inner or (outer > start and inner - outer < 0.01):
                break
            p = self.rough(guess, a)
            gap = normal_quantiles.upper_quantile(max(p, 1e-290) / 2.0) - wanted if p < 1.0 else -wanted
            before, here = family.statistic(np.array([guess - 1e-4, guess])) if guess > -0.999 else (1e-4, 0.0)
            step = stride * abs(gap) / max((before - here) / 1e-4, 1.0) + self.tolerance
            stride *= 2.0
            if p > a:
                inner, guess = guess, guess - step
            else:
                outer, guess = guess, guess + step
        return self.bracket(outer, inner, a)

    def bracket(self, outer: float, inner: float, ceiling: float) -> float:
        """Where p is still below the ceiling and above it within the tolerance, given two points of either kind."""
        margin = self.tolerance / 8.0
        below, above = self.rough(outer, ceiling), self.rough(inner, ceiling)
        probes, width = np.empty(0), math.inf
        while inner - outer > self.tolerance / 2.0:
            probes = probes[(probes > outer) & (probes < inner)]
            if not len(probes):
                slow, width = inner - outer > 0.25 * width, inner - outer
                probes = self.probes(outer, inner, (ceiling - below) / max(above - below, 1e-300), margin, slow)
            guess = float(probes[len(probes) // 2])
            found = self.rough(guess, ceiling)
            if found > ceiling:
                inner, above = guess, found
            else:
                outer, below = guess, found
        return outer

    def probes(self, outer: float, inner: float, share: float, margin: float, slow: bool) -> Floats:
        """Where to look next: beside the jumps, or beside the share of the way where a smooth p would pass."""
        jumps = self.family.jumps(outer, inner)
        if not len(jumps):
            jumps = np.array([outer + (0.5 if slow else share) * (inner - outer)])
            margin = 0.0 if slow else max(margin, 0.02 * (inner - outer))
        found = np.sort(np.concatenate([jumps - margin, jumps + margin]))
        found = found[(found > outer) & (found < inner)]
        return found if len(found) else np.array([(outer + inner) / 2.0])


def _asymptotic(family: Observed, wanted: float, start: float) -> float:
    left, right = start, family.estimate
    for _ in range(3):
        grid = np.linspace(left, right, 65)[1:-1]
        after = int((family.statistic(grid) > wanted).sum())  # the statistic falls
        left, right = (left if after == 0 else float(grid[after - 1])), (right if after == 63 else float(grid[after]))
    return right
