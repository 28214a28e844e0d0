"""Difference of two success rates, or of pairs: exact unconditional interval, test and verdict; published intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from surefoot import _check
from surefoot.core.assumptions import (
    ANY_RATES,
    EACH_END,
    GAIN_CLOSE,
    PAIRED_GAIN_CLOSE,
    PAIRS_APART,
    RATE_BY_POLICY,
    Assumed,
)
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.tally import PairTally, Tally, pair_tally, tallies
from surefoot.numerics import normal_quantiles

if TYPE_CHECKING:
    from surefoot.core.record import Record
    from surefoot.numerics.rates.paired_rates import PairCounts
    from surefoot.numerics.rates.two_rates import TwoCounts


def exact_gain(first: Tally, second: Tally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """Exact unconditional confidence interval and test for the difference of two proportions, of any sizes.

    For every gain d, p(d) is gamma plus the largest chance, over all rates with that gain that lie within their own
    Clopper-Pearson limits with confidence 1 - gamma, of a score statistic at least as far from 0 as the observed one;
    gamma is a 100,000th of the error. The interval is the hull of the gains with p(d) above 1 - confidence; the
    p-value is the largest p(d) on the far side of 0, 0 included; the verdict says on which side of the margin the
    interval lies. So interval, p-value and verdict cannot contradict each other.

    The largest chance over the rates is proved and rounded up, by less than a tenth of gamma; ends are rounded
    outward by at most a hundred-thousandth of a standard error. Gains beyond an end are looked at on a grid.

    Args:
        first: The policy the verdict is about.
        second: The policy it is compared with.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter.

    Assumptions:
        All rollouts are independent, each policy has one success rate, and the numbers of rollouts were fixed
        beforehand. Rollouts in shared conditions are pairs: see `exact_paired_gain`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import exact_gain
        >>> print(exact_gain(Tally(17, 20), Tally(14, 20)))
        +15.0 points [-12.9, +41.9] n=40 (95% exact unconditional interval), p = 0.290: cannot tell.

    Reference:
        Berger and Boos (1994), "P values maximized over a confidence set for the nuisance parameter"; Agresti and Min
        (2001), "On small-sample confidence intervals for parameters in discrete distributions".
    """
    return _gain(ComparedTallies.separate(first, second), confidence, margin)


def exact_paired_gain(pairs: PairTally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """Exact unconditional confidence interval and test for the difference of two proportions on pairs, of any number.

    The construction of `exact_gain` with Tango's statistic; the unknown is the share of discordant pairs, within its
    own Clopper-Pearson limits.

    Args:
        pairs: Pairs by which policy succeeded.
        confidence: One minus the error of the verdict.
        margin: The gain that would not matter.

    Assumptions:
        The pairs are independent of one another and their number was fixed beforehand; the two rollouts of a pair
        may depend on each other.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import exact_paired_gain
        >>> print(exact_paired_gain(PairTally(both=20, first_only=12, second_only=2, neither=16)))
        +20.0 points [+5.7, +34.7] n=50 (95% exact unconditional paired interval), p = 0.00695: the first is better.

    Reference:
        Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design"; Berger and Boos (1994).
    """
    return _gain(ComparedTallies.paired(pairs), confidence, margin)


def observed_gain(first: Tally, second: Tally) -> float:
    """First rate minus second, exactly 0 where the rates are equal."""
    return (first.successes * second.trials - second.successes * first.trials) / (first.trials * second.trials)


def exact_p(first: Tally, second: Tally, *, error: float) -> float:
    """The p-value of `exact_gain` at a confidence of 1 - error, without the interval."""
    return _oriented_p(oriented(ComparedTallies.separate(first, second).table)[0], error)


_KINDS = {4: ("exact unconditional", RATE_BY_POLICY), 3: ("exact unconditional paired", PAIRS_APART)}
"""By the numbers in a table: what its ends are called, and what must hold."""


@dataclass(frozen=True, slots=True)
class ComparedTallies:
    """One comparison of successes.

    Attributes:
        table: The counts (x1, n1, x2, n2), or the discordant pairs (b, c, n).
        data: The inputs.
        estimate: The observed gain.
        trials: Rollouts, or pairs.
    """

    table: tuple[int, ...]
    data: tuple[Record, ...]
    estimate: float
    trials: int

    @classmethod
    def separate(cls, first: Tally, second: Tally) -> Self:
        """Two tallies."""
        first, second = tallies(first, second)
        table = (first.successes, first.trials, second.successes, second.trials)
        return cls(table, (first, second), observed_gain(first, second), first.trials + second.trials)

    @classmethod
    def paired(cls, pairs: PairTally) -> Self:
        """Pairs."""
        pairs = pair_tally(pairs)
        return cls((pairs.first_only, pairs.second_only, pairs.pairs), (pairs,), pairs.gain, pairs.pairs)

    def interval(self, ends: tuple[float, float], confidence: float, *, central: bool = False) -> Interval:
        """The interval with these ends; `central` with each end a bound."""
        method, independent = _KINDS[len(self.table)]
        return Interval(
            low=ends[0],
            high=ends[1],
            estimate=self.estimate,
            confidence=float(confidence),
            method=("central " if central else "") + method,
            trials=self.trials,
            scale="gain",
            assumptions=(independent, ANY_RATES, *((EACH_END,) if central else ())),
            data=self.data,
        )


def batch(tables: Sequence[tuple[int, ...]], error: float, *, both: bool = True) -> TwoCounts | PairCounts:
    """Tables of one design with the limits of their nuisance, each with its mirror image after all of them.

    Args:
        tables: Counts (x1, n1, x2, n2) that share n1 and n2, or discordant pairs (b, c, n) that share n.
        error: The error asked for, of which the limits take a 100,000th; it must not come from the data.
        both: Whether both sides are asked about; if one is, the error also orders the tables.
    """
    import numpy as np

    from surefoot.numerics.rates import inversion, paired_rates, two_rates

    counts, gamma, ordering = np.array(tables, np.int64), inversion.GAMMA * error, None if both else error
    if counts.shape[1] == 4:
        return two_rates.tables(counts[:, 0], int(counts[0, 1]), counts[:, 2], int(counts[0, 3]), gamma, ordering)
    return paired_rates.tables(counts[:, 0], counts[:, 1], int(counts[0, 2]), gamma, ordering)


def oriented(table: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """The table with the larger design first, or the larger count, and whether first and second were swapped for it.

    So a comparison and its mirror image are one computation, and the smaller count is the one that is enumerated.
    """
    if len(table) == 3:
        b, c, n = table
        return ((c, b, n), True) if b < c else (table, False)
    x1, n1, x2, n2 = table
    return ((x2, n2, x1, n1), True) if (n1, x1) < (n2, x2) else (table, False)


def is_even(table: tuple[int, ...]) -> bool:
    """Whether swapping first and second changes nothing: then both sides are one, whatever the rounding."""
    return table[:2] == table[2:] if len(table) == 4 else table[0] == table[1]


def _inverted(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Ends and p-value by exact inversion."""
    table, turned = oriented(table)
    low, high, p_value = _oriented_ends(table, error)
    return (0.0 - high, 0.0 - low, p_value) if turned else (low, high, p_value)


@lru_cache(maxsize=4096)
def _oriented_p(table: tuple[int, ...], error: float) -> float:
    import numpy as np

    from surefoot.numerics.rates import inversion

    return float(inversion.tail(batch([table], error), np.arange(2), 0.0, both=True).min())


@lru_cache(maxsize=4096)
def _oriented_ends(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Of one table as it is; the same is asked for again by families and reports."""
    from surefoot.numerics.rates import inversion

    ends, tails = inversion.lower_ends(batch([table], error), error, both=True)
    low, other = ends.tolist()
    if is_even(table):
        low = other = min(low, other)
    return low, 0.0 - other, float(tails.min())


def _gain(one: ComparedTallies, confidence: float, margin: float) -> Gain:
    low, high, p_value = _inverted(one.table, 1.0 - _check.confidence(confidence))
    verdict = decide(low, high, _check.margin(margin))
    return Gain(one.interval((low, high), confidence), p_value, verdict, margin=float(margin))


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
    return tally.rate, normal_quantiles.wilson_low(k, n, z), normal_quantiles.wilson_high(k, n, z)


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
