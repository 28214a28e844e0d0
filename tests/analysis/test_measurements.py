"""Tests of `surefoot.analysis.measurements`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import stats
from surefoot.analysis import measurements
from tests.support.comparisons import _ends, streams
from tests.support.comparisons import table as comparisons_table


def test_a_table_of_very_many_scores_is_measured_by_its_moments(monkeypatch):
    monkeypatch.setattr(measurements, "MANY", 50)
    table = sf.read(pl.DataFrame({"policy": ["a"] * 100, "score": np.random.default_rng(6).random(100)}))
    found = sf.mean_score(table)
    assert found.data == (table.moments(),)
    assert found.low == pytest.approx(stats.empirical_bernstein(table.scores()).low)


def test_a_score_outside_the_range_is_refused_from_moments_too():
    with pytest.raises(sf.DataError, match=r"must lie in the stated range \[0, 1\]; one is 7"):
        sf.read(pl.DataFrame({"policy": ["a"] * 3, "score": [0.1, 7.0, 0.2]})).where(policy="a").moments()


def test_a_success_rate_is_wilsons():
    assert sf.success_rate(streams(17, 8).where(policy="new")) == sf.stats.wilson(sf.Tally(17, 20))


def test_a_success_rate_needs_one_policy():
    with pytest.raises(ValueError, match=r"one policy here; got new, old\. Narrow it first"):
        sf.success_rate(streams(17, 8))


def test_repeats_of_one_condition_are_clusters():
    rollouts = comparisons_table(
        policy=["new"] * 12,
        condition=[str(i // 3) for i in range(12)],
        repeat=[str(i % 3) for i in range(12)],
        success=[1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0],
    )
    found = sf.success_rate(rollouts)
    assert found.method == "Korn-Graubard"
    assert found.width > sf.stats.wilson(sf.Tally(7, 12)).width
    assert found.notes[-1].kind == "in clusters"
    assert found.notes[-1].values["structure"].clusters == ("condition",)
    assert str(found.notes[-1]).startswith("12 rollouts in 4 clusters, one for each condition")


def test_a_cluster_column_is_believed():
    scores = [0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3]
    even, uneven = (
        comparisons_table(policy=["new"] * 8, cluster=list(of), score=scores) for of in ("aabbccdd", "aaabbccd")
    )
    assert sf.mean_score(uneven).method == "cluster-robust t"
    alike = sf.mean_score(even)  # clusters of one size are units like any other
    assert _ends(alike) == pytest.approx(_ends(sf.stats.score_mean(sf.Scores([0.55, 0.6, 0.4, 0.35]))))
    assert alike.trials == 8


def test_measurements_per_policy_and_task_count_every_rollout():
    rollouts = comparisons_table(
        policy=["a", "a", "b", "b"], task=["x", "y", "x", "y"], success=[1, 0, 1, 1], score=[1.0, 0.5, 1.0, 1.0]
    )
    found = sf.measure(rollouts, by_task=True)
    assert [(one.policy, one.task, one.rollouts) for one in found] == [
        ("a", "x", 1),
        ("a", "y", 1),
        ("b", "x", 1),
        ("b", "y", 1),
    ]
    assert all(one.success and one.score for one in found)
    assert {one.policy: one.success.estimate for one in sf.measure(rollouts)} == {"a": 0.5, "b": 1.0}


def test_very_many_scores_get_the_one_pass_interval(monkeypatch):
    monkeypatch.setattr("surefoot.analysis.measurements.MANY", 100)
    rollouts = comparisons_table(policy=["a"] * 101, score=np.random.default_rng(1).random(101))
    assert sf.mean_score(rollouts) == sf.stats.moments_mean(rollouts.moments())


def test_a_cluster_column_that_joins_nothing_makes_no_clusters():
    ended = [1] * 12 + [0] * 8
    alone = comparisons_table(policy=["a"] * 20, cluster=[str(i) for i in range(20)], success=ended)
    assert sf.success_rate(alone) == sf.stats.wilson(sf.Tally(12, 20))


def test_a_mean_score_does_not_hang_on_which_task_was_run_first():
    rng = np.random.default_rng(4)
    easy, hard = (np.clip(level + rng.normal(0, 0.05, 60), 0, 1).tolist() for level in (0.9, 0.1))
    names = ["easy"] * 60 + ["hard"] * 60
    one = sf.mean_score(comparisons_table(policy=["a"] * 120, task=names, score=easy + hard))
    other = sf.mean_score(comparisons_table(policy=["a"] * 120, task=names[::-1], score=hard + easy))
    assert (one.low, one.high) == (other.low, other.high)
    assert one.low < 0.45 < 0.55 < one.high


def test_measuring_only_what_is_no_measure_is_refused():
    rollouts = sf.read(pl.DataFrame({"policy": ["a"] * 3, "success": [1, 0, 1]}))
    assert sf.measure(rollouts, only="success") == sf.measure(rollouts)
    with pytest.raises(ValueError, match="`only` must be one of success, score; got 'rate'"):
        sf.measure(rollouts, only="rate")  # type: ignore[arg-type]
