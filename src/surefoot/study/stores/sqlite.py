"""How is a log kept in one file, safe from a crash?

WAL with full synchronisation: a line that was acknowledged survives a killed process and a power cut.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from surefoot.study.events import Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, StoreError, line_of

TABLE = """
create table if not exists log (
    number integer primary key check (number > 0),
    hash text not null,
    event text not null,
    key text unique,
    private text
) strict
"""


def _in_wal(link: sqlite3.Connection) -> None:
    """Turn the write-ahead log on; SQLite does not wait by itself while others do the same, so wait here."""
    for _ in range(600):
        try:
            link.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(0.05)
        else:
            return
    link.execute("pragma journal_mode = wal")


class SQLiteStore:
    """A study's log in one SQLite file; several processes on one machine may share it."""

    def __init__(self, path: str | Path) -> None:
        """Open the file; one that is not there yet is made by the first line.

        Raises:
            StoreError: The file cannot be opened, or is not a log.
        """
        self.path = Path(path)
        self._lock = threading.Lock()
        self._link: sqlite3.Connection | None = None
        if self.path.exists():
            with self._lock:
                self._connected()

    def _connected(self) -> sqlite3.Connection:
        if self._link is None:
            link = None
            try:
                if self._archived():
                    address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
                    link = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
                    link.execute("select count(*) from log")
                else:
                    link = sqlite3.connect(self.path, timeout=30.0, isolation_level=None, check_same_thread=False)
                    _in_wal(link)
                    link.execute("pragma synchronous = full")
                    link.execute(TABLE)
            except sqlite3.Error as error:
                if link is not None:
                    link.close()
                raise self._failure(error) from None
            self._link = link
        return self._link

    def _archived(self) -> bool:
        """Whether the file lies whole in a folder where nothing can be written: then it can be read as it is."""
        beside = self.path.with_name(f"{self.path.name}-wal")
        effective = os.access in os.supports_effective_ids
        writable = os.access(self.path.parent, os.W_OK, effective_ids=effective)
        return self.path.exists() and not writable and not beside.exists()

    def append(self, lines: Sequence[Line]) -> None:
        """Keep all lines for good, or raise and keep none."""
        rows = [
            (line.number, line.hash, canonical(line.event.to_dict()), line.event.key, line.private) for line in lines
        ]
        with self._lock:
            link = self._connected()
            try:
                link.execute("begin immediate")
                try:
                    link.executemany("insert into log values (?, ?, ?, ?, ?)", rows)
                    link.execute("commit")
                except sqlite3.Error:
                    if link.in_transaction:
                        link.execute("rollback")
                    raise
            except sqlite3.IntegrityError:
                raise ConflictError(f"Line {lines[0].number} of the log was written by somebody else first.") from None
            except sqlite3.Error as error:
                raise self._failure(error) from None

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        query = "select number, hash, event, private from log where number > ? order by number"
        with self._lock:
            if self._link is None and not self.path.exists():
                return []
            try:
                rows = self._connected().execute(query, (after,)).fetchall()
            except sqlite3.Error as error:
                raise self._failure(error) from None
        return [line_of(number, text, hash_, private) for number, hash_, text, private in rows]

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._link is not None:
                self._link.close()
                self._link = None

    def __del__(self) -> None:
        link = getattr(self, "_link", None)
        if link is not None:
            link.close()

    def _failure(self, error: sqlite3.Error) -> StoreError:
        hints = {
            "full": "The disk is full. Nothing was recorded by this step and nothing before it is lost: free some "
            "space, then try again.",
            "disk i/o": "The disk refused to write or read. Nothing before this step is lost: look whether it is full "
            "or failing, then try again.",
            "readonly": "The file or its folder is read-only, so nothing was recorded: make both writable, or copy the "
            "file and its -wal file to a folder that is.",
            "unable to open": "Its folder must exist and be writable.",
            "not a database": "The file is not a study, or was overwritten: restore a copy or an export into a new "
            "file with `surefoot study restore`.",
            "malformed": "The file is damaged: restore a copy or an export into a new file with "
            "`surefoot study restore`.",
            "locked": "Another program holds the file, so nothing was recorded: try again.",
            "no such table": "The file is a database but not a study.",
            "no such column": "The file is a database but not a study.",
        }
        said = str(error)
        hint = next((text for word, text in hints.items() if word in said.lower()), "Nothing was recorded: try again.")
        return StoreError(f"{self.path}: {said}. {hint}")
