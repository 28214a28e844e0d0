"""Confidence intervals and bounds of one success rate.

Each function takes a `Tally` and gives an `Interval` or a `Bound` that keeps the tally, the confidence and
the assumptions it rests on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

from surefoot import _check
from surefoot.core.assumptions import ANY_RATE, NOT_FOR_USE, ONE_RATE, RATE_NEAR, Assumed, Assumption
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Noted
from surefoot.core.tally import WRITE, Tally
from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import rate_ends
from surefoot.stats.rate_methods import Ends, rate_method


def _wilson(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.wilson_ends(k, n, normal_quantiles.upper_quantile(tail / 2.0))


def _wald(k: Any, n: Any, tail: float) -> Ends:
    import numpy as np

    half = rate_ends.wald_half(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(k / n - half, 0.0), np.minimum(k / n + half, 1.0)


def _agresti_coull(k: Any, n: Any, tail: float) -> Ends:
    import numpy as np

    centre, half = rate_ends.agresti_coull(k, n, normal_quantiles.upper_quantile(tail / 2.0))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _jeffreys(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.jeffreys(k, n, tail / 2.0)


def _exact(k: Any, n: Any, tail: float) -> Ends:
    from surefoot.numerics.rates import binomial

    return binomial.exact_low(k, n, tail / 2.0), binomial.exact_high(k, n, tail / 2.0)


def _wilson_low(k: Any, n: Any, tail: float) -> Ends:
    return rate_ends.wilson_low(k, n, normal_quantiles.upper_quantile(tail)), 1.0


def _wilson_high(k: Any, n: Any, tail: float) -> Ends:
    return 0.0, rate_ends.wilson_high(k, n, normal_quantiles.upper_quantile(tail))


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
        tally, rate_ends.wilson_low(k, n, z), rate_ends.wilson_high(k, n, z), confidence, "Wilson", (RATE_NEAR,)
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
    centre, half = rate_ends.agresti_coull(*counts(tally), _two_sided_z(confidence))
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
    half = rate_ends.wald_half(*counts(tally), _two_sided_z(confidence))
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
