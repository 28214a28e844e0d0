"""McNemar's tests of two success rates on the same conditions.

What `compare` prints is none of these but `exact_paired_gain`, whose p-value, interval and verdict belong together.
"""

from __future__ import annotations

import math

from surefoot.core.assumptions import GAIN_NEARLY, PAIRS_APART, TEST_GUARANTEED, Assumption
from surefoot.core.tally import PairTally, pair_tally
from surefoot.numerics import normal_quantiles
from surefoot.stats.rate_tests import GainTest


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
    return _test(pairs, tails, "McNemar's exact test", "twice the smaller tail", TEST_GUARANTEED)


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
    return _test(pairs, tails, "McNemar's mid-p test", "the smaller tail doubled, the observed half", GAIN_NEARLY)


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
    return _test(pairs, tails, method, "as far from 0, either way", GAIN_NEARLY, value)


def _tails(b: int, c: int) -> tuple[float, float]:
    """The chances of at least `b`, and of at least `c`, heads of a fair coin tossed b + c times."""
    from surefoot.numerics.rates import binomial

    return float(binomial.at_least(b, b + c, 0.5)), float(binomial.at_least(c, b + c, 0.5))


def _test(
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
