"""Tests of `surefoot.study.result_table`."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.study.result_table import slices_at_stop
from tests.support.studies import begun, driven


def test_voided_rollouts_are_marked_in_the_table():
    study = begun(blinded=False)
    driven(study, lambda turn: True, 4)
    study.void(1, reason="operator error")
    rollouts = study.rollouts()
    assert len(rollouts) == 4
    assert sum(rollouts.where(policy=name).tally().trials for name in ("new", "old")) == 2


def test_the_roles_of_a_study_do_not_depend_on_how_even_its_draw_turned_out():
    roles = set()
    for _ in range(12):  # each study draws its own order
        study = begun(blinded=False, tasks=("fold", "pour"), conditions=("left", "right"), horizon=10, futility=0.0)
        driven(study, lambda turn: turn.number % 3 > 0, 14)
        roles.add(tuple(sorted((one.name, one.role) for one in study.rollouts().design.columns)))
    assert len(roles) == 1
    assert {("task", "watched"), ("condition", "watched")} <= set(*roles)


SPLIT = """
from tests.support.studies import begun, driven
study = begun(blinded=False, tasks=("fold", "pour"), conditions=("left", "right"), horizon=10, futility=0.0)
driven(study, lambda turn: True, 8)
print(study.rollouts().split)
"""


@pytest.mark.end_to_end
def test_what_a_study_is_told_by_is_the_same_in_every_process():
    """It followed the order of a set of names, which differs from one process to the next."""
    for seed in "12":  # they order this set differently
        found = subprocess.run(
            [sys.executable, "-c", SPLIT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.strip() == "task"


RATES = {("new", "pick"): 0.95, ("old", "pick"): 0.35, ("new", "pour"): 0.1, ("old", "pour"): 0.75}


def ran(seed=3, **changes):
    rng = np.random.default_rng(seed)
    plan = {
        "policies": ("new", "old"), "tasks": ("pick", "pour", "wipe"), "claim": "either", "environments": "shared",
        "horizon": 150, "futility": 0.0, "blinded": False,
    } | changes  # fmt: skip
    study = begun(**plan)
    while (turn := study.next_turn()) is not None:
        study.record(turn, bool(rng.random() < RATES.get((turn.policy, turn.task), 0.8)))
    return study


def test_a_study_that_could_stop_by_looking_keeps_a_rule_for_each_slice():
    study = ran(rule="mixture")
    (found,) = slices_at_stop(study.fold)
    assert "whenever the study stops" in found.how
    assert [one.name for one in found.of(Verdict.WORSE)] == ["task=pour"]
    assert found.of(Verdict.WORSE)[0].interval.high <= 0.0
    page = sf.report(study).html()
    assert "new against old, slice by slice" in page
    assert "▼" in page


def test_a_study_of_a_fixed_size_shuffles_labels():
    (found,) = slices_at_stop(ran(rule="fixed").fold)
    assert "exchanged inside pairs" in found.how or "shuffled" in found.how
    assert found.both_ways == ("task",)


@pytest.mark.parametrize(
    "changes", [{"blinded": True}, {"environments": "independent", "rule": "mixture"}, {"tasks": ()}, {"horizon": 20}]
)
def test_no_slices_where_the_study_allows_none(changes):
    assert slices_at_stop(ran(**changes).fold) == ()


def test_none_while_the_study_goes_on():
    study = begun(policies=("new", "old"), tasks=("pick", "pour"), environments="shared", blinded=False, horizon=100)
    for _ in range(10):
        study.record(study.next_turn(), True)
    assert slices_at_stop(study.fold) == ()
