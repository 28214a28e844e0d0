"""Confidence intervals and bounds of one success rate, and claims that it is at least a required one.

Each method takes a `Tally` and gives an `Interval` or a `Bound` that keeps the tally, the confidence and
the assumptions it rests on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsFloat

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ANY_RATE, NOT_FOR_USE, ONE_RATE, RATE_NEAR, Assumed, Assumption
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.tally import WRITE, Tally
from surefoot.numerics import normal_quantiles
from surefoot.stats.rate_methods import Ends, rate_method

MOST = 1_000_000_000
"""Rollouts beyond which nobody will go."""


def _wilson(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.wilson_ends(k, n, normal_quantiles.upper_quantile(tail / 2.0))


def _wald(k: Any, n: Any, tail: float) -> Ends:
    import numpy as np

    half = normal_quantiles.wald_half(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(k / n - half, 0.0), np.minimum(k / n + half, 1.0)


def _agresti_coull(k: Any, n: Any, tail: float) -> Ends:
    import numpy as np

    centre, half = normal_quantiles.agresti_coull(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _jeffreys(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.jeffreys(k, n, tail / 2.0)


def _exact(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.exact_low(k, n, tail / 2.0), binomial.exact_high(k, n, tail / 2.0)


def _wilson_low(k: Any, n: Any, tail: float) -> Ends:
    return normal_quantiles.wilson_low(k, n, normal_quantiles.upper_quantile(tail)), 1.0


def _wilson_high(k: Any, n: Any, tail: float) -> Ends:
    return 0.0, normal_quantiles.wilson_high(k, n, normal_quantiles.upper_quantile(tail))


def _exact_low(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.exact_low(k, n, tail), 1.0


def _exact_high(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return 0.0, binomial.exact_high(k, n, tail)


@rate_method("wilson", "Short, and close to its confidence on average over rates.", ends=_wilson, place=10)
def wilson(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Where does the true rate lie? The interval shown everywhere a rate is shown.

    Assumptions:
        Independent rollouts with one success rate. Coverage is close to the confidence on average over rates;
        at its worst it is lower (about .84 for n = 10 at 95%).

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import wilson
        >>> print(wilson(Tally(38, 50)))
        76.0% [62.5%, 85.8%] n=50 (95% Wilson interval).

    Reference:
        Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    """
    z = _two_sided_z(confidence)
    k, n = counts(tally)
    return _interval(
        tally,
        normal_quantiles.wilson_low(k, n, z),
        normal_quantiles.wilson_high(k, n, z),
        confidence,
        "Wilson",
        (RATE_NEAR,),
    )


@rate_method("clopper-pearson", "Coverage is never below the confidence.", ends=_exact, guaranteed=True, place=20)
def clopper_pearson(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Clopper-Pearson interval of a proportion: coverage is never below the confidence.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import clopper_pearson
        >>> print(clopper_pearson(Tally(38, 50)))
        76.0% [61.8%, 87.0%] n=50 (95% Clopper-Pearson interval).

    Reference:
        Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of the
        binomial".
    """
    low, high = _exact(*counts(tally), 1.0 - _check.confidence(confidence))
    return _interval(tally, low, high, confidence, "Clopper-Pearson", (ANY_RATE,))


@rate_method("jeffreys", "Equal tails of the Jeffreys posterior.", ends=_jeffreys, place=30)
def jeffreys(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Jeffreys interval of a proportion: equal tails of the posterior.

    Assumptions:
        Independent rollouts with one success rate. The low end is 0 without a success and the high end 1
        without a failure (the rule of Brown, Cai and DasGupta).

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import jeffreys
        >>> print(jeffreys(Tally(38, 50)))
        76.0% [62.9%, 86.2%] n=50 (95% Jeffreys interval).

    Reference:
        Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", section 4.
    """
    low, high = _jeffreys(*counts(tally), 1.0 - _check.confidence(confidence))
    return _interval(tally, low, high, confidence, "Jeffreys", (RATE_NEAR,))


@rate_method("agresti-coull", "Wald after adding z² pseudo-rollouts.", ends=_agresti_coull, place=40)
def agresti_coull(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Agresti-Coull interval of a proportion: Wald after adding z² pseudo-rollouts.

    Assumptions:
        Independent rollouts with one success rate. Clipped to [0, 1].

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import agresti_coull
        >>> print(agresti_coull(Tally(38, 50)))
        76.0% [62.4%, 85.9%] n=50 (95% Agresti-Coull interval).

    Reference:
        Agresti and Coull (1998), "Approximate is better than 'exact' for interval estimation of binomial
        proportions".
    """
    centre, half = normal_quantiles.agresti_coull(*counts(tally), _two_sided_z(confidence))
    return _interval(tally, max(0.0, centre - half), min(1.0, centre + half), confidence, "Agresti-Coull", (RATE_NEAR,))


@rate_method("wald", "The textbook normal interval: covers far too little.", ends=_wald, to_compare=True, place=50)
def wald(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """What would the textbook normal interval say? To be compared against, never to be used.

    Assumptions:
        Many rollouts and a rate far from 0 and 1, which evaluations seldom have. Clipped to [0, 1].

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import wald
        >>> print(wald(Tally(10, 10)))
        100.0% [100.0%, 100.0%] n=10 (95% Wald (do not use) interval).

    Reference:
        Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", section 2.
    """
    half = normal_quantiles.wald_half(*counts(tally), _two_sided_z(confidence))
    low, high = max(0.0, tally.rate - half), min(1.0, tally.rate + half)
    return _interval(tally, low, high, confidence, "Wald (do not use)", (NOT_FOR_USE,), (NOT_FOR_USE,))


@rate_method("wilson", "Close to its confidence on average over rates.", side="lower", ends=_wilson_low, place=10)
def wilson_lower(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Above what is the true rate? One-sided Wilson, close to its confidence but not guaranteed.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import wilson_lower
        >>> print(wilson_lower(Tally(38, 50)))
        at least 64.8% n=50 (95% Wilson bound).

    Reference:
        Wilson (1927), one-sided.
    """
    return _bound(tally, "lower", _wilson_low, confidence, "Wilson", RATE_NEAR)


@rate_method("wilson", "Close to its confidence on average over rates.", side="upper", ends=_wilson_high, place=10)
def wilson_upper(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Below what is the true rate? One-sided Wilson, close to its confidence but not guaranteed.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import wilson_upper
        >>> print(wilson_upper(Tally(4, 50)))
        at most 16.7% n=50 (95% Wilson bound).

    Reference:
        Wilson (1927), one-sided.
    """
    return _bound(tally, "upper", _wilson_high, confidence, "Wilson", RATE_NEAR)


@rate_method(
    "clopper-pearson",
    "Coverage is never below the confidence.",
    side="lower",
    ends=_exact_low,
    guaranteed=True,
    place=20,
)
def clopper_pearson_lower(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Clopper-Pearson lower confidence bound of a proportion.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import clopper_pearson_lower
        >>> print(clopper_pearson_lower(Tally(38, 50)))
        at least 64.0% n=50 (95% Clopper-Pearson bound).

    Reference:
        Clopper and Pearson (1934), one-sided.
    """
    return _bound(tally, "lower", _exact_low, confidence, "Clopper-Pearson", ANY_RATE)


@rate_method(
    "clopper-pearson",
    "Coverage is never below the confidence.",
    side="upper",
    ends=_exact_high,
    guaranteed=True,
    place=20,
)
def clopper_pearson_upper(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Clopper-Pearson upper confidence bound of a proportion.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import clopper_pearson_upper
        >>> print(clopper_pearson_upper(Tally(0, 50)))
        at most 5.9% n=50 (95% Clopper-Pearson bound).

    Reference:
        Clopper and Pearson (1934), one-sided.
    """
    return _bound(tally, "upper", _exact_high, confidence, "Clopper-Pearson", ANY_RATE)


def counts(tally: Tally) -> tuple[int, int]:
    """Successes and rollouts; refuses what is not a tally."""
    tally = _check.instance(tally, "tally", Tally, WRITE)
    return tally.successes, tally.trials


def _two_sided_z(confidence: float) -> float:
    return normal_quantiles.upper_quantile((1.0 - _check.confidence(confidence)) / 2.0)


def _interval(
    tally: Tally,
    low: SupportsFloat,
    high: SupportsFloat,
    confidence: float,
    method: str,
    assumptions: tuple[Assumed, ...],
    notes: tuple[Noted, ...] = (),
) -> Interval:
    return Interval(
        low=min(float(low), tally.rate),  # Jeffreys leaves it out at confidences that nobody asks for
        high=max(float(high), tally.rate),
        estimate=tally.rate,
        confidence=float(confidence),
        method=method,
        trials=tally.trials,
        assumptions=(ONE_RATE, *assumptions),
        notes=notes,
        data=(tally,),
    )


def _bound(
    tally: Tally, side: Side, ends: Callable[..., Ends], confidence: float, method: str, assumption: Assumption
) -> Bound:
    low, high = ends(*counts(tally), 1.0 - _check.confidence(confidence))
    return Bound(
        side=side,
        value=float(low if side == "lower" else high),
        estimate=tally.rate,
        confidence=float(confidence),
        method=method,
        trials=tally.trials,
        assumptions=(ONE_RATE, assumption),
        data=(tally,),
    )


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
