"""Expected distance of bounds and intervals of a success rate from the truth.

Shortage: how far a lower bound falls below the rate. Excess: how far an upper bound rises above it. Width: how far
the two ends of an interval are apart. The maximum over rates is what a plan can promise before the first rollout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.interval import Certified
from surefoot.stats.optimal_bounds import optimal_interval, optimal_lower, optimal_upper

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.rates.bound_shortage import Curve
    from surefoot.stats.all_counts import Method


MOST = 100_000
"""The most rollouts for which shortage and excess are computed."""

MOST_WIDTH = 2_000
"""The most rollouts for which widths are computed."""


def expected_shortage(trials: int, rate: float, *, using: Method = optimal_lower, confidence: float = 0.95) -> float:
    """Expected distance of the lower bound below the true rate.

    A bound above the rate counts as no shortage.

    Args:
        trials: Rollouts, up to 100,000.
        rate: The true success rate.
        using: A function that makes a lower bound.
        confidence: The confidence of the bound.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.stats import clopper_pearson_lower, expected_shortage
        >>> round(expected_shortage(50, 0.6), 4)
        0.1172
        >>> round(expected_shortage(50, 0.6, using=clopper_pearson_lower), 4)
        0.126

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV.
    """
    curve = _curve(trials, using, confidence, "lower")
    return float(curve.value(_check.rate(rate))[0])


def max_expected_shortage(
    trials: int, *, using: Method = optimal_lower, confidence: float = 0.95, tolerance: float = 1e-6
) -> Certified:
    """How far below the true rate can the lower bound be on average, whatever the rate? Proved from both sides.

    Args:
        trials: Rollouts, up to 100,000.
        using: A function that makes a lower bound.
        confidence: The confidence of the bound.
        tolerance: How far apart the two proved ends may be, at least 1e-11.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.stats import max_expected_shortage
        >>> found = max_expected_shortage(50)
        >>> print(f"{found.low:.5f} to {found.high:.5f}, at a rate of {found.at:.2f}")
        0.11722 to 0.11722, at a rate of 0.59

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV (maximum expected shortage).
    """
    low, high, at = _curve(trials, using, confidence, "lower").maximise(_tolerance(tolerance))
    return _certified("The largest expected shortage", trials, low, high, at)


def expected_excess(trials: int, rate: float, *, using: Method = optimal_upper, confidence: float = 0.95) -> float:
    """Expected distance of the upper bound above the true rate.

    Args:
        trials: Rollouts, up to 100,000.
        rate: The true success rate.
        using: A function that makes an upper bound.
        confidence: The confidence of the bound.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.reference import expected_excess
        >>> round(expected_excess(50, 0.4), 4)
        0.1172

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV, mirrored.
    """
    curve = _curve(trials, using, confidence, "upper")
    return float(curve.value(1.0 - _check.rate(rate))[0])


def max_expected_excess(
    trials: int, *, using: Method = optimal_upper, confidence: float = 0.95, tolerance: float = 1e-6
) -> Certified:
    """How far above the true rate can the upper bound be on average, whatever the rate? Proved from both sides.

    Args:
        trials: Rollouts, up to 100,000.
        using: A function that makes an upper bound.
        confidence: The confidence of the bound.
        tolerance: How far apart the two proved ends may be, at least 1e-11.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.reference import max_expected_excess
        >>> round(max_expected_excess(10, tolerance=1e-9).high, 8)
        0.25753154

    Reference:
        Vincent et al., "How generalizable is my behavior cloning policy?", section IV, mirrored.
    """
    low, high, at = _curve(trials, using, confidence, "upper").maximise(_tolerance(tolerance))
    return _certified("The largest expected excess", trials, low, high, 1.0 - at)


def expected_width(trials: int, rate: float, *, using: Method = optimal_interval, confidence: float = 0.95) -> float:
    """Expected width of an interval of a success rate.

    Args:
        trials: Rollouts, up to 2,000.
        rate: The true success rate.
        using: A function that makes an interval.
        confidence: The confidence of the interval.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.reference import expected_width
        >>> from surefoot.stats import clopper_pearson
        >>> round(expected_width(50, 0.5), 4)
        0.2715
        >>> round(expected_width(50, 0.5, using=clopper_pearson), 4)
        0.2868

    Reference:
        Pratt (1961), "Length of confidence intervals".
    """
    from surefoot.numerics import polynomials

    return polynomials.value_at(_widths(trials, using, confidence), _check.rate(rate))


def max_expected_width(
    trials: int, *, using: Method = optimal_interval, confidence: float = 0.95, tolerance: float = 1e-6
) -> Certified:
    """How wide can the interval be on average, whatever the rate? Proved from both sides.

    Args:
        trials: Rollouts, up to 2,000.
        using: A function that makes an interval.
        confidence: The confidence of the interval.
        tolerance: How far apart the two proved ends may be, at least 1e-11.

    Assumptions:
        Independent rollouts with one success rate.

    Example:
        >>> from surefoot.reference import max_expected_width
        >>> round(max_expected_width(50).high, 6)
        0.27155

    Reference:
        Pratt (1961), "Length of confidence intervals"; Vincent et al., section IV.
    """
    from surefoot.numerics import polynomials

    low, high, at = polynomials.polynomial_maximum(_widths(trials, using, confidence), _tolerance(tolerance))
    return _certified("The largest expected width", trials, low, high, at)


def _curve(trials: int, using: Method, confidence: float, side: str) -> Curve:
    """The shortage curve; an upper bound is read as the lower bound of the failures."""
    import numpy as np

    from surefoot.numerics.rates import bound_shortage
    from surefoot.stats import all_counts

    trials = _total(trials, MOST)
    confidence = _check.confidence(confidence)
    if using is (optimal_lower if side == "lower" else optimal_upper):
        return bound_shortage.optimal(trials, 1.0 - confidence)
    _fits(using, confidence, side)
    low, high = all_counts.ends(using, np.arange(trials + 1.0), trials, confidence)
    return bound_shortage.steps(low if side == "lower" else 1.0 - high[::-1])


def _widths(trials: int, using: Method, confidence: float) -> Floats:
    """The interval's width at every count, averaged over the draw."""
    import numpy as np

    from surefoot.numerics.rates import bound_shortage
    from surefoot.stats import all_counts

    trials = _total(trials, MOST_WIDTH)
    confidence = _check.confidence(confidence)
    if using is optimal_interval:
        return bound_shortage.unbiased(trials, 1.0 - confidence)
    _fits(using, confidence, "interval")
    low, high = all_counts.ends(using, np.arange(trials + 1.0), trials, confidence)
    return high - low


def _fits(using: Method, confidence: float, wanted: str) -> None:
    from surefoot.stats import all_counts

    gives = all_counts.kind(using, confidence)
    name = getattr(using, "__name__", repr(using))
    if gives != wanted:
        what = {"lower": "a lower bound", "upper": "an upper bound", "interval": "an interval"}
        raise _check.wrong("using", f"give {what[wanted]}; got `{name}`, which gives {what[gives]}.", using)
    if all_counts.randomised(using):
        raise _check.wrong("using", f"be an optimal bound of surefoot or a method without a draw; got `{name}`.", using)


def _total(trials: int, most: int) -> int:
    trials = _check.whole(trials, "trials", least=1)
    if trials > most:
        raise _check.refused("trials", f"be at most {most:,}", trials, "Tightness is proved, not estimated.")
    return trials


def _tolerance(tolerance: float) -> float:
    tolerance = _check.positive(tolerance, "tolerance")
    if tolerance < 1e-11:
        raise _check.refused("tolerance", "be at least 1e-11", tolerance, "Rounding forbids a finer proof.")
    return tolerance


def _certified(what: str, trials: int, low: float, high: float, at: float) -> Certified:
    return Certified(low=low, high=high, at=at, what=f"{what} at n = {trials:,}")
