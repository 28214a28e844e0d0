"""Tests of `surefoot.analysis.flips`."""

from __future__ import annotations

import polars as pl

import surefoot as sf
from surefoot.analysis.flips import flips


def table(**columns: list[object]) -> sf.Rollouts:
    return sf.read(pl.DataFrame(columns))


def test_items_that_flipped() -> None:
    rollouts = table(policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, success=[1, 0, 1, 0, 1, 1, 0, 0])
    found = flips(rollouts, "new", "old")
    assert found is not None
    assert (found.lost, found.won, found.pairs) == (("b",), ("c",), 4)
    swapped = flips(rollouts, "old", "new")
    assert swapped is not None
    assert (swapped.lost, swapped.won) == (found.won, found.lost)


def test_scores_come_with_the_greatest_change_first() -> None:
    rollouts = table(policy=["new"] * 3 + ["old"] * 3, condition=[*"abc"] * 2, score=[0.5, 0.0, 0.4, 0.6, 0.9, 0.4])
    found = flips(rollouts, "new", "old", measure="score")
    assert found is not None
    assert (found.lost, found.won) == (("b", "a"), ())


def test_tasks_and_repeats_are_named_where_they_tell() -> None:
    rollouts = table(
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
    rollouts = table(policy=["new", "new", "old", "old"], order=[1, 2, 1, 2], success=[1, 0, 1, 1])
    assert flips(rollouts, "new", "old") is None
    found = flips(rollouts, "new", "old", on=("order",))
    assert found is not None
    assert found.lost == ("2",)


def test_without_pairs_there_are_none() -> None:
    assert flips(table(policy=["new", "old"], success=[1, 0]), "new", "old") is None


def test_what_an_item_belongs_to_is_no_part_of_its_name() -> None:
    rollouts = table(
        policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, user=[*"xxyy"] * 2, success=[0, 1, 1, 1] + [1] * 4
    )
    for role in ("setting", "cluster"):
        found = flips(rollouts.declare(**{role: "user"}), "new", "old")
        assert found is not None
        assert found.lost == ("a",)
