"""Tests of `surefoot.study.result_table`."""

from __future__ import annotations

import os
import subprocess
import sys

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
