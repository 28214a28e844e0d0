"""Every command goes by the same measure of the same file: success where it is known, else the score; and says so."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.overview import overview
from surefoot.cli.main import run

BOTH = pl.DataFrame({"policy": ["a", "b"] * 12, "success": [1, 0] * 12, "score": [0.5, 0.6] * 12})


def test_compare_replay_and_report_agree_in_python() -> None:
    for frame, measure in (
        (BOTH, "success"),
        (BOTH.with_columns(success=None), "score"),
        (BOTH.drop("success"), "score"),
    ):
        rollouts = sf.read(frame)
        assert sf.compare(rollouts, "a", "b").measure == measure
        assert sf.replay(rollouts, "a", "b").measure == measure
        assert overview(rollouts).measure == measure


@pytest.mark.parametrize("command", ["compare", "rank", "replay", "report"])
def test_every_command_names_what_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    BOTH.rename({"score": "progress"}).write_csv(tmp_path / "r.csv")
    more = ["--first", "a", "--second", "b"] if command in ("compare", "replay") else []
    more += ["-o", str(tmp_path / "r.html")] if command == "report" else []
    run([command, str(tmp_path / "r.csv"), *more])
    assert "note: Comparing success rates; use --score progress for scores." in capsys.readouterr().err
    run([command, str(tmp_path / "r.csv"), "--score", "progress", *more])
    assert "Comparing success rates" not in capsys.readouterr().err


def test_replay_and_compare_of_one_file_go_by_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    BOTH.write_csv(tmp_path / "r.csv")
    found = []
    for command in ("compare", "replay"):
        run([command, str(tmp_path / "r.csv"), "--first", "a", "--second", "b", "--json"])
        found.append(json.loads(capsys.readouterr().out)["measure"])
    assert found == ["success", "success"]
