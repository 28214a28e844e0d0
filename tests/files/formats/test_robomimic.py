"""Tests of `surefoot.files.formats.robomimic`; samples by what robomimic 0.3 prints."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_a_training_s_log_gives_each_epoch_s_successes() -> None:
    rollouts = sf.read(FIXTURES / "robomimic" / "log.txt")
    assert tallies(rollouts) == {("epoch 50",): (8, 10), ("epoch 100",): (9, 10)}
    assert rollouts.names("task") == ("Lift",)


def test_the_averages_of_a_trained_agent() -> None:
    rollouts = sf.read(FIXTURES / "robomimic" / "average.json", policy="bc")
    assert tallies(rollouts) == {("bc",): (7, 10)}


def test_averages_printed_below_other_lines(tmp_path: Path) -> None:
    average = (FIXTURES / "robomimic" / "average.json").read_text()
    (tmp_path / "out.txt").write_text(f"loading\nAverage Rollout Stats\n{average}")
    assert tallies(sf.read(tmp_path / "out.txt", policy="bc")) == {("bc",): (7, 10)}
    (tmp_path / "out.txt").write_text('Average Rollout Stats\n{\n"Success_Rate": 0.5,')
    with pytest.raises(sf.DataError, match="it ends inside the averages of a rollout"):
        sf.read(tmp_path / "out.txt", policy="bc")


def test_a_rate_of_an_unknown_number_is_refused(tmp_path: Path) -> None:
    average = {"Lift": {"Return": 0.7, "Horizon": 100.0, "Success_Rate": 0.7}}
    with pytest.raises(sf.DataError, match="the number of rollouts must be known"):
        sf.read(written(tmp_path, average), policy="bc")
