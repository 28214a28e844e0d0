"""Tests of `surefoot.files.reading`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.core.notes import Note
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_columns_that_were_not_used_are_a_value(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "policy,success,lab,weather\na,1,x,dry\nb,0,y,wet\n")
    rollouts = sf.read(path)
    assert rollouts.notes == (Note("unused columns", {"columns": ("lab", "weather")}),)
    assert str(rollouts.notes[0]) == "Not used: 'lab', 'weather'."
    assert sf.read(path, columns={"session": "weather", "cluster": "lab"}).notes == ()
    assert sf.read(pl.read_csv(path)).notes == rollouts.notes
    assert sf.read(pl.read_csv(path).to_pandas()).notes == rollouts.notes


def test_a_time_in_seconds_is_the_duration(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "r.csv", "policy,success,time_s\na,1,3.5\nb,0,4\n"))
    assert rollouts.column("duration") == (3.5, 4.0)
    assert rollouts.called("duration") == "time_s"


def test_a_column_left_out_on_purpose_is_not_named(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "policy,success,progress\na,1,0.5\n")
    assert sf.read(path, columns={"score": ""}).notes == ()


def test_each_path_is_said_once(tmp_path: Path) -> None:
    one = put(tmp_path / "a", "r.csv", "Method,Scenario,ok,lab\nnew,cut,1,x\n")
    two = put(tmp_path / "b", "r.csv", "Policy,skill,ok,lab\nold,cut,1,x\n")
    rollouts = sf.read([one, two], columns={"success": "ok"})
    for path in (one, two):
        assert sum(str(note).count(path.as_posix()) for note in rollouts.notes) == 1
    assert [str(note) for note in rollouts.notes] == [
        f"{one.as_posix()}: task is guessed to be the column 'Scenario'.",
        "Not used: 'lab'.",
        f"{two.as_posix()}: task is guessed to be the column 'skill'.",
    ]


def test_what_one_file_has_unused_names_the_file(tmp_path: Path) -> None:
    one, two = put(tmp_path, "a.csv", "policy,success,lab\na,1,x\n"), put(tmp_path, "b.csv", "policy,success\nb,1\n")
    found = sf.read([one, two]).notes
    assert found == (Note("unused columns", {"columns": ("lab",), "files": ("a.csv",)}),)
    assert str(found[0]) == "a.csv: Not used: 'lab'."


def test_measures_of_a_log_that_were_not_chosen_are_no_unused_columns() -> None:
    for path in (FIXTURES / "inspect" / "log.json", FIXTURES / "vla"):
        for note in sf.read(path).notes:
            assert not isinstance(note, Note) or not any(
                name.startswith(("score:", "metric:")) for name in note.values.get("columns", ())
            )


def test_a_folder_with_samples_and_totals_counts_nothing_twice() -> None:
    rollouts = sf.read(FIXTURES / "lm_eval")
    assert len(rollouts) == 2
    assert any("totals only" in note for note in rollouts.notes)


def test_several_files_become_one_table(made: Path) -> None:
    rollouts = sf.read([FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"])
    assert rollouts.policies == ("lerobot", "lerobot_old")
    assert len(rollouts.names("source")) == 2
    named = sf.read(
        [FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"], policy=["a", "b"]
    )
    assert tallies(named) == {("a",): (4, 8), ("b",): (2, 3)}
    with pytest.raises(ValueError, match="one policy per file; got 1 names for 2 files"):
        sf.read([FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"], policy=["a"])


def test_a_folder_leaves_out_what_is_no_table_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, "act/eval_info.json", (FIXTURES / "lerobot" / "eval_info.json").read_bytes())
    put(tmp_path, "act/videos/eval_episode_0.mp4", b"\x00\x00\x00 ftypisom")
    put(tmp_path, "act/README.md", "# notes\n")
    put(tmp_path, ".hidden/x.csv", "policy,success\na,1\n")
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 8
    left = f"{tmp_path.name}/act/README.md, {tmp_path.name}/act/videos/eval_episode_0.mp4"
    assert rollouts.notes[0] == f"{left}: not rollouts, left out."
    put(tmp_path, "old/eval_info.json", '{"per_task": [{"task')
    with pytest.raises(sf.DataError, match=r"old/eval_info.json: the file must be complete JSON"):
        sf.read(tmp_path)
