"""Tests of `surefoot.numerics.rates.best_of_many`."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.rates import best_of_many
from surefoot.numerics.rates.best_of_many import HighestOfMany, mean_excess, pooled_z
from tests.oracles import selection as twin
from tests.reference import listed

LAYOUTS = [(3, 3, 3), (4, 2, 5), (6, 6), (3, 3, 3, 3), (8, 3), (2, 7, 4)]


def stored(kind):
    return [pytest.param(case, id=str(case["id"])) for case in listed("race") if case["kind"] == kind]


@pytest.mark.parametrize("case", stored("best_p"))
def test_p_value_of_a_best_one_is_the_stored_one(case):
    found = HighestOfMany(case["successes"], case["trials"]).p_value(case["policy"])
    assert case["value"] <= found <= 1.01 * case["value"] + 2.2e-4


@pytest.mark.parametrize("case", stored("winner_bias"))
def test_mean_excess_is_the_stored_one(case):
    assert mean_excess(case["rates"], case["trials"]) == pytest.approx(case["value"], abs=1e-7)


tables = st.lists(st.integers(1, 4), min_size=2, max_size=4).flatmap(
    lambda trials: st.tuples(st.tuples(*(st.integers(0, n) for n in trials)), st.just(tuple(trials)))
)


@given(tables)
@settings(max_examples=25, deadline=None)
def test_p_values_and_excess_are_their_twins(table):
    successes, trials = table
    test = HighestOfMany(successes, trials)
    for j in range(len(trials)):
        slow = twin.best_p(successes, trials, j, points=201)
        assert slow - 1e-12 <= test.p_value(j) <= 1.01 * slow + 4e-4  # the twin's grid has 200 steps
    rates = [x / n for x, n in zip(successes, trials, strict=True)]
    assert mean_excess(rates, trials) == pytest.approx(twin.winner_bias(rates, trials), abs=1e-12)


@pytest.mark.parametrize("trials", LAYOUTS)
def test_a_best_one_is_seldom_rejected_at_any_level(trials):
    """The promise, counted over every outcome: P(p <= a) <= a for a best one, at 400 vectors of rates."""
    rng = np.random.default_rng(22)
    every = twin.outcomes(trials)
    tests = [HighestOfMany(one, trials) for one in every]
    values = np.array([[test.p_value(j) for j in range(len(trials))] for test in tests])
    for place in range(400):
        rates = rng.random(len(trials))
        if place % 2:  # ties at the top are the worst case
            rates[rng.random(len(trials)) < 0.7] = rates.max()
        chances = twin.chances(trials, rates)
        for j in np.flatnonzero(rates == rates.max()):
            order = np.argsort(values[:, j])
            reached = np.cumsum(chances[order])
            ends = np.append(np.diff(values[order, j]) > 0, True)
            assert np.all(reached[ends] <= values[order, j][ends] * (1 + 1e-9) + 1e-12)


@pytest.mark.parametrize("n", [*range(1, 13), 30, 200])
@pytest.mark.parametrize("m", [1, 2, 5, 11, 30])
def test_z_rises_in_one_count_and_falls_in_the_other(n, m):
    z = pooled_z(np.arange(n + 1.0)[:, None], float(n), np.arange(m + 1.0)[None, :], float(m))
    reached = z > 1e-9  # only a positive statistic is ever asked for
    assert np.all(np.diff(np.where(reached, z, 0.0), axis=0) >= -1e-12)
    assert np.all(np.diff(np.where(reached, z, 0.0), axis=1) <= 1e-12)


def test_more_rivals_never_make_a_removal_easier():
    few, many = (HighestOfMany([40, 28, *[28] * extra], [50] * (2 + extra)).p_value(1) for extra in (0, 18))
    assert 0.06705 <= many <= 1.01 * 0.06715 + 2.2e-4
    assert few < many


def test_the_list_of_the_best_is_never_empty():
    for successes in ([5, 5, 5], [0, 0], [7, 7, 2]):
        test = HighestOfMany(successes, [7] * len(successes))
        assert test.p_value(0) == 1.0


def test_excess_of_very_many_rollouts_is_nearly_that_of_the_normal():
    n, rate = 1_000_000, 0.5
    found = mean_excess([rate] * 3, [n] * 3)
    assert found == pytest.approx(1.5 / math.sqrt(math.pi) * math.sqrt(rate * (1 - rate) / n), rel=1e-3)


@given(st.integers(2, 1000), st.integers(1, 50), st.floats(0.1, 0.9))
def test_stages_halve_down_to_two_and_keep_to_their_share(policies, times, share):
    budget = 20 * policies * times
    plan = best_of_many.stages(policies, budget, share)
    sizes = [stage.policies for stage in plan]
    assert sizes[0] == policies
    assert sizes[-1] == 2
    assert all(after == -(-before // 2) for before, after in pairwise(sizes))
    assert sum(stage.policies * stage.rollouts for stage in plan) <= share * budget + 1e-6


def test_the_highest_means_stay_and_ties_go_by_the_order():
    running = np.array([[True, True, True, False]])
    means, order = np.array([[0.5, 0.7, 0.5, 0.9]]), np.array([[2, 1, 0, 3]])
    assert best_of_many.kept_of(running, means, order, 2).tolist() == [[False, True, True, False]]


def test_the_fresh_number_is_unbiased():
    rng, rates = np.random.default_rng(5), np.array([0.5] * 6)
    plan = best_of_many.stages(6, 120, 0.7)
    order = np.argsort(rng.random((4000, 6)), axis=1)
    end = best_of_many.halved(plan, 120, order, lambda _, turns, __: rng.binomial(turns, rates).astype(float))
    assert (end.counts.sum(axis=1) == 120).all()
    assert abs(end.fresh.mean() / end.rollouts - 0.5) < 4 * 0.5 / (4000 * end.rollouts) ** 0.5
