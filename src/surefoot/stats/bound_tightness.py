"""Exact coverage of intervals and bounds of a success rate, and their expected distance from the truth.

Both need a method's ends at all counts at once: entered methods may have a vectorised kernel; any other function from
a tally to an interval or a bound is called count by count.

Shortage: how far a lower bound falls below the rate. Excess: how far an upper bound rises above it. Width: how far
the two ends of an interval are apart. The maximum over rates is what a plan can promise before the first rollout.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from surefoot import _check
from surefoot.core.interval import Bound, Certified, Interval
from surefoot.core.tally import Tally
from surefoot.stats.optimal_bounds import optimal_interval, optimal_lower, optimal_upper
from surefoot.stats.rate_methods import method_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.rates.randomised_counts import Curve


MOST = 100_000
"""The most rollouts for which shortage and excess are computed."""

MOST_WIDTH = 2_000
"""The most rollouts for which widths are computed."""
Method = Callable[..., Interval | Bound]
Ends = tuple["Floats", "Floats"]
MOST_COUNTED = 1_000_000
"""The most rollouts for which coverage is counted."""


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
    from surefoot.numerics.rates import randomised_counts

    trials = _total(trials, MOST)
    confidence = _check.confidence(confidence)
    if using is (optimal_lower if side == "lower" else optimal_upper):
        return randomised_counts.optimal(trials, 1.0 - confidence)
    _fits(using, confidence, side)
    low, high = ends(using, np.arange(trials + 1.0), trials, confidence)
    return randomised_counts.steps(low if side == "lower" else 1.0 - high[::-1])


def _widths(trials: int, using: Method, confidence: float) -> Floats:
    """The interval's width at every count, averaged over the draw."""
    from surefoot.numerics.rates import randomised_counts

    trials = _total(trials, MOST_WIDTH)
    confidence = _check.confidence(confidence)
    if using is optimal_interval:
        return randomised_counts.unbiased_widths(trials, 1.0 - confidence)
    _fits(using, confidence, "interval")
    low, high = ends(using, np.arange(trials + 1.0), trials, confidence)
    return high - low


def _fits(using: Method, confidence: float, wanted: str) -> None:

    gives = kind(using, confidence)
    name = getattr(using, "__name__", repr(using))
    if gives != wanted:
        what = {"lower": "a lower bound", "upper": "an upper bound", "interval": "an interval"}
        raise _check.wrong("using", f"give {what[wanted]}; got `{name}`, which gives {what[gives]}.", using)
    if randomised(using):
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


def randomised(method: Method) -> bool:
    """Whether the method takes a draw."""
    return "draw" in inspect.signature(method).parameters


def ends(method: Method, successes: ArrayLike, trials: float, confidence: float, draws: ArrayLike = 0.0) -> Ends:
    """Low and high ends at every count; a bound has 0 or 1 on its open side.

    Args:
        method: The function that makes the interval or bound.
        successes: The counts; the kernels of entered methods also take fractions of one.
        trials: The total.
        confidence: The confidence asked of the method.
        draws: The draw at every count, for a randomised method.
    """
    counts = np.asarray(successes, float)
    tail = 1.0 - _check.confidence(confidence)
    known = method_of(method)
    if known is not None and known.ends is not None:
        chances = (np.asarray(draws, float),) if known.drawn else ()
        return _shaped(known.ends(counts, trials, tail, *chances), counts)
    chance = np.broadcast_to(np.asarray(draws, float), counts.shape)
    drawn = randomised(method)
    pairs = [
        _pair(method(Tally(int(k), int(trials)), confidence=confidence, **({"draw": float(u)} if drawn else {})))
        for k, u in zip(counts.ravel(), chance.ravel(), strict=True)
    ]
    flat = np.array(pairs, float).reshape(-1, 2)
    return flat[:, 0].reshape(counts.shape), flat[:, 1].reshape(counts.shape)


def smooth(method: Method) -> bool:
    """Whether the method may be asked at fractions of a count."""
    known = method_of(method)
    return known is not None and known.ends is not None and not known.drawn


def kind(method: Method, confidence: float) -> str:
    """What the method gives: ``interval``, ``lower`` or ``upper``."""
    sample = _sample(method, confidence)
    return sample.side if isinstance(sample, Bound) else "interval"


def name(method: Method, confidence: float) -> str:
    """What the method calls itself."""
    return _sample(method, confidence).method


def _sample(method: Method, confidence: float) -> Interval | Bound:
    if not callable(method):
        raise _check.mistyped("using", "be a function such as `wilson`", method)
    return method(Tally(1, 2), confidence=confidence, **({"draw": 0.5} if randomised(method) else {}))


def _shaped(ends: Ends, like: Floats) -> Ends:
    low, high = ends
    return np.broadcast_to(np.asarray(low, float), like.shape), np.broadcast_to(np.asarray(high, float), like.shape)


def _pair(result: object) -> tuple[float, float]:
    if isinstance(result, Interval):
        return result.low, result.high
    if isinstance(result, Bound):
        return (result.value, 1.0) if result.side == "lower" else (0.0, result.value)
    raise _check.mistyped("method", "give an Interval or a Bound", result)


def coverage(method: Method, *, trials: int, rate: float, confidence: float = 0.95) -> float:
    """How often does this method hold the truth at this rate? Counted over all outcomes, not simulated.

    For a method with a draw the share of draws that hold the truth is found at each count from the bound itself: the
    ends must move one way as the draw grows.

    Args:
        method: A function from a tally to an interval or a bound, such as `wilson`; your own will do.
        trials: Rollouts, up to 1,000,000.
        rate: The true success rate.
        confidence: The confidence asked of the method.

    Assumptions:
        Independent rollouts with one success rate. An end that equals the rate holds it.

    Example:
        >>> from surefoot.stats import coverage, wald, wilson
        >>> round(coverage(wilson, trials=10, rate=0.9), 4)
        0.9298
        >>> round(coverage(wald, trials=10, rate=0.9), 4)
        0.6497

    Reference:
        Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", section 2.
    """
    from surefoot.numerics.rates import binomial

    trials = _check.whole(trials, "trials", least=1)
    if trials > MOST_COUNTED:
        raise _check.refused("trials", f"be at most {MOST_COUNTED:,}", trials, "Coverage is counted, not estimated.")
    rate = _check.rate(rate)
    confidence = _check.confidence(confidence)
    if not callable(method):
        raise _check.mistyped("method", "be a function such as `wilson`", method)
    first, last = binomial.likely(trials, rate)
    counts = np.arange(first, last + 1, dtype=float)
    chances = binomial.pmf(counts, trials, rate)
    if randomised(method):
        held = _share_of_draws(method, counts, trials, rate, confidence)
    else:
        low, high = ends(method, counts, trials, confidence)
        held = np.where((low <= rate) & (rate <= high), 1.0, 0.0)
    return min(1.0, float(np.sum(chances * held)))


def _share_of_draws(method: Method, counts: Floats, trials: int, rate: float, confidence: float) -> Floats:
    """The share of draws at each count for which the rate is held.

    Each end moves one way with the draw, so the draws on its right side form one stretch from 0 or to 1.
    """
    from surefoot.numerics import roots

    def room(draws: Floats, chosen: Floats, end: int) -> Floats:
        """How far the end is on its right side of the rate; negative on the wrong side, never 0."""
        low, high = ends(method, chosen, trials, confidence, draws)
        away = rate - low if end == 0 else high - rate
        # An end that equals the rate holds it, perhaps for a whole stretch of draws: the turn is where that ends.
        return np.where(away == 0.0, 5e-324, away)

    start, stop = np.zeros(len(counts)), np.ones(len(counts))
    for end in (0, 1):
        first, last = room(np.zeros(len(counts)), counts, end) > 0, room(np.ones(len(counts)), counts, end) > 0
        stop = np.where(~first & ~last, 0.0, stop)
        turning = np.flatnonzero(first != last)
        if len(turning):
            chosen, rising = counts[turning], last[turning]
            turn = roots.solve(lambda draws, chosen, end=end: room(draws, chosen, end), 0.0, 1.0, chosen, within=1e-14)
            start[turning] = np.where(rising, np.maximum(start[turning], turn), start[turning])
            stop[turning] = np.where(rising, stop[turning], np.minimum(stop[turning], turn))
    share: Floats = np.maximum(stop - start, 0.0)
    return share
