"""Tests of `surefoot.table.crosstab`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.table import crosstab as module
from surefoot.table.crosstab import Coverage, coverage, crosstab
from tests.support.designs import crossed

ROWS = {
    "policy": ["new", "new", "old", "new", "old", "old", "old"],
    "task": ["cut", "cut", "cut", "pour", "pour", "stir", "stir"],
    "success": [1, 0, 1, 1, 0, 1, None],
    "score": [1.0, 0.5, 1.0, 0.75, 0.25, 0.5, 0.0],
}


def test_known_outcomes_are_counted_and_summed_by_hand():
    found = crosstab(sf.read(pl.DataFrame(ROWS)), "success", ["task"], ["new", "old"])
    assert found.labels("task") == ["cut", "pour", "stir"]
    assert [column.tolist() for column in found.of("new")] == [[2, 1, 0], [1, 1, 0]]
    assert [column.tolist() for column in found.of("old")] == [[1, 1, 1], [1, 0, 1]]
    scored = crosstab(sf.read(pl.DataFrame(ROWS)), "score", ["task"], ["new", "old"])
    assert [column.tolist() for column in scored.of("old")] == [[1, 1, 2], [1.0, 0.25, 0.5]]


def test_codes_number_the_levels_in_order():
    found = crosstab(sf.read(pl.DataFrame(ROWS)), "success", ["task"], ["new", "old"])
    assert found.codes("task").tolist() == [0, 1, 2]
    assert found.codes().tolist() == [0, 0, 0]


def test_one_pass_and_scattering_agree_whatever_the_order(monkeypatch):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "policy": rng.choice(["a", "b", "c"], 200),
            "task": rng.choice(["x", "y"], 200),
            "seed": rng.integers(0, 9, 200),
            "success": rng.integers(0, 2, 200),
        }
    )
    wanted = ("success", ["task", "seed"], ["a", "b", "c"])
    one = crosstab(sf.read(frame), *wanted)
    monkeypatch.setattr(module, "_in_one_pass", lambda *_: None)
    other = crosstab(sf.read(frame.sample(fraction=1.0, shuffle=True, seed=1)), *wanted)
    assert one.frame.cast(pl.Float64, strict=False).equals(other.frame.cast(pl.Float64, strict=False))


def scored(rows, environments):
    rng = np.random.default_rng(11)
    met = rng.integers(0, environments, rows)
    return pl.DataFrame(
        {
            "policy": rng.choice(["a", "b"], rows),
            "task": np.where(met % 2, "x", "y"),
            "seed": met,
            "score": rng.random(rows).round(3),
        }
    )


@pytest.mark.parametrize(("environments", "one_pass"), [(4000, True), (20, False)])
def test_sums_of_scores_are_the_same_to_the_last_digit_whatever_the_order(environments, one_pass, monkeypatch):
    frame, wanted = scored(300, environments), ("score", ["task", "seed"], ["a", "b"])
    made = module._in_one_pass(sf.read(frame), "score", ("task", "seed"), ("a", "b"))
    assert (made is not None) is one_pass  # with more than two scores in one environment their order would tell
    one = crosstab(sf.read(frame), *wanted)
    again = crosstab(sf.read(frame.sample(fraction=1.0, shuffle=True, seed=1)), *wanted)
    assert again.frame.equals(one.frame)
    monkeypatch.setattr(module, "_in_one_pass", lambda *_: None)
    scattered = crosstab(sf.read(frame), *wanted)
    assert scattered.frame.equals(one.frame.cast(dict(scattered.frame.schema)))


def test_it_is_made_once_for_a_table():
    rollouts = sf.read(pl.DataFrame(ROWS))
    one = crosstab(rollouts, "success", ["task"], ["new", "old"])
    assert crosstab(rollouts, "success", ["task"], ["new"]) is one
    with pytest.raises(ValueError, match="not in"):
        one.of("third")


def test_codes_of_leading_columns_are_those_of_any_columns():
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "policy": rng.choice(["a", "b"], 300),
            "task": rng.choice(["x", "y", None], 300),
            "seed": rng.integers(0, 9, 300),
            "cluster": rng.choice(["r", "s"], 300),
            "success": rng.integers(0, 2, 300),
        }
    )
    found = crosstab(sf.read(frame), "success", ["task", "seed", "cluster"], ["a", "b"])
    for columns in (("task",), ("task", "seed"), ("task", "seed", "cluster")):
        rows = found.frame.select(f"key_{place}" for place in range(len(columns))).rows()
        order = sorted(set(rows), key=lambda row: [(cell is not None, cell or "") for cell in row])
        assert found.codes(*columns).tolist() == [order.index(row) for row in rows]
    assert sorted(set(found.codes("cluster").tolist())) == [0, 1]


@pytest.mark.parametrize("measure", ["success", "score"])
def test_where_every_rollout_is_void_no_environment_was_met_on_any_engine(measure):
    frame = pl.DataFrame({**ROWS, "valid": [0] * 7})
    for one in (frame, frame.to_pandas(), frame.to_arrow()):
        found = crosstab(sf.read(one), measure, ["task"], ["new", "old"])
        assert found.frame.height == 0
        assert [each.tolist() for each in found.of("old")] == [[], []]


def test_units_that_all_met_once() -> None:
    found = coverage(sf.read(crossed(policies="abc", scene=10)))
    assert found == Coverage(("condition",), "scene", 10, 10, 10, 0)
    assert found.once


def test_units_in_settings_and_units_met_again() -> None:
    found = coverage(sf.read(crossed(scene=10, robot=2, trial=range(3))))
    assert (found.called, found.environments, found.shared, found.recurring) == ("scene and robot", 20, 20, 20)
    assert not found.once


def test_units_that_some_policies_missed() -> None:
    frame = crossed(policies="abc", scene=10)
    some = frame.filter(~((pl.col("policy") == "a") & (pl.col("scene") == "scene 1")))
    some = some.filter((pl.col("policy") == "c") | (pl.col("scene") != "scene 2"))
    found = coverage(sf.read(some).declare(unit="scene"))
    assert (found.environments, found.shared, found.several) == (10, 8, 9)


def test_outcomes_that_are_not_known_do_not_count() -> None:
    frame = crossed(scene=4).with_columns(pl.when(pl.col("scene") != "scene 0").then("success"))
    assert coverage(sf.read(frame).declare(unit="scene")).environments == 3


def test_where_nothing_tells_units_there_is_none() -> None:
    assert coverage(sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))) == Coverage()
