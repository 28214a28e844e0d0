"""Where does one success rate lie?

Each function takes a `Tally` and gives an `Interval` or a `Bound` that keeps the tally, the confidence and
the assumptions it rests on.
"""

from __future__ import annotations

from typing import SupportsFloat

from surefoot import _check
from surefoot.core.assumptions import ANY_RATE, NOT_FOR_USE, ONE_RATE, RATE_NEAR, Assumed, Assumption
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Noted
from surefoot.core.tally import WRITE, Tally
from surefoot.numerics import normal_quantiles, rate_ends


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


def clopper_pearson(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Where does the true rate lie, with coverage never below the confidence?

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
    from surefoot.numerics import beta

    each = (1.0 - _check.confidence(confidence)) / 2.0
    k, n = counts(tally)
    low, high = beta.exact_low(k, n, each), beta.exact_high(k, n, each)
    return _interval(tally, low, high, confidence, "Clopper-Pearson", (ANY_RATE,))


def jeffreys(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Where does the true rate lie, by equal tails of the Jeffreys posterior?

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
    from surefoot.numerics import beta

    each = (1.0 - _check.confidence(confidence)) / 2.0
    low, high = beta.jeffreys(*counts(tally), each)
    return _interval(tally, low, high, confidence, "Jeffreys", (RATE_NEAR,))


def agresti_coull(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Where does the true rate lie, by Wald after adding z² pseudo-rollouts?

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
    z = normal_quantiles.upper_quantile(1.0 - _check.confidence(confidence))
    return _bound(tally, "lower", rate_ends.wilson_low(*counts(tally), z), confidence, "Wilson", RATE_NEAR)


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
    z = normal_quantiles.upper_quantile(1.0 - _check.confidence(confidence))
    return _bound(tally, "upper", rate_ends.wilson_high(*counts(tally), z), confidence, "Wilson", RATE_NEAR)


def clopper_pearson_lower(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Above what is the true rate, guaranteed?

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
    from surefoot.numerics import beta

    value = beta.exact_low(*counts(tally), 1.0 - _check.confidence(confidence))
    return _bound(tally, "lower", value, confidence, "Clopper-Pearson", ANY_RATE)


def clopper_pearson_upper(tally: Tally, *, confidence: float = 0.95) -> Bound:
    """Below what is the true rate, guaranteed?

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
    from surefoot.numerics import beta

    value = beta.exact_high(*counts(tally), 1.0 - _check.confidence(confidence))
    return _bound(tally, "upper", value, confidence, "Clopper-Pearson", ANY_RATE)


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
    tally: Tally, side: Side, value: SupportsFloat, confidence: float, method: str, assumption: Assumption
) -> Bound:
    return Bound(
        side=side,
        value=float(value),
        estimate=tally.rate,
        confidence=float(confidence),
        method=method,
        trials=tally.trials,
        assumptions=(ONE_RATE, assumption),
        data=(tally,),
    )
