"""Tests of `surefoot.numerics.scores.cluster_tests`: reference values, twins, laws."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from surefoot.numerics.scores import cluster_tests
from surefoot.numerics.scores.cluster_tests import Unmet, freedom
from tests.oracles import clusters as twin
from tests.oracles import judges as judges_twin
from tests.reference import listed

CASES = listed("cluster.cases")
clusters = st.lists(st.tuples(st.integers(1, 12), st.integers(-4, 4)), min_size=2, max_size=9)


def evidence(sizes, means, low=-1.0, high=1.0):
    of = np.repeat(np.arange(len(sizes)), sizes)
    layout = cluster_tests.layout(of, np.zeros(of.size, int), np.ones(1))
    return cluster_tests.evidence(np.repeat(np.asarray(means, float), sizes), [layout], None, (low, high))


# --- Reference values and twins


@pytest.mark.parametrize("case", [case for case in CASES if "nu" in case])
def test_the_reference_cases(case):
    found = evidence(case["sizes"], case["means"], case["low"], case["high"])
    assert found.mean == pytest.approx(case["mean"], rel=1e-9)
    assert found.moments.freedom == pytest.approx(case["nu"], rel=1e-9)
    assert found.counted == pytest.approx(case["counted"], rel=1e-12)
    assert found.p_value(0.0) == pytest.approx(case["p_two_0"], rel=1e-6)
    if case["p_above_0"] is not None:
        assert found.p_above(0.0) == pytest.approx(case["p_above_0"], rel=1e-6)
    if "ends_95" in case:
        assert found.interval(0.05) == pytest.approx(case["ends_95"], abs=1e-6)


def test_the_reference_case_without_spread():
    case = next(case for case in CASES if "exact" in case)
    found = evidence(case["sizes"], case["means"], case["low"], case["high"])
    assert found.p_above(0.8) == pytest.approx(case["p_above_08"], rel=1e-12)


@given(clusters, st.floats(-0.9, 0.9))
@settings(max_examples=25, deadline=None)
def test_p_values_are_those_of_the_formula(rows, theta):
    sizes, means = [m for m, _ in rows], [x / 4 for _, x in rows]
    found = evidence(sizes, means)
    assume(abs(found.mean - theta) > 1e-6)
    if theta < found.mean:
        wanted = [twin.p_value(sizes, means, theta, -1.0, two_sided=both) for both in (True, False)]
        assert (found.p_value(theta), found.p_above(theta)) == pytest.approx(wanted, rel=1e-7)
    else:
        wanted = [twin.p_value(sizes, [-x for x in means], -theta, -1.0, two_sided=both) for both in (True, False)]
        assert (found.p_value(theta), found.p_below(theta)) == pytest.approx(wanted, rel=1e-7)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(-1, 1)), min_size=8, max_size=25))
@settings(max_examples=60)
def test_weighted_groups_are_those_of_direct_matrices(rows):
    rows += [(g, t, 0.1 * g) for g in range(2) for t in range(3)]  # every task meets two clusters, in one part
    clusters, groups, values = (list(column) for column in zip(*rows, strict=True))
    weights = np.array([0.5, 0.3, -0.2])
    _, numbers = np.unique(clusters, return_inverse=True)
    layout = cluster_tests.layout(numbers, np.array(groups), weights)
    values = np.array(values)
    estimate, variance = float(weights @ layout.means(values)), float((layout.scores(values) ** 2).sum())
    wanted = twin.cr2(values, clusters, groups, weights)
    assert (estimate, variance, layout.freedoms[0]) == pytest.approx(wanted, rel=1e-8, abs=1e-12)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12))
def test_degrees_of_freedom_by_the_matrix(sizes):
    assert freedom(np.array(sizes, dtype=float)) == pytest.approx(judges_twin.bell_mccaffrey(sizes), rel=1e-9)


def test_degrees_of_freedom_of_equal_clusters_are_one_less_than_they():
    assert freedom(np.full(10, 7.0)) == pytest.approx(9.0)


@given(st.tuples(st.floats(0.05, 2), st.floats(1, 30)), st.tuples(st.floats(0.05, 2), st.floats(1, 30)))
@example((2.0, 1.0), (0.05, 10.0))
@settings(max_examples=20, deadline=None)
def test_hidden_clusters_of_two_policies_hide_where_they_are_least_likely_met(first, second):
    unmet = Unmet.of([first[0], second[0]], [first[1], second[1]])
    for share in (0.02, 0.3, 0.8):
        found = math.exp(float(unmet.log_chance(np.array([share]))[0]))
        wanted = twin.hidden_in_two(first, second, share)
        assert wanted <= found * (1 + 1e-9)
        assert found == pytest.approx(wanted, rel=2e-2)


# --- Laws


@pytest.mark.parametrize("count", [4, 9, 20])
@pytest.mark.parametrize("mean", [0.1, 0.25, 0.8, 1.0])
def test_equal_clusters_that_do_not_differ_have_the_exact_chance(count, mean):
    """The law that hides: all clusters drawn at the mean, or, for two sides, all at the end that hides it."""
    found = evidence([7] * count, [mean] * count)
    assert found.p_above(0.0) == pytest.approx((1 + mean) ** -count, rel=1e-12)
    assert found.p_value(0.0) == pytest.approx((1 + mean**count) / (1 + mean) ** count, rel=1e-12)


@pytest.mark.parametrize("error", [0.05, 0.0625, 2**-8, 2**-9])
@pytest.mark.parametrize("count", [5, 6, 8, 10])
def test_clusters_that_win_or_lose_whole_keep_the_error_of_two_sides(count, error):
    """Five that all won had p = .031 and five that all lost too: .0625 where .05 are allowed."""
    for noise in (0.0, 1e-6, 1e-3):
        most = 0.0
        for gain in (0.4, 0.65, 0.82, 1.0):
            chance = 1 / (1 + gain)  # of a cluster that won; the others lose whole
            ended = [gain - noise * (at % 2) for at in range(count)], [noise * (at % 2) - 1.0 for at in range(count)]
            decided = [evidence([4] * count, means).p_value(0.0) <= error for means in ended]
            most = max(most, chance**count * decided[0] + (1 - chance) ** count * decided[1])
        assert most <= error * (1 + 1e-9)


@given(clusters, st.floats(-0.95, 0.95), st.floats(0.001, 0.5))
@settings(max_examples=60, deadline=None)
def test_p_and_interval_agree_and_mirror(rows, theta, error):
    sizes, means = [m for m, _ in rows], np.array([x / 4 for _, x in rows])
    found, turned = evidence(sizes, means), evidence(sizes, -means)
    low, high = found.interval(error)
    assert low - 1e-9 <= found.mean <= high + 1e-9
    assert (-high, -low) == pytest.approx(turned.interval(error), abs=1e-9)
    assert found.p_value(theta) == pytest.approx(turned.p_value(-theta), rel=1e-9)
    if min(abs(theta - low), abs(theta - high)) > 1e-6:
        assert (found.p_value(theta) > error) == (low < theta < high)
    assert found.p_value(theta) >= min(found.p_above(theta), found.p_below(theta)) * (1 - 1e-7)


@given(clusters, st.floats(-0.9, 0.8))
@settings(max_examples=60, deadline=None)
def test_never_below_the_chance_that_nothing_was_met(rows, theta):
    sizes, means = [m for m, _ in rows], [x / 4 for _, x in rows]
    found = evidence(sizes, means)
    assume(theta < found.mean)
    larger = found.p_above(min(theta + 0.05, found.mean))
    assert found.p_above(theta) <= larger * (1 + 1e-7)
    # as if the range went on: what could hide lies further out, and less of it is needed
    assert evidence(sizes, means, low=-2.0).p_above(theta) >= found.p_above(theta) * (1 - 1e-9)


def test_one_try_more_moves_nothing():
    means = [0.2, 0.4, 0.2, 0.3, -0.2, 0.3, 0.1, 0.0, 0.1, 0.2] * 2  # the last as the mean of all, which stays then
    even, odd = evidence([10] * 20, means).interval(0.05), evidence([10] * 19 + [11], means).interval(0.05)
    assert odd == pytest.approx(even, abs=0.001)


def test_two_ways_without_a_second_effect_keep_the_larger_part():
    rng = np.random.default_rng(3)
    one, other = np.repeat(np.arange(12), 5), np.tile(np.arange(5), 12)
    values = rng.random(60)
    zeros = np.zeros(60, int)
    ways = [cluster_tests.layout(of, zeros, np.ones(1)) for of in (one, other)]
    cells = cluster_tests.layout(np.arange(60), zeros, np.ones(1))
    found = cluster_tests.evidence(values, ways, cells, (0.0, 1.0))
    parts = [way.moments(values) for way in (*ways, cells)]
    second = [part.second for part in parts]
    assert found.moments.second == pytest.approx(max(second[0] + second[1] - second[2], *second[:2]))
    assert found.moments.fourth == max(part.fourth for part in parts[:2])
    assert found.counted == 5.0
    assert min(4.0, 11.0) <= found.moments.freedom <= 15.0
