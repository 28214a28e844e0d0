"""Excel workbooks: `trials.xlsx` was written by openpyxl 3.1; the others are put together here, byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from surefoot.files import workbooks
from tests.support.samples import FIXTURES, deflated, put

FILE = FIXTURES / "excel" / "trials.xlsx"


def relations(*parts: tuple[str, str, str]) -> bytes:
    """Which parts belong together, each by its id, kind and place."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    each = "".join(f'<Relationship Id="{id_}" Type="{kinds}/{kind}" Target="{at}"/>' for id_, kind, at in parts)
    return f"<Relationships>{each}</Relationships>".encode()


def workbook(sheet: str, *, strings: str = "", **members: bytes) -> bytes:
    """A workbook with one sheet called Trials."""
    return deflated(
        {
            "_rels/.rels": relations(("rId1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": b'<workbook><sheets><sheet name="Trials" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(("rId1", "worksheet", "/xl/worksheets/one.xml")),
            "xl/worksheets/one.xml": f"<worksheet><sheetData>{sheet}</sheetData></worksheet>".encode(),
            "xl/sharedStrings.xml": f"<sst>{strings}</sst>".encode(),
            **members,
        }
    )


def inline(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


HEAD = f"<row r='1'>{inline('A1', 'policy')}{inline('B1', 'success')}</row>"


def test_the_first_sheet() -> None:
    rollouts = sf.read(FILE)
    assert [(group.key, group.successes, group.outcomes) for group in rollouts.summary(by=("policy", "task"))] == [
        (("new", "cut"), 2, 2),
        (("new", "pour"), 0, 1),
        (("old", "cut"), 1, 2),
        (("old", "pour"), 0, 1),
    ]
    assert rollouts.column("score") == (1.0, 0.25, 0.75, 1.0, 0.5, 0.0)
    assert any("The sheet 'Trials' is read, and not 'Side by side'" in str(note) for note in rollouts.notes)


def test_another_sheet_with_a_column_per_policy_and_merged_cells() -> None:
    rollouts = sf.read(FILE, sheet="Side by side")
    assert rollouts.policies == ("ACT", "DP")
    assert rollouts.column("condition") == ("left", "left", "left", "left", "right", "right", "right", "right")
    assert rollouts.pairs("ACT", "DP").matched == 4


def test_kinds_of_cells(tmp_path: Path) -> None:
    strings = "<si><r><t>n</t></r><r><t>ew</t></r><rPh><t>sound</t></rPh></si>"
    rows = (
        '<row><c t="s"><v>0</v></c><c t="b"><v>1</v></c></row>'
        '<row r="3"><c r="A3" t="str"><v>old</v></c><c r="B3"><f>1-1</f><v>0</v></c></row><row r="9"/>'
    )
    rollouts = sf.read(put(tmp_path, "a.xlsx", workbook(HEAD + rows, strings=strings)))
    assert [(group.key, group.successes) for group in rollouts.summary()] == [(("new",), 1), (("old",), 0)]


def test_dates_are_dates_and_whole_numbers_whole(tmp_path: Path) -> None:
    styles = b'<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs></styleSheet>'
    head = f"<row r='1'>{''.join(inline(f'{at}1', name) for at, name in zip('ABCDE', NAMES, strict=True))}</row>"
    cells = (
        "<c r='B2'><v>1</v></c><c r='C2' s='1'><v>46024.1875</v></c><c r='D2' s='2'><v>0.25</v></c>"
        "<c r='E2'><v>7.0</v></c>"
    )
    sheet = f"{head}<row r='2'>{inline('A2', 'new')}{cells}</row>"
    parts = relations(("rId1", "worksheet", "worksheets/one.xml"), ("rId2", "styles", "styles.xml"))
    rollouts = sf.read(
        put(tmp_path, "a.xlsx", workbook(sheet, **{"xl/styles.xml": styles, "xl/_rels/workbook.xml.rels": parts}))
    )
    assert [str(rollouts.column(name)[0]) for name in ("started_at", "took", "seed")] == [
        "2026-01-02 04:30:00",
        "21600",
        "7",
    ]


NAMES = ("policy", "success", "started_at", "took", "seed")


@pytest.mark.parametrize("error", ["#N/A", "#SPILL!"])
def test_a_formula_that_failed_is_no_blank_cell(tmp_path: Path, error: str) -> None:
    rows = f"<row r='2'>{inline('A2', 'new')}<c r='B2' s='0' t='e'><f>NA()</f><v>{error}</v></c></row>"
    with pytest.raises(sf.DataError, match=f"got '{error}'"):
        sf.read(put(tmp_path, "a.xlsx", workbook(HEAD + rows)))


def test_what_looks_like_a_count_or_an_error_in_a_text_stays(tmp_path: Path) -> None:
    odd = "&lt;sst count=&quot;2&quot;&gt; &lt;c t='e'&gt;"
    row = f"<row r='2'>{inline('A2', odd)}<c r='B2'><v>1</v></c></row>"
    assert sf.read(put(tmp_path, "a.xlsx", workbook(HEAD + row))).policies == ("<sst count=\"2\"> <c t='e'>",)


def test_a_wrong_count_of_texts_sets_no_memory_aside(tmp_path: Path) -> None:
    texts = b"<sst count='9' uniqueCount='99999999999999'><si><t>new</t></si></sst>"
    row = "<row r='2'><c r='A2' t='s'><v>0</v></c><c r='B2'><v>1</v></c></row>"
    assert sf.read(put(tmp_path, "a.xlsx", workbook(HEAD + row, **{"xl/sharedStrings.xml": texts}))).policies == (
        "new",
    )


def test_a_chart_is_no_sheet_and_a_style_no_cell(tmp_path: Path) -> None:
    tabs = (
        b"""<workbook><sheets><sheet name="Plot" r:id="rId2"/><sheet name="Trials" r:id="rId1"/></sheets></workbook>"""
    )
    where = relations(("rId1", "worksheet", "worksheets/one.xml"), ("rId2", "chartsheet", "chartsheets/one.xml"))
    rows = (
        f"<row r='2'>{inline('A2', 'new')}<c r='B2'><v>1</v></c></row><row r='1048576'><c r='XFD1048576' s='0'/></row>"
    )
    more = {"xl/workbook.xml": tabs, "xl/_rels/workbook.xml.rels": where, "xl/chartsheets/one.xml": b"<chartsheet/>"}
    rollouts = sf.read(put(tmp_path, "a.xlsx", workbook(HEAD + rows, **more)))
    assert (rollouts.tally(), rollouts.notes) == (sf.Tally(1, 1), ())


def test_merged_cells_fill_the_rows_that_are_there(tmp_path: Path) -> None:
    rows = "".join(f"<row r='{at}'>{inline(f'B{at}', str(at % 2))}</row>" for at in (2, 4))
    merged = "".join(f"<mergeCell ref='{ref}'/>" for ref in ("A2:A4", "C2:C4", "A1"))
    sheet = f"{HEAD}{rows}{inline('A2', 'new')}<mergeCells>{merged}</mergeCells>"
    rollouts = sf.read(put(tmp_path, "a.xlsx", workbook(sheet)))
    (group,) = rollouts.summary()
    assert "A merged cell's value is read in every row that it spans: line 4." in map(str, rollouts.notes)
    assert (group.key, group.successes, group.outcomes) == (("new",), 0, 2)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (workbook(""), "the sheet must hold a table; it is empty"),
        (workbook("<row><c t='s'><v>7</v></c></row>"), "the workbook must be whole; Cell string index not found"),
        (workbook(HEAD + inline("A9999999", "x")), "at most 1,048,576 rows; got row 9,999,999"),
        (workbook(HEAD + inline("XFD1048576", "x")), "at most 10,000 columns; got 16,384"),
        (workbook(HEAD + inline("BZZ1048576", "x")), "must span at most 20,000,000 cells; got 1,048,576 rows of 2,054"),
        (workbook(HEAD + inline("A99999999999999", "x")), "at most 1,048,576 rows; got row 999,999,999"),
        (workbook(HEAD + inline("ZZZ2", "x")), "at most 10,000 columns; got 18,278"),
        (workbook("<!DOCTYPE x>"), "complete XML"),
        (workbook(HEAD, **{"xl/workbook.xml": b"<!DOCTYPE x><workbook/>"}), "must not declare a document type"),
        (workbook(HEAD, **{"xl/workbook.xml": b"<workbook/>"}), "must hold a sheet"),
        (workbook(HEAD, **{"xl/_rels/workbook.xml.rels": relations(("rId1", "worksheet", "no.xml"))}),
         "must be complete; xl/no.xml is missing"),
        (workbook("<row>" + inline("A1", "hello") + "</row>" + inline("A2", "1")), "must be a table of rollouts"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(sf.DataError, match=says):
        sf.read(put(tmp_path, "a.xlsx", content))


def test_a_sheet_that_is_not_there() -> None:
    with pytest.raises(sf.DataError, match="the sheet must be one of 'Trials', 'Side by side'; got 'Sheet1'"):
        sf.read(FILE, sheet="Sheet1")
    with pytest.raises(ValueError, match="`sheet` must come with an Excel workbook"):
        sf.read(FIXTURES / "rollouts.csv", sheet="Trials")
    with pytest.raises(ValueError, match="`sheet` must come with an Excel workbook"):
        sf.read(next((FIXTURES / "lm_eval_0_4_13").glob("samples_toy_ppl_*")), sheet="Trials")


def test_a_sheet_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_CELLS", 1000)
    far = HEAD + "".join(f"<row r='{at}'>{inline(f'A{at}', 'x')}</row>" for at in range(2, 30)) + inline("ALL30", "x")
    with pytest.raises(sf.DataError, match="at most 1,000 cells; got 30 rows of 1,000 columns"):
        sf.read(put(tmp_path, "a.xlsx", workbook(far)))


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.files.archives.LARGEST_MEMBER", 10_000)
    bomb = workbook(HEAD + inline("A2", "x" * 100_000))
    assert len(bomb) < 2_000
    with pytest.raises(sf.DataError, match="It may be a zip bomb"):
        sf.read(put(tmp_path, "a.xlsx", bomb))


NOTES = b"<worksheet><sheetData><row>%s</row></sheetData></worksheet>" % inline("A1", "ask Ann").encode()
TABS = (
    b"""<workbook><sheets><sheet name="Remarks" r:id="rId2"/><sheet name="Trials" r:id="rId1"/></sheets></workbook>"""
)
WHERE = relations(("rId1", "worksheet", "/xl/worksheets/one.xml"), ("rId2", "worksheet", "worksheets/two.xml"))


def test_remarks_before_the_table_and_a_title_above_it_are_no_table(tmp_path: Path) -> None:
    rows = f"<row r='5'>{inline('A5', 'new')}{inline('B5', 'yes')}</row>"
    head = f"<row r='4'>{inline('A4', 'policy')}{inline('B4', 'success')}</row>"
    sheet = f"<row r='1'>{inline('A1', 'Second evaluation')}</row>{head}{rows}"
    more = {"xl/workbook.xml": TABS, "xl/_rels/workbook.xml.rels": WHERE, "xl/worksheets/two.xml": NOTES}
    path = put(tmp_path, "lab.xlsx", workbook(sheet, **more))
    rollouts = sf.read(path)
    assert rollouts.tally() == sf.Tally(1, 1)
    assert [str(note) for note in rollouts.notes] == [
        "The sheet 'Trials' is read, and not 'Remarks'; choose by `sheet`.",
        "What stands above the header is left out: 'Second evaluation'.",
    ]
    with pytest.raises(sf.DataError, match="must be a table of rollouts"):
        sf.read(path, sheet="Remarks")


def test_one_column_and_a_stray_cell_are_no_title_and_table(tmp_path: Path) -> None:
    sheet = f"<row r='1'>{inline('A1', 'success')}</row><row r='2'>{inline('A2', '1')}{inline('B2', 'odd')}</row>"
    assert sf.read(put(tmp_path, "one.xlsx", workbook(sheet))).tally() == sf.Tally(1, 1)
    rows = [["success", ""], ["1", "odd"]]
    assert workbooks._below_titles([1, 2], rows) == ([], [1, 2], rows)
