"""Tests of `surefoot.files.folders`."""

import pytest

from surefoot.errors import DataError
from surefoot.files import folders


def test_a_folder_is_walked_in_sorted_order_without_hidden_files(tmp_path):
    for name in ("b/two.csv", "a.csv", ".hidden/three.csv", "b/.four.csv"):
        path = tmp_path / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    found = folders.walk(tmp_path / "runs")
    assert [(one.name, one.met) for one in found] == [("runs/a.csv", True), ("runs/b/two.csv", True)]


def test_a_file_is_itself_and_was_not_met(tmp_path):
    (one,) = folders.walk(tmp_path / "a.csv")
    assert (one.path, one.name, one.met) == (tmp_path / "a.csv", "a.csv", False)


def test_empty_and_crowded_folders_are_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="it is empty"):
        folders.walk(tmp_path)
    for name in "ab":
        (tmp_path / name).write_text("")
    monkeypatch.setattr(folders, "MOST_FILES", 1)
    with pytest.raises(DataError, match="at most 1 files; got 2"):
        folders.walk(tmp_path)
