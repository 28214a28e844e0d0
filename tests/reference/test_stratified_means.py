"""Tests of `surefoot.reference.stratified_means`."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from surefoot import Scores
from surefoot.core.scores import Moments
from surefoot.reference import stratified_t_gain, welch
from tests.oracles.clusters import floor
from tests.oracles.clusters import welch as shared_freedom

# --- Scores


def test_stratified_t_adds_cells():
    rng = np.random.default_rng(3)
    data = {str(t): (Scores(rng.random(10 + t) ** 2), Scores(rng.random(12))) for t in range(4)}
    found = stratified_t_gain(data, weights="tasks")
    parts = [np.var(side.values, ddof=1) / len(side) / 16 for pair in data.values() for side in pair]
    freedom = shared_freedom(parts, [len(side) - 1 for pair in data.values() for side in pair])
    half = scipy_stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts))
    assert found.estimate == pytest.approx(np.mean([a.mean - b.mean for a, b in data.values()]))
    assert found.interval.high == pytest.approx(found.estimate + half)
    assert found.p_value == pytest.approx(2 * scipy_stats.t.sf(abs(found.estimate) / math.sqrt(sum(parts)), freedom))
    moments = {
        task: tuple(Moments(len(s), float(np.mean(s.values)), float(np.var(s.values, ddof=1))) for s in pair)
        for task, pair in data.items()
    }
    assert stratified_t_gain(moments, weights="tasks").interval.high == pytest.approx(found.interval.high)
    one = {"x": next(iter(data.values()))}
    assert stratified_t_gain(one).interval.low == pytest.approx(welch(*one["x"]).interval.low)


def test_alike_scores_are_given_the_spread_of_alike_successes():
    found = stratified_t_gain({"x": (Scores([5.0] * 10, 0, 5), Scores([0.0] * 10, 0, 5))})
    half = scipy_stats.t.ppf(0.975, 18) * math.sqrt(2 * floor((1,) * 10, 5.0))
    assert (found.interval.low, found.interval.high) == (pytest.approx(5 - half), 5.0)
