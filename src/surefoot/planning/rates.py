"""How many rollouts make a success rate's interval narrow enough?"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ONE_RATE, Assumed
from surefoot.core.record import Record
from surefoot.stats.rate_methods import methods
from surefoot.stats.rates import wilson

if TYPE_CHECKING:
    from surefoot.stats.all_counts import Method

SIZES = (10, 20, 50, 100, 200, 500, 1000)
"""The rows of a table "what n buys you", besides the answer."""

MOST = 10**12
"""Rollouts beyond which no plan goes."""


@dataclass(frozen=True, slots=True)
class RatePlan(Record):
    """How many rollouts make a success rate's interval narrow enough.

    Attributes:
        rollouts: The smallest number that does.
        half_width: The half-width asked for.
        reached: The half-width that number gives.
        rate: The assumed rate; None when the plan holds whatever the rate.
        confidence: The confidence of the interval.
        method: The interval.
        table: With more or fewer: rollouts, and the half-width they give.
        assumptions: What must hold.
    """

    rollouts: int
    half_width: float
    reached: float
    rate: float | None
    confidence: float
    method: str
    table: tuple[tuple[int, float], ...] = ()
    assumptions: tuple[Assumed, ...] = ()

    def __str__(self) -> str:
        size, level = points(self.reached), self.rate
        where = (
            f"at most {size}, whatever the rate"
            if level is None
            else f"{size} at a rate of {formatting.percent(level)}"
        )
        return (
            f"{formatting.rollouts(self.rollouts)}: the {formatting.percent(self.confidence)} "
            f"{self.method} interval then has a "
            f"half-width of {where} (asked: {100 * self.half_width:g})."
        )


def plan_rate(
    half_width: float, *, rate: float | None = None, confidence: float = 0.95, using: Method = wilson
) -> RatePlan:
    """How many rollouts make the interval this narrow?

    Args:
        half_width: Half of the width the interval may have, such as 0.05 for 5 points.
        rate: The success rate expected; None plans for the worst, one half.
        confidence: The confidence of the interval.
        using: The interval: `wilson`, `clopper_pearson`, `jeffreys`, `agresti_coull` or `wald`.

    Returns:
        The smallest number of rollouts, and the table of what other numbers buy. The interval is taken at the
        expected count, rate times rollouts, whole or not.

    Example:
        >>> from surefoot import plan_rate
        >>> print(plan_rate(0.05))
        381 rollouts: the 95% Wilson interval then has a half-width of at most 5.0 points, whatever the rate (asked: 5).
        >>> plan_rate(0.05, rate=0.9).rollouts
        141

    Reference:
        Wilson (1927): at one half the half-width is z / (2 sqrt(n + z²)). Newcombe (1998), "Two-sided confidence
        intervals for the single proportion".
    """
    half_width = _check.fraction(half_width, "half_width", hint="Write 0.05 for 5 points.")
    confidence = _check.confidence(confidence)
    assumed = None if rate is None else _check.rate(rate)
    method = _name(using, confidence)

    def half(rollouts: int) -> float:
        from surefoot.stats import all_counts

        low, high = all_counts.ends(using, rollouts * (0.5 if assumed is None else assumed), rollouts, confidence)
        return float(high - low) / 2.0

    few, rollouts = 0, 1
    while half(rollouts) > half_width:
        few, rollouts = rollouts, 2 * rollouts
        if few > MOST:
            raise _check.refused("half_width", f"be reachable with {MOST:,} rollouts", half_width)
    rollouts = bisect_left(range(rollouts), True, few + 1, key=lambda size: half(size) <= half_width)
    return RatePlan(
        rollouts=rollouts,
        half_width=half_width,
        reached=half(rollouts),
        rate=assumed,
        confidence=confidence,
        method=method,
        table=tuple((size, half(size)) for size in sorted({*SIZES, rollouts})),
        assumptions=(ONE_RATE,),
    )


def points(value: float) -> str:
    """A distance between rates in points, rounded up: never narrower than it is."""
    digits = 1 if value >= 0.002 else 4
    return f"{formatting.rounded(100 * value, digits, 'up'):.{digits}f} points"


def _name(using: Method, confidence: float) -> str:
    from surefoot.stats import all_counts

    if all_counts.kind(using, confidence) != "interval" or not all_counts.smooth(using):
        shown = getattr(using, "__name__", using)
        hint = "For a bound ask `plan_bound`."
        known = [one.using.__name__ for one in methods().values() if all_counts.smooth(one.using)]
        raise _check.refused("using", f"be {', '.join(known[:-1])} or {known[-1]}", shown, hint)
    return all_counts.name(using, confidence)
