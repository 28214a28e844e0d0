"""A plan as a file: every field documented, every lab told, what this version does not know refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tools import registry_tables

from surefoot.errors import StudyError
from surefoot.study import plan_files
from surefoot.study.amendments import DETAILS
from surefoot.study.plan_parts import Policy, Task, TimeBudget
from surefoot.study.plans import Plan
from tests.support.studies import LAB

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def test_a_lab_is_told_in_one_file():
    """Finding U13: three policies, four tasks, twenty poses, two robots, two operators, a rubric, six hours."""
    plan = Plan.from_toml(LAB)
    assert plan.policies == ("pi0", "act", "dp")
    assert len(plan.contexts) == 20
    assert plan.levels == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert plan.measure == "score"
    assert plan.horizon == 60  # 180 rollouts of 2 minutes in 6 hours
    assert plan.environments == "shared"
    assert len(plan.stations) == 4
    assert plan.task("mug").instruction == "Put the mug on the shelf."
    assert plan.task("mug").time_limit == 90.0
    assert plan.task("towel").stages[-1].name == "folded"
    assert plan.task("cube").stages == plan.stages
    assert plan.policy("act").serving == {"temperature": 0.1}


def test_a_lab_reads_back_the_same_from_its_file_and_from_a_log():
    plan = Plan.from_toml(LAB)
    assert Plan.from_toml(plan.to_toml()) == plan
    sorted_keys = json.loads(json.dumps(plan.to_dict(), sort_keys=True))
    assert Plan.from_dict(sorted_keys) == plan
    assert Plan.from_dict(sorted_keys).fingerprint == plan.fingerprint


def test_a_written_plan_shows_each_table_as_an_example_that_can_be_used():
    text = Plan(policies=("new", "old")).to_toml()
    for head in ("# [time_budget]", "# [[policies]]", "# [[tasks]]", "# rigs = [", "# stages = {"):
        assert head in text
    shown = text[text.index("# [[tasks]]") :].replace("# ", "")
    assert Plan.from_toml(text + "\n" + shown).tasks == ("place mug",)


def test_every_field_is_documented():
    parts = {"policies": Policy, "tasks": Task, "time_budget": TimeBudget}
    for name, kind in parts.items():
        assert set(plan_files.PARTS[name][1]) == {one.name for one in dataclasses.fields(kind)}
    told = {one.name for one in dataclasses.fields(Plan)} - {*DETAILS.values(), "time_budget"}
    assert set(plan_files.FIELDS) == told
    table = plan_files.documented()
    assert table.count("\n") == 2 + len(told) + sum(len(fields) for _, fields in plan_files.PARTS.values())
    assert (TABLES / "plan_fields.inc").read_text(encoding="utf-8") == registry_tables.TABLES["plan_fields.inc"]()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("colour = 3", "use known fields only; got colour"),
        ("policy_details = []", "use known fields only; got policy_details"),
        ("[[tasks]]\nname = 'mug'\ncolour = 3", "fields that this version knows; got colour"),
        ("[[tasks]]\nconditions = 3", "must say `name`"),
        ("[time_budget]\nreset_minutes = 1", "must say `rollout_minutes`"),
        ("stages = {grasped = 0.5, placed = 0.25}", "rise in points"),
        ("[time_budget]\nrollout_minutes = 90\nhours_a_day = 2", "allow one pair"),
    ],
)
def test_what_cannot_be_used_is_refused(more, said):
    with pytest.raises(StudyError, match=said):
        Plan.from_toml(f'policies = ["new", "old"]\n{more}')
