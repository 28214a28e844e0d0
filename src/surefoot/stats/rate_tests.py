"""Published tests of the equality of two success rates, from separate rollouts or from pairs (McNemar's).

Each gives a two-sided p-value and one for each direction. What `compare` prints is none of these but `exact_gain` and
`exact_paired_gain`, whose p-value, interval and verdict belong together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import GAIN_NEARLY, PAIRS_APART, RATE_BY_POLICY, TEST_GUARANTEED, Assumed, Assumption
from surefoot.core.record import Record
from surefoot.core.tally import PairTally, Tally, pair_tally, tallies
from surefoot.numerics import normal_quantiles
from surefoot.stats.rate_gains import observed_gain

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.polynomials import Peak


MOST_CELLS = 2 * 10**7
"""Tables that an unconditional test enumerates, by total and by the first policy's successes."""


@dataclass(frozen=True, slots=True)
class GainTest(Record):
    """A test of no gain: a two-sided p-value, and one for each direction.

    Attributes:
        p_value: Two-sided: how surprising so large a gain, either way, would be if there were none.
        first_better: One-sided: small when the first policy looks better.
        second_better: One-sided: small when the second policy looks better.
        method: The test.
        two_sided: How the two-sided p-value is made.
        estimate: The observed gain, first minus second.
        statistic: The value the p-value is computed from, where there is one.
        common_rate: The common success rate at which the two-sided p-value is largest, where one was searched for.
        assumptions: What must hold.
        notes: What a reader must know besides.
        data: The inputs.
    """

    p_value: float
    first_better: float
    second_better: float
    method: str
    two_sided: str
    estimate: float
    statistic: float | None = None
    common_rate: float | None = None
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[str, ...] = ()
    data: tuple[Record, ...] = ()

    def __str__(self) -> str:
        gain = formatting.number(self.estimate, "gain")
        return f"{gain} points, {formatting.p_value(self.p_value)} ({self.method}, two-sided: {self.two_sided})."


def fisher(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal, given how many succeeded in all? Fisher's exact test, conservative.

    Assumptions:
        Independent rollouts, one success rate per policy. Two-sided: all tables with the same total of successes
        that are at most as likely.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import fisher
        >>> print(fisher(Tally(9, 10), Tally(3, 10)))
        +60.0 points, p = 0.0198 (Fisher's exact test, two-sided: all tables at most as likely).

    Reference:
        Fisher (1935), "The logic of inductive inference".
    """
    from surefoot.numerics.rates import hypergeometric

    x1, n1, x2, n2 = _counts(first, second)
    row = hypergeometric.row(n1, n2, x1 + x2)
    both = row[row <= row[x1] * (1.0 + hypergeometric.TIE)].sum()
    greater, less = row[x1:].sum(), row[: x1 + 1].sum()
    return _test((both, greater, less), "Fisher's exact test", "all tables at most as likely", first, second)


def barnard(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? Barnard's unconditional exact test with the pooled statistic.

    Tables are ordered in whole numbers, so no tie is lost, and the maximum over the common rate is certified.

    Assumptions:
        Independent rollouts, one success rate per policy. Two-sided: the statistic as far from 0, either way.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import barnard
        >>> print(barnard(Tally(9, 10), Tally(3, 10)))
        +60.0 points, p = 0.00796 (Barnard's exact test, two-sided: as far from 0, either way).

    Reference:
        Barnard (1947), "Significance tests for 2 x 2 tables"; Suissa and Shuster (1985).
    """
    from surefoot.numerics.rates import hypergeometric

    _enumerable(first, second)
    x1, n1, x2, n2 = _counts(first, second)
    greater = hypergeometric.pooled_at_least(n1, n2, x1, x1 + x2)
    less = hypergeometric.pooled_at_least(n2, n1, x2, x1 + x2)
    if x1 * n2 > x2 * n1:
        both = greater + hypergeometric.pooled_at_most(n1, n2, x1, x1 + x2)
    elif x1 * n2 < x2 * n1:
        both = less + hypergeometric.pooled_at_most(n2, n1, x2, x1 + x2)
    else:
        both = greater * 0.0 + 1.0
    return _searched(both, greater, less, "Barnard's exact test", "as far from 0, either way", first, second)


def barnard_unpooled(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? Barnard's unconditional exact test with the unpooled statistic.

    Assumptions:
        Independent rollouts, one success rate per policy. Two-sided: the statistic as far from 0, either way.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import barnard_unpooled
        >>> print(barnard_unpooled(Tally(8, 8), Tally(5, 9)))
        +44.4 points, p = 0.0311 (Barnard's exact test, unpooled, two-sided: as far from 0, either way).

    Reference:
        Barnard (1947), "Significance tests for 2 x 2 tables"; Suissa and Shuster (1985).
    """
    from surefoot.numerics.rates import hypergeometric

    _enumerable(first, second)
    x1, n1, x2, n2 = _counts(first, second)
    both, greater, less = hypergeometric.unpooled(n1, n2, x1, x1 + x2)
    return _searched(both, greater, less, "Barnard's exact test, unpooled", "as far from 0, either way", first, second)


def boschloo(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? Boschloo's unconditional exact test: Fisher's p-value as statistic, never weaker.

    Assumptions:
        Independent rollouts, one success rate per policy. Two-sided: twice the smaller one-sided p-value. For
        the other definition see `boschloo_two_sided`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import boschloo
        >>> print(boschloo(Tally(9, 10), Tally(3, 10)))
        +60.0 points, p = 0.00796 (Boschloo's exact test, two-sided: twice the smaller one-sided).

    Reference:
        Boschloo (1970), "Raised conditional level of significance for the 2 x 2-table when testing the equality
        of two probabilities".
    """
    greater, less = _boschloo(first, second), _boschloo(second, first)
    smaller = greater if greater.value <= less.value else less
    return _test(
        (2.0 * smaller.value, greater.value, less.value),
        "Boschloo's exact test",
        "twice the smaller one-sided",
        first,
        second,
        common_rate=smaller.at,
    )


def boschloo_two_sided(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? Boschloo's test with Fisher's two-sided p-value as statistic.

    Assumptions:
        Independent rollouts, one success rate per policy. Two-sided: Fisher's two-sided p-value as small or
        smaller; the one-sided p-values are those of `boschloo`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import boschloo_two_sided
        >>> print(boschloo_two_sided(Tally(8, 8), Tally(5, 9)))
        +44.4 points, p = 0.0525 (Boschloo's exact test, two-sided: Fisher's two-sided p-value as statistic).

    Reference:
        Boschloo (1970); Mehrotra, Chan and Berger (2003), "A cautionary note on exact unconditional inference for
        a difference between two independent binomial proportions".
    """
    from surefoot.numerics.rates import hypergeometric

    _enumerable(first, second)
    x1, n1, x2, n2 = _counts(first, second)
    table = hypergeometric.two_sided(n1, n2)
    peak = hypergeometric.supremum(hypergeometric.largest_at_most(table, float(table[x1 + x2, x1])))
    return _test(
        (peak.value, _boschloo(first, second).value, _boschloo(second, first).value),
        "Boschloo's exact test",
        "Fisher's two-sided p-value as statistic",
        first,
        second,
        common_rate=peak.at,
    )


def pooled_score(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? The pooled z test, asymptotic.

    Assumptions:
        Independent rollouts, one success rate per policy, and many of them: the error is close to the level only.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import pooled_score
        >>> print(pooled_score(Tally(140, 200), Tally(120, 200)))
        +10.0 points, p = 0.0361 (pooled score test, two-sided: as far from 0, either way).

    Reference:
        Pearson (1900); the score test at no gain.
    """
    return _score(first, second, 1.0, "pooled score test")


def miettinen_nurminen_score(first: Tally, second: Tally) -> GainTest:
    """Could the rates be equal? The pooled z test with the N/(N-1) variance of Miettinen and Nurminen, asymptotic.

    Assumptions:
        Independent rollouts, one success rate per policy, and many of them: the error is close to the level only.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import miettinen_nurminen_score
        >>> round(miettinen_nurminen_score(Tally(140, 200), Tally(120, 200)).p_value, 6)
        0.036265

    Reference:
        Miettinen and Nurminen (1985), "Comparative analysis of two rates".
    """
    _, n1, _, n2 = _counts(first, second)
    return _score(first, second, 1.0 - 1.0 / (n1 + n2), "Miettinen-Nurminen score test")


def _score(first: Tally, second: Tally, factor: float, method: str) -> GainTest:
    x1, n1, x2, n2 = _counts(first, second)
    rate = (x1 + x2) / (n1 + n2)
    spread = math.sqrt(rate * (1.0 - rate) * (1.0 / n1 + 1.0 / n2))
    gap = observed_gain(first, second)
    z = math.sqrt(factor) * gap / spread if gap else 0.0
    tails = (2.0 * normal_quantiles.tail(abs(z)), normal_quantiles.tail(z), normal_quantiles.tail(-z))
    return _test(tails, method, "as far from 0, either way", first, second, statistic=z, assumption=GAIN_NEARLY)


def _boschloo(first: Tally, second: Tally) -> Peak:
    from surefoot.numerics.rates import hypergeometric

    _enumerable(first, second)
    x1, n1, x2, n2 = _counts(first, second)
    table = hypergeometric.tails(n1, n2)
    return hypergeometric.supremum(hypergeometric.largest_at_most(table, float(table[x1 + x2, x1])))


def _searched(
    both: Floats, greater: Floats, less: Floats, method: str, two_sided: str, first: Tally, second: Tally
) -> GainTest:
    from surefoot.numerics.rates import hypergeometric

    either, one, other = hypergeometric.suprema(both, greater, less)
    return _test((either.value, one.value, other.value), method, two_sided, first, second, common_rate=either.at)


def _enumerable(first: Tally, second: Tally) -> None:
    first, second = tallies(first, second)
    cells = (first.trials + second.trials) * max(first.trials, second.trials)
    if cells > MOST_CELLS:
        raise _check.wrong(
            ("first", "second"),
            f"be small enough to enumerate all tables, some 3,000 rollouts each; got "
            f"{first.trials:,} and {second.trials:,}. `exact_gain` and `pooled_score` take any number.",
            (first, second),
        )


def _counts(first: Tally, second: Tally) -> tuple[int, int, int, int]:
    first, second = tallies(first, second)
    return first.successes, first.trials, second.successes, second.trials


def _test(
    values: tuple[float, float, float],
    method: str,
    two_sided: str,
    first: Tally,
    second: Tally,
    *,
    statistic: float | None = None,
    common_rate: float | None = None,
    assumption: Assumption = TEST_GUARANTEED,
) -> GainTest:
    both, greater, less = (min(1.0, float(value)) for value in values)
    return GainTest(
        p_value=both,
        first_better=greater,
        second_better=less,
        method=method,
        two_sided=two_sided,
        estimate=observed_gain(first, second),
        statistic=statistic,
        common_rate=None if common_rate is None else float(common_rate),
        assumptions=(RATE_BY_POLICY, assumption),
        data=(first, second),
    )


def mcnemar(pairs: PairTally) -> GainTest:
    """Could the rates be equal, given the discordant pairs? The exact sign test on them.

    Assumptions:
        Independent pairs. Two-sided: twice the smaller tail, at most 1; without a discordant pair p = 1.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import mcnemar
        >>> print(mcnemar(PairTally(both=20, first_only=12, second_only=2, neither=16)))
        +20.0 points, p = 0.0130 (McNemar's exact test, two-sided: twice the smaller tail).

    Reference:
        McNemar (1947), "Note on the sampling error of the difference between correlated proportions or percentages".
    """
    pairs = pair_tally(pairs)
    first, second = _tails(pairs.first_only, pairs.second_only)
    tails = (2.0 * min(first, second), first, second)
    return _pair_test(pairs, tails, "McNemar's exact test", "twice the smaller tail", TEST_GUARANTEED)


def mcnemar_midp(pairs: PairTally) -> GainTest:
    """Could the rates be equal, given the discordant pairs? The observed count itself weighs half: not guaranteed.

    Assumptions:
        Independent pairs. The error can exceed the level a little. Two-sided: the smaller tail doubled, less the
        chance of the observed count; 1 when the two counts are equal.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import mcnemar_midp
        >>> print(mcnemar_midp(PairTally(both=20, first_only=12, second_only=2, neither=16)))
        +20.0 points, p = 0.00739 (McNemar's mid-p test, two-sided: the smaller tail doubled, the observed half).

    Reference:
        Fagerland, Lydersen and Laake (2013), "The McNemar test for binary matched-pairs data: mid-p and asymptotic
        are better than exact conditional".
    """
    from surefoot.numerics.rates import binomial

    pairs = pair_tally(pairs)
    b, c = pairs.first_only, pairs.second_only
    here = float(binomial.pmf(b, b + c, 0.5))
    first, second = _tails(b, c)
    both = 1.0 if b == c else 2.0 * min(first, second) - here
    tails = (both, first - here / 2.0, second - here / 2.0)
    return _pair_test(pairs, tails, "McNemar's mid-p test", "the smaller tail doubled, the observed half", GAIN_NEARLY)


def mcnemar_chi2(pairs: PairTally) -> GainTest:
    """Could the rates be equal? McNemar's chi-square without continuity correction, asymptotic.

    Assumptions:
        Independent pairs, and many discordant ones: the error is close to the level only.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.reference import mcnemar_chi2
        >>> round(mcnemar_chi2(PairTally(both=0, first_only=60, second_only=40, neither=0)).p_value, 6)
        0.0455

    Reference:
        McNemar (1947).
    """
    pairs = pair_tally(pairs)
    b, c = pairs.first_only, pairs.second_only
    return _chi(pairs, (b - c) ** 2 / (b + c) if b + c else 0.0, "McNemar's chi-square test")


def mcnemar_edwards(pairs: PairTally) -> GainTest:
    """Could the rates be equal? McNemar's chi-square with Edwards' continuity correction, asymptotic.

    Assumptions:
        Independent pairs, and many discordant ones: the error is close to the level only.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.reference import mcnemar_edwards
        >>> round(mcnemar_edwards(PairTally(both=0, first_only=60, second_only=40, neither=0)).p_value, 6)
        0.057433

    Reference:
        Edwards (1948), "Note on the correction for continuity in testing the significance of the difference between
        correlated proportions".
    """
    pairs = pair_tally(pairs)
    b, c = pairs.first_only, pairs.second_only
    value = max(abs(b - c) - 1, 0) ** 2 / (b + c) if b + c else 0.0
    return _chi(pairs, value, "McNemar's chi-square test, corrected")


def _chi(pairs: PairTally, value: float, method: str) -> GainTest:
    z = math.copysign(math.sqrt(value), pairs.first_only - pairs.second_only)
    tails = (2.0 * normal_quantiles.tail(abs(z)), normal_quantiles.tail(z), normal_quantiles.tail(-z))
    return _pair_test(pairs, tails, method, "as far from 0, either way", GAIN_NEARLY, value)


def _tails(b: int, c: int) -> tuple[float, float]:
    """The chances of at least `b`, and of at least `c`, heads of a fair coin tossed b + c times."""
    from surefoot.numerics.rates import binomial

    return float(binomial.at_least(b, b + c, 0.5)), float(binomial.at_least(c, b + c, 0.5))


def _pair_test(
    pairs: PairTally,
    values: tuple[float, float, float],
    method: str,
    two_sided: str,
    assumption: Assumption,
    statistic: float | None = None,
) -> GainTest:
    both, first, second = (min(1.0, max(0.0, value)) for value in values)
    quiet = ("No pair is discordant: nothing speaks for either policy.",)
    return GainTest(
        p_value=both,
        first_better=first,
        second_better=second,
        method=method,
        two_sided=two_sided,
        estimate=pairs.gain,
        statistic=statistic,
        assumptions=(PAIRS_APART, assumption),
        notes=quiet if pairs.first_only + pairs.second_only == 0 else (),
        data=(pairs,),
    )
