"""How many rollouts does a band of the asked tightness need?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import words
from surefoot.core.record import Record
from surefoot.stats.bands import Heights, dkw, ks, ks_error


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
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{words.rollouts(self.rollouts)}: the {words.percent(self.confidence)} {self.method} band is then at "
            f"most {self.reached:.4g} above the observed distribution (asked: {self.offset:g})."
        )


def plan_band(offset: float, *, confidence: float = 0.95, using: Heights = ks) -> BandPlan:
    """How many rollouts bring the worst-case band within `offset` of the observed distribution everywhere?

    Args:
        offset: The largest distance allowed, a probability.
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
    from surefoot.stats.bands import METHOD_NAMES

    offset, confidence = _check.fraction(offset, "offset"), _check.confidence(confidence)
    formula = max(1, math.ceil(math.log(1.0 / (1.0 - confidence)) / (2.0 * offset**2)))
    if using is dkw:
        needed = formula
    elif using is ks:
        # The exact band is never wider than the formula's, and needs about 1 / (3 offset) rollouts fewer.
        needed = _smallest(lambda n: ks_error(n, offset) <= 1.0 - confidence, formula)
    else:
        needed = _smallest(lambda n: _reached(using, n, confidence) <= offset, formula)
    return BandPlan(
        rollouts=needed,
        offset=offset,
        reached=_reached(using, needed, confidence),
        confidence=confidence,
        method=METHOD_NAMES.get(using.__name__, using.__name__),
        assumptions=("The rollouts are independent and their scores share one distribution.",),
    )


def _reached(using: Heights, rollouts: int, confidence: float) -> float:
    heights = using(rollouts, confidence=confidence, sides=1)
    return max(height - i / rollouts for i, height in enumerate(heights))


def _smallest(holds: Callable[[int], bool], start: int) -> int:
    """The smallest number that holds, when every larger one holds too: first gallop from `start`, then halve."""
    step, holding, failing = 1, start, 0
    while not holds(holding):
        failing, holding, step = holding, holding + step, 2 * step
    step = 1
    while failing < holding - step and not failing:
        if holds(holding - step):
            holding, step = holding - step, 2 * step
        else:
            failing = holding - step
    while holding - failing > 1:
        middle = (holding + failing) // 2
        if holds(middle):
            holding = middle
        else:
            failing = middle
    return holding
