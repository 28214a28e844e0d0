"""Tests of `surefoot.analysis.comparison_data`."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.comparison_data import Asked, Reading, Subject, cells_of, runs_that_count
from surefoot.core.notes import Note
from surefoot.table.design import Column, Design
from tests.support.comparisons import by_tally
from tests.support.designs import crossed


def test_policies_whose_common_task_has_no_name_are_compared_on_all():
    rollouts = by_tally(("a", "x", 9, 10), ("a", None, 5, 10), ("b", "y", 5, 10), ("b", None, 5, 10))
    found = sf.compare(rollouts, "a", "b")
    assert found.gain == sf.stats.exact_gain(sf.Tally(14, 20), sf.Tally(10, 20))


def test_rollouts_that_name_no_task_are_not_said_to_be_of_one():
    rollouts = by_tally(("a", "x", 9, 10), ("a", None, 1, 10), ("b", "x", 5, 10), ("b", None, 5, 10))
    assert sf.compare(rollouts, "a", "b").task is None
    told = rollouts.declare(unit="task")
    assert [(one.policy, one.task, one.tally) for one in sf.measure(told, by_task=True)] == [
        ("a", "x", sf.Tally(9, 10)),
        ("b", "x", sf.Tally(5, 10)),
    ]
    found = sf.compare(told, "a", "b")
    assert found.gain == sf.stats.exact_gain(sf.Tally(9, 10), sf.Tally(5, 10))
    assert Note("without a task", {"count": 20}) in found.notes


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("like", "task", 88), "tasks like these 88"),
        (("these", "scene", 4), "these 4 scenes"),
        (("these", "robot", 2), "these 2 settings (robot)"),
        (("like", "robot", 2), "robots like these 2"),
        (("like", "zz", 30), "units like these 30 (zz)"),
        (("these", "q1_7", 5), "these 5 units (q1_7)"),
        (("like", "doc_id", 1200), "docs like these 1,200"),
        (("like", "init state", 25), "init states like these 25"),
        (("like", "class", 25), "classes like these 25"),
        (("like", "questions", 25), "questions like these 25"),
        (("like", "", 0), "rollouts like these"),
        (("these", "item", 100, "rollouts", 3), "these 100 items and these 3 runs of each"),
    ],
)
def test_what_it_is_about_in_the_users_word(given: tuple, said: str) -> None:
    assert str(Subject(*given)) == said


def test_several_units_in_the_users_word() -> None:
    assert [Subject("like", name, 30).plural for name in ("task_id", "zz", "")] == ["tasks", "units", "rollouts"]


@pytest.mark.parametrize(
    ("fewest", "declared", "said", "count"),
    [
        (19, {}, (), 0),
        (20, {}, (), 20),
        (1, {"r": "run"}, (), 0),
        (2, {"r": "run"}, (), 2),
        (3, {"r": "cluster"}, (), 3),
        (2, {"other": "unit"}, (), 0),
        (2, {}, (Note("counted runs", {"column": "r"}),), 2),
    ],
)
def test_how_many_runs_stand_for_runs_like_them(fewest: int, declared: dict, said: tuple, count: int) -> None:
    design = Design((Column("r", "run", 2 * fewest, "", "r"),), said, declared)
    assert runs_that_count(design, fewest) == count


def test_a_reading_says_how_the_table_was_read() -> None:
    design = sf.read(crossed(scene=8, robot=2, trial=range(5))).design
    made = Reading(design, Subject("these", "scene", 8), True, 8, 16, 0, 5, 2)
    assert str(made) == "Read as: unit scene (8), repeat trial (5), setting robot (2), paired by scene."
    assert made.environment == ("condition", "robot")
    assert made.clusters == ()
    assert Reading(design, made.about, groups=8).clusters == ("condition",)
    apart = Reading(design, made.about, why="as asked")
    assert str(apart).endswith("setting robot (2), not paired: as asked.")
    assert Reading.from_dict(made.to_dict()) == made


ROWS = [  # policy, scene, robot, success: scene s2 has three rollouts of `new` on one robot, s3 was met by `new` alone
    ("new", "s0", "arm", 1), ("new", "s0", "leg", 0), ("new", "s1", "arm", 1), ("new", "s1", "leg", 1),
    ("new", "s2", "arm", 1), ("new", "s2", "arm", 0), ("new", "s2", "arm", 0), ("new", "s3", "arm", 1),
    ("old", "s0", "arm", 0), ("old", "s0", "leg", 0), ("old", "s1", "arm", 1), ("old", "s1", "leg", 0),
    ("old", "s2", "arm", 1),
]  # fmt: skip


def cells(weights="units"):
    frame = pl.DataFrame(ROWS, schema=["policy", "scene", "robot", "success"], orient="row")
    table = sf.read(frame).declare(unit="scene", setting="robot")
    return cells_of(Asked(table, "new", "old", "success", weights))


def test_cells_that_both_met_are_kept_and_the_rest_is_counted():
    found = cells()
    assert (found.units, found.frame.height, found.spare, found.nameless) == (3, 5, 1, 0)
    assert not found.once
    assert not found.single
    assert found.crossing(found.keys[1])


def test_every_unit_weighs_the_same_and_its_cells_alike():
    found = cells()
    by_unit = {unit: [] for unit in range(3)}
    for unit, weight in zip(found.unit, found.weights, strict=True):
        by_unit[int(unit)].append(float(weight))
    assert by_unit == {0: pytest.approx([1 / 6] * 2), 1: pytest.approx([1 / 6] * 2), 2: pytest.approx([1 / 3])}
    first, second = found.unit_means
    assert first.tolist() == pytest.approx([0.5, 1.0, 1 / 3])
    assert second.tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_by_rollouts_a_unit_weighs_by_how_often_both_met_it():
    assert cells("rollouts").unit_weights().tolist() == pytest.approx([4 / 12, 4 / 12, 4 / 12])
