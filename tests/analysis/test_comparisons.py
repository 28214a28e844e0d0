"""From a table to named results: the right method is chosen, and the result says which and why."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.changes import change
from surefoot.analysis.overview import overview
from surefoot.core.notes import Note
from tests.support.comparisons import _of_rows, streams, table


def test_what_cannot_be_paired_is_not_paired_when_told_to(tmp_path):
    apart = table(policy=["new"] * 2 + ["old"] * 2, condition=list("abcd"), success=[1, 1, 0, 0])
    with pytest.raises(sf.DataError, match=r"the two share no condition\. They cannot be compared as pairs"):
        sf.compare(apart, "new", "old", paired=True)
    (tmp_path / "counts.csv").write_text("policy,successes,trials\nnew,17,20\nold,8,20\n")
    with pytest.raises(sf.DataError, match="pair the n-th with the n-th; it is not"):
        sf.compare(sf.read(tmp_path / "counts.csv"), "new", "old", paired=True)


def test_tasks_are_a_family():
    rows = [(p, t, i < k) for t in "xyz" for p, k in (("new", 16), ("old", 5)) for i in range(20)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    found = sf.compare_tasks(rollouts, "new", "old")
    assert [one.task for one in found] == ["x", "y", "z"]
    alone = sf.stats.central_gain(sf.Tally(16, 20), sf.Tally(5, 20), confidence=1 - 0.05 / 3)
    assert all(one.interval.low == alone.interval.low for one in found)
    assert all(one.interval.confidence == 0.95 for one in found)


def test_a_margin_reaches_the_verdict():
    assert sf.compare(streams(17, 8), "new", "old").verdict is Verdict.BETTER
    assert sf.compare(streams(17, 8), "new", "old", margin=0.4).verdict is Verdict.UNDECIDED


def test_results_go_to_json_and_back():
    found = sf.compare(streams(17, 8), "new", "old")
    assert sf.Comparison.from_dict(found.to_dict()) == found
    ranking = sf.rank(streams(17, 8))
    assert sf.Ranking.from_dict(ranking.to_dict()) == ranking


def test_policies_that_share_no_task_are_still_reported_and_it_is_said():
    rows = [("a", "x", i < 18) for i in range(20)] + [("b", "y", i < 9) for i in range(20)]
    rows += [("c", "x", i < 2) for i in range(20)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    apart = sf.compare(table, "a", "b")
    assert Note("no common task") in apart.notes
    assert not apart.comparable
    assert apart.gain.interval.low > 0.0  # the pooled rates are shown ...
    assert apart.verdict is sf.Verdict.UNDECIDED  # ... and decide nothing
    assert apart.outlook is None  # more rollouts of other tasks would not tell
    assert str(apart).endswith("no verdict: no common task.")
    assert sf.compare(table, "a", "c").comparable
    found = overview(table)
    assert {(one.first, one.second) for one in found.tasks} == {("a", "c")}
    apart = overview(table.where(policy=["a", "b"]))
    assert apart.tasks == ()


@pytest.mark.parametrize("extra", [{}, {"cluster": [*map(str, range(10))] * 2}])
def test_scores_on_different_tasks_decide_nothing(extra):
    sides = [
        pl.DataFrame({"policy": [name] * 20, "task": [task] * 20, "score": [level, level, 0.5, level] * 5, **extra})
        for name, task, level in (("a", "x", 0.9), ("b", "y", 0.1))
    ]
    found = sf.compare(sf.read(pl.concat(sides)), "a", "b")
    assert found.interval.low > 0.0  # the numbers alone would have decided
    assert found.verdict is sf.Verdict.UNDECIDED


def test_a_gain_within_the_margin_can_be_shown_not_to_matter():
    score = [0.5, 0.6] * 10 + [0.5, 0.59] * 10
    rollouts = table(policy=["new"] * 20 + ["old"] * 20, score=score)
    found = sf.compare(rollouts, "new", "old", margin=0.1)
    assert "rollouts of each policy to show the two the same within the margin" in str(found.outlook)
    assert "to decide, if the observed gain" in sf.compare(rollouts, "new", "old", margin=0.001).outlook.wanted
    at_it = sf.compare(rollouts, "new", "old", margin=found.gain.estimate)
    assert str(at_it.outlook).endswith(
        " The observed gain is as large as the margin: no number of rollouts would decide."
    )
    equal = sf.compare(table(policy=["new"] * 20 + ["old"] * 20, score=score[:20] * 2), "new", "old")
    assert str(equal.outlook).endswith(" No gain was observed: no number of rollouts would show one.")


@pytest.mark.parametrize("measure", ["success", "score"])
def test_pairs_of_which_none_is_complete_stop_no_report(measure):
    ended = pl.Series([1.0, 1.0, None, None, None, None, 0.0, 1.0])
    rollouts = table(policy=["a"] * 4 + ["b"] * 4, condition=list("1234") * 2, order=list(range(8)), **{measure: ended})
    found = overview(rollouts)
    assert found.comparisons[0].structure.unpaired == "none shared"  # of the outcomes that are known
    assert found.comparisons[0].interval.estimate == 0.5
    assert [one.horizon for one in found.curves] == [2]  # as they were compared: not as pairs
    with pytest.raises(sf.DataError, match="They cannot be compared as pairs"):
        sf.compare(rollouts, "a", "b", paired=True)


@pytest.mark.parametrize(
    "asked",
    [
        lambda path: sf.compare(path, "new", "old"),
        lambda path: sf.compare(path, "new", "old", measure="score"),
        lambda path: sf.compare_tasks(path, "new", "old"),
        sf.rank,
        sf.report,
        sf.audit,
        lambda path: sf.replay(path, "new", "old"),
        sf.success_rate,
        sf.mean_score,
        sf.measure,
        sf.human_corrections,
        lambda path: change(path, path),
    ],
)
def test_a_path_is_to_be_read_first(asked):
    with pytest.raises(
        TypeError, match=r"^`rollouts` must be a Rollouts; got a str. Read it first: sf.read\('f.csv'\)\.$"
    ):
        asked("f.csv")


def test_a_task_of_one_item_does_not_stop_a_comparison():
    rows = [
        (policy, task, f"i{item}", (item + again) % 2)
        for policy in ("new", "old")
        for task, size in (("wide", 5), ("narrow", 1))
        for item in range(size)
        for again in range(2 + item % 2)
    ]
    rollouts = _of_rows(rows, "policy", "task", "item", "success")
    assert sf.compare(rollouts, "new", "old").gain.estimate == 0.0
    with pytest.raises(sf.DataError, match=r"each task must hold at least 2 clusters .* got 1 on 'narrow'"):
        sf.compare(rollouts, "new", "old", weigh="tasks")


def test_tasks_reuse_what_is_known_of_all_environments():
    rng = np.random.default_rng(8)
    rows = [(p, t, s, bool(rng.random() < 0.5)) for t in ("x", "y") for s in range(20) for p in ("a", "b")]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "seed", "success"], orient="row"))
    fresh = sf.compare(table.where(task="x"), "a", "b")
    sf.compare(table, "a", "b")
    narrowed = table.where(task="x")
    assert narrowed.environments
    assert sf.compare(narrowed, "a", "b") == fresh


def test_tasks_that_one_policy_does_not_tell_are_not_held_against_it():
    rows = [("new", "x", i < 9) for i in range(10)] + [("new", "y", i < 8) for i in range(10)]
    rows += [("old", None, i < 6) for i in range(20)]
    found = sf.compare(_of_rows(rows, "policy", "task", "success"), "new", "old")
    assert found.gain == sf.stats.exact_gain(sf.Tally(17, 20), sf.Tally(6, 20))
    assert (found.notes, found.comparable) == ((), True)


def test_a_gate_has_each_bound_at_its_own_confidence():
    found = sf.compare(streams(17, 8), "new", "old", gate=True)
    wide = sf.stats.central_gain(sf.Tally(17, 20), sf.Tally(8, 20), confidence=0.9)
    assert [bound.value for bound in found.bounds] == [wide.interval.low, wide.interval.high]
    assert all(bound.confidence == 0.95 for bound in found.bounds)
    assert sf.compare(streams(17, 8), "new", "old").bounds is None


def test_how_tasks_weigh_is_said_and_with_a_margin_intervals_decide():
    rows = [(p, t, i < k) for t in "xy" for p, k in (("new", 16), ("old", 5)) for i in range(20)]
    rollouts = _of_rows(rows, "policy", "task", "success")
    assert (
        "2 tasks, compared within tasks; every task weighs the same."
        in sf.compare(rollouts, "new", "old", weigh="tasks").why
    )
    assert "each weighs by its share of rollouts." in sf.compare(rollouts, "new", "old").why
    found = sf.compare_tasks(rollouts, "new", "old", margin=0.1)
    alone = sf.stats.central_gain(sf.Tally(16, 20), sf.Tally(5, 20), confidence=0.975, margin=0.1)
    assert [(one.verdict, one.interval.low) for one in found] == [(alone.verdict, alone.interval.low)] * 2
