"""Tests of `surefoot.files.formats.lbm`."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests.support.formats import tallies
from tests.support.samples import FIXTURES, put


def test_lbm_totals_may_be_rounded(tmp_path: Path) -> None:
    head = "Panel,Task,Method,Success/Failure,Num_Successes,Num_Rollouts,Success_Rate,CLD_Letter\r\n"
    rows = 'A,T1,M1,"[True, FALSE, true]",2,3,{},a\r\nA,T1,M2,"[False,False,False]",0,3,0.0,b\r\n'
    assert sf.read(put(tmp_path, "a.csv", (head + rows.format("0.667")).encode())).findings == ()
    assert len(sf.read(put(tmp_path, "b.csv", (head + rows.format("0.662")).encode())).findings) == 1


def test_lbm() -> None:
    rollouts = sf.read(FIXTURES / "lbm" / "Fig.csv")
    assert tallies(rollouts) == {("LBM finetuned",): (3, 5), ("Single Task",): (1, 5)}
    assert rollouts.findings == ()
    assert rollouts.where(policy="Single Task", task="Cut").outcomes() == (False, True, False)
    scores = sf.read(FIXTURES / "lbm" / "Progress.csv").where(policy="Single Task").scores()
    assert scores.values == (0.25, 0.0, 1.0)


def test_lbm_wrong_total_and_wrong_cell(tmp_path: Path) -> None:
    text = (FIXTURES / "lbm" / "Fig.csv").read_text()
    found = sf.read(put(tmp_path, "a.csv", text.replace(",2,3,0.6666666667,a", ",2,4,0.6666666667,a"))).findings
    assert "Num_Rollouts" in found[0].says
    with pytest.raises(sf.DataError, match=r"row 2: `Success/Failure` must list True, False or numbers; got 'Tru'"):
        sf.read(put(tmp_path, "b.csv", text.replace('"[True,True,False]"', '"[Tru,True,False]"')))


HEAD = "Panel,Task,Method,Success/Failure,CLD_Letter\n"


def test_lbm_aggregates_are_the_rollouts_where_there_are_no_tasks(tmp_path: Path) -> None:
    table = sf.read(put(tmp_path, "a.csv", f'{HEAD}A,Aggregate - All,M1,"[1,0]",a\nA,Aggregate - All,M2,"[0,0]",b\n'))
    assert tallies(table, "policy", "task") == {("M1", "all tasks"): (1, 2), ("M2", "all tasks"): (0, 2)}


def test_lbm_an_aggregate_that_disagrees_with_its_tasks_is_found(tmp_path: Path) -> None:
    rows = 'A,Cut,M1,"[1,0]",\nA,Aggregate - All,M1,"[1,1]",\n'
    (found,) = sf.read(put(tmp_path, "a.csv", HEAD + rows)).findings
    assert (found.about, "the aggregate in row 2" in found.says) == ("own totals disagree", True)


def test_lbm_letters_of_a_task_in_two_panels_are_left_out(tmp_path: Path) -> None:
    rows = [f'{panel},{task},M1,"[1,0]",a' for panel, task in (("A", "Cut"), ("B", "Cut"), ("B", "Pour"))]
    assert [one.task for one in sf.read(put(tmp_path, "a.csv", HEAD + "\n".join(rows) + "\n")).letters] == ["Pour"]


def test_lbm_panels_are_known_under_any_name(tmp_path: Path) -> None:
    """Every aggregate was held against the rows of all panels together, and said to disagree with them."""
    tasks = [f'{panel},{task},{{}},"[1,0]",a,{panel}{task}{{}}' for panel in "AB" for task in ("Cut", "Pour")]
    rows = [*tasks, 'A,Aggregate - All,{},"[1,0,1,0]",a,A{}', 'B,Aggregate - All,{},"[1,0,1,0]",b,B{}']
    text = "Panel,Task,Method,Success/Failure,CLD_Letter,note\n" + "\n".join(
        row.format(policy, policy) for policy in ("M1", "M2") for row in rows
    )
    known, other = (sf.read(put(tmp_path, f"{name}.csv", text.replace("Panel", name))) for name in ("Panel", "zz"))
    assert (known.findings, other.findings) == ((), ())
    assert tallies(known) == tallies(other) == {("M1",): (4, 8), ("M2",): (4, 8)}
    assert known.letters == other.letters == ()


def test_lbm_columns_are_typed_as_they_are_printed() -> None:
    """--where Panel=..., as answers call it, was refused: there was no 'Panel'; and --column policy=Method too."""
    table = sf.read(FIXTURES / "lbm" / "Fig.csv", where={"Task": "Cut", "Panel": ["P1"]}, columns={"policy": "Method"})
    assert tallies(table) == {("LBM finetuned",): (2, 3), ("Single Task",): (1, 3)}
    with pytest.raises(sf.DataError, match="'Panel' is 'P1', not 'P9'"):
        sf.read(FIXTURES / "lbm" / "Fig.csv", where={"Panel": "P9"})
