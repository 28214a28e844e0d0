"""How does a sheet of an Excel workbook become delimited text, which every importer of tables reads?

An `.xlsx` file is a zip file of XML: it is unpacked within limits and parsed without expanding anything. Formulas are
never computed: a cell has the value that was saved with it.
"""

from __future__ import annotations

import csv
import io
import posixpath
import re
from pathlib import Path

from surefoot._arguments import write
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
MOST_ROWS = 1_048_576
MOST_CELLS = 20_000_000
"""Of the rectangle that the filled cells span; Excel's own sheet has 17 thousand million."""
PLACE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")


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
        names, hidden = _sheets(archive, head.name)
        if not names:
            raise DataError("the workbook must hold a sheet; it has none.", source=head.name)
        if sheet is not None and sheet not in names:
            raise DataError(
                f"the sheet must be one of {some_names([repr(name) for name in names])}; got {sheet!r}.",
                source=head.name,
            )
        strings = _strings(archive, head.name)
        tried = [name for name in names if name not in hidden] or list(names) if sheet is None else [sheet]
        made = ((name, _read(archive, names[name], strings, head.name)) for name in tried)
        chosen, cells = next(((name, cells) for name, cells in made if sheet or cells.hold_a_table), (tried[0], None))
        cells = cells or _read(archive, names[tried[0]], strings, head.name)
    path = folder / "sheet.csv"
    text = io.StringIO()
    titles, lines, rows = _below_titles(*cells.table())
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_whole(path, text.getvalue())
    others, notes = [repr(name) + " (hidden)" * (name in hidden) for name in names if name != chosen], list[Noted]()
    if others:
        notes.append(f"The sheet {chosen!r} is read, and not {some_names(others)}; choose by {write('sheet')}.")
    if chosen in hidden:
        notes.append(f"The sheet {chosen!r} is hidden.")
    if titles:
        notes.append(f"What stands above the header is left out: {some_names([repr(title) for title in titles])}.")
    if unseen := [line for line in cells.hidden if line in lines]:
        notes.append(Note("hidden rows", {"lines": tuple(unseen)}))
    made_of = Head(path, head.name)
    made_of.lines = tuple(lines)
    return made_of, tuple(notes)


def _read(archive: Archive, member: str, strings: list[str], source: str) -> _Cells:
    cells = _Cells(strings, source)
    read_xml(_member(archive, member, source), cells, source)
    return cells


def _below_titles(lines: list[int], rows: list[list[str]]) -> tuple[list[str], list[int], list[list[str]]]:
    """The titles above a table, each alone in its row and no name of a column, and the table with its rows' numbers."""
    for at, row in enumerate(rows):
        filled = [cell for cell in row if cell]
        if len(filled) > 1:
            return [next(filter(None, above)) for above in rows[:at] if any(above)], lines[at:], rows[at:]
        if filled and plain(filled[0]) in KNOWN:
            return [], lines[at:], rows[at:]
    return [], lines, rows


def _member(archive: Archive, name: str, source: str) -> bytes:
    if name not in archive.names:
        raise DataError(f"the workbook must be complete; {name} is missing.", source=source)
    return archive.read(name)


class _Listed(Reader):
    """The elements of one name, with their attributes."""

    def __init__(self, wanted: str) -> None:
        self.wanted, self.found = wanted, list[Attributes]()

    def starts(self, name: str, attributes: Attributes) -> None:
        if name == self.wanted:
            self.found.append({key.rpartition(":")[2]: value for key, value in attributes.items()})


def _sheets(archive: Archive, source: str) -> tuple[dict[str, str], set[str]]:
    """The file of each sheet, by its name, in the order of the tabs, and the names of those that are hidden."""
    tabs, relations = _Listed("sheet"), _Listed("Relationship")
    read_xml(_member(archive, WORKBOOK, source), tabs, source)
    read_xml(_member(archive, "xl/_rels/workbook.xml.rels", source), relations, source)
    targets = {one.get("Id"): one.get("Target", "") for one in relations.found if "sheet" in one.get("Type", "sheet")}
    hidden = {tab.get("name", "") for tab in tabs.found if "hidden" in tab.get("state", "").casefold()}
    files = {
        tab.get("name", ""): posixpath.normpath(posixpath.join("/xl", targets[tab.get("id")])).lstrip("/")
        for tab in tabs.found
        if targets.get(tab.get("id"))
    }
    return files, hidden


class _Strings(Reader):
    """The texts that cells share; a text may be written in several pieces."""

    def __init__(self) -> None:
        self.found, self._parts, self._sounds = list[str](), list[str](), 0

    def starts(self, name: str, _attributes: Attributes) -> None:
        self._sounds += name == "rPh"  # how a text is pronounced, which is no part of it

    def ends(self, name: str, content: str) -> None:
        if name == "t" and not self._sounds:
            self._parts.append(content)
        elif name == "si":
            self.found.append("".join(self._parts))
            self._parts = []
        self._sounds -= name == "rPh"


def _strings(archive: Archive, source: str) -> list[str]:
    name = "xl/sharedStrings.xml"
    if name not in archive.names:
        return []
    strings = _Strings()
    read_xml(archive.read(name), strings, source)
    return strings.found


class _Cells(Reader):
    """The filled cells of a sheet, by row and column from 0."""

    def __init__(self, strings: list[str], source: str) -> None:
        self._strings, self._source = strings, source
        self._cells: dict[int, dict[int, str]] = {}
        self._merged: list[tuple[int, int, int, int]] = []
        self.hidden: list[int] = []
        self._row, self._column, self._kind, self._texts = -1, -1, "n", list[str]()

    def starts(self, name: str, attributes: Attributes) -> None:
        if name == "row":
            said = attributes.get("r", "")
            self._row, self._column = (int(said[:8]) - 1 if said.isdecimal() else self._row + 1), -1
            if attributes.get("hidden", "") in ("1", "true"):
                self.hidden.append(self._row + 1)
        elif name == "c":
            place = PLACE.fullmatch(attributes.get("r", ""))
            if place:
                self._row, self._column = _at(place)
            else:
                self._column += 1
            self._kind, self._texts = attributes.get("t", "n"), []
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))

    def ends(self, name: str, content: str) -> None:
        if name == "v" or (name == "t" and self._kind == "inlineStr"):
            self._texts.append(content)
        elif name == "c":
            text = " ".join(self._value("".join(self._texts)).split())
            if text:
                self._put(self._row, self._column, text)

    def _value(self, text: str) -> str:
        if self._kind == "b":
            return {"1": "true", "0": "false"}.get(text.strip(), text)
        if self._kind != "s" or not text:
            return text
        if not text.strip().isdecimal() or int(text[:9]) >= len(self._strings):
            raise DataError(f"a cell must name a text of the workbook; got {text[:20]!r}.", source=self._source)
        return self._strings[int(text[:9])]

    def _put(self, row: int, column: int, text: str) -> None:
        if not 0 <= row < MOST_ROWS:
            raise DataError(f"a sheet must have at most {MOST_ROWS:,} rows; got row {row + 1:,}.", source=self._source)
        if column >= MOST_COLUMNS:
            raise too_wide(column + 1, self._source)
        self._cells.setdefault(row, {})[column] = text

    def _merge(self, ref: str) -> None:
        ends = [PLACE.fullmatch(end) for end in ref.split(":")]
        if len(ends) == 2 and ends[0] and ends[1]:
            self._merged.append((*_at(ends[0]), *_at(ends[1])))

    @property
    def hold_a_table(self) -> bool:
        """Whether two rows have more than one filled cell: remarks on a sheet of their own have not."""
        return sum(len(row) > 1 for row in self._cells.values()) > 1

    def table(self) -> tuple[list[int], list[list[str]]]:
        """The rectangle of filled cells with their rows' numbers, from 1; blank rows between others are one.

        A merged cell has its value in every row that it spans.
        """
        for top, left, bottom, _ in self._merged:
            text = self._cells.get(top, {}).get(left)
            if text is not None:
                for row in range(top + 1, min(bottom, MOST_ROWS - 1) + 1):
                    if row in self._cells:
                        self._cells[row].setdefault(left, text)
        if not self._cells:
            raise DataError("the sheet must hold a table; it is empty.", source=self._source)
        used = {column for row in self._cells.values() for column in row}
        first, last = min(used), max(used)
        if (last - first + 1) * len(self._cells) > MOST_CELLS:
            raise DataError(
                f"a sheet must span at most {MOST_CELLS:,} cells; got {len(self._cells):,} rows of "
                f"{last - first + 1:,} columns. Is there a cell far from the table?",
                source=self._source,
            )
        columns = range(first, last + 1)
        filled = sorted(self._cells)
        rows = [
            row
            for at, row in enumerate(filled)
            for row in ((row - 1, row) if at and row - 1 > filled[at - 1] else (row,))
        ]
        return [row + 1 for row in rows], [
            [self._cells.get(row, {}).get(column, "") for column in columns] for row in rows
        ]


def _at(place: re.Match[str]) -> tuple[int, int]:
    column = 0
    for letter in place[1]:
        column = 26 * column + ord(letter) - 64
    return int(place[2]) - 1, column - 1
