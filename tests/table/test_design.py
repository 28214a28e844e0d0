"""The role of every column: reference tables, the slow twin on tables of all shapes, and what a design says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.table.design import Column, Design, assigned, noun, sounds_like_a_result, whole_numbers
from tests.oracles.roles import roles
from tests.support.designs import crossed, labels_of, outcome, twin_roles
from tests.support.shapes import SHAPES, renamed, shape

STORED = json.loads((Path(__file__).parents[1] / "reference" / "oracle3.json").read_text(encoding="utf-8"))


# --- Reference tables and the twin


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("table", STORED["target.roles"], ids=lambda table: table["name"])
def test_roles_of_the_reference_tables(table: dict, names: bool) -> None:
    frame = pl.DataFrame(table["columns"], strict=False)
    labels = labels_of(frame)
    found = assigned(labels, named={name: name for name in labels.columns} if names else None).roles
    assert {name: "nothing" if role == "watched" else role for name, role in found.items()} == table["roles"]
    read = sf.read(frame).design.roles
    assert {name: "nothing" if role == "watched" else role for name, role in read.items()} == table["roles"]


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", SHAPES)
def test_roles_are_those_of_the_twin_under_any_name(name: str) -> None:
    for seed in range(4):
        frame, _ = shape(name, np.random.default_rng(seed))
        assert sf.read(frame).design.roles == twin_roles(frame)
        other, names = renamed(frame, np.random.default_rng(100 + seed))
        found = sf.read(other).design.roles
        assert {old: found[new] for old, new in names.items()} == twin_roles(frame, names=False)
        added = [role for column, role in found.items() if column not in names.values()]
        assert added == ["nothing", "nothing"]  # a constant and a note


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "name", [name for name, layout in SHAPES.items() if layout.units <= 100 and not layout.measured]
)
def test_labels_alone_give_the_roles_of_the_table(name: str) -> None:
    frame, _ = shape(name, np.random.default_rng(9))
    labels = labels_of(frame)
    by_shape = assigned(labels).roles
    assert by_shape == {column: twin_roles(frame, names=False)[column] for column in by_shape}


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_were_measured_are_seldom_taken_for_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = crossed(scene=12, trial=10, draw=seed)
    won = frame["success"].to_numpy()
    measured = {
        "zz": (rng.random(frame.height) < np.where(won, 0.1, 0.5)).astype(int),
        "yy": rng.choice(["dim", "lit", "dark"], frame.height),
        "xx": np.where(won, rng.integers(20, 200, frame.height), 200),
    }
    found = sf.read(frame.with_columns(**{name: pl.Series(of) for name, of in measured.items()})).design.roles
    assert found["scene"] == "unit"
    assert {found[name] for name in measured} <= {"watched", "nothing"}


# --- Names that count


@pytest.mark.parametrize(
    ("first", "second", "wanted", "kind"),
    [
        ("task_id", "episode", ("unit", "repeat"), "several counters"),
        ("zz", "episode", ("repeat", "unit"), "several counters"),
        ("run", "seed", ("run", "unit"), "counted runs"),
        ("train_seed", "zz", ("run", "repeat"), "counted runs"),
    ],
)
def test_a_name_settles_what_several_counters_are_and_it_is_said(
    first: str, second: str, wanted: tuple[str, str], kind: str
) -> None:
    design = sf.read(crossed(**{first: range(10), second: range(50)})).design
    assert (design.roles[first], design.roles[second]) == wanted
    assert kind in {note.kind for note in design.said}


def test_a_counter_alone_meets_by_its_name_only_and_it_is_said() -> None:
    for name, role, kind in (("seed", "unit", "counter meets"), ("take", "repeat", "not paired by counter")):
        design = sf.read(crossed(**{name: range(50)})).design
        assert design.roles == {name: role}
        assert [note.kind for note in design.said] == [kind]
        assert design.said[0].values == {"column": name}


def test_counters_beside_units_are_repeats_whatever_their_names() -> None:
    for name in ("seed", "trial", "zz", "item"):
        design = sf.read(crossed(scene=6, **{name: range(5)})).design
        assert (design.unit, design.repeats, design.said) == ("scene", (name,), ())


@pytest.mark.parametrize("by", [["scene"], ["scene", "robot"], ["robot"]])
def test_a_level_for_each_cell_of_policy_and_what_all_met_is_no_run(by: list[str]) -> None:
    """A folder of each policy's rollouts of a task was a training, and from 20 tasks on the answer was unpaired."""
    frame = crossed(scene=24, robot=2, trial=range(3))
    own = frame.with_columns(folder=pl.concat_str(["policy", *by], separator="/"))
    wanted, found = (sf.read(one).design for one in (frame, own))
    assert (found.runs, found.roles["folder"]) == ((), "nothing")
    assert found.reading() == wanted.reading()
    assert sf.compare(sf.read(own), "a", "b").gain == sf.compare(sf.read(frame), "a", "b").gain
    assert sf.read(own).declare(run="folder").design.runs == ("folder",)
    trained = frame.with_columns(folder=pl.concat_str(["policy", pl.col("trial")], separator="/"))
    assert sf.read(trained.drop("trial")).design.runs == ("folder",)
    columns = {name: own[name].to_list() for name in own.columns if name != "success"}
    assert roles(columns, "policy", own["success"].to_list()) == found.roles


# --- What a design says


def test_a_design_by_its_roles() -> None:
    frame = crossed(item=range(100, 140), robot=2, trial=range(3)).with_columns(
        document=("d" + (pl.col("item") // 2).cast(pl.String)), suite=("s" + (pl.col("item") // 20).cast(pl.String))
    )
    design = sf.read(frame).design
    assert (design.unit, design.units, design.repeats) == ("item", 40, ("trial",))
    assert design.settings == ("robot", "suite") or set(design.settings) == {"robot", "suite"}
    assert (design.cluster, design.runs, design.watched) == (("document",), (), ())
    assert design.reading().startswith("unit item (40), repeat trial (3), setting ")
    assert design.split is not None
    assert design.split.role == "setting"
    assert [column.role for column in design.columns][:2] == ["unit", "repeat"]
    assert Design.from_dict(json.loads(json.dumps(design.to_dict()))) == design
    for column in design.columns:
        assert column.name in str(design)
        assert column.why in str(design)


def test_few_units_are_shown_side_by_side() -> None:
    assert sf.read(crossed(scene=4, trial=range(5))).design.split.name == "scene"
    assert sf.read(crossed(scene=30, trial=range(2))).design.split is None


def test_a_design_of_nothing() -> None:
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]})).design
    assert bare == Design()
    assert str(bare) == "No column but the policy and the outcome."
    assert bare.reading() == "no column has a role"
    assert (bare.unit, bare.units, bare.split) == (None, 0, None)


def test_a_column_is_found_by_any_word_that_names_it() -> None:
    design = Design((Column("Task ID", "unit", 5, "why", "task"), Column("zz", "repeat", 3, "why", "zz")))
    for word in ("Task ID", "task", "task_id", "TASK-ID"):
        assert design.column(word) is design.columns[0]
    assert design.column("trial") is None
    assert str(design.columns[0]) == "Task ID: unit (5), why"


@pytest.mark.parametrize(
    ("name", "called"), [("task_id", "task"), ("Scene", "scene"), ("prompt index", "prompt"), ("_id", "id"), ("é", "é")]
)
def test_what_one_level_is_called(name: str, called: str) -> None:
    assert noun(name) == called


def test_names_that_sound_like_a_result() -> None:
    for name in ("collision", "num_steps", "failure_reason", "duration_s", "secs", "wall time", "Success rate"):
        assert sounds_like_a_result(name)
    for name in ("scene", "light", "human_present", "robot", "timer_kind"):
        assert not sounds_like_a_result(name)


def test_levels_that_are_whole_numbers() -> None:
    assert whole_numbers(["0", "1", "10"]).tolist() == [0, 1, 10]
    for levels in (["2", "3"], ["1", "1.5"], ["1", None], ["1", "x"], [], ["1", "inf"]):
        assert whole_numbers(levels) is None


def test_one_policy_alone_has_a_design() -> None:
    frame = crossed(policies="a", scene=6, trial=range(4))
    assert sf.read(frame).design.roles == {"scene": "unit", "trial": "repeat"}
    assert outcome(frame) == "success"


def test_of_twins_the_one_that_sounds_like_a_result_is_not_the_unit() -> None:
    """Prompts of different lengths: their tokens divide the rows as the items do, and are not what was met."""
    rows = [(p, 901 + n, 100 + 7 * n, (n + len(p)) % 3 == 0) for p in ("new", "old!") for n in range(30)]
    frame = pl.DataFrame(rows, schema=["policy", "number", "tokens", "success"], orient="row")
    assert sf.read(frame).design.roles == {"number": "unit", "tokens": "nothing"}
    assert sf.read(frame.rename({"tokens": "zq"})).design.units == 30


def test_what_is_shown_side_by_side_does_not_hang_on_a_name() -> None:
    """Units called seed were left for their tasks, and units called zz were not; a study and a log declare theirs."""
    rows = [(p, t, n, n % 2) for p in "ab" for t in ("cut", "pour") for n in (17, 42, 99, 120)]
    for name in ("seed", "zz"):
        table = sf.read(pl.DataFrame(rows, schema=["policy", "task", name, "success"], orient="row"))
        assert (table.design.unit, table.split) == (name, name)
