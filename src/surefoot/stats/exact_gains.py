"""By how much is the first policy better, with interval, p-value and verdict from one exact inversion?"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import ANY_RATES, GAIN_NEARLY, PAIRS_APART, RATE_BY_POLICY, Assumption
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.tally import PairTally, Tally, pair_tally, tallies
from surefoot.core.words import spoken

if TYPE_CHECKING:
    from surefoot.core.record import Record

EXACT_ROLLOUTS = 1000
"""Up to so many rollouts of both policies together `exact_gain` is exact; above, Miettinen-Nurminen."""

EXACT_PAIRS = 500
"""Up to so many pairs `exact_paired_gain` is exact; above, Tango."""


def exact_gain(first: Tally, second: Tally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """By how much is the first policy better? Interval, p-value and verdict that cannot contradict each other.

    For every gain d the exact p-value p(d) is the largest chance, over all rates with that gain, of a score
    statistic at least as far from 0 as the observed one. The interval is the hull of the gains with p(d) above
    1 - confidence; the p-value is the largest p(d) on the far side of 0, 0 included; the verdict says on which side
    of the margin the interval lies. Ends are rounded outward by at most 1e-6 (2e-5 above 200 rollouts) and the
    p-value upward by at most one part in ten thousand (in a thousand where it decides nothing, or above 200).

    Above 1,000 rollouts in all the Miettinen-Nurminen interval and its own score test take over, in the same way.

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
        Agresti and Min (2001), "On small-sample confidence intervals for parameters in discrete distributions";
        Miettinen and Nurminen (1985), "Comparative analysis of two rates".
    """
    first, second = tallies(first, second)
    total = first.trials + second.trials
    return _gain(
        (first.successes, first.trials, second.successes, second.trials),
        (first, second),
        observed_gain(first, second),
        total,
        f"more than {EXACT_ROLLOUTS:,} {spoken().rollouts} in all" if total > EXACT_ROLLOUTS else None,
        ("exact unconditional", "Miettinen-Nurminen"),
        RATE_BY_POLICY,
        confidence,
        margin,
    )


def exact_paired_gain(pairs: PairTally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """By how much is the first policy better on the same conditions? One exact inversion on pairs.

    The construction of `exact_gain` with Tango's statistic and the share of discordant pairs as the unknown.
    Above 500 pairs Tango's interval and its own score test take over, in the same way.

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
        +20.0 points [+5.7, +34.7] n=50 (95% exact unconditional paired interval), p = 0.00751: the first is better.

    Reference:
        Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
        paired-sample design"; Agresti and Min (2001).
    """
    pairs = pair_tally(pairs)
    return _gain(
        (pairs.first_only, pairs.second_only, pairs.pairs),
        (pairs,),
        pairs.gain,
        pairs.pairs,
        f"more than {EXACT_PAIRS:,} pairs" if pairs.pairs > EXACT_PAIRS else None,
        ("exact unconditional paired", "Tango"),
        PAIRS_APART,
        confidence,
        margin,
    )


def observed_gain(first: Tally, second: Tally) -> float:
    """First rate minus second, exactly 0 where the rates are equal."""
    return (first.successes * second.trials - second.successes * first.trials) / (first.trials * second.trials)


@lru_cache(maxsize=4096)
def _inverted(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Ends and p-value by exact inversion; the same table is asked for again by families and reports."""
    from surefoot.numerics import inversion, score_intervals

    return inversion.invert(score_intervals.family(table), error)


def _gain(
    table: tuple[int, ...],
    data: tuple[Record, ...],
    estimate: float,
    trials: int,
    too_many: str | None,
    methods: tuple[str, str],
    independent: Assumption,
    confidence: float,
    margin: float,
) -> Gain:
    """The gain by exact inversion or, where there are too many for that, by the asymptotic score test."""
    from surefoot.numerics import score_intervals

    error = 1.0 - _check.confidence(confidence)
    notes: tuple[str, ...] = ()
    if too_many is None:
        low, high, p_value = _inverted(table, error)
        method, assumptions = methods[0], (independent, ANY_RATES)
    else:
        low, high, p_value = score_intervals.ends(table, error)
        method, assumptions = methods[1], (independent, GAIN_NEARLY)
        notes = (f"With {too_many} the score interval is not enumerated but asymptotic.",)
    interval = Interval(
        low=low,
        high=high,
        estimate=estimate,
        confidence=float(confidence),
        method=method,
        trials=trials,
        scale="gain",
        assumptions=assumptions,
        notes=notes,
        data=data,
    )
    verdict = decide(low, high, _check.margin(margin))
    return Gain(interval, p_value, verdict, margin=float(margin))
