"""Two files: two runs of the same policies, parts of one run, or policies of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.table.two_runs import sources, two_runs


def file(folder: Path, name: str, rows: str) -> Path:
    path = folder / name
    path.write_text("policy,task,success\n" + rows)
    return path


@pytest.mark.parametrize(
    ("one", "other", "runs"),
    [
        ("new,a,1\nnew,a,0\n", "new,a,0\nnew,a,0\n", True),
        ("new,a,1\nnew,a,0\n", "new,b,0\nnew,b,0\n", False),  # a task each: parts of one run
        ("new,a,1\nnew,b,0\n", "new,b,0\nnew,a,0\n", True),
        ("new,a,1\nnew,a,0\nold,a,1\n", "new,b,0\nnew,b,0\nold,b,0\n", False),
        ("new,a,1\nnew,a,0\n", "old,a,0\nold,a,0\n", False),
    ],
)
def test_the_same_policies_on_the_same_tasks_are_two_runs(tmp_path: Path, one: str, other: str, runs: bool) -> None:
    paths = [file(tmp_path, "now.csv", one), file(tmp_path, "before.csv", other)]
    found = two_runs(sf.read(paths), paths)
    assert (found is not None) == runs
    if found is not None:
        assert [len(each) for each in found] == [one.count("\n"), other.count("\n")]
        assert [each.source for each in found] == [str(path) for path in paths]


def test_a_folder_holds_the_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    file(tmp_path / "runs", "a.csv", "new,a,1\n")
    paths = [tmp_path / "runs", file(tmp_path, "b.csv", "old,a,0\n")]
    rollouts = sf.read(paths)
    assert [len(sources(rollouts, path)) for path in paths] == [1, 1]
    assert sources(rollouts, tmp_path / "other") == []
