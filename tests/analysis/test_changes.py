"""Tests of `surefoot.analysis.changes`."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.changes import change, flips
from surefoot.analysis.overview import overview
from tests.support.comparisons import streams, table


def test_a_change_against_the_previous_run_is_a_comparison():
    found = change(streams(17, 8), streams(9, 8))
    assert [(one.first, one.second) for one in found] == [
        ("new (now)", "new (previous run)"),
        ("old (now)", "old (previous run)"),
    ]
    alone = sf.reference.central_gain(sf.Tally(17, 20), sf.Tally(9, 20), confidence=0.975)
    assert found[0].interval.low == alone.interval.low
    assert found[1].gain.estimate == 0.0


def test_runs_without_a_common_policy_have_no_change():
    with pytest.raises(sf.DataError, match="must share a policy by name"):
        change(streams(17, 8).where(policy="new"), streams(17, 8).where(policy="old"))


def test_runs_scored_on_different_ranges_have_no_change():
    frame = pl.DataFrame({"policy": ["a"] * 4, "score": [0.0, 0.5, 1.0, 0.5]})
    with pytest.raises(sf.DataError, match="must use one range of scores; they do not"):
        change(sf.read(frame), sf.read(frame, low=0.0, high=2.0))
    scores = sf.Scores(sorted(frame["score"]))
    assert change(sf.read(frame), sf.read(frame))[0].gain == sf.stats.score_gain(scores, scores)
    ended = frame.with_columns(success=pl.Series([1, 0, 1, 1]))
    now = sf.read(ended.with_columns(pl.col("score") * 100), low=0.0, high=100.0)
    for before in (sf.read(ended), sf.read(ended.drop("score"))):
        (found,) = change(now, before)  # a change of success has nothing to do with the range of scores
        assert found.gain == sf.stats.exact_gain(sf.Tally(3, 4), sf.Tally(3, 4))


def test_a_task_or_a_previous_run_without_outcomes_stops_no_report_either():
    cells = [("a", "x", 1), ("b", "x", 0), ("b", "y", 1), ("a", "y", None)]
    rows = [(policy, task, place, k) for policy, task, k in cells for place in range(12)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "order", "success"], orient="row"))
    assert [one.task for one in sf.replay(rollouts, "a", "b").comparisons] == ["x"]
    assert [one.task for one in overview(rollouts).curves] == ["x"]
    now = table(policy=["a"] * 10 + ["b"] * 10, success=[1, 0] * 10)
    before = table(policy=["a"] * 10 + ["b"] * 10, success=[0] * 10 + [None] * 10)
    assert [one.first for one in change(now, before)] == ["a (now)"]
    assert change(now, before)[0].gain == change(now, before.where(policy="a"))[0].gain
    with pytest.raises(sf.DataError, match="with a success in both; they share none"):
        change(now, before.where(policy="b"))


def columns(**columns: list[object]) -> sf.Rollouts:
    return sf.read(pl.DataFrame(columns))


def test_items_that_flipped() -> None:
    rollouts = columns(policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, success=[1, 0, 1, 0, 1, 1, 0, 0])
    found = flips(rollouts, "new", "old")
    assert found is not None
    assert (found.lost, found.won, found.pairs) == (("b",), ("c",), 4)
    swapped = flips(rollouts, "old", "new")
    assert swapped is not None
    assert (swapped.lost, swapped.won) == (found.won, found.lost)


def test_scores_come_with_the_greatest_change_first() -> None:
    rollouts = columns(policy=["new"] * 3 + ["old"] * 3, condition=[*"abc"] * 2, score=[0.5, 0.0, 0.4, 0.6, 0.9, 0.4])
    found = flips(rollouts, "new", "old", measure="score")
    assert found is not None
    assert (found.lost, found.won) == (("b", "a"), ())


def test_tasks_and_repeats_are_named_where_they_tell() -> None:
    rollouts = columns(
        policy=["new"] * 4 + ["old"] * 4,
        task=["cut", "cut", "cut", "pour"] * 2,
        condition=["a", "a", "b", "a"] * 2,
        repeat=["1", "2", "1", "1"] * 2,
        success=[0, 1, 1, 1, 1, 1, 1, 1],
    )
    found = flips(rollouts, "new", "old")
    assert found is not None
    assert found.lost == ("a / cut / 1",)  # the unit first


def test_pairs_that_the_user_declared() -> None:
    rollouts = columns(policy=["new", "new", "old", "old"], order=[1, 2, 1, 2], success=[1, 0, 1, 1])
    assert flips(rollouts, "new", "old") is None
    found = flips(rollouts, "new", "old", on=("order",))
    assert found is not None
    assert found.lost == ("2",)


def test_without_pairs_there_are_none() -> None:
    assert flips(columns(policy=["new", "old"], success=[1, 0]), "new", "old") is None


def test_what_an_item_belongs_to_is_no_part_of_its_name() -> None:
    rollouts = columns(
        policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, user=[*"xxyy"] * 2, success=[0, 1, 1, 1] + [1] * 4
    )
    for role in ("setting", "cluster"):
        found = flips(rollouts.declare(**{role: "user"}), "new", "old")
        assert found is not None
        assert found.lost == ("a",)
