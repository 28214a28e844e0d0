"""How does a team keep a log that several servers write at once?"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from surefoot.errors import StudyError
from surefoot.study.events import Event, Line
from surefoot.study.plans import canonical
from surefoot.study.stores import ConflictError, StoreError

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


READ = "select number, hash, event, private from surefoot_log where study = %s and number > %s order by number"


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
            raise StudyError("PostgreSQL needs the `postgres` extra: pip install 'surefoot[postgres]'.") from None
        self._driver = psycopg
        self._address = address
        self.study = study
        self._lock = threading.Lock()
        self._link: Connection[Any] | None = None
        self._ask(TABLE, ())

    @classmethod
    def at(cls, address: str) -> PostgresStore:
        """The store at ``postgresql://host/database?study=NAME``."""
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query))
        study = options.pop("study", "")
        if not study:
            raise StudyError("A PostgreSQL address must name its study: postgresql://host/database?study=NAME.")
        return cls(urlunsplit(parts._replace(query=urlencode(options))), study)

    def append(self, lines: Sequence[Line]) -> None:
        """Keep all lines for good, or raise and keep none."""
        rows = [
            (self.study, line.number, line.hash, canonical(line.event.to_dict()), line.event.key, line.private)
            for line in lines
        ]
        places = ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(rows))
        try:
            self._ask(f"insert into surefoot_log values {places}", tuple(value for row in rows for value in row))
        except ConflictError:
            raise
        except StudyError:  # cut off: the lines were kept or they were not, so look
            kept = [row[1] for row in self._ask(READ, (self.study, lines[0].number - 1))][: len(lines)]
            if kept != [line.hash for line in lines]:
                raise

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        rows = self._ask(READ, (self.study, after))
        try:
            return [Line(number, Event.from_dict(json.loads(text)), hash_, priv) for number, hash_, text, priv in rows]
        except json.JSONDecodeError as error:
            raise StudyError(f"A line of the log was changed by hand and is no longer JSON: {error}.") from None

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._link is not None:
                self._link.close()
                self._link = None

    def _ask(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Run one statement as one transaction, on a fresh connection when the last one died."""
        with self._lock:
            try:
                if self._link is None or self._link.closed:
                    self._link = self._driver.connect(self._address, autocommit=True, connect_timeout=10)
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
                    f"The database could not be asked: {reason}. What was acknowledged is safe; try again."
                ) from None
