"""The design of a table: what is declared wins, what cannot be is refused, and nothing but labels decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.table.design_of import with_unit
from tests.support.designs import crossed, outcome
from tests.support.shapes import SHAPES, renamed, shape

SMALL = [name for name, layout in SHAPES.items() if layout.units <= 40]
BY_NAME = {"counter of 50 shared", "task_id 10 x episode 50", "model_seed 3 x 40", "task 15 x seed 30"}
"""Shapes in which a name decides, and it is said."""


# --- Declared roles


def table() -> sf.Rollouts:
    return sf.read(crossed(scene=8, robot=2, trial=range(5)))


def test_what_is_declared_wins() -> None:
    plain = table().design
    assert plain.roles == {"scene": "unit", "robot": "setting", "trial": "repeat"}
    said = sf.design(table(), unit="robot", cluster="scene", ignore="trial")
    assert said.roles == {"robot": "unit", "scene": "cluster", "trial": "nothing"}
    assert {column.why for column in said.columns} == {"as declared"}
    assert sf.design(table(), unit="trial").unit == "trial"
    assert sf.design(table(), run="robot").runs == ("robot",)
    assert sf.design(table(), setting=("robot", "trial")).settings in (("robot", "trial"), ("trial", "robot"))


def test_declarations_add_up_and_a_new_unit_takes_the_place_of_the_old() -> None:
    one = table().declare(unit="robot", ignore="trial")
    two = one.declare(unit="scene")
    assert two.declared == {"condition": "unit", "order": "ignore"}  # by the table's own names
    assert two.design.unit == "scene"
    assert table().declare(unit=None, setting=()).declared == {}


def test_a_column_may_be_typed_by_any_word_that_names_it() -> None:
    frame = crossed(scene=8, trial=range(5)).rename({"scene": "Scene ID"})
    for word in ("Scene ID", "scene_id", "scene", "condition"):
        assert sf.read(frame).declare(unit=word).design.unit == "Scene ID"


def test_declared_columns_have_a_role_whatever_is_in_them() -> None:
    frame = crossed(scene=8).with_columns(
        lamp=pl.lit("on"),
        kg=pl.Series([0.5, 1.5] * 8),
        own=pl.int_range(pl.len()),
        gaps=pl.Series(["x", "y", None, None] * 4),
    )
    plain = sf.read(frame).design
    assert {plain.roles[name] for name in ("lamp", "kg", "own", "gaps")} == {"nothing"}
    assert {plain.column(name).why for name in ("lamp", "kg", "own", "gaps")} == {
        *("one level", "fractions", "every row has its own", "more than 5% empty")
    }
    for name in ("lamp", "kg", "gaps"):
        assert sf.read(frame).declare(setting=name).design.roles[name] == "setting"


def test_a_cluster_of_which_each_policy_has_its_own_is_a_run() -> None:
    frame = crossed(scene=8).with_columns(rater=pl.col("policy") + pl.col("scene"))
    assert sf.read(frame).declare(cluster="rater").design.roles["rater"] == "run"


def test_a_cluster_for_every_unit_leaves_the_unit_what_it_is() -> None:
    frame = crossed(scene=30, trial=range(3)).with_columns(page="p" + pl.col("scene"))
    assert sf.read(frame).declare(cluster="page").design.unit == "scene"


# --- Refusals


@pytest.mark.parametrize("column", ["own", "size"])
def test_a_unit_of_which_each_policy_has_its_own_is_refused(column: str) -> None:
    frame = crossed(scene=8).with_columns(own=pl.col("policy") + pl.col("scene"), size=pl.col("policy") + "7B")
    with pytest.raises(sf.DataError, match="a unit must be met by several policies") as refused:
        sf.read(frame).declare(unit=column)
    assert f"--run {column} or --cluster {column}" in refused.value.cure


def test_a_unit_that_the_format_says_may_be_of_one_policy_each() -> None:
    """Two logs of other samples: not paired, and said."""
    frame = pl.DataFrame({"policy": ["a"] * 25 + ["b"] * 25, "item": range(50), "success": [1, 0] * 25})
    read = replace(sf.read(frame), declared={"condition": "unit"})
    found = sf.compare(read, "a", "b")
    assert found.reading.why == "the two share no item"
    assert found.gain == sf.stats.exact_gain(sf.Tally(13, 25), sf.Tally(12, 25))


@pytest.mark.parametrize(
    ("said", "must"),
    [
        ({"unit": "policy"}, "a unit must be another column; 'policy' is the policy"),
        ({"repeat": "success"}, "a repeat must be another column; 'success' is the success"),
        ({"unit": ("scene", "robot")}, "one column must be the unit; got 'scene' and 'robot'"),
        ({"unit": "scene", "repeat": "scene"}, "'scene' must have one role; got unit and repeat"),
        ({"unit": "weather"}, "there must be a column 'weather'; these are there:"),
    ],
)
def test_roles_that_cannot_be_are_refused(said: dict, must: str) -> None:
    with pytest.raises(sf.DataError, match=must):
        table().declare(**said)


def test_an_unknown_column_shows_the_table_of_roles() -> None:
    with pytest.raises(sf.DataError) as refused:
        table().declare(setting="weather")
    for line in str(table().design).splitlines():
        assert line in str(refused.value)


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(
        ValueError, match="a role must be one of unit, repeat, setting, cluster, run, ignore; got 'task'"
    ):
        table().declare(task="scene")


# --- What decides


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", [name for name in SMALL if name not in BY_NAME])
def test_renaming_permuting_and_adding_columns_change_no_role(name: str) -> None:
    frame, _ = shape(name, np.random.default_rng(11))
    wanted = sf.read(frame).design.roles
    other, names = renamed(frame, np.random.default_rng(12))
    found = sf.read(other).design.roles
    assert {old: found[new] for old, new in names.items()} == wanted


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(SMALL), seed=st.integers(0, 999))
def test_outcomes_decide_no_role_but_that_a_column_repeats_them(name: str, seed: int) -> None:
    frame, _ = shape(name, np.random.default_rng(seed))
    rng = np.random.default_rng(seed + 1)
    other = frame.with_columns(pl.Series(outcome(frame), rng.permutation(frame[outcome(frame)].to_numpy())))
    one, two = (sf.read(given_).design.roles for given_ in (frame, other))
    for column, role in one.items():
        assert two[column] == role or {two[column], role} == {"watched", "nothing"}


def test_a_column_that_says_the_outcome_again_has_no_role() -> None:
    frame = crossed(scene=12, trial=range(10)).with_columns(
        zz=pl.when(pl.col("success") == 1).then(pl.lit("won")).otherwise(pl.lit("lost"))
    )
    assert sf.read(frame).design.roles["zz"] == "nothing"


@pytest.mark.parametrize("engine", ["lazy", "to_pandas", "to_arrow"])
def test_any_engine_gives_the_same_design(engine: str) -> None:
    frame = crossed(scene=8, robot=2, trial=range(5))
    assert sf.read(getattr(frame, engine)()).design == sf.read(frame).design


def test_whole_numbers_written_with_a_point_count_as_well() -> None:
    frame = crossed(scene=8, trial=[1.0, 2.0, 3.0])
    assert sf.read(frame).design.roles == {"scene": "unit", "trial": "repeat"}


def test_where_a_row_came_from_is_no_label_of_several_files(tmp_path: Path) -> None:
    for policy in "ab":
        crossed(policies=policy, scene=6).write_csv(tmp_path / f"{policy}.csv")
    assert sf.read([tmp_path / "a.csv", tmp_path / "b.csv"]).design.roles == {"scene": "unit"}


def test_one_policy_of_a_table_keeps_the_design_of_all() -> None:
    read = sf.read(crossed(scene=8, trial=range(5)))
    assert read.where(policy="a").design is read.design


def test_what_sounds_like_a_result_is_said() -> None:
    rng = np.random.default_rng(1)
    frame = crossed(scene=12, trial=range(10)).with_columns(collision=pl.Series(rng.integers(0, 2, 240)))
    design = sf.read(frame).design
    assert (design.watched, design.column("collision").result) == (("collision",), True)
    assert [note.kind for note in design.said] == ["sound like results"]


def test_a_unit_that_sounds_like_a_result_is_said() -> None:
    """Tokens that are nearly the same for both policies split a few items, in silence."""
    said = {name: sf.read(crossed(**{name: range(100, 140)})).design for name in ("tokens", "zz")}
    assert {name: design.unit for name, design in said.items()} == {"tokens": "tokens", "zz": "zz"}
    assert [[note.kind for note in design.said] for design in said.values()] == [["result is unit"], []]
    assert sf.read(crossed(tokens=range(100, 140))).declare(unit="tokens").design.said == ()


@pytest.mark.parametrize(("label", "asked"), [("s{}", ["met unequally"]), ("{}7", [])])
def test_words_of_many_levels_met_in_unequal_shares_are_asked_about(label: str, asked: list[str]) -> None:
    """A quarter of tables of 30 scenes that each policy met 1 to 9 times misled, and nothing was said."""
    rng = np.random.default_rng(0)
    rows = [(p, label.format(s), k % 2) for p in "ab" for s in range(30) for k in range(rng.integers(1, 10))]
    read = sf.read(pl.DataFrame(rows, schema=["policy", "zz", "success"], orient="row"))
    assert (read.design.roles, [note.kind for note in read.design.said]) == ({"zz": "nothing"}, asked)
    assert read.declare(ignore="zz").design.said == ()


# --- Without a unit


def test_what_stands_for_the_unit_where_no_column_tells_units() -> None:
    plain = table()
    assert with_unit(plain) is plain
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))
    assert with_unit(bare) is bare
    frame = crossed(user=6, trial=4).drop("trial")
    for role in ("cluster", "setting"):
        assert with_unit(sf.read(frame).declare(**{role: "user"})).design.unit == "user"
