"""Tests of `surefoot.files.formats.inspect_robots`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_inspect_robots_trials_that_errored(tmp_path: Path) -> None:
    samples = [{"scene_id": "s1", "epochs": [{"success": 1.0}, None]}, {"scene_id": 2, "epochs": []}]
    log = {"version": 1, "eval": {"task": "pick", "policy": "pi0"}, "samples": samples}
    rollouts = sf.read(written(tmp_path, log))
    assert (len(rollouts), tallies(rollouts)) == (2, {("pi0",): (1, 1)})


def test_inspect_robots() -> None:
    rollouts = sf.read(FIXTURES / "inspect_robots" / "log.json")
    assert rollouts.policies == ("pi0",)
    assert rollouts.scores().values == (1.0, 0.25, 0.5, 0.5)
    assert rollouts.names("condition") == ("s1", "s2")
    assert (rollouts.design.keys("unit"), rollouts.design.keys("repeat")) == (("condition",), ("repeat",))
    assert rollouts.names("repeat") == ("1", "2")


def test_one_epoch_each_is_no_cluster_and_a_status_is_said(tmp_path: Path) -> None:
    samples = [{"scene_id": scene, "epochs": [{"success": 1.0}]} for scene in ("s1", "s2")]
    log = {"status": "cancelled", "eval": {"task": "pick", "policy": "pi0"}, "samples": samples}
    rollouts = sf.read(written(tmp_path, log))
    assert "cluster" not in rollouts.columns
    assert "The run's status is 'cancelled': trials may be missing." in rollouts.notes
