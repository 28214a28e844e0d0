"""One-sided exact bounds and p-values of a difference, of two independent counts or of pairs, from one ordering.

Tables are ordered by the asymptotic score limit L at a given error: since the score statistic Z_d falls in d, those
with a limit of at least L(x) are {Z_L(x) >= Z_L(x)(x)}, a staircase that rises with the first count and falls with the
second. Its chance, at the worst nuisance, never falls in d (raise the first rate or lower the second: more tables are
inside). So q(d) = sup P_d(limit >= L(x)) is a p-value of "the difference is at most d" for every d at once, it rises in
d, and its root is a lower bound: the largest that any exact bound with this ordering can be (Buehler 1957). The error
that orders the tables must not come from the data; every error may be asked of one ordering.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import normal_quantiles, score_intervals
from surefoot.numerics.chebyshev import Need
from surefoot.numerics.inversion import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.arrays import Ints
    from surefoot.numerics.staircase_sets import Design


TOLERANCE = 1e-8
"""How far left of the root a bound may lie."""

NONE: Ints = np.empty(0, np.int64)


class Above:
    """What one table says about "the difference is above": p-values and lower bounds of one ordering.

    Attributes:
        estimate: The observed difference.
    """

    def __init__(self, table: tuple[int, ...], ordering: float) -> None:
        family = score_intervals.family(table)
        self.design, self.estimate = family.design, family.estimate
        self.limit = score_intervals.end(family, normal_quantiles.upper_quantile(ordering) / self.design.shrink)
        level = float(family.statistic(np.array([self.limit]))[0])
        # a limit of -1 is that of every table which excludes nothing
        self.up = self.design.staircase(self.limit, level) if self.limit > -1.0 and level > 0.0 else None

    def p_value(self, difference: float) -> float:
        """The p-value of "at most this difference", rounded up by about a part in a million."""
        if self.up is None or difference >= 1.0:
            return 1.0
        error = 1e-9
        while (found := _chance(self.design, difference, self.up, error)) < 1e6 * error and error > 1e-270:
            error = max(found * 1e-7, 1e-275) if found < 0.1 else 1e-12
        return found

    def bound(self, error: float) -> float:
        """The lower bound with this error: every difference left of it has a p-value of at most `error`."""
        up = self.up
        if up is None:
            return -1.0
        slack, wanted = min(1e-9, error * 1e-7), normal_quantiles.upper_quantile(error)

        def gap(difference: float) -> float:
            """How far the p-value is above the error, on the scale where it is nearly straight."""
            found = _chance(self.design, difference, up, slack)
            apart = abs(wanted - normal_quantiles.upper_quantile(min(max(found, 1e-280), 1.0 - 1e-16)))
            return -apart if found <= error else max(apart, 1e-300)

        return _root(gap, self.limit)


def _root(gap: Callable[[float], float], guess: float) -> float:
    """The left side of a bracket of the root in (-1, 1), no wider than the tolerance, of what rises; near a guess."""
    left, right, below, above = -1.0, 1.0, -math.inf, math.inf
    guess, step, last = min(max(guess, -1.0 + 1e-6), 1.0 - 1e-6), 1e-3, 0
    near = 0.45 * TOLERANCE
    while right - left > TOLERANCE:
        here = gap(guess)
        side = 1 if here > 0.0 else -1
        # Illinois: an end that stays twice counts half, so that both ends close in
        if side > 0:
            right, above, below = guess, here, below / 2.0 if last == side else below
        else:
            left, below, above = guess, here, above / 2.0 if last == side else above
        last = side
        if math.isfinite(below) and math.isfinite(above):
            guess = left - below / (above - below) * (right - left)
            guess = min(max(guess, left + near), right - near)
        else:
            guess, step = guess - side * step, 6.0 * step
            if not left < guess < right:
                guess = (left + right) / 2.0
    return left


def _chance(design: Design, difference: float, up: Ints, error: float) -> float:
    """Above the largest chance of a staircase at this difference."""
    return min(1.0, float(design.beyond(difference, difference, (up, NONE), Need(error)).high) * (1.0 + ROUNDING))


def decided(design: Design, error: float, edge: float) -> Ints:
    """For each second count the smallest first count whose lower bound, ordered by `error` itself, is above `edge`."""
    wanted, slack = normal_quantiles.upper_quantile(error) / design.shrink, min(1e-9, error * 1e-7)
    left, right = -1.0, 1.0
    found = design.staircase(right, wanted)
    while right - left > TOLERANCE:
        middle = (left + right) / 2.0
        up = design.staircase(middle, wanted)
        if _chance(design, edge, up, slack) <= error:
            right, found = middle, up
        else:
            left = middle
    return found
