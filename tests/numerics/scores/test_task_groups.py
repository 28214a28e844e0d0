"""Tests of `surefoot.numerics.scores.two_groups`."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot.numerics.scores.two_groups import fitted_means, kappa, task_groups
from tests.oracles import task_groups as twin

ORACLE = Path(__file__).parents[2] / "reference" / "oracle3.json"
CASES = [
    case for case in json.loads(ORACLE.read_text(encoding="utf-8"))["score.cases"] if case["what"] == "task_gain p"
]


def unpaired(strata, weights):
    shares = np.array(weights, float) / sum(weights) / 2.0
    first, second = ([np.array(pair[side], float) for pair in strata] for side in (0, 1))
    return task_groups([first, [1.0 - z for z in second]], [shares, shares])


def both(test, gain):
    return [math.exp(test.log_p((1 + gain) / 2)), math.exp(test.mirrored.log_p((1 - gain) / 2))]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_stored_values(case):
    found = both(unpaired(case["strata"], case["weights"]), case["gain"])
    assert found == pytest.approx([case["p_better"], case["p_worse"]], rel=case["rel_tol"])


def small(rng, tasks, most):
    return [tuple((rng.choice(9, rng.integers(1, most)) / 8).tolist() for _ in range(2)) for _ in range(tasks)]


@pytest.mark.parametrize("seed", range(8))
def test_any_small_layout_by_partial_fractions(seed):
    rng = np.random.default_rng(seed)
    strata, weights = small(rng, 2 + seed % 3, 2 + seed % 4), rng.integers(1, 5, 2 + seed % 3).tolist()
    gain = round(float(rng.uniform(-0.6, 0.6)), 3)
    wanted = [float(p) for p in twin.p_values(strata, weights, gain)]
    assert both(unpaired(strata, weights), gain) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_by_partial_fractions(seed):
    rng = np.random.default_rng(seed)
    gaps = [(rng.choice(9, rng.integers(1, 6)) / 4 - 1).tolist() for _ in range(3)]
    test = task_groups([[(1 + np.array(task)) / 2 for task in gaps]], [np.array([0.5, 0.25, 0.25])])
    wanted = [float(p) for p in twin.paired_p_values(gaps, [2, 1, 1], 0.1)]
    assert both(test, 0.1) == pytest.approx(wanted, rel=1e-8)


def test_a_lone_score_joins_the_smallest_cell_whatever_the_order_of_tasks():
    cells = [np.array([0.5]), np.array([0.1, 0.9]), np.array([0.3, 0.2]), np.array([0.4, 0.6, 0.7])]
    shares = np.full(4, 0.25)
    found = task_groups([cells], [shares])
    assert sorted(np.bincount(found.owners, [one.size for one in found.samples]).tolist()) == [2, 3, 3]
    turned = task_groups([cells[::-1]], [shares])
    assert turned.log_p(0.2) == pytest.approx(found.log_p(0.2), rel=1e-12)
    mirrored = task_groups([[1.0 - cell for cell in cells]], [shares])
    assert mirrored.log_p(0.3) == pytest.approx(found.mirrored.log_p(0.3), rel=1e-12)
    alone = task_groups([[np.array([0.5])]], [np.ones(1)])
    assert alone.spreads.tolist() == [1.0]


def test_the_stretch_of_distances():
    assert kappa(np.array([1.0, 2.0, 10.0])) ** 2 == pytest.approx([1.0, 2.5, 1 + 11 / 90])


@given(
    st.lists(
        st.tuples(st.just(0.0) | st.floats(1e-150, 1), st.floats(1e-6, 1), st.floats(0.01, 1)), min_size=1, max_size=8
    ),
    st.floats(1e-9, 1 - 1e-9),
)
def test_fitted_means_have_the_sum_and_never_rise(groups, share):
    means, squares, weights = np.array(groups).T
    target = share * float(means @ weights)
    assume(target > 0.0)
    fitted = fitted_means(means, squares, weights, target)
    assert (fitted <= means).all()
    assert (fitted >= 0).all()
    assert fitted @ weights == pytest.approx(target, rel=1e-12, abs=1e-300)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.02, 0.98), st.floats(0.02, 0.98))
def test_p_rises_with_the_target_and_ends_agree_with_it(seed, one, other):
    rng = np.random.default_rng(seed)
    test = unpaired(small(rng, 3, 6), [1, 1, 2])
    low, high = sorted((one, other))
    assert test.log_p(low) <= test.log_p(high) + 1e-9
    end = test.low_end(0.05)
    if end > 0.0:
        assert test.log_p(end) <= math.log(0.05) <= test.log_p(end * (1 + 1e-6) + 1e-12) + 1e-6


def test_nothing_is_refused_where_nothing_is_above_0():
    test = task_groups([[np.zeros(3), np.zeros(2)]], [np.full(2, 0.5)])
    assert (test.low_end(0.05), test.log_p(0.1), test.mirrored.log_p(0.0)) == (0.0, 0.0, -math.inf)


@pytest.mark.parametrize(("tasks", "rate"), [(7, 0.3), (25, 0.5), (58, 0.5), (77, 0.5), (87, 0.5), (98, 0.7)])
def test_the_level_of_single_coins_against_a_constant_counted_exactly(tasks, rate):
    """Every number of successes in one rollout a task, against a policy that always scores the rate."""
    shares = np.full(tasks, 0.5 / tasks)
    chances, p_values = scipy_stats.binom.pmf(np.arange(tasks + 1), tasks, rate), []
    for hits in range(tasks + 1):
        first = [np.array([float(task < hits)]) for task in range(tasks)]
        test = task_groups([first, [np.array([1.0 - rate])] * tasks], [shares, shares])
        p_values.append(min(1.0, 2.0 * min(both(test, 0.0))))
    for level in (0.05, 0.003, 0.0001):
        assert chances[np.array(p_values) <= level].sum() <= level
