"""Mistakes that people make in files and sheets: read right, noted, or refused with the line; none is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.core.notes import Note
from tests.files.test_workbooks import inline, relations, workbook
from tests.support.samples import put

TEN = "policy,success\n" + "new,1\nold,0\n" * 5
SHARED = Path(__file__).parents[3] / "shared" / "data"


def read(folder: Path, text: str, name: str = "lab.csv", **asked: object) -> sf.Rollouts:
    return sf.read(put(folder, name, text), **asked)  # type: ignore[arg-type]


def tallies(rollouts: sf.Rollouts) -> dict[str, tuple[int, int]]:
    return {str(group.key[0]): (group.successes, group.outcomes) for group in rollouts.summary()}


def note(rollouts: sf.Rollouts, kind: str) -> dict[str, object]:
    (found,) = (one for one in rollouts.notes if isinstance(one, Note) and one.kind == kind)
    return dict(found.values)


# 1. The header once more


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_files_put_together_with_their_headers(tmp_path: Path, separator: str, end: str) -> None:
    text = (TEN + TEN + TEN).replace(",", separator).replace("\n", end)
    rollouts = read(tmp_path, text)
    assert tallies(rollouts) == {"new": (15, 15), "old": (0, 15)}
    assert note(rollouts, "header again") == {"lines": (12, 23)}


def test_the_header_once_more_with_pandas_index_and_in_another_case(tmp_path: Path) -> None:
    rollouts = read(tmp_path, ",policy,success\n0,new,1\n1,old,0\n,Policy, success\n0,new,0\n")
    assert tallies(rollouts) == {"new": (1, 2), "old": (0, 1)}
    assert note(rollouts, "header again") == {"lines": (4,)}


def test_the_header_once_more_in_json_lines(tmp_path: Path) -> None:
    again = '{"policy": "policy", "success": "success"}\n'
    rollouts = read(tmp_path, f'{{"policy": "a", "success": 1}}\n{again}{{"policy": "b", "success": 0}}\n', "a.jsonl")
    assert tallies(rollouts) == {"a": (1, 1), "b": (0, 1)}
    assert note(rollouts, "header again") == {"lines": (2,)}


def test_the_header_once_more_of_counts_preferences_and_a_column_per_policy(tmp_path: Path) -> None:
    counts = read(tmp_path, "policy,successes,trials\na,5,10\npolicy,successes,trials\nb,6,10\n")
    assert tallies(counts) == {"a": (5, 10), "b": (6, 10)}
    assert note(counts, "header again") == {"lines": (3,)}
    wide = read(tmp_path, "scene,ACT,DP\nx,1,0\nscene,ACT,DP\ny,1,1\n")
    assert tallies(wide) == {"ACT": (2, 2), "DP": (1, 2)}
    assert note(wide, "header again") == {"lines": (3,)}
    chosen = sf.read_preferences(put(tmp_path, "p.csv", "A,B,preference\nx,y,0\nA,B,preference\ny,x,0.5\n"))
    assert len(chosen.frame) == 2
    assert "Left out, the header once more: line 3." in chosen.notes


def test_a_name_that_is_also_the_header_is_refused_where_it_cannot_be_told(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"line 3: .*line 2 may be either, for 'task' is a name too"):
        read(tmp_path, "task,success\ntask,success\ntask,failure\n")


def test_one_column_of_words_called_success_is_all_outcomes(tmp_path: Path) -> None:
    assert tallies(read(tmp_path, "success\nsuccess\nfailure\nsuccess\n", "new.csv")) == {"new": (2, 3)}
    assert tallies(read(tmp_path, "success\nsuccess\nsuccess\n", "new.csv")) == {"new": (2, 2)}
    again = read(tmp_path, "success\n1\n0\nsuccess\n1\n", "new.csv")
    assert tallies(again) == {"new": (2, 3)}
    assert note(again, "header again") == {"lines": (4,)}


def test_a_refusal_below_names_the_line_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match=r"^lab.csv, row 5, line 8: `success`") as refused:
        read(tmp_path, "policy,success\n\nnew,1\n\nold,0\npolicy,success\nnew,1\nold,maybe\n")
    assert (refused.value.row, refused.value.line) == (5, 8)


def test_lines_are_counted_where_a_cell_spans_several(tmp_path: Path) -> None:
    rollouts = read(tmp_path, 'policy,success,note\nnew,1,"a\nb\nc"\npolicy,success,note\nold,0,\n')
    assert note(rollouts, "header again") == {"lines": (5,)}


# 2. A row of units


@pytest.mark.parametrize("units", [",bool,s", "-,0/1,[s]", "text,y/n,(sec)", ",,s"])
def test_units_below_the_header(tmp_path: Path, units: str) -> None:
    rollouts = read(tmp_path, f"policy,success,duration\n{units}\nnew,1,3.5\nold,0,4\n")
    assert tallies(rollouts) == {"new": (1, 1), "old": (0, 1)}
    assert note(rollouts, "unit row")["lines"] == (2,)


def test_a_row_without_a_policy_is_no_row_of_units(tmp_path: Path) -> None:
    with pytest.raises(sf.DataError, match="row 1: `policy` must name a policy"):
        read(tmp_path, "policy,success\n,n\nold,0\n")
    with pytest.raises(sf.DataError, match="row 2: `policy` must name a policy"):
        read(tmp_path, "policy,success,duration\nold,0,3\n,,s\n")


# 3. A row of totals


@pytest.mark.parametrize("word", ["TOTAL", "Mean", "average:", "Sum", "Avg.", "Overall", "Grand total", "success rate"])
def test_a_total_is_no_rollout(tmp_path: Path, word: str) -> None:
    text = f"policy,score\nnew,1\nold,0\n{word},0.5\n"
    if word == "success rate":  # no word of totals: a policy may be called so
        assert set(read(tmp_path, text).policies) == {"new", "old", word}
        return
    rollouts = read(tmp_path, text)
    assert rollouts.policies == ("new", "old")
    assert note(rollouts, "total rows") == {"lines": (4,), "names": (word,)}


def test_totals_of_blocks_in_another_column_and_of_counts(tmp_path: Path) -> None:
    blocks = read(tmp_path, "trial,policy,success\n1,a,1\n2,a,1\nTOTAL,,2\n\n1,b,0\n2,b,1\nTOTAL,,1\n")
    assert tallies(blocks) == {"a": (2, 2), "b": (1, 2)}
    assert note(blocks, "total rows")["lines"] == (4, 8)
    counts = read(tmp_path, "policy,successes,trials\na,5,10\nb,6,10\nTOTAL,11,20\n")
    assert tallies(counts) == {"a": (5, 10), "b": (6, 10)}
    assert note(counts, "total rows")["lines"] == (4,)


def test_a_policy_called_average_cannot_be_told_from_totals(tmp_path: Path) -> None:
    with pytest.raises(
        sf.DataError, match=r"line 3: .* 3 rows are called 'average', which may be the name of a policy"
    ):
        read(tmp_path, "policy,success\n" + "new,1\naverage,0\n" * 3)


# 4. Blank rows


def test_blank_rows_are_named(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "policy,success,task\nnew,1,cup\n,,\n\nold,0,cup\n , , \nold,1,cup\n")
    assert tallies(rollouts) == {"new": (1, 1), "old": (1, 2)}
    assert note(rollouts, "blank rows") == {"lines": (3, 4, 6)}


# 5. A hidden sheet


def book(*sheets: tuple[str, str, list[list[str]]]) -> bytes:
    """A workbook of sheets: name, state, rows; a row that is empty is not written."""
    tabs = "".join(f'<sheet name="{name}" state="{state}" r:id="r{at}"/>' for at, (name, state, _) in enumerate(sheets))
    links = [(f"r{at}", "worksheet", f"/xl/worksheets/s{at}.xml") for at in range(len(sheets))]
    members = {
        f"xl/worksheets/s{at}.xml": "<worksheet><sheetData>"
        + "".join(
            f"<row r='{row}'>"
            + "".join(inline(f"{chr(65 + column)}{row}", cell) for column, cell in enumerate(cells) if cell)
            + "</row>"
            for row, cells in enumerate(rows, 1)
            if any(cells)
        )
        + "</sheetData></worksheet>"
        for at, (_, _, rows) in enumerate(sheets)
    }
    return workbook(
        "",
        **{
            "xl/workbook.xml": f"<workbook><sheets>{tabs}</sheets></workbook>".encode(),
            "xl/_rels/workbook.xml.rels": relations(*links),
            **{name: text.encode() for name, text in members.items()},
        },
    )


HEAD = ["policy", "success"]
OLD = ("Old draft", "hidden", [HEAD, ["draft", "1"], ["draft", "1"]])


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_not_read_unasked(tmp_path: Path, state: str) -> None:
    now = ("Trials", "visible", [HEAD, ["new", "1"], ["old", "0"]])
    path = put(tmp_path, "a.xlsx", book((OLD[0], state, OLD[2]), now))
    rollouts = sf.read(path)
    assert rollouts.policies == ("new", "old")
    assert "The sheet 'Trials' is read, and not 'Old draft' (hidden); choose by `sheet`." in rollouts.notes
    asked = sf.read(path, sheet="Old draft")
    assert asked.policies == ("draft",)
    assert "The sheet 'Old draft' is hidden." in asked.notes


def test_hidden_rows_are_read_and_said(tmp_path: Path) -> None:
    sheet = (
        f"<row r='1'>{inline('A1', 'policy')}{inline('B1', 'success')}</row>"
        f"<row r='2' hidden='1'>{inline('A2', 'new')}{inline('B2', '0')}</row>"
        f"<row r='3'>{inline('A3', 'new')}{inline('B3', '1')}</row>"
    )
    rollouts = sf.read(put(tmp_path, "a.xlsx", workbook(sheet)))
    assert tallies(rollouts) == {"new": (1, 2)}
    assert note(rollouts, "hidden rows") == {"lines": (2,)}


# 6. A second table below


@pytest.mark.parametrize(
    ("below", "line"),
    [
        ("\npolicy,score\nnew,0.3\n", 5),
        ("policy,score\nnew,0.3\n", 4),
        ("\ntask,n\ncup,1\n", 5),
        ("success,policy\n1,new\n", 4),
        ("\nSummary,\nnew,1\n", 5),
        ("\nrobot 3 was repaired on Monday,\n", 5),
    ],
)
def test_a_second_table_is_refused_with_its_line(tmp_path: Path, below: str, line: int) -> None:
    with pytest.raises(sf.DataError) as refused:
        read(tmp_path, f"policy,success\nnew,1\nold,0\n{below}")
    assert refused.value.line == line


def test_a_second_table_on_a_sheet_is_refused_with_its_row(tmp_path: Path) -> None:
    first = [["A title", ""], [], HEAD, ["new", "1"], ["old", "0"], [], [], ["task", "n"], ["cup", "1"]]
    with pytest.raises(sf.DataError, match=r"line 8: a file must hold one table; 'task', 'n' is the header of another"):
        sf.read(put(tmp_path, "a.xlsx", book(("Trials", "visible", first))))


def test_rows_below_a_blank_one_are_rows(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "policy,success\nnew,1\nold,0\n\nnew,0\nold,\n")
    assert tallies(rollouts) == {"new": (1, 2), "old": (0, 1)}


def test_strays_on_a_sheet_are_named_by_its_own_rows(tmp_path: Path) -> None:
    rows = [["A title", ""], [], HEAD, ["", "bool"], ["new", "1"], [], HEAD, ["old", "0"], ["TOTAL", "1"]]
    rollouts = sf.read(put(tmp_path, "a.xlsx", book(("Trials", "visible", rows))))
    assert tallies(rollouts) == {"new": (1, 1), "old": (0, 1)}
    lines = {kind: note(rollouts, kind)["lines"] for kind in ("unit row", "blank rows", "header again", "total rows")}
    assert lines == {"unit row": (4,), "blank rows": (6,), "header again": (7,), "total rows": (9,)}


# 7. Names nearly alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New", "new"),
        ("new v2", "new  v2"),
        ("new v2", "newv2"),
        ("pi0", "\u0440i0"),
        ("new", "ne\u200bw"),
        ("ß", "ss"),
    ],
)
def test_names_nearly_alike_are_said(tmp_path: Path, one: str, other: str) -> None:
    rollouts = read(tmp_path, f"policy,success\n{one},1\n{other},0\nold,1\n")
    (found,) = rollouts.findings
    assert found.about == "names nearly alike"
    assert set(found.values["names"]) == {one, other}
    assert found in sf.audit(rollouts).serious


def test_names_that_differ_are_not(tmp_path: Path) -> None:
    assert read(tmp_path, "policy,success\nnew,1\nnew 2,0\nnew-2,1\nnow,0\n").findings == ()


# 8. A stray apostrophe


def test_a_published_list_with_a_stray_apostrophe_is_read(tmp_path: Path) -> None:
    head = "Panel,Task,Method,Success/Failure,Num_Successes,Num_Rollouts,Success_Rate,CLD_Letter\n"
    rows = 'A,T,M,"[True,False]",1,2,0.5,a\n\nA,T,N,"[True,True]\'",2,2,1.0,b\n'
    rollouts = read(tmp_path, head + rows)
    assert tallies(rollouts) == {"M": (1, 2), "N": (2, 2)}
    assert note(rollouts, "stray marks") == {"mark": "'", "lines": (4,)}


def test_the_published_sheet_itself() -> None:
    path = SHARED / "lbm1" / "Fig2.csv"
    if not path.is_file():
        pytest.skip("the published data are not here")
    rollouts = sf.read(path)
    assert note(rollouts, "stray marks") == {"mark": "'", "lines": (29,)}
    assert rollouts.findings == ()  # every row's own totals agree with its list


# 9. A leaderboard: formats/test_matrix.py has more


@pytest.mark.parametrize("first", ["", "name", "run", "model", "Unnamed: 0"])
@pytest.mark.parametrize(
    "cells", ["0.712,0.5,0.301;0.81,0.4,0.333", "71.2%,50%,30.1%;81%,40%,33.3%", "0.9,-0.1,12;0.8,0.2,40"]
)
def test_a_leaderboard_is_refused_and_benchmarks_are_no_policies(tmp_path: Path, first: str, cells: str) -> None:
    one, two = cells.split(";")
    with pytest.raises(sf.DataError, match=r"this is a leaderboard.*'mmlu', 'gsm8k', 'arc'.*number of rollouts"):
        read(tmp_path, f"{first},mmlu,gsm8k,arc\nllama-7b,{one}\nqwen-7b,{two}\n")


# 10. Numbers as hands and spreadsheets write them


def test_apostrophes_before_numbers(tmp_path: Path) -> None:
    rollouts = read(tmp_path, "policy,score,condition\nnew,'0.5,'007\nold,\"'1\",'008\n")
    assert rollouts.column("score") == (0.5, 1.0)
    assert rollouts.column("condition") == ("'007", "'008")  # names stay as they are
    assert note(rollouts, "apostrophes") == {"columns": ("score",)}
    counts = read(tmp_path, "policy,successes,trials\na,'5,'10\n")
    assert tallies(counts) == {"a": (5, 10)}
    assert note(counts, "apostrophes") == {"columns": ("successes", "trials")}
    wide = read(tmp_path, "scene,ACT,DP\nx,'1,'0\ny,'1,1\n")
    assert tallies(wide) == {"ACT": (2, 2), "DP": (1, 2)}
    assert note(wide, "apostrophes") == {"columns": ("ACT", "DP")}


def test_decimal_commas_and_counts_in_one_cell(tmp_path: Path) -> None:
    assert read(tmp_path, "policy;score\nnew;0,5\nold;1\n").column("score") == (0.5, 1.0)
    with pytest.raises(sf.DataError, match=r"row 2: `score` must be a finite number; got '0,5'"):
        read(tmp_path, 'policy,score\nnew,1\nold,"0,5"\n')
    assert tallies(read(tmp_path, "policy,result\nnew,8/10\nold,7/10\n")) == {"new": (8, 10), "old": (7, 10)}
    with pytest.raises(sf.DataError, match=r"row 2: `success` .* got '8/10'"):
        read(tmp_path, "policy,task,success\nnew,cup,1\nold,cup,8/10\n")
