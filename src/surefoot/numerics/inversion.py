"""One inversion of an exact unconditional test: both ends of the accepted set and the p-value, all proved.

For a difference d let p(d) be the supremum over the nuisance of P(|Z_d| >= |z_d|), z_d the observed score statistic.
The accepted set {d : p(d) > a} need not be connected and p(d) jumps, so no root finder may be trusted: whole intervals
of d are cleared by `peak`, which bounds p(d) on all of [left, right] at once. What is proved: no d outside
[low, high] has p(d) > a, no d <= 0 (observed difference >= 0) has p(d) above `tail`, and low > 0 exactly when
`tail` <= a. What is left open is width: low and high lie within about `tolerance` outside the accepted set's hull.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

from surefoot.numerics import normal

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.chebyshev import Peak

ROUNDING = 1e-11
"""Relative rounding of a sum of probabilities, added to every bound."""

TINY = 1e-9
"""A p-value below this may be given as this, where less cannot be proved at once."""


class Family(Protocol):
    """Observed counts, and what is known about them under each difference."""

    estimate: float
    draws: int

    def mirrored(self) -> Family:
        """The same with first and second swapped."""

    def statistic(self, difference: float) -> float:
        """The observed z."""

    def peak(self, left: float, right: float, error: float) -> Peak:
        """A bound on p(d) for all d in [left, right]."""

    def corner(self, width: float, error: float) -> float:
        """A bound on p(d) for all d in [-1, -1 + width]."""


class Inversion(NamedTuple):
    """Ends of the accepted set and the supremum of p(d) on the far side of 0."""

    low: float
    high: float
    tail: float


def invert(family: Family, a: float) -> Inversion:
    """The hull of the accepted set at level `a`, and the p-value, of counts with an estimate of either sign."""
    if family.estimate < 0.0:
        low, high, tail = invert(family.mirrored(), a)
        return Inversion(-high, -low, tail)
    low, tail = _near_side(_Side(family), a)
    return Inversion(low, -_end(_Side(family.mirrored()), a, -1.0), tail)


def excluded(family: Family, a: float, edge: float = 0.0) -> bool:
    """Whether p(d) <= a for every d <= edge, proved; the estimate must be above the edge."""
    side = _Side(family)
    return side.bound(edge, edge, a) <= a and side.clear(-1.0, edge, a) == edge


class Border(Family, Protocol):
    """Several tables looked at together."""

    def drop(self, left: float, right: float, a: float) -> list[int]:
        """Take out the tables that hold the others back in [left, right]."""


def held_back(border: Border, a: float, edge: float) -> list[int]:
    """Which tables of a border have p(d) > a for some d < edge: one clearing for all, dropping them on the way."""
    side, at, dropped = _Side(border), -1.0, list[int]()
    while (at := side.clear(at, edge, a)) < edge:
        end = min(edge, at + side.tolerance / 2.0)
        dropped += border.drop(at, end, a)
        at = end
    return dropped


def _near_side(side: _Side, a: float) -> tuple[float, float]:
    if side.family.estimate == 0.0:
        return _end(side, a, -1.0), 1.0
    here = _small(lambda ceiling: side.bound(0.0, 0.0, ceiling))
    if here > a:  # 0 is accepted: clear up to the lower end first, then learn how high p rises between it and 0
        low = min(_end(side, a, -1.0), 0.0)
        if side.family.draws > 60:
            side.relative = 1e-3  # little hangs on the digits of a p-value that decides nothing
        return low, side.supremum(low, here)
    tail = side.supremum(-1.0, here)
    if tail > a and not excluded(side.family, a):  # the supremum is rounded up; on the edge `a` itself decides
        return min(_end(side, a, -1.0), 0.0), tail
    return max(_end(side, a, 0.0), 1e-12), min(tail, a)


def _small(bound: Callable[[float], float]) -> float:
    """A bound computed again until it is precise relative to itself."""
    ceiling = 1e-4
    while (found := bound(ceiling)) < 0.1 * ceiling and ceiling > 1e-270:
        ceiling = max(found, 1e-275)
    return found


def _end(side: _Side, a: float, start: float) -> float:
    """The left end of the accepted set: everything in [start, end) is cleared."""
    if side.family.estimate <= start:
        return start
    return side.clear(start, side.accepted(a, start), a)


class _Side:
    """The differences to the left of the estimate."""

    def __init__(self, family: Family) -> None:
        self.family = family
        few = family.draws <= 200
        self.tolerance = 1e-6 if few else 2e-5  # of an end, outward
        self.relative = 1e-6 if family.draws <= 60 else 1e-4 if few else 1e-3  # of the p-value, upward
        self.finer = 1e-3 if few else 1e-2  # of that, for one evaluation
        self.highest = 0.0

    def bound(self, left: float, right: float, ceiling: float) -> float:
        """Above p(d) for all d in [left, right], precise enough to be compared with `ceiling`."""
        if self.family.statistic(right) <= 0.0:
            return 1.0
        return min(1.0, float(self.family.peak(left, right, self.error(ceiling)).high) * (1.0 + ROUNDING))

    def clear(self, start: float, goal: float, ceiling: float) -> float:
        """How far from `start` towards `goal` p(d) <= ceiling is proved; `highest` is the largest bound on the way."""
        at, self.highest, step = start, 0.0, 0.2 * (goal - start)
        if start <= -1.0:
            at, step = self.corner(goal, ceiling)
        running = False
        while at < goal:
            end = at + step if goal - at - step > self.tolerance / 4.0 else goal
            found = self.bound(at, end, ceiling)
            share = found / ceiling
            if share <= 1.0:
                at, self.highest = end, max(self.highest, found)
                step *= 8.0 if share < 1e-4 else 2.0 if share < 0.2 else 1.4 if running else 1.0
                running = True
            else:
                running = False
                step = (end - at) * (0.6 if share < 1.2 else 0.4 if share < 4.0 else 0.2)
                if step < self.tolerance / 2.0:
                    break
        return at

    def corner(self, goal: float, ceiling: float) -> tuple[float, float]:
        """How far from -1 the corner is cleared, and a first step from there."""
        width = 0.5 * (goal + 1.0)
        while width > 1e-9:
            found = self.family.corner(width, self.error(ceiling)) * (1.0 + ROUNDING)
            if found <= ceiling:
                self.highest = found
                return width - 1.0, width
            width *= 0.5
        return -1.0, min(ceiling / (4.0 * self.family.draws), 1e-3)

    def error(self, ceiling: float) -> float:
        """The error allowed to one evaluation that is compared with `ceiling`."""
        return max(min(1e-7, ceiling * self.relative * self.finer), 1e-280)

    def supremum(self, start: float, here: float) -> float:
        """The supremum of p(d) over d <= 0 where p(0) = here and p <= here is known up to `start`, rounded up."""
        best = here
        at = self.clear(start, 0.0, best * (1.0 + self.relative))
        best = max(best, self.highest)
        if at == 0.0:
            return min(1.0, best)
        if here < TINY:  # so small a p-value need not be proved to the last digit
            best = TINY
            at = self.clear(start, 0.0, best)
            if at == 0.0:
                return best
        # p rises above p(0) somewhere in between: branch and bound, highest possible rise first.
        boxes = [(-self.bound(at, 0.0, best), at, 0.0)]
        while boxes:
            top, left, right = heapq.heappop(boxes)
            if -top <= best * (1.0 + self.relative) or right - left <= self.tolerance:
                return min(1.0, max(best, -top))  # in a box this narrow the bound is attained, nearly
            middle = (left + right) / 2.0
            best = max(best, self.bound(middle, middle, best))
            for box in ((left, middle), (middle, right)):
                heapq.heappush(boxes, (-self.bound(*box, best), *box))
        return min(1.0, best)

    def accepted(self, a: float, start: float) -> float:
        """Some accepted d near the left end: by regula falsi on p(d) as a normal deviate."""
        family = self.family
        wanted = normal.upper_quantile(a / 2.0)
        outer, inner = start, family.estimate
        outer_gap, inner_gap = math.inf, -wanted
        guess = _asymptotic(family, wanted, start)
        for _ in range(6):
            if not outer < guess < inner or inner - outer < 20.0 * self.tolerance:
                break
            p = self.bound(guess, guess, a)
            gap = normal.upper_quantile(max(p, 1e-290) / 2.0) - wanted if p < 1.0 else -wanted
            slope = (family.statistic(guess - 1e-4) - family.statistic(guess)) / 1e-4 if guess > -0.999 else 1.0
            if p > a:
                inner, inner_gap = guess, gap
            else:
                outer, outer_gap = guess, gap
            step = abs(gap) / max(slope, 1.0)
            nudge = max(step * 0.5, self.tolerance)
            guess = guess - step - nudge * 0.1 if p > a else guess + step + nudge * 0.1
            if not outer < guess < inner:
                total = outer_gap - inner_gap
                guess = inner + (outer - inner) * (-inner_gap / total if math.isfinite(total) and total > 0 else 0.5)
        return inner


def _asymptotic(family: Family, wanted: float, start: float) -> float:
    left, right = start, family.estimate
    for _ in range(24):
        middle = (left + right) / 2.0
        left, right = (middle, right) if family.statistic(middle) > wanted else (left, middle)
    return right
