"""Two files: two runs of the same policies, parts of one run, or policies of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.table.two_runs import sources, told_by_name, two_runs


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


@pytest.mark.parametrize(("name", "runs", "kind"), [("task", False, "parts by name"), ("zz", True, "runs unless met")])
def test_where_a_name_decides_it_is_said_and_a_role_that_is_said_wins(
    tmp_path: Path, name: str, runs: bool, kind: str
) -> None:
    """Files of one task each were one run or two by what the column is called, in silence; --unit zz did not help."""
    paths = [file(tmp_path, f"{task}.csv", f"new,{task},1\nnew,{task},0\nold,{task},1\n") for task in "ab"]
    for path in paths:
        path.write_text(path.read_text().replace("task", name))
    rollouts = sf.read(paths)
    assert (two_runs(rollouts, paths) is not None) == runs
    assert [(note.kind, note.values["column"]) for note in told_by_name(rollouts, paths)] == [(kind, name)]
    for said, one_run in (({"unit": name}, True), ({"ignore": name}, False)):
        assert (two_runs(rollouts.declare(**said), paths) is None) == one_run
        assert told_by_name(rollouts.declare(**said), paths) == ()
