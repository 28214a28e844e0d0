"""Tasks: own conditions, stages that rise, and what a stage counts as."""

from __future__ import annotations

import pytest

from surefoot.study.plans import Plan
from surefoot.study.tasks import Stage, Task, conditions_of, stages_of

RUBRIC = {"grasped": 0.25, "lifted": 0.5, "placed": 1}


def test_conditions_are_names_a_count_or_every_combination():
    assert conditions_of(["a", "b"], "conditions") == ("a", "b")
    assert conditions_of(3, "conditions") == ("1", "2", "3")
    made = conditions_of({"pose": 2, "object": ["mug", "cup"]}, "conditions")
    assert made == ("pose 1, mug", "pose 1, cup", "pose 2, mug", "pose 2, cup")
    assert conditions_of({}, "conditions") == ()
    for wrong in (0, True, 2.5, [""], {"pose": "left"}, None):
        with pytest.raises((TypeError, ValueError)):
            conditions_of(wrong, "conditions")


def test_stages_keep_their_order_and_points():
    assert stages_of(RUBRIC) == (Stage("grasped", 0.25), Stage("lifted", 0.5), Stage("placed", 1.0))
    assert stages_of([["grasped", 0.5], {"name": "placed", "points": 1}]) == (Stage("grasped", 0.5), Stage("placed", 1))


@pytest.mark.parametrize("wrong", [{"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.25}, {"a": 0}, {"a": -1.0}])
def test_points_that_do_not_rise_are_refused(wrong):
    with pytest.raises(ValueError, match="rise in points"):
        stages_of(wrong)


@pytest.mark.parametrize("wrong", ["abc", 3, [3], [["a", "b"]], {"a": "b"}])
def test_what_is_no_table_of_points_is_refused(wrong):
    with pytest.raises((TypeError, ValueError), match="stages"):
        stages_of(wrong)


def test_a_stage_counts_its_points_or_a_success_from_the_success_stage_on():
    task = Task(name="mug", stages=RUBRIC, success_stage="lifted")
    assert [task.points(stage) for stage in ("", "grasped", "placed")] == [0.0, 0.25, 1.0]
    assert [task.succeeds(stage) for stage in ("", "grasped", "lifted", "placed")] == [False, False, True, True]
    assert not Task(name="mug", stages=RUBRIC).succeeds("lifted")
    with pytest.raises(ValueError, match="be one of grasped, lifted, placed; got 'thrown'"):
        task.points("thrown")
    with pytest.raises(ValueError, match="success_stage"):
        Task(name="mug", stages=RUBRIC, success_stage="thrown")


def test_a_plan_scores_by_its_stages_or_succeeds_by_one():
    score = Plan(policies=("new", "old"), stages=RUBRIC)
    assert (score.measure, score.levels, score.high) == ("score", (0.0, 0.25, 0.5, 1.0), 1.0)
    assert score.result_at("", "lifted") == 0.5
    success = Plan(policies=("new", "old"), stages=RUBRIC, success_stage="lifted")
    assert (success.measure, success.levels) == ("success", ())
    assert success.result_at("", "grasped") is False
    assert success.result_at("", "placed") is True
    with pytest.raises(ValueError, match="left out beside stages"):
        Plan(policies=("new", "old"), stages=RUBRIC, measure="score", levels=(0.0, 1.0))


def test_a_task_that_says_nothing_is_as_the_plan_says():
    plan = Plan(
        policies=("new", "old"),
        tasks=({"name": "mug", "conditions": 3, "reset": ["arm home"]}, "towel"),
        conditions=2,
        reset="tidy up",
        time_limit=60,
        failure_tags=("dropped",),
    )
    assert plan.task("mug").reset == ("arm home",)
    assert plan.task("towel").reset == ("tidy up",)
    assert plan.task("towel").failure_tags == ("dropped",)
    assert plan.task("mug").time_limit == 60.0
    assert plan.contexts == (("mug", "1"), ("mug", "2"), ("mug", "3"), ("towel", "1"), ("towel", "2"))
