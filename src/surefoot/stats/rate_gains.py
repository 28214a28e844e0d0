"""Published intervals of the difference of two success rates."""

from __future__ import annotations

import math

from surefoot import _check
from surefoot.core.assumptions import GAIN_CLOSE, PAIRED_GAIN_CLOSE, PAIRS_APART, RATE_BY_POLICY, Assumed
from surefoot.core.interval import Interval
from surefoot.core.tally import PairTally, Tally, pair_tally, tallies
from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import rate_ends
from surefoot.stats.exact_gains import observed_gain


def newcombe(first: Tally, second: Tally, *, confidence: float = 0.95) -> Interval:
    """Newcombe's hybrid score interval of the difference of two proportions.

    Assumptions:
        Independent rollouts, one success rate per policy. Coverage is close to the confidence.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import newcombe
        >>> print(newcombe(Tally(140, 200), Tally(120, 200)))
        +10.0 points [+0.6, +19.2] n=400 (95% Newcombe interval).

    Reference:
        Newcombe (1998), "Interval estimation for the difference between independent proportions", method 10.
    """
    first, second = tallies(first, second)
    (p1, low1, high1), (p2, low2, high2) = _wilson(first, confidence), _wilson(second, confidence)
    gain = observed_gain(first, second)
    low = gain - math.hypot(p1 - low1, high2 - p2)
    high = gain + math.hypot(high1 - p1, p2 - low2)
    return _interval(low, high, gain, confidence, "Newcombe", (first, second), (RATE_BY_POLICY, GAIN_CLOSE))


def miettinen_nurminen(first: Tally, second: Tally, *, confidence: float = 0.95) -> Interval:
    """Which gains does the score test not reject? Asymptotic, with the N/(N-1) variance.

    Assumptions:
        Independent rollouts, one success rate per policy. Coverage is close to the confidence.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import miettinen_nurminen
        >>> print(miettinen_nurminen(Tally(140, 200), Tally(120, 200)))
        +10.0 points [+0.6, +19.3] n=400 (95% Miettinen-Nurminen interval).

    Reference:
        Miettinen and Nurminen (1985), "Comparative analysis of two rates".
    """
    from surefoot.numerics.rates import inversion

    first, second = tallies(first, second)
    table = (first.successes, first.trials, second.successes, second.trials)
    low, high, _ = inversion.score_interval(table, 1.0 - _check.confidence(confidence))
    gain = observed_gain(first, second)
    return _interval(low, high, gain, confidence, "Miettinen-Nurminen", (first, second), (RATE_BY_POLICY, GAIN_CLOSE))


def agresti_caffo(first: Tally, second: Tally, *, confidence: float = 0.95) -> Interval:
    """Agresti-Caffo interval of the difference of two proportions.

    Assumptions:
        Independent rollouts, one success rate per policy. Coverage is close to the confidence. As
        published it may reach beyond 1 or -1, and says so when it does.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import agresti_caffo
        >>> print(agresti_caffo(Tally(140, 200), Tally(120, 200)))
        +10.0 points [+0.6, +19.2] n=400 (95% Agresti-Caffo interval).

    Reference:
        Agresti and Caffo (2000), "Simple and effective confidence intervals for proportions and differences of
        proportions result from adding two successes and two failures".
    """
    first, second = tallies(first, second)
    z = normal_quantiles.upper_quantile((1.0 - _check.confidence(confidence)) / 2.0)
    p1, p2 = ((tally.successes + 1.0) / (tally.trials + 2.0) for tally in (first, second))
    half = z * math.sqrt(p1 * (1.0 - p1) / (first.trials + 2.0) + p2 * (1.0 - p2) / (second.trials + 2.0))
    low, high = p1 - p2 - half, p1 - p2 + half
    notes = ("An end lies beyond what a gain can be; read it as 100 points.",) if low < -1.0 or high > 1.0 else ()
    gain = observed_gain(first, second)
    if not low <= gain <= high:  # with very few rollouts: the estimate is then the one that the interval is made around
        gain, notes = p1 - p2, (*notes, "The estimate adds one success and one failure to each.")
    return _interval(low, high, gain, confidence, "Agresti-Caffo", (first, second), (RATE_BY_POLICY, GAIN_CLOSE), notes)


def tango(pairs: PairTally, *, confidence: float = 0.95) -> Interval:
    """Which gains does the paired score test not reject? Asymptotic.

    Assumptions:
        Independent pairs; the two rollouts of a pair may depend on each other.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import tango
        >>> print(tango(PairTally(both=20, first_only=12, second_only=2, neither=16)))
        +20.0 points [+6.1, +34.5] n=50 (95% Tango interval).

    Reference:
        Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design".
    """
    from surefoot.numerics.rates import inversion

    pairs = pair_tally(pairs)
    table = (pairs.first_only, pairs.second_only, pairs.pairs)
    low, high, _ = inversion.score_interval(table, 1.0 - _check.confidence(confidence))
    return _interval(low, high, pairs.gain, confidence, "Tango", (pairs,), (PAIRS_APART, PAIRED_GAIN_CLOSE))


def newcombe_paired(pairs: PairTally, *, confidence: float = 0.95) -> Interval:
    """Newcombe's interval of the difference of two paired proportions.

    Assumptions:
        Independent pairs; the two rollouts of a pair may depend on each other.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import newcombe_paired
        >>> print(newcombe_paired(PairTally(both=20, first_only=12, second_only=2, neither=16)))
        +20.0 points [+5.6, +33.0] n=50 (95% paired Newcombe interval).

    Reference:
        Newcombe (1998), "Improved confidence intervals for the difference between binomial proportions based on
        paired data", method 10.
    """
    pairs = pair_tally(pairs)
    (p1, low1, high1), (p2, low2, high2) = (_wilson(one, confidence) for one in (pairs.first, pairs.second))
    margins = pairs.first.successes * pairs.first.failures * pairs.second.successes * pairs.second.failures
    excess = float(pairs.both * pairs.neither - pairs.first_only * pairs.second_only)
    if excess > 0.0:
        excess = max(excess - pairs.pairs / 2.0, 0.0)
    phi = excess / math.sqrt(margins) if margins else 0.0
    down1, up1, down2, up2 = p1 - low1, high1 - p1, p2 - low2, high2 - p2
    low = pairs.gain - math.sqrt(max(down1**2 - 2.0 * phi * down1 * up2 + up2**2, 0.0))
    high = pairs.gain + math.sqrt(max(up1**2 - 2.0 * phi * up1 * down2 + down2**2, 0.0))
    return _interval(low, high, pairs.gain, confidence, "paired Newcombe", (pairs,), (PAIRS_APART, PAIRED_GAIN_CLOSE))


def _wilson(tally: Tally, confidence: float) -> tuple[float, float, float]:
    z = normal_quantiles.upper_quantile((1.0 - _check.confidence(confidence)) / 2.0)
    k, n = tally.successes, tally.trials
    return tally.rate, rate_ends.wilson_low(k, n, z), rate_ends.wilson_high(k, n, z)


def _interval(
    low: float,
    high: float,
    gain: float,
    confidence: float,
    method: str,
    data: tuple[Tally, Tally] | tuple[PairTally],
    assumptions: tuple[Assumed, ...],
    notes: tuple[str, ...] = (),
) -> Interval:
    trials = sum(tally.trials if isinstance(tally, Tally) else tally.pairs for tally in data)
    return Interval(
        low=min(low, gain),  # Agresti and Caffo's middle is drawn in, and may leave it out with few rollouts
        high=max(high, gain),
        estimate=gain,
        confidence=float(confidence),
        method=method,
        trials=trials,
        scale="gain",
        assumptions=assumptions,
        notes=notes,
        data=data,
    )
