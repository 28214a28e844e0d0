"""Digests of what a table was read from: of its files, or of its rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_A_TIME = 200_000
MOST_FETCHED = 5_000
"""Rows that are fetched from another engine for their fingerprint."""


def of_files(paths: Sequence[str]) -> str:
    """The SHA-256 of a file, as `sha256sum` gives it; of several files, that of their own in sorted order."""
    digests = []
    for path in paths:
        with Path(path).open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    if len(digests) == 1:
        return f"sha256:{digests[0]}"
    return f"sha256:{hashlib.sha256(' '.join(sorted(digests)).encode()).hexdigest()}"


def of_frame(table: pl.DataFrame) -> str:
    """The SHA-256 of the canonical rows written as CSV; the same for every engine that holds the same rows."""
    digest = hashlib.sha256()
    for start in range(0, max(1, table.height), ROWS_AT_A_TIME):
        digest.update(table.slice(start, ROWS_AT_A_TIME).write_csv(include_header=start == 0).encode())
    return f"sha256:{digest.hexdigest()}"
