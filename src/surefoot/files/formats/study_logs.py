"""A study of surefoot: its file, or the log that `surefoot study export` wrote."""

from __future__ import annotations

import importlib
import sqlite3
from contextlib import closing

from surefoot.errors import DataError
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head

ABOUT = About(
    name="surefoot study",
    file="study.db, or study.jsonl of `surefoot study export`, once it is not blinded",
    becomes="a row per result, voided ones marked; pairs share a seed",
    example="surefoot compare study.db --first new --second old",
)
SQLITE = b"SQLite format 3\x00"
TABLE = "surefoot.study.result_table"
"""What makes rows of a log; a room above this one, so it is loaded by name when a study is read."""


def recognises(head: Head) -> bool:
    """A database, or JSON lines of which the first begins a study."""
    if head.start.startswith(SQLITE):
        return True
    first = head.first_record or {}
    return first.get("kind") == "started" and {"hash", "number", "body"} <= set(first)


def _has_log(head: Head) -> bool:
    """Whether a database holds a log; nothing is written to it, and no lock is waited for."""
    try:
        with closing(sqlite3.connect(f"{head.path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.0)) as link:
            return [name for _, name, *_ in link.execute("pragma table_info(log)")][:3] == ["number", "hash", "event"]
    except sqlite3.Error:
        return False


def load(head: Head) -> Sheet:
    """The recorded rollouts, in scheduled order."""
    if head.start.startswith(SQLITE) and not _has_log(head):
        raise DataError(
            "the file must be plain data; it is an SQLite database without a study. Export the table of episodes to "
            "CSV and read that.",
            source=head.name,
        )
    sheet: Sheet = importlib.import_module(TABLE).sheet_of(head.path, head.name)
    return sheet
