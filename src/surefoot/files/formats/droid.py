"""openpi's results on DROID as CSV: `success` is a share from 0 to 1, typed in by the operator."""

from __future__ import annotations

import polars as pl

from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import csv_rows

ABOUT = About(
    name="openpi DROID",
    file="results/eval_<time>.csv",
    becomes="success from 0 to 1 is a score",
    example="surefoot band eval_2025_03_04.csv --score success",
)

BINARY = frozenset((None, "0", "1", "0.0", "1.0"))


def recognises(head: Head) -> bool:
    """A success and a duration beside the name of a video, and no policy."""
    return {"success", "duration", "video_filename"} <= set(head.header) and "policy" not in head.header


def load(head: Head) -> Sheet:
    """One row per rollout; `success` is a score as soon as one of them is partial."""
    _, rows, left = csv_rows(head)
    binary = {cells["success"] for _, cells in rows} <= BINARY
    table = frame_of(({"success": cells["success"], "duration": cells["duration"]} for _, cells in rows), head.name)
    frame = (table if binary else table.rename({"success": "score"})).with_row_index("order", offset=1)
    said = () if binary else ("success holds shares: it is taken as the score, in [0, 1].",)
    return Sheet(
        frame.with_columns(pl.col("order").cast(pl.Int64)), "openpi DROID results", (*left.notes, *said), left_out=left
    )
