"""What was read and what was not is said once, with the user's own names as they are."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core.notes import Note
from tests.samples import FIXTURES, put


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
    one = put(tmp_path / "a", "r.csv", "Method,Task,ok,lab\nnew,cut,1,x\n")
    two = put(tmp_path / "b", "r.csv", "Policy,skill,ok,lab\nold,cut,1,x\n")
    rollouts = sf.read([one, two], columns={"success": "ok"})
    for path in (one, two):
        assert sum(str(note).count(path.as_posix()) for note in rollouts.notes) == 1
    assert [str(note) for note in rollouts.notes] == [
        f"{one.as_posix()}: policy is guessed to be the column 'Method'. task is guessed to be the column 'Task'.",
        "Not used: 'lab'.",
        f"{two.as_posix()}: policy is guessed to be the column 'Policy'. task is guessed to be the column 'skill'.",
    ]


def test_what_one_file_has_unused_names_the_file(tmp_path: Path) -> None:
    one, two = put(tmp_path, "a.csv", "policy,success,lab\na,1,x\n"), put(tmp_path, "b.csv", "policy,success\nb,1\n")
    found = sf.read([one, two]).notes
    assert found == (Note("unused columns", {"columns": ("lab",), "files": ("a.csv",)}),)
    assert str(found[0]) == "a.csv: Not used: 'lab'."


@pytest.mark.parametrize("name", ["x-rng=7", "x rng=7", "low=, high=", 'policy="b"'])
def test_odd_names_are_shown_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = put(tmp_path, f"{name}.csv", "success\n1\n0\n")
    assert run(["audit", str(path)]) == 0
    out, err = capsys.readouterr()
    assert f"note: The policy is called {name!r}, after the path." in err
    assert f"from {name}.csv" in out
    put(tmp_path, f"{name}.csv", "success\nmaybe\n")
    assert run(["audit", str(path)]) == 65
    assert f"surefoot: {name}.csv, row 1: `success` must" in capsys.readouterr().err


def test_python_hints_still_become_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["audit", str(put(tmp_path, "a=b.csv", "policy,x\na,1\n"))]) == 65
    assert "--column success=YOURS" in capsys.readouterr().err


def test_measures_of_a_log_that_were_not_chosen_are_no_unused_columns() -> None:
    for path in (FIXTURES / "inspect" / "log.json", FIXTURES / "vla"):
        for note in sf.read(path).notes:
            assert not isinstance(note, Note) or not any(
                name.startswith(("score:", "metric:")) for name in note.values.get("columns", ())
            )
