"""Tests of `surefoot.files.formats.libero_logs`."""

from __future__ import annotations

from pathlib import Path

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_a_libero_log_may_begin_with_a_bracket(tmp_path: Path) -> None:
    lines = ("Task suite: libero_goal", "Task: open it", "Starting episode 1...", "Success: True")
    log = "".join(f"[2025-01-01 00:00:0{second}][INFO] {text}\n" for second, text in enumerate(lines))
    rollouts = sf.read(put(tmp_path, "a.log", log.encode()))
    assert tallies(rollouts, "task") == {("open it",): (1, 1)}


def test_libero_logs() -> None:
    path = next((FIXTURES / "libero").glob("EVAL*"))
    rollouts = sf.read(path)
    assert rollouts.policies == ("openvla-ckpt7",)
    assert tallies(rollouts, "task") == {("open the drawer",): (1, 1), ("pick up the black bowl",): (1, 2)}
    assert rollouts.column("failure") == (None, "physics went wrong", None)
    assert rollouts.names("dataset") == ("libero_spatial",)
    openpi = sf.read(FIXTURES / "libero" / "openpi.log")
    assert tallies(openpi, "task") == {("open the drawer",): (0, 1)}


def test_libero_log_whose_total_disagrees(tmp_path: Path) -> None:
    text = next((FIXTURES / "libero").glob("EVAL*")).read_text().replace("# successes: 2 ", "# successes: 3 ")
    assert sf.read(put(tmp_path, "x.txt", text)).findings[0].about == "own totals disagree"
