"""Tests of `surefoot.files.formats.vla_eval`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES


def test_vla_eval_with_episodes_that_failed_to_run(tmp_path: Path) -> None:
    episodes = [
        {"episode_id": 0, "failure_reason": "exception"},
        {"episode_id": 1, "metrics": {}, "failure_reason": "exception"},
        {"episode_id": 2, "metrics": {"success": True}},
        {"episode_id": 3, "metrics": {"success": False}},
    ]
    task = {"task": "t", "episodes": episodes, "num_episodes": 4, "num_errors": 2}
    for mean in (0.5, 0.25):  # over those that ran, or over all
        rollouts = sf.read(written(tmp_path, {"benchmark": "b", "tasks": [{**task, "mean_success": mean}]}, "pi0.json"))
        assert (len(rollouts), tallies(rollouts)) == (4, {("pi0",): (1, 2)})
        assert rollouts.findings == ()
    wrong = sf.read(written(tmp_path, {"benchmark": "b", "tasks": [{**task, "mean_success": 0.9, "num_episodes": 9}]}))
    assert [finding.about for finding in wrong.findings] == ["own totals disagree"] * 2


def test_vla_eval() -> None:
    rollouts = sf.read(FIXTURES / "vla" / "octo.json")
    assert rollouts.policies == ("octo",)
    assert tallies(rollouts, "task") == {("open the drawer",): (1, 1), ("pick up the bowl",): (1, 2)}
    assert rollouts.column("failure").count("timeout") == 1
    assert rollouts.names("seed") == ("7",)
