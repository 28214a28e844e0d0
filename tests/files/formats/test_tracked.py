"""Tests of `surefoot.files.formats.tracked`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_step_result_and_tracked_summary(tmp_path: Path) -> None:
    path = FIXTURES / "step" / "result.json"
    assert tallies(sf.read(path)) == {("policy 0",): (40, 50), ("policy 1",): (14, 50)}
    assert tallies(sf.read(path, policy=["act", "pi0"])) == {("act",): (40, 50), ("pi0",): (14, 50)}
    tracked = sf.read(FIXTURES / "tracked" / "wandb-summary.json")
    assert tallies(tracked, "task") == {("close it",): (3, 10), ("open the drawer",): (6, 10)}
    odd = written(tmp_path, {"success_rate/a": 0.35, "num_episodes/a": 24, "other": None})
    assert [finding.about for finding in sf.read(odd).findings] == ["a rate that n cannot give"]
