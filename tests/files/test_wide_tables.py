"""Sheets with a column for each policy: read where nothing else is possible, asked about where something is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.support.samples import put

POSES = "Trial,Initial pose,ACT,DP,pi0\n1,left,success,fail,success\n2,left,fail,fail,\n3,right,Success,success,FAIL\n"


def read(folder: Path, text: str, **more: Any) -> sf.Rollouts:
    return sf.read(put(folder, "sheet.csv", text), **more)


def tallies(rollouts: sf.Rollouts) -> dict[str, tuple[int, int]]:
    return {str(group.key[0]): (group.successes, group.outcomes) for group in rollouts.summary()}


def test_poses_and_trials_are_no_policies(tmp_path: Path) -> None:
    rollouts = read(tmp_path, POSES)
    assert tallies(rollouts) == {"ACT": (2, 3), "DP": (1, 3), "pi0": (1, 2)}
    assert rollouts.where(policy="ACT").column("condition") == ("left", "left", "right")
    assert (rollouts.called("condition"), rollouts.design.unit) == ("Initial pose", "Trial")
    assert rollouts.pairs("ACT", "DP").matched == 3
    said = "The columns 'ACT', 'DP', 'pi0' are compared, and each row is shared by them; the cells are success."
    assert said in rollouts.notes
    assert "1 empty cell counted as not run." in rollouts.notes


def test_tasks_and_trials(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "task,trial,A,B\ncut,1,1,0\ncut,2,0,0\npour,1,1,1\npour,2,0,1\n")
    assert tallies(rollouts) == {"A": (2, 4), "B": (2, 4)}
    assert rollouts.names("task") == ("cut", "pour")
    assert rollouts.design.unit == "row"
    assert rollouts.pairs("A", "B").matched == 4
    assert rollouts.declare(unit="task").design.repeats == ("row",)


@pytest.mark.parametrize(
    "cells", [("success", "fail"), ("yes", "no"), ("pass", "failed"), ("1", "0"), ("TRUE", "false"), ("1.0", "0")]
)
def test_cells_in_any_word(tmp_path: Path, cells: tuple[str, str]) -> None:
    yes, no = cells
    rollouts = read(tmp_path, f"pose;A;B\nx;{yes};{no}\ny;{no};{no}\nz;{yes};{yes}\n".replace("pose", "scene"))
    assert tallies(rollouts) == {"A": (2, 3), "B": (1, 3)}


def test_rows_that_share_a_start_are_paired_row_by_row(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "Initial pose,ACT,DP\nleft,0.5,1\nleft,1,0\nright,0.25,0.75\n")
    assert rollouts.where(policy="ACT").scores().values == (0.5, 1.0, 0.25)
    assert rollouts.where(policy="ACT").column("row") == ("1", "2", "3")
    assert rollouts.pairs("ACT", "DP").matched == 3


@pytest.mark.parametrize("names", [("Trial", "Initial pose"), ("zz", "Initial pose"), ("Trial", "zz"), ("zq", "zz")])
def test_the_name_of_what_stands_beside_the_policies_decides_nothing(tmp_path: Path, names: tuple[str, str]) -> None:
    """A pose was a start and its rows were repeats; under any other name every row was a start of its own."""
    rows = [(at % 7, f"pose {at % 4}", int(at % 3 > 0), int(at % 5 > 2)) for at in range(40)]
    text = "\n".join(",".join(map(str, row)) for row in [(*names, "ACT", "DP"), *rows])
    found = sf.compare(read(tmp_path, text), "ACT", "DP")
    assert (found.reading.units, found.reading.paired, found.about.column) == (40, True, "row")
    assert found.gain.estimate == pytest.approx(0.25)
    assert read(tmp_path, text).declare(unit=names[1]).design.repeats == ("row",)


def test_words_name_the_rows_before_numbers_and_notes_never_do(tmp_path: Path) -> None:
    rows = [(at, f"pose {at}", f"{at} {'long ' * 20}", 1, at % 2) for at in range(8)]
    text = "\n".join(",".join(map(str, row)) for row in [("n", "where", "said", "ACT", "DP"), *rows])
    assert read(tmp_path, text).design.unit == "where"
    assert read(tmp_path, text.replace("pose 3", "pose 2")).design.unit == "n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "trial,grasped,lifted,placed\n1,1,1,0\n2,1,0,0\n",
            r"sheet.csv: the columns that are policies must be known; 'grasped', 'lifted', 'placed' hold outcomes and "
            r'may be policies or sub-tasks\. Say which are policies: policies_in=\["grasped", "lifted", "placed"\]',
        ),
        (
            "trial,ACT,DP\n1,50,70\n2,30,20\n",
            r"sheet.csv: there must be .* or which columns are policies, policies_in=",
        ),
        (
            "Trial,ACT,DP\n1,success,fail\n2,fail,aborted\n3,fail,success\n",
            r"sheet.csv, row 2: `success` \(column 'DP'\) must be one of .*; got 'aborted'\. "
            r"If 'DP' is not a policy, say which columns are: policies_in=\[\"ACT\"\]\.",
        ),
        ("trial,A,B\n1,1,0\n2,1\n", r"sheet.csv, row 2: a row must have as many cells as the header, 3; got 2"),
    ],
)
def test_what_cannot_be_told_is_asked(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"^{says}"):
        read(tmp_path, text)


def test_a_row_per_rollout_is_never_taken_for_a_sheet(tmp_path: Path) -> None:
    long = read(tmp_path, "model,success,fast,careful\na,1,0,1\nb,0,1,1\n")
    assert tallies(long) == {"a": (1, 1), "b": (0, 1)}
    with pytest.raises(sf.DataError, match="there must be a `success` or a `score` column"):
        read(tmp_path, "policy,cut,pour\nA,1,0\nB,0,1\n")


def test_the_user_says_which_columns_are_policies(tmp_path: Path) -> None:
    text = "Trial,lab,ACT,DP,grasped\n1,x,50,70,1\n2,y,30,,0\n"
    rollouts = read(tmp_path, text, policies_in=["ACT", "DP"], high=100, columns={"session": "lab"})
    assert rollouts.where(policy="ACT").scores().values == (50.0, 30.0)
    assert rollouts.where(policy="DP").column("session") == ("x",)
    assert rollouts.where(policy="DP").column("grasped") == ("1",)
    with pytest.raises(
        sf.DataError, match=r"`policies_in` must name columns, each once; there is no 'pi0'\. There are"
    ):
        read(tmp_path, text, policies_in=["ACT", "pi0"])
    with pytest.raises(TypeError, match="`policies_in` must list at least one column"):
        read(tmp_path, text, policies_in="ACT")
    with pytest.raises(sf.DataError, match="got both `policies_in` and a column 'policy'"):
        read(tmp_path, "policy,A,B\nx,1,0\n", policies_in=["A", "B"])


def test_rows_without_a_name_of_their_own_are_numbered(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "lab,ACT,DP\nx,1,0\nx,0,1\n", columns={"session": "lab"})
    assert rollouts.where(policy="DP").column("session") == ("x", "x")
    assert rollouts.where(policy="DP").column("row") == ("1", "2")


def test_a_bad_cell_has_the_row_of_the_sheet(tmp_path: Path) -> None:
    text = "Trial,ACT,DP\n1,50,70\n2,30,20'\n"
    with pytest.raises(
        sf.DataError,
        match=r"^sheet.csv, row 2: `score` \(column 'DP'\) must be .*; got \"20'\"\. Remove the extra \"'\"\.",
    ):
        read(tmp_path, text, policies_in=["ACT", "DP"], high=100)


def test_frames_and_other_files_are_unpivoted_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"trial": [1, 2, 3], "A": [True, False, True], "B": [True, None, False]})
    frame.write_parquet(tmp_path / "w.parquet")
    (tmp_path / "w.jsonl").write_text(frame.write_ndjson())
    for data in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "w.parquet", tmp_path / "w.jsonl"):
        rollouts = sf.read(data, policies_in=["A", "B"])
        assert tallies(rollouts) == {"A": (2, 3), "B": (1, 2)}
        assert rollouts.where(policy="B").column("order") == (1, 3)
        assert rollouts.design.unit == "trial"


def test_the_command_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{place},1,{int(place % 3 == 0)}\n" for place in range(1, 31))
    path = str(put(tmp_path, "sheet.csv", f"trial,placed well,placed badly\n{rows}"))
    assert run(["compare", path]) == 65
    assert "Say which are policies: --policies-in 'placed well,placed badly'" in capsys.readouterr().err
    for command in ("compare", "rank", "audit", "replay", "report"):
        more = ["-o", str(tmp_path / "r.html")] if command == "report" else []
        assert run([command, path, "--policies-in", "placed well,placed badly", *more]) in (0, 1)
        out = capsys.readouterr().out
        assert command == "report" or "placed well" in out or command == "audit"
