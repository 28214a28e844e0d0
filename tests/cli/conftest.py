"""Fixtures of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.study_commands import ROBOT


@pytest.fixture
def logged_twice(tmp_path: Path) -> list[str]:
    """Two files in which every row stands twice."""
    names = []
    for policy, seeds, successes in (("new", 0, 18), ("old", 100, 13)):
        rows = [f"{policy},cut,{seeds + i},{int(i < successes)}" for i in range(20)]
        names.append(str(tmp_path / f"{policy}.csv"))
        (tmp_path / f"{policy}.csv").write_text("policy,task,seed,success\n" + "\n".join(rows * 2) + "\n")
    return names


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a program that is a robot."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path
