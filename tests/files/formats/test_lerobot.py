"""Tests of `surefoot.files.formats.lerobot`.

LeRobot's `results.jsonl`, a line per finished task, written by hand as pull request 4490 describes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from tests.support.formats import tallies, written
from tests.support.samples import FIXTURES, put

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
    assert str(rollouts.tally()) == "2 of 3 succeeded."


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


FILE = FIXTURES / "lerobot_progress" / "results.jsonl"


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def as_lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_finished_tasks_are_read_and_the_others_named() -> None:
    rollouts = sf.read(FILE)
    found = {group.key: (group.successes, group.outcomes) for group in rollouts.summary(by=("task",))}
    assert found == {("libero_10/0",): (3, 4), ("libero_10/1",): (1, 4)}
    assert rollouts.findings == ()
    assert any("Not finished, left out: libero_10/2 (failed)" in str(note) for note in rollouts.notes)


def test_one_finished_task_alone(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "results.jsonl", as_lines(lines()[:1])))
    assert rollouts.names("task") == ("libero_10",)
    assert rollouts.tally().successes == 3


def test_beside_the_final_file_it_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "act/results.jsonl", FILE.read_bytes())
    final = (FIXTURES / "lerobot" / "eval_info.json").read_bytes()
    put(tmp_path, "act/eval_info.json", final)
    both = sf.read(tmp_path / "act")
    assert len(both) == len(sf.read(FIXTURES / "lerobot" / "eval_info.json"))
    assert any("eval_info.json beside it holds the same rollouts" in str(note) for note in both.notes)


def test_a_tasks_own_total_that_disagrees_is_found(tmp_path: Path) -> None:
    records = lines()
    records[0]["pc_success"] = 50.0
    found = sf.read(put(tmp_path, "a.jsonl", as_lines(records))).findings
    assert [finding.about for finding in found] == ["own totals disagree"]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="a task must be listed as finished only once; got libero_10/0 twice"):
        sf.read(put(tmp_path, "a.jsonl", as_lines([*lines(), lines()[0]])))
    with pytest.raises(sf.DataError, match="must hold finished tasks"):
        sf.read(put(tmp_path, "a.jsonl", as_lines(lines()[1:3])))


def test_a_level_of_checkpoints_above_the_tasks() -> None:
    """A sample by the schema of LeRobot, with a level that teams add."""
    rollouts = sf.read(FIXTURES / "lerobot_checkpoints" / "eval_info.json")
    assert tallies(rollouts) == {("1000",): (1, 4), ("2000",): (2, 4)}
    assert rollouts.words.policy == "checkpoint"
    assert not rollouts.findings
