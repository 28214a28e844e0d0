"""Tests of `surefoot.numerics.betting.halving`."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surefoot.numerics.betting import halving


@given(st.integers(2, 1000), st.integers(1, 50), st.floats(0.1, 0.9))
def test_stages_halve_down_to_two_and_keep_to_their_share(policies, times, share):
    budget = 20 * policies * times
    plan = halving.stages(policies, budget, share)
    sizes = [stage.policies for stage in plan]
    assert sizes[0] == policies
    assert sizes[-1] == 2
    assert all(after == -(-before // 2) for before, after in pairwise(sizes))
    assert sum(stage.policies * stage.rollouts for stage in plan) <= share * budget + 1e-6


def test_the_highest_means_stay_and_ties_go_by_the_order():
    running = np.array([[True, True, True, False]])
    means, order = np.array([[0.5, 0.7, 0.5, 0.9]]), np.array([[2, 1, 0, 3]])
    assert halving.kept_of(running, means, order, 2).tolist() == [[False, True, True, False]]


def test_the_fresh_number_is_unbiased():
    rng, rates = np.random.default_rng(5), np.array([0.5] * 6)
    plan = halving.stages(6, 120, 0.7)
    order = np.argsort(rng.random((4000, 6)), axis=1)
    end = halving.halved(plan, 120, order, lambda _, turns, __: rng.binomial(turns, rates).astype(float))
    assert (end.counts.sum(axis=1) == 120).all()
    assert abs(end.fresh.mean() / end.rollouts - 0.5) < 4 * 0.5 / (4000 * end.rollouts) ** 0.5
