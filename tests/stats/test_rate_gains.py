"""Tests of `surefoot.stats.rate_gains`."""

import pytest
from hypothesis import given, settings

from surefoot import PairTally, Tally, reference, stats
from tests.reference import cases
from tests.support.strategies import tallies
from tests.support.two_rates import published, tallies_of


@pytest.mark.parametrize("name", ["newcombe", "miettinen_nurminen", "agresti_caffo"])
def test_difference_intervals_match_the_reference(name):
    for asked, wanted in cases("diff_two_proportions"):
        found = published(name)(*tallies_of(asked), confidence=asked["conf"])
        assert (found.low, found.high) == pytest.approx(wanted[name], abs=1e-9)
        if wanted[name][0] <= wanted["diff"] <= wanted[name][1]:  # else it is that of a success and a failure more
            assert found.estimate == pytest.approx(wanted["diff"], abs=1e-12)
        assert found.low <= found.estimate <= found.high
        assert found.scale == "gain"


@pytest.mark.parametrize("name", ["tango", "newcombe_paired"])
def test_paired_intervals_match_the_reference(name):
    for asked, wanted in cases("paired_difference"):
        pairs = PairTally(asked["both"], asked["A_only"], asked["B_only"], asked["neither"])
        found = published(name)(pairs, confidence=asked["conf"])
        assert (found.low, found.high) == pytest.approx(wanted[name], abs=1e-9)


@settings(max_examples=40)
@given(tallies(most=40), tallies(most=40))
def test_swapping_the_policies_mirrors_the_intervals(first, second):
    for method in (stats.newcombe, stats.miettinen_nurminen, reference.agresti_caffo):
        one, other = method(first, second), method(second, first)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


def test_large_counts_stay_finite():
    pairs = PairTally(10**6, 10**5, 99_000, 10**6)
    assert stats.mcnemar(pairs).p_value == pytest.approx(reference.mcnemar_chi2(pairs).p_value, rel=0.02)
    first, second = Tally(700_000, 10**6), Tally(699_000, 10**6)
    assert stats.newcombe(first, second).low == pytest.approx(stats.miettinen_nurminen(first, second).low, abs=1e-7)
    assert stats.fisher(Tally(70, 100), Tally(650, 10_000)).p_value < 1e-30


def test_confidence_matters_and_is_checked():
    for method in (stats.newcombe, stats.miettinen_nurminen, reference.agresti_caffo, reference.disjoint_bounds):
        with pytest.raises(ValueError, match=r"Write 0\.95 for 95%"):
            method(Tally(1, 2), Tally(1, 2), confidence=95)
        assert method(Tally(4, 9), Tally(2, 9), confidence=0.8) != method(Tally(4, 9), Tally(2, 9))


@pytest.mark.parametrize(
    "method",
    [
        *("exact_gain", "newcombe", "miettinen_nurminen", "agresti_caffo", "fisher", "barnard", "boschloo"),
        *("pooled_score", "miettinen_nurminen_score", "disjoint_bounds"),
    ],
)
def test_what_is_no_tally_is_refused_with_what_to_write(method):
    with pytest.raises(TypeError, match=r"`first` must be a Tally; got a tuple\. Write Tally\(38, 50\)"):
        published(method)((17, 20), (8, 20))
