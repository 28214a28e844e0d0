"""Sample size of the interval of a mean score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import NUMBER_KEPT, SPREAD_AS_ASSUMED, Assumed
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats.score_means import score_mean

_STARTS = (0.1, 0.35, 0.6, 0.85)
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_LARGEST = 5_000


@dataclass(frozen=True, slots=True)
class MeanPlan(Record):
    """How many rollouts make the interval of a mean as narrow as asked, if the assumed spread is true.

    Attributes:
        rollouts: The number.
        half_width: The half-width asked for, in units of the score.
        reached: The half-width to expect.
        spread: The standard deviation assumed.
        mean: The mean assumed.
        low: The range's low end.
        high: The range's high end.
        confidence: The confidence of the interval.
        assumptions: What the number rests on.
    """

    rollouts: int
    half_width: float
    reached: float
    spread: float
    mean: float
    low: float
    high: float
    confidence: float
    assumptions: tuple[Assumed, ...] = ()

    def __str__(self) -> str:
        return (
            f"{formatting.rollouts(self.rollouts)}: expect a {formatting.percent(self.confidence)} interval of about "
            f"±{self.reached:.3g} if the scores spread by {self.spread:g} around {self.mean:g}."
        )


def plan_mean(
    half_width: float,
    *,
    spread: float,
    mean: float | None = None,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
) -> MeanPlan:
    """Rollouts that make the interval of the mean score about `half_width` wide on each side.

    The width is the interval's own, on evenly spread scores of a beta distribution with the assumed mean
    and standard deviation; no chance enters, and it is within a few percent of the average over random scores.

    Args:
        half_width: Half of the width wanted, in units of the score.
        spread: The standard deviation assumed; from a pilot, or half the range in the very worst case.
        mean: The mean assumed; the middle of the range unless given.
        low: The range's low end.
        high: The range's high end.
        confidence: The confidence of the interval.

    Example:
        >>> from surefoot import plan_mean
        >>> print(plan_mean(0.05, spread=0.2))
        83 rollouts: expect a 95% interval of about ±0.0498 if the scores spread by 0.2 around 0.5.

    Reference:
        The interval is `score_mean`.
    """
    low, high = _check.span(low, high)
    size = high - low
    half_width, spread = _check.positive(half_width, "half_width"), _check.positive(spread, "spread")
    middle = (low + high) / 2.0 if mean is None else _check.real(mean, "mean")
    share = (middle - low) / size
    if not 0.0 < share < 1.0:
        raise _check.refused("mean", f"lie inside the range [{low:g}, {high:g}]", middle)
    largest = math.sqrt(share * (1.0 - share)) * size
    if spread > largest * (1.0 + 1e-12):
        raise _check.refused("spread", f"be at most {largest:g} for this range and mean", spread)
    each = (1.0 - _check.confidence(confidence)) / 2.0
    found, reached = _search(half_width / size, share, min(spread, largest) / size, each)
    return MeanPlan(
        rollouts=found,
        half_width=half_width,
        reached=reached * size,
        spread=spread,
        mean=middle,
        low=low,
        high=high,
        confidence=float(confidence),
        assumptions=(SPREAD_AS_ASSUMED, NUMBER_KEPT),
    )


def _search(goal: float, mean: float, spread: float, each: float) -> tuple[int, float]:
    """The smallest number whose expected half-width is within the goal, to one in 2,000, and that half-width."""
    failing, holding = 0, 1
    while (reached := _expected(holding, mean, spread, each)) > goal:
        failing, holding = holding, 2 * holding
    while holding - failing > max(1, holding // 2000):
        between = (holding + failing) // 2
        width = _expected(between, mean, spread, each)
        if width <= goal:
            holding, reached = between, width
        else:
            failing = between
    return holding, reached


@lru_cache(maxsize=64)
def _expected(count: int, mean: float, spread: float, each: float) -> float:
    """Half the width of the interval on `count` evenly spread scores, averaged over a few starting points."""
    import numpy as np
    from scipy import special

    if count > _LARGEST:  # from here on the width shrinks with the root
        return _expected(_LARGEST, mean, spread, each) * math.sqrt(_LARGEST / count)
    weight = mean * (1.0 - mean) / spread**2 - 1.0
    halves = []
    for start in _STARTS:
        places = (start + np.arange(1, count + 1) * _GOLDEN) % 1.0
        if weight > 1e-3:
            z = special.betaincinv(mean * weight, (1.0 - mean) * weight, places)
        else:  # as spread as can be: nothing but the two ends
            z = (places > 1.0 - mean).astype(float)
        halves.append(score_mean(Scores(z.tolist()), confidence=1.0 - 2.0 * each).width / 2.0)
    return math.fsum(halves) / len(halves)
