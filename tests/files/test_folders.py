"""Tests of `surefoot.files.folders`."""

import pytest

import surefoot as sf
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


def test_files_without_an_outcome_are_left_out_and_named(tmp_path):
    (tmp_path / "a.csv").write_text("policy,success\nnew,1\nold,0\n")
    (tmp_path / "b.csv").write_text("policy,colour\nnew,red\n")
    (tmp_path / "steps.jsonl").write_text('{"t": 0, "action": 1}\n{"t": 1, "action": 2}\n')
    rollouts = sf.read(tmp_path)
    assert rollouts.policies == ("new", "old")
    said = [str(note).replace(tmp_path.name, "x") for note in rollouts.notes]
    assert "x/b.csv, x/steps.jsonl: no rollouts found, so left out." in said
    with pytest.raises(DataError, match=r"there must be a `success` or a `score` column; got 't', 'action'"):
        sf.read(tmp_path, strict=True)
