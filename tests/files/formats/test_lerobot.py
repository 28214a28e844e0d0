"""Tests of `surefoot.files.formats.lerobot`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.samples import FIXTURES, put
from tests.support.formats import tallies, written

# Logs


def test_lerobot_without_some_keys(tmp_path: Path) -> None:
    tasks = [{"metrics": {"successes": [True, False]}}, {"metrics": {"successes": [1, 0.0, None]}}]
    rollouts = sf.read(written(tmp_path, {"per_group": {}, "per_task": tasks}))
    assert tallies(rollouts, "task") == {("task/0",): (1, 2), ("task/1",): (1, 2)}
    old = written(tmp_path, {"aggregated": {}, "per_episode": [{"success": True}, {"success": False}]}, "old.json")
    assert "score" not in sf.read(old).columns
    with pytest.raises(sf.DataError, match="must hold episodes; it has none"):
        sf.read(written(tmp_path, {"per_task": [], "overall": {"pc_success": float("nan")}}, "none.json"))


def test_lerobot() -> None:
    rollouts = sf.read(FIXTURES / "lerobot" / "eval_info.json")
    assert rollouts.policies == ("lerobot",)
    assert tallies(rollouts, "task") == {("libero_10/0",): (3, 4), ("libero_10/1",): (1, 4)}
    assert rollouts.where(task="libero_10/1").scores().values == (0.5, 0.0, 1.0, 0.125)
    assert rollouts.column("reward").count(None) == 1
    assert any("same --seed" in note for note in rollouts.notes)
    assert rollouts.findings == ()


def test_lerobot_older_shape_has_seeds() -> None:
    rollouts = sf.read(FIXTURES / "lerobot_old" / "eval_info.json", policy="act")
    assert rollouts.policies == ("act",)
    assert rollouts.column("seed") == ("1000", "1001", "1002")
    assert str(rollouts.tally()) == "2 of 3 rollouts succeeded."


def test_lerobot_total_that_disagrees_is_found(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "lerobot" / "eval_info.json")
        .read_text()
        .replace(
            '"pc_success": 50.0, "n_episodes": 8, "n_success": 4, "pc_success_ci95"',
            '"pc_success": 62.5, "pc_success_ci95"',
        )
    )
    found = sf.read(put(tmp_path, "act.json", text)).findings
    assert [finding.about for finding in found] == ["own totals disagree"]
    assert "62.5" in found[0].says
    assert "50" in found[0].says


def test_lerobot_reward_beyond_one_is_no_score(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "lerobot" / "eval_info.json").read_text().replace("[1.0, 0.25, 1.0, 1.0]", "[5.0, 0.25, 1.0, 1.0]")
    )
    rollouts = sf.read(put(tmp_path, "act.json", text))
    assert "score" not in rollouts.columns
    with pytest.raises(sf.DataError, match="there must be a `score` column"):
        rollouts.scores()
