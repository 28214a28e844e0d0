"""Sample size, confidence and tightness of bounds and intervals of a success rate."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ONE_RATE, Assumed
from surefoot.core.record import Record
from surefoot.stats import bound_tightness as tightnesses
from surefoot.stats.optimal_bounds import optimal_lower
from surefoot.stats.rate_methods import methods
from surefoot.stats.rates import wilson

if TYPE_CHECKING:
    from surefoot.core.interval import Certified
    from surefoot.numerics.arrays import Floats
    from surefoot.stats.bound_tightness import Method

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
    """Sample size for an interval of a success rate with a given half-width.

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
        from surefoot.stats import bound_tightness

        low, high = bound_tightness.ends(using, rollouts * (0.5 if assumed is None else assumed), rollouts, confidence)
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
    from surefoot.stats import bound_tightness

    if bound_tightness.kind(using, confidence) != "interval" or not bound_tightness.smooth(using):
        shown = getattr(using, "__name__", using)
        hint = "For a bound ask `plan_bound`."
        known = [one.using.__name__ for one in methods().values() if bound_tightness.smooth(one.using)]
        raise _check.refused("using", f"be {', '.join(known[:-1])} or {known[-1]}", shown, hint)
    return bound_tightness.name(using, confidence)


_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class BoundPlan(Record):
    """How many rollouts keep a bound close to the truth, at which confidence.

    Attributes:
        rollouts: The number to plan.
        confidence: The confidence of the bound.
        tightness: How far the bound is from the true rate on average, at most, whatever the rate.
        reached: The proved tightness of the plan; never above `tightness`.
        solved: Which of the three was found from the other two.
        method: The bound.
        table: With more or fewer: rollouts, and the tightness they give at this confidence.
        assumptions: What must hold.
    """

    rollouts: int
    confidence: float
    tightness: float
    reached: float
    solved: str
    method: str
    table: tuple[tuple[int, float], ...] = ()
    assumptions: tuple[Assumed, ...] = ()

    def __str__(self) -> str:
        asked = "" if self.solved == "tightness" else f" (asked: {100 * self.tightness:g})"
        return (
            f"{formatting.rollouts(self.rollouts)}: the {formatting.percent(self.confidence)} "
            f"{self.method} bound is then on "
            f"average within {points(self.reached)} of the true rate, whatever that is{asked}."
        )


def plan_bound(
    *,
    confidence: float | None = None,
    tightness: float | None = None,
    rollouts: int | None = None,
    using: Method = optimal_lower,
) -> BoundPlan:
    """Confidence, tightness or sample size of a bound on a success rate, from the other two.

    Args:
        confidence: The confidence of the bound; 0.95 when only one of the other two is given.
        tightness: How far the bound may be from the true rate on average, whatever the rate: the maximum expected
            shortage (of an upper bound, excess).
        rollouts: Rollouts, up to 100,000.
        using: A function that makes a bound, such as `optimal_lower` or `clopper_pearson_lower`.

    Returns:
        All three, the proved tightness, and the table of what other numbers of rollouts buy.

    Example:
        >>> from surefoot import plan_bound
        >>> print(plan_bound(confidence=0.95, rollouts=50))
        50 rollouts: the 95% optimal bound is then on average within 11.8 points of the true rate, whatever that is.
        >>> plan_bound(confidence=0.95, tightness=0.1).rollouts
        69
        >>> round(plan_bound(tightness=0.1, rollouts=50).confidence, 3)
        0.917

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV: the maximum expected shortage
        falls with the rollouts and rises with the confidence, so each is found by bisection.
    """
    from surefoot.stats import bound_tightness

    names = ("confidence", "tightness", "rollouts")
    asked = None if tightness is None else _check.fraction(tightness, "tightness", hint="Write 0.1 for 10 points.")
    total = None if rollouts is None else _check.whole(rollouts, "rollouts", least=1)
    sure = _check.confidence(0.95 if confidence is None else confidence)
    if asked is not None and total is not None:
        if confidence is not None:
            raise _check.wrong(names, "leave exactly one to be found; got all three.")
        solved, sure = "confidence", _surest(total, asked, using)
    elif asked is not None:
        solved, total = "rollouts", _fewest(asked, sure, using)
    elif total is not None:
        solved = "tightness"
    else:
        raise _check.wrong(names, "leave exactly one to be found; got neither of the last two.")
    reached = _worst(total, sure, using, 1e-9).high
    if asked is not None:
        reached = min(reached, asked)  # both are proved
    others = {size: _worst(size, sure, using, 1e-5).high for size in SIZES}
    return BoundPlan(
        rollouts=total,
        confidence=sure,
        tightness=reached if asked is None else asked,
        reached=reached,
        solved=solved,
        method=bound_tightness.name(using, sure),
        table=tuple(sorted((others | {total: reached}).items())),
        assumptions=(ONE_RATE,),
    )


@lru_cache(maxsize=64)
def _worst(rollouts: int, confidence: float, using: Method, tolerance: float) -> Certified:
    from surefoot.stats import bound_tightness

    upper = bound_tightness.kind(using, confidence) == "upper"
    worst = tightnesses.max_expected_excess if upper else tightnesses.max_expected_shortage
    return worst(rollouts, using=using, confidence=confidence, tolerance=max(tolerance, 1e-11))


def _proved(rollouts: int, confidence: float, using: Method, tightness: float) -> tuple[bool, float]:
    """Whether the worst is proved to be at most `tightness`, and the worst; a finer proof where one cannot tell."""
    for tolerance in (1e-6 * tightness, 1e-10):
        worst = _worst(rollouts, confidence, using, tolerance)
        if worst.high <= tightness or worst.low > tightness:
            break
    return worst.high <= tightness, worst.value


def _fewest(tightness: float, confidence: float, using: Method) -> int:
    """The fewest rollouts that are tight enough: the worst falls about as one over their root."""
    # The normal limit: on average z Phi(z) + phi(z) standard errors short, and a standard error is at most 1/2 sqrt(n).
    z = _NORMAL.inv_cdf(confidence)
    guess = int(((z * confidence + _NORMAL.pdf(z)) / (2.0 * tightness)) ** 2)
    few, many = 0, tightnesses.MOST + 1
    while many - few > 1:
        total = min(max(guess, few + 1), many - 1)
        enough, worst = _proved(total, confidence, using, tightness)
        few, many = (few, total) if enough else (total, many)
        guess = round(total * (worst / tightness) ** 2)
    if many > tightnesses.MOST:
        raise _check.wrong(
            "tightness",
            f"be reachable with {tightnesses.MOST:,} rollouts at confidence {confidence:g}; got {tightness!r}.",
            tightness,
        )
    return many


def _surest(rollouts: int, tightness: float, using: Method) -> float:
    """The largest confidence, to some seven digits, at which the bound is tight enough."""
    import numpy as np

    from surefoot.numerics import roots

    def lacking(quantiles: Floats) -> Floats:
        sure = [_NORMAL.cdf(float(z)) for z in quantiles]
        return np.array([_worst(rollouts, c, using, 1e-6 * tightness).value - tightness for c in sure])

    z = float(roots.solve(lacking, -6.0, 8.0, within=1e-7))
    for _ in range(20):  # a hair less sure, until it is proved
        if _proved(rollouts, _NORMAL.cdf(z), using, tightness)[0]:
            return _NORMAL.cdf(z)
        z -= 1e-7
    raise _check.refused(
        "tightness", f"be reachable with {formatting.rollouts(rollouts)} at some confidence", tightness
    )
