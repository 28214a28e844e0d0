"""By how much is the first policy better, with interval, p-value and verdict from one exact inversion?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from surefoot import _check
from surefoot.core.assumptions import ANY_RATES, EACH_END, GAIN_NEARLY, PAIRS_APART, RATE_BY_POLICY
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
    return _gain(ComparedTallies.separate(first, second), confidence, margin)


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
    return _gain(ComparedTallies.paired(pairs), confidence, margin)


def observed_gain(first: Tally, second: Tally) -> float:
    """First rate minus second, exactly 0 where the rates are equal."""
    return (first.successes * second.trials - second.successes * first.trials) / (first.trials * second.trials)


_KINDS = {
    4: (EXACT_ROLLOUTS, "exact unconditional", "Miettinen-Nurminen", RATE_BY_POLICY),
    3: (EXACT_PAIRS, "exact unconditional paired", "Tango", PAIRS_APART),
}
"""By the numbers in a table: how many are enumerated at most, what ends are called then and above, what must hold."""


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

    @property
    def exact(self) -> bool:
        """Whether tables are enumerated; above, the asymptotic score limits."""
        return self.trials <= _KINDS[len(self.table)][0]

    def interval(
        self,
        ends: tuple[float, float],
        confidence: float,
        *,
        exact: bool,
        central: bool = False,
        notes: tuple[str, ...] = (),
    ) -> Interval:
        """The interval with these ends, by enumeration or by the score limits; `central` with each end a bound."""
        _, enumerated, asymptotic, independent = _KINDS[len(self.table)]
        return Interval(
            low=ends[0],
            high=ends[1],
            estimate=self.estimate,
            confidence=float(confidence),
            method=("central " if central else "") + enumerated if exact else asymptotic,
            trials=self.trials,
            scale="gain",
            assumptions=(independent, ANY_RATES if exact else GAIN_NEARLY, *((EACH_END,) if central else ())),
            notes=notes,
            data=self.data,
        )


@lru_cache(maxsize=4096)
def _inverted(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Ends and p-value by exact inversion; the same table is asked for again by families and reports."""
    from surefoot.numerics import inversion, score_intervals

    return inversion.invert(score_intervals.family(table), error)


def _gain(one: ComparedTallies, confidence: float, margin: float) -> Gain:
    """The gain by exact inversion or, where there are too many for that, by the asymptotic score test."""
    from surefoot.numerics import score_intervals

    error = 1.0 - _check.confidence(confidence)
    notes: tuple[str, ...] = ()
    if one.exact:
        low, high, p_value = _inverted(one.table, error)
    else:
        low, high, p_value = score_intervals.ends(one.table, error)
        many = f"{EXACT_PAIRS:,} pairs" if len(one.table) == 3 else f"{EXACT_ROLLOUTS:,} {spoken().rollouts} in all"
        notes = (f"With more than {many} the score interval is not enumerated but asymptotic.",)
    interval = one.interval((low, high), confidence, exact=one.exact, notes=notes)
    verdict = decide(low, high, _check.margin(margin))
    return Gain(interval, p_value, verdict, margin=float(margin))
