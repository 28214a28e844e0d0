"""Parquet: any table of rollouts, read piece by piece."""

from __future__ import annotations

import polars as pl

from surefoot.files.importers import MOST_COLUMNS, About, Sheet, too_wide
from surefoot.files.recognising import Head

ABOUT = About(
    name="Parquet",
    file="results.parquet",
    becomes="a row per rollout; column names matched, guesses noted",
    example="surefoot report results.parquet",
)

HELD_IN_MEMORY = 4_000_000
"""Rows; a longer file is read again for every question, which Parquet makes cheap."""


def recognises(head: Head) -> bool:
    """Parquet files say so in their first four bytes."""
    return head.start.startswith(b"PAR1")


def load(head: Head) -> Sheet:
    """The file's rows."""
    frame = pl.scan_parquet(head.path, glob=False)
    width = len(frame.collect_schema())
    if width > MOST_COLUMNS:
        raise too_wide(width, head.name)
    rows = int(frame.select(pl.len()).collect(engine="streaming").item())
    return Sheet(frame, "Parquet", hold=rows <= HELD_IN_MEMORY)
