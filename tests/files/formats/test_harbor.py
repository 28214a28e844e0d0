"""Tests of `surefoot.files.formats.harbor`; samples by the schema of Harbor 0.25."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES

TRIAL = json.loads((FIXTURES / "harbor" / "result.json").read_text())


def job(folder: Path, *trials: dict[str, object]) -> Path:
    for at, trial in enumerate(trials):
        written(folder, {**TRIAL, "id": str(at), "trial_name": f"t{at}", **trial}, f"jobs/one/t{at}/result.json")
    written(folder, {"id": "job", "stats": {"n_completed_trials": len(trials)}}, "jobs/one/result.json")
    return folder / "jobs"


def test_a_trial_with_its_agent_model_cost_and_time() -> None:
    rollouts = sf.read(FIXTURES / "harbor")
    assert tallies(rollouts) == {("terminus / large",): (1, 1)}
    assert rollouts.polars().select("cost", "tokens", "duration").rows() == [("0.02", "110", 90.0)]


def test_a_trial_without_a_reward_is_a_failure_and_a_cancelled_one_is_left_out(tmp_path: Path) -> None:
    crashed = {"verifier_result": None, "exception_info": {"exception_type": "AgentTimeoutError"}}
    cancelled = {"verifier_result": None, "exception_info": {"exception_type": "CancelledError"}}
    rollouts = sf.read(job(tmp_path, {}, crashed, cancelled, {"finished_at": None}))
    assert tallies(rollouts) == {("terminus / large",): (1, 2)}
    said = "\n".join(map(str, rollouts.notes))
    assert "2 of 5 files are left out" in said
    assert "jobs/one/t2/result.json (the trial was cancelled)" in said
    assert "jobs/one/t3/result.json (the trial has not finished)" in said
    with pytest.raises(sf.DataError, match="the trial was cancelled"):
        sf.read(tmp_path / "jobs", strict=True)


def test_trials_of_a_task_are_repeats(tmp_path: Path) -> None:
    rollouts = sf.read(job(tmp_path, {}, {}, {"task_name": "other"}))
    assert (rollouts.design.keys("unit"), rollouts.design.keys("repeat")) == (("condition",), ("repeat",))
    assert rollouts.names("condition") == ("fix-git", "other")


def test_one_of_several_rewards_must_be_named(tmp_path: Path) -> None:
    trials = job(tmp_path, {"verifier_result": {"rewards": {"style": 0.5, "tests": 1.0}}})
    with pytest.raises(sf.DataError, match="one reward must be the outcome; got 'style', 'tests'"):
        sf.read(trials)
    assert sf.read(trials, where={"metric": "style"}).scores().values == (0.5,)
