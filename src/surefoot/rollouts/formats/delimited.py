"""CSV and TSV: any table of rollouts with a header."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

import polars as pl

from surefoot.core import words
from surefoot.errors import DataError
from surefoot.rollouts.columns import KNOWN, OUTCOMES, TEXT, match, plain
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet
from surefoot.rollouts.texts import refuse_repeated

HELD_IN_MEMORY = 1 << 30
CHECKED_ROW_BY_ROW = 1 << 25
DECIMAL_COMMA = re.compile(r"\s*-?\d+,\d+\s*")


class _Seen(NamedTuple):
    """What reading a small file line by line has shown."""

    blank: int = 0
    commas: tuple[str, ...] = ()


def recognises(head: Head) -> bool:
    """A header that names an outcome."""
    return not head.is_json and bool(OUTCOMES & head.plain_header)


def load(head: Head) -> Sheet:
    """Every cell as text; columns are matched and cells parsed afterwards."""
    refuse_repeated([name for name in head.header if plain(name) in KNOWN], head.name)
    seen = _look(head) if head.size <= CHECKED_ROW_BY_ROW else _Seen()
    frame = pl.scan_csv(head.path, separator=head.separator, infer_schema=False, glob=False)
    frame.collect_schema()
    notes = []
    if seen.blank and len(head.header) > 1:
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        notes.append(f"{words.counted(seen.blank, 'blank line')} left out.")
    if seen.commas:
        frame = frame.with_columns(pl.col(seen.commas).str.replace(r"^(\s*-?\d+),(\d+\s*)$", "$1.$2"))
        notes.append(
            f"Commas in {', '.join(map(repr, seen.commas[:4]))} are decimal commas: semicolons part the cells."
        )
    kind = "TSV" if head.separator == "\t" else "CSV"
    return Sheet(frame, kind, tuple(notes), hold=head.size <= HELD_IN_MEMORY)


def _look(head: Head) -> _Seen:
    """Refuse a row cut off in the middle, which polars would fill with nothing; count lines with nothing at all.

    Where semicolons part the cells, a number such as 0,75 is one: the columns that hold such numbers are found, but
    for those known to hold names.
    """
    width, blank = len(head.header), 0
    commas: set[int] = set()
    try:
        with head.path.open(encoding="utf-8-sig", newline="") as file:
            for row, cells in enumerate(csv.reader(file, delimiter=head.separator, strict=True)):
                if not cells:
                    blank += 1
                elif len(cells) != width:
                    raise DataError(
                        f"a row must have as many cells as the header, {width:,}; got {len(cells):,}.",
                        source=head.name,
                        row=row - blank,
                    )
                elif head.separator == ";" and row:
                    commas.update(at for at, cell in enumerate(cells) if DECIMAL_COMMA.fullmatch(cell))
    except csv.Error as error:
        raise DataError(f"the file must be delimited text; {error}.", source=head.name) from None
    except UnicodeDecodeError as error:
        raise DataError(f"text must be UTF-8; {error.reason} at byte {error.start}.", source=head.name) from None
    if not commas or len(set(head.header)) < width:
        return _Seen(blank)
    named = match(head.header, {})[0]
    names = {named[column] for column in TEXT if column in named}
    return _Seen(blank, tuple(name for at, name in enumerate(head.header) if at in commas and name not in names))
