"""How does a team keep a log that several servers write at once?"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from surefoot.errors import StudyError
from surefoot.study.events import Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, StoreError, line_of

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
insert into surefoot_log select %s, * from unnest(%s::integer[], %s::text[], %s::text[], %s::text[], %s::text[])
"""
READ = "select number, hash, event, private from surefoot_log where study = %s and number > %s order by number"


DURABLE = "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'"
"""A line is kept before it is acknowledged, however the server is set up."""


class PostgresStore:
    """A study's log in PostgreSQL; servers on several machines may share it."""

    def __init__(self, address: str, study: str) -> None:
        """Connect and make the table if there is none.

        Raises:
            StudyError: The driver is missing, or the database cannot be reached.
        """
        try:
            import psycopg
        except ImportError:
            raise StudyError(
                "PostgreSQL needs the `postgres` extra: in a clone of surefoot, pip install '.[postgres]'."
            ) from None
        self._driver = psycopg
        self._address = address
        self.study = study
        self._lock = threading.Lock()
        self._link: Connection[Any] | None = None
        self._make_table()

    def _make_table(self) -> None:
        """Make the table unless it is there: somebody who may only write need not be allowed to make one."""
        if self._ask("select to_regclass('surefoot_log')::text", ()) != [(None,)]:
            return
        try:
            self._ask(TABLE, ())
        except ConflictError:  # PostgreSQL lets two makers race: the other has made it
            self._ask("select 1 from surefoot_log limit 0", ())

    @classmethod
    def at(cls, address: str) -> PostgresStore:
        """The store at ``postgresql://host/database?study=NAME``."""
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query))
        study = options.pop("study", "")
        if not study:
            raise StudyError("A PostgreSQL address must name its study: postgresql://host/database?study=NAME.")
        return cls(urlunsplit(parts._replace(query=urlencode(options, quote_via=quote))), study)

    def append(self, lines: Sequence[Line]) -> None:
        """Keep all lines for good, or raise and keep none."""
        columns: list[list[Any]] = [
            [line.number for line in lines],
            [line.hash for line in lines],
            [canonical(line.event.to_dict()) for line in lines],
            [line.event.key for line in lines],
            [line.private for line in lines],
        ]
        try:
            self._ask(WRITE, (self.study, *columns))
        except ConflictError:
            raise
        except StudyError:  # cut off: the lines were kept or they were not, so look
            kept = [row[1] for row in self._ask(READ, (self.study, lines[0].number - 1))][: len(lines)]
            if kept != [line.hash for line in lines]:
                raise

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        rows = self._ask(READ, (self.study, after))
        return [line_of(number, text, hash_, private) for number, hash_, text, private in rows]

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._link is not None:
                self._link.close()
                self._link = None

    def __del__(self) -> None:
        link = getattr(self, "_link", None)
        if link is not None:
            link.close()

    def _ask(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Run one statement as one transaction, on a fresh connection when the last one died."""
        with self._lock:
            try:
                if self._link is None or self._link.closed:
                    self._link = self._driver.connect(self._address, autocommit=True, connect_timeout=10)
                    self._link.execute(DURABLE)
                answer = self._link.execute(query, values)
                return answer.fetchall() if answer.description else []
            except self._driver.errors.UniqueViolation:
                raise ConflictError("That line of the log was written by somebody else first.") from None
            except self._driver.Error as error:
                if self._link is not None:
                    self._link.close()
                self._link = None
                reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                raise StoreError(
                    f"The database could not be asked: {reason}. What was acknowledged is safe: see that the server "
                    "runs and can be reached, then try again."
                ) from None
