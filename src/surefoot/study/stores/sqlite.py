"""How is a log kept in one file, safe from a crash?

WAL with full synchronisation: a line that was acknowledged survives a killed process and a power cut.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from surefoot.errors import StudyError
from surefoot.study.events import Event, Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, StoreError

TABLE = """
create table if not exists log (
    number integer primary key check (number > 0),
    hash text not null,
    event text not null,
    key text unique,
    private text
) strict
"""


class SQLiteStore:
    """A study's log in one SQLite file; several processes on one machine may share it."""

    def __init__(self, path: str | Path) -> None:
        """Open the file, made new if there is none.

        Raises:
            StudyError: The file cannot be opened, written or read as a log.
        """
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._link = sqlite3.connect(self.path, timeout=30.0, isolation_level=None, check_same_thread=False)
            self._link.execute("pragma journal_mode = wal")
            self._link.execute("pragma synchronous = full")
            self._link.execute(TABLE)
        except sqlite3.Error as error:
            raise self._failure(error) from None

    def append(self, lines: Sequence[Line]) -> None:
        """Keep all lines for good, or raise and keep none."""
        rows = [
            (line.number, line.hash, canonical(line.event.to_dict()), line.event.key, line.private) for line in lines
        ]
        with self._lock:
            try:
                self._link.execute("begin immediate")
                try:
                    self._link.executemany("insert into log values (?, ?, ?, ?, ?)", rows)
                    self._link.execute("commit")
                except sqlite3.Error:
                    if self._link.in_transaction:
                        self._link.execute("rollback")
                    raise
            except sqlite3.IntegrityError:
                raise ConflictError(f"Line {lines[0].number} of the log was written by somebody else first.") from None
            except sqlite3.Error as error:
                raise self._failure(error) from None

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        query = "select number, hash, event, private from log where number > ? order by number"
        with self._lock:
            try:
                rows = self._link.execute(query, (after,)).fetchall()
            except sqlite3.Error as error:
                raise self._failure(error) from None
        try:
            return [Line(number, Event.from_dict(json.loads(text)), hash_, priv) for number, hash_, text, priv in rows]
        except json.JSONDecodeError as error:
            raise StudyError(
                f"{self.path}: a line of the log was changed by hand and is no longer JSON: {error}."
            ) from None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._link.close()

    def _failure(self, error: sqlite3.Error) -> StoreError:
        hints = {
            "full": "The disk is full; nothing was lost: free some space and record again.",
            "readonly": "The file or its folder is read-only; nothing was recorded.",
            "unable to open": "The folder must exist and be writable.",
            "not a database": "The file is not a study; was it torn or overwritten?",
            "malformed": "The file is damaged; restore it from a copy or an export.",
            "locked": "Another program holds the file; nothing was recorded: try again.",
        }
        said = str(error)
        hint = next((text for word, text in hints.items() if word in said), "Nothing was recorded.")
        return StoreError(f"{self.path}: {said}. {hint}")
