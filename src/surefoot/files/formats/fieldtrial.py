"""fieldtrial's trials as CSV: a condition and an arm per row; invalid trials are void."""

from __future__ import annotations

import polars as pl

from surefoot.errors import DataError
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import csv_rows

ABOUT = About(
    name="fieldtrial, orbit",
    file="trials.csv",
    becomes="invalid trials are void",
    example="surefoot audit trials.csv",
)

VALID = {None: 1, "completed": 1, "invalid": 0}
"""What `status` means; a trial without one was completed."""


def recognises(head: Head) -> bool:
    """A condition, an arm, an outcome, and a status that says which trials count."""
    return {"condition", "arm", "status"} <= set(head.header) and bool({"success", "stage"} & set(head.header))


def load(head: Head) -> Sheet:
    """One row per trial; a trial whose status is invalid does not count."""
    _, rows, left = csv_rows(head)
    valid = []
    for row, cells in rows:
        status = (cells["status"] or "").casefold() or None
        if status not in VALID:
            raise DataError(
                f"`status` must be completed or invalid; got {str(cells['status'])[:40]!r}.", source=head.name, row=row
            )
        valid.append(VALID[status])
    table = frame_of((cells for _, cells in rows), head.name).drop("status")
    frame = table.with_columns(pl.Series("valid", valid)).rename({"arm": "policy"})
    void = valid.count(0)
    said = (f"Invalid, as `status` says, and not counted: {void:,} of {len(rows):,} trials.",) if void else ()
    return Sheet(frame, "fieldtrial trials", (*left.notes, *said), named={"policy": "arm"}, left_out=left)
