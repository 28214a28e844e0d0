"""Tests of `surefoot.stats.rate_tests`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import PairTally, Tally, reference, stats
from tests.reference import cases
from tests.support.strategies import pair_tallies, tallies
from tests.support.two_rates import pmf, published, tallies_of

RATES = np.linspace(0.0, 1.0, 801)


def test_score_tests_match_the_reference():
    for asked, wanted in cases("pooled_z_test"):
        plain, corrected = (
            method(*tallies_of(asked)) for method in (reference.pooled_score, reference.miettinen_nurminen_score)
        )
        assert plain.p_value == pytest.approx(wanted["p"], rel=1e-9)
        assert corrected.p_value == pytest.approx(wanted["p_mn"], rel=1e-9)
        assert plain.statistic == pytest.approx(wanted["z"], rel=1e-9, abs=1e-12)
        assert corrected.statistic == pytest.approx(wanted["z_mn"], rel=1e-9, abs=1e-12)


def test_exact_tests_match_the_reference():
    names = {"fisher": "fisher", "barnard": "barnard_pooled", "barnard_unpooled": "barnard_unpooled"}
    for asked, wanted in cases("exact_2x2"):
        pair = tallies_of(asked)
        for name, key in names.items():
            found = published(name)(*pair)
            assert found.p_value == pytest.approx(wanted[key]["two_sided"], rel=1e-8)
            assert found.first_better == pytest.approx(wanted[key]["greater"], rel=1e-8)
            assert found.second_better == pytest.approx(wanted[key]["less"], rel=1e-8)
        doubled, ordered = stats.boschloo(*pair), reference.boschloo_two_sided(*pair)
        assert doubled.p_value == pytest.approx(wanted["boschloo"]["two_sided_2min"], rel=1e-8)
        assert doubled.first_better == pytest.approx(wanted["boschloo"]["greater"], rel=1e-8)
        assert doubled.second_better == pytest.approx(wanted["boschloo"]["less"], rel=1e-8)
        assert ordered.p_value == pytest.approx(wanted["boschloo"]["two_sided_fisher_stat"], rel=1e-8)


def rejection(method, n1, n2, level=0.05):
    table = np.zeros((n1 + 1, n2 + 1), bool)
    for a, b in itertools.product(range(n1 + 1), range(n2 + 1)):
        table[a, b] = method(Tally(a, n1), Tally(b, n2)).p_value <= level
    return table


def size(table, n1, n2):
    return float(np.einsum("ti,ij,tj->t", pmf(n1, RATES), table.astype(float), pmf(n2, RATES)).max())


EXACT = ["barnard", "barnard_unpooled", "boschloo", "boschloo_two_sided", "fisher"]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(("n1", "n2"), [(3, 3), (4, 7), (9, 8), (12, 5)])
def test_the_size_never_exceeds_the_level(name, n1, n2):
    assert size(rejection(published(name), n1, n2), n1, n2) <= 0.05 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("n1", range(1, 26))
def test_the_size_never_exceeds_the_level_to_25(n1):
    for n2 in range(n1, 26):
        for name in ("barnard", "boschloo", "fisher"):
            assert size(rejection(published(name), n1, n2), n1, n2) <= 0.05 + 1e-12, (name, n2)


def test_barnard_keeps_the_ties_that_rounding_loses():
    # scipy 1.17 gives .00693 here; the mirrored table ties exactly and belongs to the tail
    assert stats.barnard(Tally(9, 10), Tally(3, 10)).p_value == pytest.approx(0.00795555115, rel=1e-8)


def test_scipy_agrees_where_it_is_right():
    from scipy.stats import barnard_exact, boschloo_exact, fisher_exact

    for first, second in [(Tally(14, 20), Tally(6, 23)), (Tally(30, 41), Tally(22, 37))]:
        table = [[first.successes, second.successes], [first.failures, second.failures]]
        assert stats.boschloo(first, second).p_value == pytest.approx(boschloo_exact(table).pvalue, abs=1e-6)
        assert stats.barnard(first, second).p_value == pytest.approx(barnard_exact(table).pvalue, abs=1e-6)
        assert stats.fisher(first, second).p_value == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)


def test_tables_exactly_as_likely_count_however_they_are_rounded():
    """Fisher's two-sided p-value in whole numbers, at every table of up to 9 and 9 rollouts."""
    for n1, n2 in itertools.product(range(1, 10), repeat=2):
        for x1, x2 in itertools.product(range(n1 + 1), range(n2 + 1)):
            m = x1 + x2
            ways = [math.comb(n1, j) * math.comb(n2, m - j) if m >= j else 0 for j in range(n1 + 1)]
            wanted = sum(way for way in ways if way <= ways[x1]) / sum(ways)
            assert stats.fisher(Tally(x1, n1), Tally(x2, n2)).p_value == pytest.approx(wanted, rel=1e-12)


@settings(max_examples=25)
@given(tallies(most=40), tallies(most=40))
def test_swapping_the_policies_swaps_the_one_sided_p_values(first, second):
    for name in (*EXACT, "pooled_score"):
        one, other = published(name)(first, second), published(name)(second, first)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert one.first_better == pytest.approx(other.second_better, rel=1e-9)
        assert 0.0 <= one.p_value <= 1.0


@pytest.mark.parametrize(("first", "second"), [((0, 9), (0, 4)), ((9, 9), (4, 4)), ((1, 1), (1, 1))])
def test_no_difference_has_p_1_and_never_nan(first, second):
    for name in ("barnard", "barnard_unpooled", "boschloo", "fisher", "pooled_score", "miettinen_nurminen_score"):
        assert published(name)(Tally(*first), Tally(*second)).p_value == 1.0
    for name in ("newcombe", "miettinen_nurminen", "agresti_caffo"):
        found = published(name)(Tally(*first), Tally(*second))
        assert found.low <= 0.0 <= found.high
        assert math.isfinite(found.width)


def test_tables_too_large_to_enumerate_are_refused():
    for method in (stats.barnard, stats.boschloo, reference.barnard_unpooled, reference.boschloo_two_sided):
        with pytest.raises(ValueError, match="must be small enough to enumerate all tables"):
            method(Tally(1, 10_000), Tally(1, 10_000))


def test_results_come_back_from_a_dictionary():
    for result in (
        stats.barnard(Tally(4, 9), Tally(2, 9)),
        stats.mcnemar(PairTally(1, 2, 3, 4)),
        reference.disjoint_bounds(Tally(4, 9), Tally(2, 9)),
        stats.newcombe(Tally(4, 9), Tally(2, 9)),
    ):
        assert type(result).from_dict(result.to_dict()) == result


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
