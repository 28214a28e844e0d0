"""Sample size of a confidence band of a distribution."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ONE_DISTRIBUTION, Assumed
from surefoot.core.record import Record
from surefoot.stats.bands import METHOD_NAMES, Heights, dkw, ks, ks_error, ks_offset

MOST = 10**7
"""Rollouts beyond which no band is planned."""


@dataclass(frozen=True, slots=True)
class BandPlan(Record):
    """How many rollouts keep a worst-case band within an offset of what will be observed.

    Attributes:
        rollouts: The smallest number that does.
        offset: The offset asked for.
        reached: The offset that number gives.
        confidence: The confidence of the band.
        method: The band.
        assumptions: What must hold.
    """

    rollouts: int
    offset: float
    reached: float
    confidence: float
    method: str
    assumptions: tuple[Assumed, ...] = ()

    def __str__(self) -> str:
        reached = formatting.rounded(self.reached, 3 - math.floor(math.log10(self.reached)), "up")
        return (
            f"{formatting.rollouts(self.rollouts)}: the {formatting.percent(self.confidence)} "
            f"{self.method} band is then at "
            f"most {reached:.4g} above the observed distribution (asked: {self.offset:g})."
        )


def plan_band(offset: float, *, confidence: float = 0.95, using: Heights = ks) -> BandPlan:
    """Rollouts that bring the worst-case band within `offset` of the observed distribution everywhere.

    Args:
        offset: The largest distance allowed, a probability that ten million rollouts can reach.
        confidence: The confidence of the one-sided band.
        using: The band: `ks`, `dkw` or `tail_tight`.

    Example:
        >>> from surefoot import plan_band
        >>> print(plan_band(0.1))
        147 rollouts: the 95% KS band is then at most 0.09978 above the observed distribution (asked: 0.1).

    Reference:
        Vincent et al. (2024), section V: the offset falls with the number of rollouts, so the smallest is found
        by bisection.
    """
    offset, confidence = _check.fraction(offset, "offset"), _check.confidence(confidence)
    formula = max(1, math.ceil(math.log(1.0 / (1.0 - confidence)) / (2.0 * offset**2)))
    if not callable(using):
        raise _check.mistyped("using", "be a function such as `ks`", using)
    if formula > MOST:
        raise _check.refused("offset", f"be reachable with {MOST:,} rollouts", offset)
    if using is dkw:
        needed = formula
    elif using is ks:
        guess = max(1, formula - math.floor(1.0 / (3.0 * offset)))  # the exact band needs about so many fewer
        needed = _smallest(lambda n: ks_error(n, offset) <= 1.0 - confidence, guess)
    else:
        needed = _smallest(lambda n: _reached(using, n, confidence) <= offset, formula)
    return BandPlan(
        rollouts=needed,
        offset=offset,
        reached=_reached(using, needed, confidence),
        confidence=confidence,
        method=METHOD_NAMES.get(using.__name__, using.__name__),
        assumptions=(ONE_DISTRIBUTION,),
    )


def _reached(using: Heights, rollouts: int, confidence: float) -> float:
    if using is ks:  # the same everywhere
        return ks_offset(rollouts, confidence=confidence)
    heights = using(rollouts, confidence=confidence, sides=1)
    return max(height - i / rollouts for i, height in enumerate(heights))


def _smallest(holds: Callable[[int], bool], start: int) -> int:
    """The smallest number that holds, when every larger one holds too: growing steps from `start`, then halving."""
    failing, holding, step = start - 1, start, 1
    while not holds(holding):
        failing, holding, step = holding, holding + step, 2 * step
    while failing > 0 and holds(failing):
        failing, holding, step = max(0, failing - step), failing, 2 * step
    return bisect_left(range(holding), True, failing + 1, key=holds)
