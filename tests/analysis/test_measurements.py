"""Tests of `surefoot.analysis.measurements`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.core.notes import Note
from tests.support.comparisons import _ends, streams
from tests.support.comparisons import table as comparisons_table


def test_a_score_outside_the_range_is_refused_from_moments_too():
    with pytest.raises(sf.DataError, match=r"must lie in the stated range \[0, 1\]; one is 7"):
        sf.read(pl.DataFrame({"policy": ["a"] * 3, "score": [0.1, 7.0, 0.2]})).where(policy="a").moments()


def test_a_success_rate_is_wilsons():
    assert sf.success_rate(streams(17, 8).where(policy="new")) == sf.stats.wilson(sf.Tally(17, 20))


def test_a_success_rate_needs_one_policy():
    with pytest.raises(ValueError, match=r"one policy here; got new, old\. Narrow it first"):
        sf.success_rate(streams(17, 8))


def test_repeats_of_few_units_are_drawn_from_these_very_units():
    """Equal numbers of rollouts in equal cells: the pooled count is at least as spread as it is (Hoeffding 1956)."""
    rollouts = comparisons_table(
        policy=["new"] * 12,
        condition=[str(i // 3) for i in range(12)],
        repeat=[str(i % 3) for i in range(12)],
        success=[1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0],
    )
    found = sf.success_rate(rollouts)
    assert _ends(found) == pytest.approx(_ends(sf.stats.clopper_pearson(sf.Tally(7, 12))))
    assert found.notes[-1] == Note("about", {"subject": "these 4 conditions"})
    like = sf.success_rate(rollouts, target="like")
    assert _ends(like) == pytest.approx(_ends(sf.stats.score_mean(sf.Scores([1.0, 0.0, 1.0, 1 / 3]))))
    assert like.notes[-1] == Note("about", {"subject": "conditions like these 4"})


@pytest.mark.parametrize("sizes", ["aabbccdd", "aaabbccd"])
def test_a_cluster_column_is_believed(sizes):
    scores = [0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3]
    rollouts = comparisons_table(policy=["new"] * 8, user=list(sizes), score=scores).declare(cluster="user")
    found = sf.mean_score(rollouts)
    means = [np.mean([score for score, one in zip(scores, sizes, strict=True) if one == user]) for user in "abcd"]
    assert _ends(found) == pytest.approx(_ends(sf.stats.score_mean(sf.Scores(means))))  # every user weighs the same
    assert found.trials == 8
    assert found.notes[-1] == Note("about", {"subject": "users like these 4"})


@pytest.mark.parametrize("role", ["cluster", "run"])
def test_runs_of_its_own_are_clusters_of_a_policys_rollouts(role):
    rows = [(policy, f"{policy}{n}", int(n % 3 > 0)) for policy in ("new", "old") for n in range(6) for _ in range(4)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "training", "success"], orient="row"))
    own = rollouts.where(policy="new")
    assert sf.success_rate(own) == sf.stats.wilson(sf.Tally(16, 24))  # six are too few where nobody says so
    found = sf.success_rate(rollouts.declare(**{role: "training"}).where(policy="new"))
    wanted = sf.stats.cluster_mean(sf.Scores([row[2] for row in rows[:24]]), [row[1] for row in rows[:24]]).interval
    assert _ends(found) == pytest.approx(_ends(wanted))


def test_targets_that_cannot_be_measured_are_refused():
    for rows, must in (({}, "column must tell units apart"), ({"task": list("abcd")}, "must be met again")):
        table = comparisons_table(policy=["a"] * 4, success=[1, 0, 1, 1], **rows).declare(
            **({"unit": "task"} if rows else {})
        )
        with pytest.raises(sf.DataError, match=must):
            sf.success_rate(table, target="these")


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


def test_clusters_that_cross_the_units_count_both_ways():
    rng = np.random.default_rng(5)
    rows = [
        ("a", f"s{s}", f"u{u}", float(rng.random() < 0.3 + 0.4 * (u % 3 == 0))) for s in range(30) for u in range(20)
    ]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "scene", "user", "success"], orient="row"))
    table = table.declare(unit="scene", cluster="user")
    wanted = sf.stats.cluster_mean(
        sf.Scores([row[3] for row in rows]), [row[2] for row in rows], crossed=[row[1] for row in rows]
    ).interval
    found = sf.success_rate(table)
    assert _ends(found) == pytest.approx(_ends(wanted), abs=1e-9)
    assert found.width > sf.stats.wilson(table.tally()).width


@pytest.mark.parametrize("again", ["text", "numbers", "none"])
def test_units_met_again_are_not_more_units(again):
    """Whatever tells the tries, three alike of a hundred items are a hundred items."""
    rows = [("a", f"i{i}", f"r{r}" if again == "text" else r, int(i < 60)) for i in range(100) for r in range(3)]
    frame = pl.DataFrame(rows, schema=["policy", "item", "take", "success"], orient="row")
    found = sf.success_rate(sf.read(frame.drop("take") if again == "none" else frame).declare(unit="item"))
    exact = sf.stats.clopper_pearson(sf.Tally(60, 100))
    assert _ends(found) == pytest.approx(_ends(exact), abs=1e-6)
