"""A log in PostgreSQL, written by several servers.

Every question has a time limit: a database that is frozen, or a network that swallows what is sent, must be told from
one that answers, within seconds.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from surefoot._secret import Secret, without_password
from surefoot.errors import StudyError
from surefoot.study.events import GENESIS, Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, Linked, StoreError, TimeLimitError, line_of, refused

if TYPE_CHECKING:
    from psycopg import Connection

TABLE = """
create table if not exists surefoot_log (
    study text not null,
    number integer not null check (number > 0),
    hash text not null,
    event text not null,
    key text,
    private text,
    primary key (study, number),
    unique (study, key)
)
"""


WRITE = """
insert into surefoot_log
select %(study)s, * from unnest(%(numbers)s::integer[], %(hashes)s::text[], %(events)s::text[], %(keys)s::text[],
    %(privates)s::text[])
where (%(last)s, %(after)s) = (
    select coalesce(max(number), 0), coalesce((array_agg(hash order by number desc))[1], %(genesis)s) from (
        select number, hash from surefoot_log where study = %(study)s order by number desc limit 1
    ) as newest
) and (
    select case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', true)
        else '' end is not null
)
returning number
"""
"""Kept only when the log's last line is the one that they follow: a replica that lags behind takes nothing. A line is
kept before it is acknowledged, however the server is set up; a pooler lets a setting hold for one transaction only.
"""
LAST = "select coalesce(max(number), 0) from surefoot_log where study = %(study)s"
READ = """
select number, hash, event, private from surefoot_log where study = %(study)s and number > %(after)s order by number
limit %(page)s
"""
LINES = """
select number, hash, event, private from surefoot_log where study = %(study)s and number between %(first)s and %(last)s
order by number
"""
SNAPSHOTS = """
create table if not exists surefoot_snapshot (
    study text not null,
    number integer not null,
    hash text not null,
    part integer not null,
    body bytea not null,
    primary key (study, number, part)
)
"""
"""A snapshot lies in parts, each of which a slow line carries within the limit."""
PUT = """
insert into surefoot_snapshot values (%(study)s, %(number)s, %(hash)s, %(part)s, %(body)s) on conflict do nothing
returning part
"""
WHICH = """
select number, hash, max(part), count(*) from surefoot_snapshot where study = %(study)s group by number, hash
order by number desc
"""
TAKE = "select body from surefoot_snapshot where study = %(study)s and number = %(number)s and part = %(part)s"
OLDER = """
delete from surefoot_snapshot where study = %(study)s and (number < %(number)s or %(number)s = 0)
"""
PART = 100_000
"""Bytes of a part."""


ANSWER, CONNECT = 4.0, 4.0
"""Seconds to wait for an answer, and for a connection: of each page, so that a long log may take its time."""
PAGE = 250
"""Lines of one question: some 150 KB, which a slow line carries within the limit."""
AGAIN = 50
"""How often a transaction is tried that the database rolled back because of others."""


class PostgresStore(Linked):
    """A study's log in PostgreSQL; servers on several machines may share it."""

    def __init__(self, address: Secret, study: str) -> None:
        """Connect and make the table if there is none."""
        try:
            import psycopg
        except ImportError:
            raise StudyError(
                "PostgreSQL needs the `postgres` extra: in a clone of surefoot, pip install '.[postgres]'."
            ) from None
        self._driver = psycopg
        self._made_twice = psycopg.errors.DuplicateTable, psycopg.errors.DuplicateObject  # of makers that raced
        self._address = address
        self.study = study
        self._lock = threading.Lock()
        self._link: Connection[Any] | None = None
        self._make_table()

    def _make_table(self) -> None:
        """Make the table unless it is there: somebody who may only write need not be allowed to make one."""
        if self._ask("select to_regclass('surefoot_log')::text") != [(None,)]:
            return
        try:
            self._ask(TABLE)
        except ConflictError:  # PostgreSQL lets two makers race: the other has made it
            self._ask("select 1 from surefoot_log limit 0")

    @classmethod
    def at(cls, address: str) -> PostgresStore:
        """The store at ``postgresql://host/database?study=NAME``."""
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query))
        study = options.pop("study", "")
        if not study:
            raise StudyError("A PostgreSQL address must name its study: postgresql://host/database?study=NAME.")
        rest = urlunsplit(parts._replace(query=urlencode(options, quote_via=quote)))
        return cls(Secret(rest), study)

    @property
    def clips(self) -> Path:
        """A folder under the current one, by the study's name."""
        return Path(f"{''.join(one if one.isalnum() or one in '-_' else '-' for one in self.study)}.clips")

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Keep all lines for good, or raise and keep none."""
        pages = [lines[start : start + PAGE] for start in range(0, len(lines), PAGE)]
        heads = (after, *(page[-1].hash for page in pages))
        values = [self._values(page, head) for page, head in zip(pages, heads, strict=False)]
        try:
            kept = self._ask(WRITE, *values)
        except (ConflictError, TimeLimitError):
            raise
        except StoreError:  # cut off: the lines were kept or they were not, so look
            found = [line.hash for line in self.read(lines[0].number - 1)]
            if found[: len(lines)] != [line.hash for line in lines]:
                raise
            return
        if not kept:
            raise refused(lines, self._ask(LAST, {"study": self.study})[0][0])

    def _values(self, lines: Sequence[Line], after: str) -> dict[str, Any]:
        return {
            "study": self.study,
            "numbers": [line.number for line in lines],
            "hashes": [line.hash for line in lines],
            "events": [canonical(line.event.to_dict()) for line in lines],
            "keys": [line.event.key for line in lines],
            "privates": [None if line.private is None else line.private.reveal() for line in lines],
            "last": lines[0].number - 1,
            "after": after,
            "genesis": GENESIS,
        }

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order, page by page: lines are never changed, so no two pages differ."""
        found: list[Line] = []
        while True:
            last = found[-1].number if found else after
            rows = self._ask(READ, {"study": self.study, "after": last, "page": PAGE})
            found += [line_of(*row) for row in rows]
            if len(rows) < PAGE:
                return found

    def lines(self, first: int, last: int) -> list[Line]:
        """The lines from one number to another, in order."""
        rows = self._ask(LINES, {"study": self.study, "first": first, "last": last})
        return [line_of(*row) for row in rows]

    # Snapshots.

    @property
    def keeper(self) -> PostgresStore:
        """The database keeps snapshots too."""
        return self

    def snapshot(self) -> tuple[int, str, bytes] | None:
        """The newest snapshot of which every part is there."""
        if self._ask("select to_regclass('surefoot_snapshot')::text") == [(None,)]:
            return None
        for number, head, last, count in self._ask(WHICH, {"study": self.study}):
            asked = [{"study": self.study, "number": number, "part": part} for part in range(1, last + 1)]
            found = [self._ask(TAKE, each) for each in asked] if last == count else [[]]
            if all(found):
                return number, head, b"".join(bytes(rows[0][0]) for rows in found)
        return None

    def keep(self, number: int, head: str, body: bytes) -> None:
        """Keep a snapshot in place of older ones; an empty one throws away what is kept."""
        if self._ask("select to_regclass('surefoot_snapshot')::text") == [(None,)]:
            self._ask(SNAPSHOTS)
        parts = [body[start : start + PART] for start in range(0, len(body), PART)]
        for place, part in reversed(list(enumerate(parts, 1))):  # the last first: without all it is seen to lack some
            self._ask(PUT, {"study": self.study, "number": number, "hash": head, "part": place, "body": part})
        self._ask(OLDER, {"study": self.study, "number": number})

    def _ask(self, query: str, *values: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Ask, and again where the database rolled back because others wrote at the same moment (40001, 40P01)."""
        for number in range(AGAIN):
            try:
                return self._asked(query, *values)
            except _OthersError:
                time.sleep(random.uniform(0, 0.002 * 2 ** min(number, 6)))
        raise ConflictError("Others write to the log without a pause; nothing was recorded: try again.")

    def _asked(self, query: str, *values: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Run a statement with each of `values` in turn, as one transaction; a fresh connection when the last died."""
        with self._lock:
            limit, whole = _Limit(), False
            try:
                if self._link is None or self._link.closed:
                    self._link = self._driver.connect(  # behind a pooler another connection may run what one prepared
                        self._address.reveal(), autocommit=True, connect_timeout=int(CONNECT), prepare_threshold=None
                    )
                rows = self._run(self._link, limit, query, values)
                whole = True
                return rows
            except (self._driver.errors.SerializationFailure, self._driver.errors.DeadlockDetected):
                whole = True
                raise _OthersError from None
            except (self._driver.errors.UniqueViolation, *self._made_twice):
                whole = True
                raise ConflictError("That line of the log was written by somebody else first.") from None
            except self._driver.Error as error:
                late = limit.passed or isinstance(error, self._driver.errors.ConnectionTimeout)
                raise _failure(str(error), late=late) from None
            finally:
                if not whole and self._link is not None:  # also after Ctrl+C: the answer must not be the next one's
                    self._link.close()
                    self._link = None

    def _run(
        self, link: Connection[Any], limit: _Limit, query: str, values: tuple[dict[str, Any], ...]
    ) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        with link.transaction() if len(values) > 1 else contextlib.nullcontext():
            for each in values or (None,):
                with limit.on(link):
                    answer = link.execute(query, each)
                    rows = answer.fetchall() if answer.description else []
                if len(values) > 1 and not rows:  # not what the next lines follow: none of them is kept
                    raise self._driver.Rollback
        return rows


class _OthersError(Exception):
    """The database rolled a transaction back because of another."""


class _Limit:
    """Cuts a connection whose database gives no answer: frozen, it would be waited for without end."""

    def __init__(self) -> None:
        self.passed = False

    @contextlib.contextmanager
    def on(self, link: Connection[Any]) -> Iterator[None]:
        """Allow so many seconds for what is done within."""
        watch = threading.Timer(ANSWER, self._cut, (link.pgconn.socket,))
        watch.daemon = True
        watch.start()
        try:
            yield
        finally:
            watch.cancel()

    def _cut(self, number: int) -> None:
        self.passed = True
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as wire:
            wire.shutdown(socket.SHUT_RDWR)


def _failure(reason: str, *, late: bool) -> StoreError:
    first = without_password(reason.strip().splitlines()[0]) if reason.strip() else "no reason was given"
    if late:
        return TimeLimitError(
            f"The database gave no answer within {ANSWER:g} s. Everything that was confirmed is kept. Check that the "
            "server runs, then try again."
        )
    return StoreError(
        f"The database could not be asked: {first.rstrip('.')}. Everything that was confirmed is kept. "
        "Check that the server "
        "runs and can be reached, then try again."
    )
