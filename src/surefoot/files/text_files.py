"""Long texts, read line by line."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.files import stray_rows
from surefoot.files.json_files import flat, parsed
from surefoot.files.recognising import LARGEST_TEXT, LONGEST_LINE, Head, utf8
from surefoot.files.row_checks import PIECE, Rows, checked
from surefoot.files.stray_rows import LeftOut
from surefoot.table.columns import TEXT, match

if TYPE_CHECKING:
    import polars as pl

LARGEST_LINES = 4 * LARGEST_TEXT
MARKED = re.compile(r"^\s*['\u2019]\s*([-+]?\d+(?:[.,]\d+)?\s*%?)\s*$")
"""A number behind an apostrophe, by which spreadsheets mark what is to stay text."""
HELD_IN_MEMORY = 1 << 30
"""Up to this size a file is read once; a longer one is read again for every question."""
MOST_HELD, TRIED = 64, 100
"""The widest table that is read whole, and the lines that are tried first."""
LARGEST_COUNTED = 1 << 27
"""Of longer files it is taken that every row is a line."""


def json_lines(head: Head) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with its row."""
    if head.size > LARGEST_LINES:
        raise DataError(
            f"JSON Lines must be at most {LARGEST_LINES >> 20:,} MiB; got {head.size >> 20:,} MiB. "
            "Write the rollouts to Parquet or CSV, which are read piece by piece.",
            source=head.name,
        )
    row = 0
    with head.path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if not line.strip():
                continue
            row += 1
            if len(line) == LONGEST_LINE:
                raise DataError(f"a line must be shorter than {LONGEST_LINE >> 20} MiB.", source=head.name, row=row)
            text = utf8(line, head.name, row=row, encoding="utf-8-sig" if row == 1 else "utf-8")
            value = flat(text)
            if value is None and not isinstance(value := parsed(text, head.name, row=row), dict):
                message = f"a rollout must be a JSON object; got {str(value)[:60]!r}."
                raise DataError(message, source=head.name, row=row)
            yield row, value


def json_records(head: Head) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, or the one object of a file that has no more."""
    if head.first_record is not None:
        yield from json_lines(head)
    else:
        yield 1, head.json_object


def first_record(head: Head) -> dict[str, Any]:
    """The first object of such a file; empty when it is none."""
    return head.json_object if head.first_record is None else head.first_record


def checked_rows(head: Head) -> Rows:
    """The rows of a delimited file, counted; refused when one is not what the header promises."""
    with head.path.open("rb") as file:
        return checked(file, header=head.header, separator=head.separator, source=head.name)


class Table(NamedTuple):
    """The header and rows of a small delimited file, each with its row; empty cells are none."""

    header: list[str]
    rows: list[tuple[int, dict[str, str | None]]]
    left_out: LeftOut


def csv_rows(head: Head) -> Table:
    """The rows of a small delimited file, without those that hold no rollout."""
    text = head.whole_text()
    checked_rows(head)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=head.separator, strict=True)
        header = [name.strip() for name in next(lines)]
        refuse_repeated([name for name in header if name], head.name)
        cells = [[cell.strip() for cell in line] or [""] * len(header) for line in lines]
    except csv.Error as error:
        raise DataError(f"the file must be delimited text; {error}.", source=head.name) from None
    columns = [at for at, name in enumerate(header) if name in _numbers(header)]
    marked = {header[at] for line in cells for at in columns if at < len(line) and MARKED.fullmatch(line[at])}
    for line in cells:
        for at in columns:
            line[at] = MARKED.sub(r"\1", line[at])
    left = stray_rows.of_rows(header, cells, head.name, line_of(head))
    left = replace(left, notes=(*left.notes, *_apostrophes([name for name in header if name in marked])))
    rows, row = list[tuple[int, dict[str, str | None]]](), 0
    for place, line in enumerate(cells):
        row += any(line)
        if place not in left.kinds:
            rows.append((row, {name: cell or None for name, cell in zip(header, line, strict=True)}))
    if not rows:
        raise DataError("there must be at least one row; got a header and no rows.", source=head.name)
    return Table(header, rows, left)


def text_frame(head: Head, *, numbers: bool = False) -> tuple[pl.LazyFrame, LeftOut]:
    """A delimited file of any size as text, or outcomes as numbers, without the rows that hold no rollout."""
    import polars as pl

    counted = checked_rows(head)
    frame = pl.scan_csv(head.path, separator=head.separator, infer_schema=False, glob=False)
    frame = _with_numbers(head, frame) if numbers else frame
    left = stray_rows.of_frame(frame, head.header, counted.rows, head.name, line_of(head))
    if left.kinds:
        kept = frame.with_row_index(stray_rows.PLACE).filter(~pl.col(stray_rows.PLACE).is_in(sorted(left.kinds)))
        frame = kept.drop(stray_rows.PLACE)
    kinds = frame.collect_schema()
    texts = [name for name in _numbers(list(kinds)) if kinds[name] == pl.String]
    if texts and _has_apostrophes(head):
        found = frame.select(pl.col(texts).str.contains(MARKED.pattern).any()).collect(engine="streaming")
        marked = [name for name in texts if found[name].item()]
        frame = frame.with_columns(pl.col(marked).str.replace(MARKED.pattern, "$1"))
        left = replace(left, notes=(*left.notes, *_apostrophes(marked)))
    return frame, left


def _with_numbers(head: Head, frame: pl.LazyFrame) -> pl.LazyFrame:
    """The file read once, its outcomes as numbers, where every one of them is one: then no text is parsed afterwards.

    All remains text where a cell of them is anything else, and where the file is too long or too wide to be held.
    """
    import polars as pl

    header = list(frame.collect_schema())
    named = match(header, {})[0]
    kinds = {named[column]: kind for column, kind in (("success", pl.Int8), ("score", pl.Float64)) if column in named}
    if not kinds or head.size > HELD_IN_MEMORY or len(header) > MOST_HELD:
        return frame
    schema = {name: kinds.get(name, pl.String) for name in header}
    read = functools.partial(pl.scan_csv, separator=head.separator, schema=schema)
    fits = [
        pl.col(name).is_between(0, 1) if kind == pl.Int8 else pl.col(name).is_finite() for name, kind in kinds.items()
    ]
    try:
        read(io.StringIO("\n".join(head.text.splitlines()[:TRIED]))).collect()  # where one is not, it mostly is at once
        held = read(head.path, glob=False).collect(engine="streaming")
        return held.lazy() if all(held.select(fit.all() for fit in fits).row(0)) else frame
    except pl.exceptions.PolarsError:
        return frame


def _numbers(header: Sequence[str]) -> list[str]:
    """The columns that may hold numbers: all but those that are known to hold names."""
    named = match(header, {})[0]
    return [name for name in header if name not in {named[column] for column in TEXT if column in named}]


def _apostrophes(columns: Sequence[str]) -> tuple[Note, ...]:
    return (Note("apostrophes", {"columns": tuple(columns)}),) if columns else ()


def _has_apostrophes(head: Head) -> bool:
    """Whether any cell of a file begins with an apostrophe; most files are told at the speed of reading."""
    bare = (b"'", "\u2019".encode())
    marks = [f"{before}{mark}".encode() for before in (head.separator, "\n", '"', " ") for mark in "'\u2019"]
    with head.path.open("rb") as file:
        rest = b""
        while piece := file.read(PIECE):
            if any(one in piece for one in bare) and any(mark in rest + piece for mark in marks):
                return True
            rest = piece[-4:]
    return False


def line_of(head: Head) -> Callable[[int], int]:
    """The line of each row below the header, from place 0; a cell may span several lines."""

    @functools.cache
    def lines() -> tuple[int, ...]:
        if head.lines or head.size > LARGEST_COUNTED:
            return head.lines[1:]
        with head.path.open(encoding="utf-8-sig", newline="") as file:
            ends = csv.reader(file, delimiter=head.separator)
            return tuple(ends.line_num + 1 for _ in ends)

    return lambda place: lines()[place] if place < len(lines()) else place + 2


def refuse_repeated(names: Sequence[str], source: str) -> None:
    """Refuse a header that names a column twice: which of the two is meant cannot be told."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise DataError(f"a column must be named once in the header; got {twice!r} twice.", source=source)
