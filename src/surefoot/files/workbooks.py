"""Sheets of Excel workbooks, as delimited text.

python-calamine reads the cells. It is handed a copy of the parts that it needs, unpacked within limits, since it has
none of its own: one cell far from the others, or a wrong count, would end the program. Formulas are never computed: a
cell has the value that was saved with it.
"""

from __future__ import annotations

import csv
import datetime
import functools
import io
import re
import zipfile
from collections.abc import Collection
from pathlib import Path

from surefoot._files import write_whole
from surefoot.core.formatting import some_names
from surefoot.core.notes import Note, Noted
from surefoot.errors import DataError
from surefoot.files.archives import Archive
from surefoot.files.importers import MOST_COLUMNS, About, too_wide
from surefoot.files.recognising import Head
from surefoot.files.xml_files import Attributes, Reader, read_xml
from surefoot.table.columns import KNOWN, plain

ABOUT = About(
    name="Excel",
    file="results.xlsx",
    becomes="the first sheet that holds a table, or the one that is named, is read like any other table",
    example="surefoot compare results.xlsx --sheet Trials --first new --second old",
)
WORKBOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
STRINGS = "xl/sharedStrings.xml"
NEEDED = ("_rels/.rels", RELATIONS, WORKBOOK)
SHARED = (*NEEDED, STRINGS, "xl/styles.xml")
MOST_ROWS = 1_048_576
MOST_CELLS = 20_000_000
"""Of the rectangle that the filled cells span; Excel's own sheet has 17 thousand million."""
PLACE = re.compile(r"([A-Z]{1,9})(\d+)", re.IGNORECASE)
COUNTS = re.compile(rb"(<(?:\w+:)?sst\b)[^>]*?(/?>)")
ERROR = re.compile(rb"""(<(?:\w+:)?c\s(?:[^>]*\s)?t\s*=\s*)(?:"e"|'e')""")

Rows = dict[int, dict[int, str]]
"""The filled cells of a sheet, by row and column from 0."""


def is_workbook(head: Head) -> bool:
    """Whether a file is an Excel workbook."""
    return WORKBOOK in head.members


def as_text(head: Head, folder: Path, sheet: str | None) -> tuple[Head, tuple[Noted, ...]]:
    """One sheet of a workbook as a delimited file in `folder`, and what must be said of it.

    Args:
        head: The workbook.
        folder: Where to write; the file is needed as long as the rows are not read.
        sheet: The sheet's name; the first that is not hidden and holds a table when None.
    """
    with Archive(head.path, head.name) as archive:
        shared = {name: _part(archive, name, head.name) for name in SHARED if name in archive.names or name in NEEDED}
        parts, hidden = _sheets(shared, head.name)
        if not parts:
            raise DataError("the workbook must hold a sheet; it has none.", source=head.name)
        if sheet is not None and sheet not in parts:
            raise DataError(
                f"the sheet must be one of {some_names([repr(name) for name in parts])}; got {sheet!r}.",
                source=head.name,
            )
        tried = [name for name in parts if name not in hidden] or list(parts) if sheet is None else [sheet]
        for chosen in (*tried, tried[0]):
            content = {parts[chosen]: _part(archive, parts[chosen], head.name)}
            rows, said = _read(chosen, {**shared, **content}, parts[chosen], folder / "book.xlsx", head.name)
            if sheet or sum(len(row) > 1 for row in rows.values()) > 1:  # remarks on a sheet of their own are no table
                break
    others = [repr(name) + " (hidden)" * (name in hidden) for name in parts if name != chosen]
    notes = list[Noted]()
    if others:
        notes.append(f"The sheet {chosen!r} is read, and not {some_names(others)}; choose by `sheet`.")
    if chosen in hidden:
        notes.append(f"The sheet {chosen!r} is hidden.")
    titles, lines, table = _below_titles(*_table(rows, head.name))
    if titles:
        notes.append(f"What stands above the header is left out: {some_names([repr(title) for title in titles])}.")
    for kind, found in said.items():
        if told := tuple(row + 1 for row in found if row + 1 in lines):
            notes.append(Note(kind, {"lines": told}))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    made_of = Head(write_whole(folder / "sheet.csv", text.getvalue()), head.name)
    made_of.lines = tuple(lines)
    return made_of, tuple(notes)


def _below_titles(lines: list[int], rows: list[list[str]]) -> tuple[list[str], list[int], list[list[str]]]:
    """The titles above a table, each alone in its row and no name of a column, and the table with its rows' numbers."""
    for at, row in enumerate(rows):
        filled = [cell for cell in row if cell]
        if len(filled) > 1:
            return [next(filter(None, above)) for above in rows[:at] if any(above)], lines[at:], rows[at:]
        if filled and plain(filled[0]) in KNOWN:
            return [], lines[at:], rows[at:]
    return [], lines, rows


def _part(archive: Archive, name: str, source: str) -> bytes:
    """A part as python-calamine can have it: it trusts the count of texts, and takes errors for blank cells."""
    if name not in archive.names:
        raise DataError(f"the workbook must be complete; {name} is missing.", source=source)
    return ERROR.sub(rb'\1"str"', COUNTS.sub(rb"\1\2", archive.read(name)))


class _Listed(Reader):
    """The elements of one name, with their attributes."""

    def __init__(self, wanted: str) -> None:
        self.wanted, self.found = wanted, list[Attributes]()

    def starts(self, name: str, attributes: Attributes) -> None:
        if name == self.wanted:
            self.found.append({key.rpartition(":")[2]: value for key, value in attributes.items()})


def _sheets(shared: dict[str, bytes], source: str) -> tuple[dict[str, str], set[str]]:
    """The part of each sheet, by its name, in the order of the tabs, and the names of those that are hidden."""
    tabs, relations = _Listed("sheet"), _Listed("Relationship")
    read_xml(shared[WORKBOOK], tabs, source)
    read_xml(shared[RELATIONS], relations, source)
    targets = {one.get("Id"): one.get("Target", "") for one in relations.found if "worksheet" in one.get("Type", "")}
    hidden = {tab.get("name", "") for tab in tabs.found if "hidden" in tab.get("state", "").casefold()}
    parts = {
        tab.get("name", ""): target.lstrip("/") if target.lstrip("/").startswith("xl/") else f"xl/{target}"
        for tab in tabs.found
        if (target := targets.get(tab.get("id")))
    }
    return parts, hidden


def _read(
    name: str, parts: dict[str, bytes], part: str, copy: Path, source: str
) -> tuple[Rows, dict[str, Collection[int]]]:
    """The filled cells of a sheet, and the rows to tell of by the kind of note."""
    from python_calamine import CalamineError, load_workbook  # here, since few files need it

    seen = _Seen()
    read_xml(parts[part], seen, source)
    seen.refuse_far_cells(source)
    with zipfile.ZipFile(copy, "w") as archive:
        for one, content in parts.items():
            archive.writestr(one, content)
    try:
        with load_workbook(copy) as book:
            sheet = book.get_sheet_by_name(name)
    except CalamineError as error:
        raise DataError(f"the workbook must be whole; {str(error)[:120]}.", source=source) from None
    top, left = sheet.start or (0, 0)
    texts = (
        (row, {at: text for at, value in enumerate(values, left) if (text := _text(value))})
        for row, values in enumerate(sheet.to_python(), top)
    )
    rows, filled = {row: cells for row, cells in texts if cells}, set[int]()
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        if value := rows.get(first, {}).get(column):
            below = {row for row in range(first + 1, min(last, MOST_ROWS) + 1) if column not in rows.get(row, {column})}
            filled |= below
            for row in below:
                rows[row][column] = value
    return rows, {"hidden rows": seen.hidden, "merged cells": sorted(filled)}


class _Seen(Reader):
    """What python-calamine does not say of a sheet: the rows that are hidden, and how far cells reach."""

    def __init__(self) -> None:
        self.hidden, self._row, self._column, self._height, self._width = list[int](), -1, -1, 0, 0

    def starts(self, name: str, attributes: Attributes) -> None:
        if name == "row":
            said = attributes.get("r", "")
            self._row, self._column = (int(said[:9]) - 1 if said.isdecimal() else self._row + 1), -1
            if attributes.get("hidden", "") in ("1", "true"):
                self.hidden.append(self._row)
        elif name == "c":
            self._column += 1
            if place := PLACE.match(attributes.get("r", "")):
                self._row = int(place[2][:9]) - 1
                self._column = (
                    functools.reduce(lambda so_far, letter: 26 * so_far + ord(letter) - 64, place[1].upper(), 0) - 1
                )
        elif name in ("v", "is"):
            self._height, self._width = max(self._height, self._row + 1), max(self._width, self._column + 1)

    def refuse_far_cells(self, source: str) -> None:
        """Refuse a sheet whose cells span too large a rectangle, which is held in memory as a whole."""
        if self._height > MOST_ROWS:
            raise DataError(f"a sheet must have at most {MOST_ROWS:,} rows; got row {self._height:,}.", source=source)
        if self._width > MOST_COLUMNS:
            raise too_wide(self._width, source)
        if self._height * self._width > MOST_CELLS:
            raise DataError(
                f"a sheet must span at most {MOST_CELLS:,} cells; got {self._height:,} rows of {self._width:,} "
                "columns. Is there a cell far from the table?",
                source=source,
            )


def _text(value: object) -> str:
    """A cell as a delimited file has it: dates as ISO 8601 writes them, durations in seconds."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return " ".join((str(value).lower() if isinstance(value, bool) else str(value)).split())


def _table(rows: Rows, source: str) -> tuple[list[int], list[list[str]]]:
    """The rectangle of filled cells with their rows' numbers, from 1; blank rows between others are one."""
    if not rows:
        raise DataError("the sheet must hold a table; it is empty.", source=source)
    used = {column for row in rows.values() for column in row}
    filled = sorted(rows)
    lines = [
        row for at, row in enumerate(filled) for row in ((row - 1, row) if at and row - 1 > filled[at - 1] else (row,))
    ]
    columns = range(min(used), max(used) + 1)
    return [row + 1 for row in lines], [[rows.get(row, {}).get(column, "") for column in columns] for row in lines]
