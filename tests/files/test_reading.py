"""Tests of `surefoot.files.reading`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import surefoot as sf
from surefoot.core.notes import Note
from surefoot.files import reading
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_columns_of_any_name_are_kept_and_not_noted(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "policy,success,lab,weather\na,1,x,dry\nb,0,y,wet\n")
    for given in (path, pl.read_csv(path), pl.read_csv(path).to_pandas()):
        rollouts = sf.read(given)
        assert rollouts.notes == ()
        assert rollouts.columns == ("policy", "success", "lab", "weather")
        assert rollouts.column("weather") == ("dry", "wet")
    assert sf.read(path, columns={"session": "weather", "cluster": "lab"}).columns == (
        *("policy", "success", "cluster", "session"),
    )


def test_a_time_in_seconds_is_the_duration(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "r.csv", "policy,success,time_s\na,1,3.5\nb,0,4\n"))
    assert rollouts.column("duration") == (3.5, 4.0)
    assert rollouts.called("duration") == "time_s"


def test_a_column_left_out_on_purpose_is_not_named(tmp_path: Path) -> None:
    path = put(tmp_path, "r.csv", "policy,success,progress\na,1,0.5\n")
    assert sf.read(path, columns={"score": ""}).notes == ()


def test_each_path_is_said_once(tmp_path: Path) -> None:
    one = put(tmp_path / "a", "r.csv", "Method,Scenario,ok,grade\nnew,cut,1,0.5\n")
    two = put(tmp_path / "b", "r.csv", "Policy,skill,ok,rating\nold,cut,1,0.5\n")
    rollouts = sf.read([one, two], columns={"success": "ok"})
    assert [str(note) for note in rollouts.notes] == [
        f"{one.as_posix()}: score is guessed to be the column 'grade'.",
        f"{two.as_posix()}: score is guessed to be the column 'rating'.",
    ]
    assert rollouts.column("task") == ("cut", "cut")  # a label, whatever it is called: no guess that matters


def test_a_label_that_one_file_has_is_empty_in_the_other(tmp_path: Path) -> None:
    one, two = put(tmp_path, "a.csv", "policy,success,lab\na,1,x\n"), put(tmp_path, "b.csv", "policy,success\nb,1\n")
    rollouts = sf.read([one, two])
    assert rollouts.notes == ()
    assert rollouts.column("lab") == ("x", None)


def test_measures_of_a_log_that_were_not_chosen_are_no_unused_columns() -> None:
    for path in (FIXTURES / "inspect" / "log.json", FIXTURES / "vla"):
        for note in sf.read(path).notes:
            assert not isinstance(note, Note) or not any(
                name.startswith(("score:", "metric:")) for name in note.values.get("columns", ())
            )


def test_a_folder_with_samples_and_totals_counts_nothing_twice() -> None:
    rollouts = sf.read(FIXTURES / "lm_eval")
    assert len(rollouts) == 2
    assert any("only totals" in note for note in rollouts.notes)


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
    assert rollouts.notes[0] == f"{left}: no rollouts found, so left out."
    put(tmp_path, "old/eval_info.json", '{"per_task": [{"task')
    cut = f"{tmp_path.name}/old/eval_info.json"
    assert f"1 of 4 files are left out: {cut} (the file must be complete JSON" in str(sf.read(tmp_path).notes[0])
    for path in (tmp_path / "old" / "eval_info.json", [tmp_path / "act", tmp_path / "old" / "eval_info.json"]):
        with pytest.raises(sf.DataError, match="must be complete JSON"):
            sf.read(path)
    with pytest.raises(sf.DataError, match="must be complete JSON"):
        sf.read(tmp_path, strict=True)
    put(tmp_path, "sheet.csv", "policy,success\na,sucess\n")
    with pytest.raises(sf.DataError, match=r"sheet\.csv, row 1"):
        sf.read(tmp_path)


@pytest.mark.parametrize(
    ("data", "asked", "kind", "says"),
    [
        ("r.csv", {"rubric": 4, "low": 1}, ValueError, "be left out with a rubric or stages; got 1 and None. Their"),
        (pl.DataFrame({"success": [1]}), {"policy": ["a", "b"]}, TypeError, "`policy` must be one name for a frame"),
        ([3], {}, TypeError, "`data` must be a path, a list of paths or a frame; got a list with int"),
        (3, {}, TypeError, "be a path, a list of paths, or a frame of polars, pandas, DuckDB, Dask or Spark; got int"),
        (
            pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}),
            {"policy": "c"},
            ValueError,
            "`policy` must be left out when the data name several policies; they name a, b",
        ),
    ],
)
def test_what_is_asked_for_must_fit_the_data(data: object, asked: dict, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        sf.read(data, **asked)


def test_a_frame_of_one_policy_is_renamed() -> None:
    rollouts = sf.read(pl.DataFrame({"policy": ["a"], "success": [1]}), policy="mine")
    assert rollouts.policies == ("mine",)
    assert rollouts.notes == ("The policy is called 'mine' as you say; the table calls it 'a'.",)


def test_a_column_called_name_is_the_policy_where_its_values_come_back(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "r.csv", "name,success\n" + "new,1\nold,0\n" * 3))
    assert tallies(rollouts) == {("new",): (3, 3), ("old",): (0, 3)}
    assert "policy is guessed to be the column 'name'." in rollouts.notes


def test_a_column_that_may_be_the_policy_is_found(tmp_path: Path) -> None:
    rollouts = sf.read(put(tmp_path, "r.csv", "arm_kind,success\n" + "new,1\nold,0\n" * 3))
    assert [finding.about for finding in rollouts.findings] == ["policy not named"]


def test_a_file_that_voids_nothing_need_not_say_so(tmp_path: Path) -> None:
    one = put(tmp_path, "a.csv", "policy,success,valid\na,1,1\na,0,0\n")
    rollouts = sf.read([one, put(tmp_path, "b.csv", "policy,success\nb,1\n")])
    assert [(group.key, group.outcomes, group.void) for group in rollouts.summary()] == [(("a",), 1, 1), (("b",), 1, 0)]


def test_a_folder_has_a_most_and_an_empty_file_in_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.csv", "policy,success\na,1\n")
    put(tmp_path, "b.csv", "")
    assert sf.read(tmp_path).notes == (f"{tmp_path.name}/b.csv: no rollouts found, so left out.",)
    monkeypatch.setattr("surefoot.files.folders.MOST_FILES", 1)
    with pytest.raises(sf.DataError, match="a folder must hold at most 1 files; got 2"):
        sf.read(tmp_path)


def test_a_note_that_a_file_makes_twice_is_said_once() -> None:
    assert [str(one) for one in reading.said_once([("a", "x"), ("a", "x"), ("b", "y")], ["a", "b"])] == ["a: x", "b: y"]
