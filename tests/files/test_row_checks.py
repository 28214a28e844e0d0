"""Every line is the row that the header promises: nothing is swallowed, cut off or filled up, however long the file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.files import row_checks
from tests.support.samples import put

HEADER = "policy,task,success,note\n"


def forty(opens: int, closes: int) -> str:
    """Forty rows; a quote opens the task of one and closes that of another."""
    lines = [f"new,cut,{place % 2},fine" for place in range(1, 41)]
    lines[opens - 1] = lines[opens - 1].replace("cut", '"cut')
    lines[closes - 1] = lines[closes - 1].replace("cut", 'cut"')
    return HEADER + "\n".join(lines) + "\n"


@pytest.mark.parametrize(("opens", "closes", "lines"), [(12, 22, "10 lines"), (1, 2, "1 line"), (3, 40, "37 lines")])
def test_a_quote_closed_rows_later_is_pointed_at(tmp_path: Path, opens: int, closes: int, lines: str) -> None:
    with pytest.raises(sf.DataError) as refused:
        sf.read(put(tmp_path, "r.csv", forty(opens, closes)))
    assert (refused.value.source, refused.value.row) == ("r.csv", opens)
    assert str(refused.value) == (
        f"r.csv, row {opens}: a quoted cell must end in its own row; the one in column 'task' that begins with "
        f"'cut,{opens % 2},fine' ends {lines} below, with 'new,cut'. "
        "Remove the extra quote. If the line breaks belong to the cell, remove them instead."
    )


def test_other_readers_of_tables_refuse_it_too(tmp_path: Path) -> None:
    counts = 'policy,task,successes,trials\nnew,"cut,3,10\nold,cut,4,10\nnew,cut",3,10\n'
    wide = 'id,pi0,fast\nx,1,0\n"y,1,1\nz",0,1\nw,1,1\n'
    monitor = '#{"t_start": 1.0, "env_id": "F"}\nr,l,t,is_success\n1.0,10,0.5,1.0\n"1.0,10,0.5,1.0\n2",10,0.5,1.0\n'
    for content, row in ((counts, 1), (wide, 2), (monitor, 2)):
        with pytest.raises(sf.DataError, match=f"^f, row {row}: a quoted cell must end in its own row"):
            sf.read(put(tmp_path, "f", content))


def test_a_note_over_several_lines_is_a_note(tmp_path: Path) -> None:
    text = HEADER + 'new,cut,1,"slipped,\nthen fell, twice,\nand lay"\nold,"put,\ndown",0,"a ""b"", c\n\nd"\n'
    table = sf.read(put(tmp_path, "r.csv", text))
    assert len(table) == 2
    assert table.column("note")[1] == r'a "b", c\n\nd'  # shown on one line, so that it prints none of its own


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            'new,8" pan,1,',
            r"row 2: a quote must be at both ends of a cell; got '8\" pan'\. Remove the "
            r"quote, or double it",
        ),
        ('new,"8 pan"x,1,', r"row 2: a quote must be at both ends of a cell; got '\"8 pan\"x'\."),
        ('new,"cut,1,', r"row 2: a quoted cell must be closed; the one that begins with 'cut,1,' is still open"),
        (
            "new,cut,1,fine,more",
            r"row 2: a row must have as many cells as the header, 4; got 5\. It ends with 'more'\.",
        ),
        ("new,cut", r"row 2: a row must have as many cells as the header, 4; got 2\. It ends with 'cut'\."),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"^r.csv, {says}"):
        sf.read(put(tmp_path, "r.csv", f"{HEADER}old,cut,0,\n\n{line}\nold,cut,0,\n"))


def test_harmless_quotes_inside_a_cell_are_characters(tmp_path: Path) -> None:
    table = sf.read(put(tmp_path, "r.csv", f'{HEADER}new,the "red" cup,1,x\nold,"a ""b""",0,"8"" pan"\n'))
    assert table.names("task") == ('a "b"', 'the "red" cup')
    assert table.column("note") == ("x", '8" pan')


def test_quotes_of_a_row_that_is_whole_change_nothing(tmp_path: Path) -> None:
    table = sf.read(put(tmp_path, "r.csv", f'{HEADER}new,the "red" cup,1,"a ""b"" c"\nold,"cut,high,x\nold,cut",0,\n'))
    assert table.column("note") == ('a "b" c', None)
    # 'high' is no outcome: the lines are no rows; a name over several lines is shown on one
    assert table.names("task") == ("cut,high,x\\nold,cut", 'the "red" cup')


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            "new,cut,1\nold,cut,0,x,y",
            r"row 1: a row must have as many cells as the header, 4; got 3\. It ends with '1'",
        ),
        (
            'new,"a\nb",1',
            r"row 1: a quoted cell must end in its own row; the one that begins with 'a' ends 1 line below",
        ),
    ],
)
def test_rows_that_make_up_for_one_another_are_refused(tmp_path: Path, lines: str, says: str) -> None:
    with pytest.raises(sf.DataError, match=f"^r.csv, {says}"):
        sf.read(put(tmp_path, "r.csv", f"{HEADER}{lines}\n"))


def test_long_files_are_checked_like_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"new,cut,{place % 2},a note of some length that makes the file long {place}" for place in range(600_000)]
    lines[599_000] = "new,cut"
    path = put(tmp_path, "long.csv", HEADER + "\n".join(lines) + "\n")
    assert path.stat().st_size > 32 << 20
    with pytest.raises(sf.DataError, match=r"^long.csv, row 599001: a row must have as many cells"):
        sf.read(path)


@settings(max_examples=200)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=3), st.booleans())
def test_stray_quotes_anywhere_lose_no_row(places: list[int], crlf: bool) -> None:
    """Quotes put anywhere into a table of 40 rows: all 40 are read or none."""
    text = HEADER + "".join(f"new,cut,{place % 2},fine\n" for place in range(1, 41))
    for place in sorted(places, reverse=True):
        at = len(HEADER) + place
        text = f'{text[:at]}"{text[at:]}'
    text = text.replace("\n", "\r\n") if crlf else text
    header = ("policy", "task", "success", "note")
    found = _outcome(text.encode(), header)
    if isinstance(found, row_checks.Rows):
        assert found == (40, 0)
        frame = pl.read_csv(io.BytesIO(text.encode()), infer_schema=False)
        assert frame.height == 40
    else:
        assert found.startswith("f, row ")


cell = st.text(st.sampled_from('ab,"\n ;é1'), max_size=6)


@settings(max_examples=300)
@given(
    st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=12),
    st.integers(1, 40),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(",;\t"),
)
def test_well_formed_tables_are_counted_as_python_reads_them(
    table: list[list[str]], piece: int, end: str, separator: str
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end).writerows([["x", "y", "z"], *table])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_checks, "PIECE", piece)
        found = _outcome(text.getvalue().encode(), ("x", "y", "z"), separator)
    if isinstance(found, row_checks.Rows):
        empty = sum(not any(row) for row in table)  # separators alone, as a spreadsheet writes an empty row
        assert found == (len(table) - empty, empty)
    else:  # a cell over several lines that would be as many rows without its quotes
        assert "must end in its own row" in found
        assert any("\n" in cell and separator in cell for row in table for cell in row)


@settings(max_examples=300)
@given(st.text(st.sampled_from('ab,"\n'), max_size=40), st.integers(1, 20))
@example(',a"""\n"', 1)  # two quotes in a bare cell, and two around a line end
def test_what_is_let_through_is_what_python_reads(text: str, piece: int) -> None:
    """Whatever the bytes: pieces of any size agree, and rows that pass have the header's width in Python too."""
    content = f"x,y\n{text}".encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_checks, "PIECE", piece)
        small = _outcome(content)
    assert small == _outcome(content)
    if isinstance(small, row_checks.Rows):
        lines = [line for line in csv.reader(io.StringIO(content.decode(), newline=""), strict=True) if line]
        assert {len(line) for line in lines} == {2}
        assert sum(map(any, lines)) <= small.rows + 1 <= len(lines)  # separators alone are no row


def _outcome(content: bytes, header: tuple[str, ...] = ("x", "y"), separator: str = ",") -> row_checks.Rows | str:
    try:
        return row_checks.checked(io.BytesIO(content), header=header, separator=separator, source="f")
    except sf.DataError as refused:
        return str(refused)
