"""What an answer is about, in words."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.analysis.subjects import Reading, Subject, runs_that_count
from surefoot.core.notes import Note
from surefoot.table.design import Column, Design
from tests.support.designs import crossed


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
