"""Tests of `surefoot.files.formats.tau_bench`; samples by the schemas of tau-bench and tau2-bench."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_trials_of_tasks_are_repeats_and_a_reward_of_nearly_one_is_a_success() -> None:
    rollouts = sf.read(FIXTURES / "tau" / "trials.json")
    assert tallies(rollouts) == {("trials",): (5, 8)}
    assert (rollouts.design.keys("unit"), rollouts.design.keys("repeat")) == (("condition",), ("repeat",))


def test_tau2_names_the_agent_and_leaves_what_was_not_evaluated_without_an_outcome() -> None:
    rollouts = sf.read(FIXTURES / "tau" / "tau2.json")
    assert tallies(rollouts) == {("claude",): (4, 5)}
    assert "1 of 6 trials could not be evaluated, so they have no outcome." in rollouts.notes
    assert (rollouts.names("task"), rollouts.words.policy) == (("airline",), "model")
    assert set(rollouts.polars()["cost"]) == {"0.25"}


def test_partial_rewards_are_scores(tmp_path: Path) -> None:
    trials = [{"task_id": 1, "trial": 0, "reward": 0.25}, {"task_id": 2, "trial": 0, "reward": 1.0}]
    assert sf.read(written(tmp_path, trials)).scores().values == (0.25, 1.0)


def test_the_same_trial_twice_is_refused(tmp_path: Path) -> None:
    trials = [{"task_id": 1, "trial": 0, "reward": 0.0}] * 2
    with pytest.raises(sf.DataError, match="task and trial must not repeat; got 1, 0 twice"):
        sf.read(written(tmp_path, trials))
