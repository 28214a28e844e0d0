"""CSV and TSV: any table of rollouts with a header."""

from __future__ import annotations

import csv

import polars as pl

from surefoot.errors import DataError
from surefoot.rollouts.columns import OTHER_NAMES
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet

HELD_IN_MEMORY = 1 << 30
CHECKED_ROW_BY_ROW = 1 << 25
OUTCOMES = frozenset(("success", "score", *OTHER_NAMES["success"], *OTHER_NAMES["score"]))


def recognises(head: Head) -> bool:
    """A header that names an outcome."""
    return not head.is_json and bool(OUTCOMES & head.plain_header)


def load(head: Head) -> Sheet:
    """Every cell as text; columns are matched and cells parsed afterwards."""
    if head.size <= CHECKED_ROW_BY_ROW:
        _same_width(head)
    frame = pl.scan_csv(head.path, separator=head.separator, infer_schema=False, glob=False)
    frame.collect_schema()
    kind = "TSV" if head.separator == "\t" else "CSV"
    return Sheet(frame, kind, hold=head.size <= HELD_IN_MEMORY)


def _same_width(head: Head) -> None:
    """Polars fills a short row with nothing; a row cut off in the middle must be seen instead."""
    width = len(head.header)
    try:
        with head.path.open(encoding="utf-8-sig", newline="") as file:
            for row, cells in enumerate(csv.reader(file, delimiter=head.separator, strict=True)):
                if len(cells) != width and cells:
                    raise DataError(
                        f"a row must have as many cells as the header, {width:,}; got {len(cells):,}.",
                        source=head.name,
                        row=row,
                    )
    except csv.Error as error:
        raise DataError(f"the file must be delimited text; {error}.", source=head.name) from None
    except UnicodeDecodeError as error:
        raise DataError(f"text must be UTF-8; {error.reason} at byte {error.start}.", source=head.name) from None
