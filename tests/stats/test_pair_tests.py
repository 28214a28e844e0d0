"""Tests of `surefoot.stats.pair_tests`."""

import math

import pytest
from hypothesis import given, settings

from surefoot import PairTally, stats
from tests.reference import cases
from tests.support.strategies import pair_tallies
from tests.support.two_rates import published


def test_mcnemar_matches_the_reference():
    for asked, wanted in cases("mcnemar"):
        b, c = asked["b"], asked["c"]
        pairs = PairTally(1, b, c, 0)
        exact = stats.mcnemar(pairs)
        assert exact.p_value == pytest.approx(wanted["exact"], rel=1e-10)
        assert exact.first_better == pytest.approx(wanted["one_sided_b_gt_c"], rel=1e-10)
        assert stats.mcnemar_midp(pairs).p_value == pytest.approx(wanted["midp"], rel=1e-10)
        for name, key in (("mcnemar_chi2", "chi2"), ("mcnemar_edwards", "chi2cc")):
            found = published(name)(pairs)
            assert found.statistic == pytest.approx(wanted[key], rel=1e-10)
            assert found.p_value == pytest.approx(wanted[f"{key}_p"], rel=1e-10)


@pytest.mark.parametrize("n", range(1, 26))
def test_mcnemar_never_exceeds_the_level(n):
    """Given the number of discordant pairs the chance of rejection is a sign test's; no mixture of those exceeds it."""
    for m in range(n + 1):
        rejected = sum(
            math.comb(m, b) for b in range(m + 1) if stats.mcnemar(PairTally(n - m, b, m - b, 0)).p_value <= 0.05
        )
        assert rejected / 2**m <= 0.05


@pytest.mark.parametrize("name", ["mcnemar", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards"])
@pytest.mark.parametrize("pairs", [PairTally(4, 9, 2, 5), PairTally(0, 6, 5, 1), PairTally(3, 3, 3, 3)])
def test_swapping_the_policies_of_pairs_swaps_the_sides(name, pairs):
    here = published(name)(pairs)
    there = published(name)(PairTally(pairs.both, pairs.second_only, pairs.first_only, pairs.neither))
    assert (there.first_better, there.second_better) == pytest.approx(
        (here.second_better, here.first_better), rel=1e-12
    )
    assert there.p_value == pytest.approx(here.p_value, rel=1e-12)


@settings(max_examples=40)
@given(pair_tallies())
def test_swapping_the_policies_mirrors_paired_results(pairs):
    turned = PairTally(pairs.both, pairs.second_only, pairs.first_only, pairs.neither)
    for method in (stats.tango, stats.newcombe_paired):
        one, other = method(pairs), method(turned)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)
        assert -1.0 <= one.low <= one.high <= 1.0
    assert stats.mcnemar(pairs).p_value == stats.mcnemar(turned).p_value
    assert stats.mcnemar(pairs).first_better == stats.mcnemar(turned).second_better


def test_no_discordant_pair_has_p_1():
    for pairs in (PairTally(0, 0, 0, 1), PairTally(7, 0, 0, 3)):
        for name in ("mcnemar", "mcnemar_midp", "mcnemar_chi2", "mcnemar_edwards"):
            assert published(name)(pairs).p_value == 1.0
        assert "nothing speaks" in stats.mcnemar(pairs).notes[0]


def test_many_discordant_pairs_keep_their_digits():
    """The sign test in whole numbers: 5,200 of 10,200 tosses or more."""
    ways, tail = math.comb(10_200, 5_200), 0
    for k in range(5_200, 10_201):
        tail += ways
        ways = ways * (10_200 - k) // (k + 1)
    assert stats.mcnemar(PairTally(0, 5_200, 5_000, 0)).p_value == pytest.approx(2 * tail / 2**10_200, rel=1e-12)


@pytest.mark.parametrize("method", ["exact_paired_gain", "tango", "newcombe_paired", "mcnemar", "mcnemar_midp"])
def test_what_is_no_tally_of_pairs_is_refused_with_what_to_write(method):
    with pytest.raises(TypeError, match=r"`pairs` must be a PairTally; got a tuple\. Write PairTally\(both=20"):
        published(method)((20, 12, 2, 16))
