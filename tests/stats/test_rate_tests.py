"""Tests of `surefoot.stats.rate_tests`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import PairTally, Tally, reference, stats
from tests.reference import cases
from tests.support.strategies import tallies
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
