"""A log in one SQLite file, safe from a crash.

A rollback journal with full synchronisation: a line that was acknowledged is in the file itself, so that a plain copy
of it has the line, and it survives a killed process and a power cut. (A write-ahead log is 0.5 ms faster for each line
and leaves lines beside the file, where a copy misses them; see docs/decisions/0016-one-file.md.)
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from surefoot.study.events import GENESIS, Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, Linked, StoreError, line_of, refused

TABLE = """
create table if not exists log (
    number integer primary key check (number > 0),
    hash text not null,
    event text not null,
    key text unique,
    private text
) strict
"""
SNAPSHOT = """
create table if not exists snapshot (
    place integer primary key check (place = 1),
    number integer not null,
    hash text not null,
    body blob not null
) strict
"""
WAIT = 4.0
"""Seconds to wait for another program that writes at this moment."""
READ = "select number, hash, event, private from log where number between ? and ? order by number"
COUNT = "select count(*) from log where number <= ?"
LAST = 2**62


def _in_one_file(link: sqlite3.Connection) -> None:
    """Keep every line in the file itself; a file of the first version is turned over once nobody else has it open."""
    until = time.monotonic() + WAIT
    while True:
        try:
            if link.execute("pragma journal_mode").fetchone()[0] != "wal":
                return
            link.execute("pragma journal_mode = delete")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname not in ("SQLITE_BUSY", "SQLITE_LOCKED") or time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


class SQLiteStore(Linked):
    """A study's log in one SQLite file; several processes on one machine may share it."""

    def __init__(self, path: str | Path) -> None:
        """Open the file; one that is not there yet is made by the first line."""
        self.path = Path(path)
        self._lock = threading.Lock()
        self._link: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None  # which file it is, wherever it is moved
        if self.path.exists():
            with self._lock:
                self._connected()

    @property
    def clips(self) -> Path:
        """A folder beside the file."""
        return self.path.with_suffix(".clips")

    def _connected(self) -> sqlite3.Connection:
        if self._link is None:
            link = None
            try:
                if self._archived():
                    address = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
                    link = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
                    link.execute("select count(*) from log")
                else:
                    with contextlib.suppress(FileExistsError):  # it holds the secret seed: for its owner's eyes only
                        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                    link = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
                    _in_one_file(link)
                    link.execute("pragma synchronous = full")
                    link.execute(TABLE)
                self._file = self._here()
            except sqlite3.Error as error:
                if link is not None:
                    link.close()
                raise self._failure(error) from None
            except OSError as error:
                raise StoreError(f"{self.path}: {error.strerror}. Its folder must exist and be writable.") from None
            self._link = link
        return self._link

    def _archived(self) -> bool:
        """Whether the file lies whole in a folder where nothing can be written: then it can be read as it is."""
        beside = [self.path.with_name(f"{self.path.name}{end}") for end in ("-wal", "-journal")]
        effective = os.access in os.supports_effective_ids
        writable = os.access(self.path.parent, os.W_OK, effective_ids=effective)
        return self.path.exists() and not writable and not any(one.exists() for one in beside)

    def _here(self) -> tuple[int, int] | None:
        """Which file lies at the path now."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _in_place(self) -> None:
        """Make sure that the file is still the one that lies at the path: else lines would go where nobody looks."""
        here = self._here()
        if here == self._file:
            return
        what = "is no longer there: it was moved or deleted" if here is None else "was replaced by another file"
        raise StoreError(
            f"{self.path} {what} while the study ran. Nothing is recorded until it is back: put it back (the same "
            "file, or a backup), or stop and open the study where it is now."
        )

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Keep all lines for good, or raise and keep none."""
        rows = [_row(line) for line in lines]
        with self._lock:
            link = self._connected()
            self._in_place()
            try:
                link.execute("begin immediate")
                try:
                    last = link.execute("select number, hash from log order by number desc limit 1").fetchone()
                    number, head = last or (0, GENESIS)
                    if (number, head) != (lines[0].number - 1, after):
                        raise refused(lines, number)
                    link.executemany("insert into log values (?, ?, ?, ?, ?)", rows)
                    link.execute("commit")
                except (sqlite3.Error, StoreError, ConflictError):
                    if link.in_transaction:
                        link.execute("rollback")
                    raise
            except sqlite3.IntegrityError:
                raise ConflictError(f"Line {lines[0].number} of the log was written by somebody else first.") from None
            except sqlite3.Error as error:
                raise self._failure(error) from None
            self._in_place()

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        return self.lines(after + 1, LAST)

    def lines(self, first: int, last: int) -> list[Line]:
        """The lines from one number to another, in order."""
        return self._rows(READ, first, last, made=line_of)

    def _rows(self, query: str, *values: int, made: Callable[..., Any] = lambda *row: row) -> list[Any]:
        with self._lock:
            if self._link is None and not self.path.exists():
                return []
            try:
                rows = [made(*row) for row in self._connected().execute(query, values)]
            except sqlite3.Error as error:
                raise self._failure(error) from None
            self._in_place()
        return rows

    # Snapshots.

    @property
    def keeper(self) -> SQLiteStore:
        """The file keeps snapshots too."""
        return self

    def snapshot(self) -> tuple[int, str, bytes] | None:
        """The newest snapshot, if the log before it has as many lines as it should."""
        if not self._rows("select 1 from sqlite_master where name = 'snapshot'"):
            return None
        found = self._rows("select number, hash, body from snapshot")
        return found[0] if found and self._rows(COUNT, found[0][0]) == [(found[0][0],)] else None

    def keep(self, number: int, head: str, body: bytes) -> None:
        """Keep a snapshot in place of an older one; an empty one throws away what is kept."""
        with self._lock:
            link = self._connected()
            try:
                link.execute("begin immediate")
                try:
                    link.execute(SNAPSHOT)
                    link.execute("delete from snapshot where number < ? or ?", (number, not body))
                    if body:
                        link.execute("insert or ignore into snapshot values (1, ?, ?, ?)", (number, head, body))
                    link.execute("commit")
                except sqlite3.Error:
                    if link.in_transaction:
                        link.execute("rollback")
                    raise
            except sqlite3.Error as error:
                raise self._failure(error) from None

    def _failure(self, error: sqlite3.Error) -> StoreError:
        name = getattr(error, "sqlite_errorname", "") or ""
        kind = next((kind for kind in HINTS if name.startswith(kind)), "")
        return StoreError(f"{self.path}: {error}. {HINTS.get(kind, 'Nothing was recorded: try again.')}")


HINTS = {
    "SQLITE_FULL": "The disk is full. Nothing was recorded by this step and nothing before it is lost: free some "
    "space, then try again.",
    "SQLITE_IOERR": "The disk refused to write or read. Nothing before this step is lost: check whether it is full "
    "or failing, then try again.",
    "SQLITE_READONLY": "The file or its folder is read-only, so nothing was recorded: make both writable, or copy the "
    "file to a folder that is.",
    "SQLITE_CANTOPEN": "Its folder must exist and be writable.",
    "SQLITE_NOTADB": "The file is not a study, or was overwritten: restore a copy or an export into a new "
    "file with `surefoot study restore`.",
    "SQLITE_CORRUPT": "The file is damaged: restore a copy or an export into a new file with `surefoot study restore`.",
    "SQLITE_BUSY": "Another program holds the file, so nothing was recorded: try again.",
    "SQLITE_LOCKED": "Another program holds the file, so nothing was recorded: try again.",
    "SQLITE_ERROR": "The file is a database but not a study. Give the file that `surefoot study create` made.",
}
"""What to do, by the name of SQLite's error."""


def _row(line: Line) -> tuple[int, str, str, str | None, str | None]:
    private = None if line.private is None else line.private.reveal()
    return line.number, line.hash, canonical(line.event.to_dict()), line.event.key, private
