"""Claims that a success rate is at least a required one."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Bound
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.stats.rates import clopper_pearson_lower

MOST = 1_000_000_000
"""Rollouts beyond which nobody will go."""


@dataclass(frozen=True, slots=True)
class Claim(Record):
    """Whether "the rate is at least so much" may be said, and what it would take.

    Attributes:
        holds: Whether the claim can be made.
        at_least: The rate to be claimed.
        confidence: How sure the claim must be.
        bound: The guaranteed lower bound it rests on.
        more: Rollouts still needed if the observed rate held: 0 when the claim holds, None when none would do.
    """

    holds: bool
    at_least: float
    confidence: float
    bound: Bound
    more: int | None

    def __str__(self) -> str:
        asked, sure = formatting.percent(self.at_least), f"at {formatting.percent(self.confidence)} confidence"
        seen = f"{formatting.number(self.bound.estimate)} n={self.bound.trials:,}"
        base = (
            f"A rate of at least {asked} {'can' if self.holds else 'cannot'} be claimed {sure}: "
            f"the bound is {formatting.number(self.bound.value, toward='down')} ({seen})."
        )
        if self.holds:
            return base
        if self.more is not None:
            return f"{base} {formatting.counted(self.more, 'more rollout')} at the observed rate would do."
        if self.bound.estimate <= self.at_least:
            return f"{base} The observed rate is not above it, so no number of rollouts at that rate would be enough."
        return f"{base} At the observed rate more than {MOST:,} rollouts would be needed."


def claim(tally: Tally, *, at_least: float, confidence: float = 0.95) -> Claim:
    """Test that a success rate is at least a required one, and the rollouts that would show it.

    Rests on the Clopper-Pearson lower bound: a policy whose rate is below `at_least` passes at most one time in twenty
    (at 95%). The rollouts still needed suppose that successes keep coming at the observed rate, rounded down to whole
    ones. Adding rollouts until the claim holds is a sequential test and needs one: plan the number beforehand.

    Args:
        tally: The successes and rollouts.
        at_least: The rate to be claimed.
        confidence: How sure the claim must be.

    Assumptions:
        Independent rollouts with one success rate, their number fixed beforehand.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import claim
        >>> print(claim(Tally(38, 50), at_least=0.6))
        A rate of at least 60% can be claimed at 95% confidence: the bound is 64.0% (76.0% n=50).
        >>> claim(Tally(38, 50), at_least=0.7).more
        125

    Reference:
        Clopper and Pearson (1934), one-sided.
    """
    at_least = _check.fraction(at_least, "at_least")
    bound = clopper_pearson_lower(tally, confidence=confidence)
    holds = bound.value >= at_least
    more = 0 if holds else _more(tally, at_least, 1.0 - confidence)
    return Claim(holds=holds, at_least=at_least, confidence=float(confidence), bound=bound, more=more)


def _more(tally: Tally, at_least: float, tail: float) -> int | None:
    """The fewest further rollouts at the observed rate that make the claim; None when there are none."""
    import numpy as np

    from surefoot.numerics.rates import binomial

    k, n = tally.successes, tally.trials
    if tally.rate <= at_least or n > MOST:
        return None

    def fewest(lost: float) -> int | None:
        """The fewest rollouts in all, if `lost` successes of a fraction were lost to rounding."""

        def enough(total: int) -> bool:
            return bool(binomial.exact_low(max(k / n * total - lost, 0.0), total, tail) >= at_least)

        few, many = n, 2 * n
        while not enough(many):
            few, many = many, 2 * many
            if few > MOST:
                return None
        return bisect_left(range(many), True, few + 1, key=enough)

    # Whole successes lose less than one to rounding down, so the answer lies between these two.
    least, most = fewest(0.0), fewest(1.0)
    if least is None or most is None or most > MOST:
        return None
    for start in range(least, most + 1, 65_536):
        totals = np.arange(start, min(start + 65_536, most + 1), dtype=np.int64)
        wins = k * totals // n
        good = np.flatnonzero(binomial.exact_low(wins, totals, tail) >= at_least)
        if len(good):
            return int(totals[good[0]]) - n
    return most - n
