"""Where a study's log is kept: one interface of two methods and a folder, and its stores.

Another package adds a store by an entry point of `surefoot.stores`: named by the scheme of its addresses, a class or a
function from an address to a `Store`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from surefoot import _plugins
from surefoot._secret import Secret, without_password
from surefoot.errors import StudyError
from surefoot.study.events import Event, Line

POSTGRES = ("postgresql", "postgres")
METHODS = ("append", "read", "clips")


class ConflictError(StudyError):
    """Somebody else wrote that line, or that turn's result, first."""


class StoreError(StudyError):
    """The store could not be written or read: what was acknowledged is safe, and the same may be tried again."""


class TimeLimitError(StoreError):
    """The store gave no answer in time; what was asked was kept or it was not, and the same may be tried again."""


class LostError(StoreError):
    """Lines that were acknowledged are no longer in the store: it was rolled back, cut short or replaced."""

    @classmethod
    def at(cls, number: int) -> LostError:
        """Of the line that is missing."""
        return cls(
            f"The log has lost lines that it had confirmed: line {number} is missing or was replaced. Nothing was "
            "recorded. Put the whole log back (from a backup, or the database that has it), or restart "
            "to go on without those lines."
        )


class Store(Protocol):
    """An append-only log.

    Lines are durable when `append` returns. Two lines with one number, or with one key, cannot both be appended: the
    store itself refuses the second with `ConflictError`.
    """

    @property
    def clips(self) -> Path:
        """Where the clips of rollouts are kept, unless another folder is named."""

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Keep all lines for good, or raise and keep none.

        Args:
            lines: What to keep.
            after: The hash of the line that they follow: the store holds it as its last, or nothing is kept.

        Raises:
            ConflictError: Somebody else wrote a line there first.
            LostError: The line that they follow is not there, or is another.
            StoreError: The store could not be written.
        """

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""


class Keeper(Protocol):
    """A store that also keeps what its log amounts to at one line; see `snapshots`."""

    def snapshot(self) -> tuple[int, str, bytes] | None:
        """The number and the hash of the line it stands at, and the snapshot; None where there is none."""

    def keep(self, number: int, head: str, body: bytes) -> None:
        """Keep a snapshot in place of an older one; an empty one throws away what is kept.

        Raises:
            StoreError: The store could not be written.
        """

    def lines(self, first: int, last: int) -> list[Line]:
        """The lines from one number to another."""


def keeper_of(store: Store) -> Keeper | None:
    """The store as one that keeps snapshots; None for one that does not."""
    found: Keeper | None = getattr(store, "keeper", None)
    return found


class Linked:
    """What stores share that hold a connection: it is let go of once, and at the latest with the store."""

    _lock: threading.Lock
    _link: Any

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


def refused(lines: Sequence[Line], last: int) -> StoreError | ConflictError:
    """Why lines cannot be appended to a log whose last line is number `last`."""
    if last >= lines[0].number:
        return ConflictError(f"Line {lines[0].number} of the log was written by somebody else first.")
    return LostError.at(lines[0].number - 1)


def line_of(number: int, hash_: str, text: str, private: str | None) -> Line:
    """A line as a database kept it."""
    try:
        return Line(number, Event.from_dict(json.loads(text)), hash_, None if private is None else Secret(private))
    except (TypeError, ValueError, RecursionError) as error:
        raise StudyError(
            f"Line {number} of the log was changed by hand and is no longer JSON: {error}. Continue with a copy that "
            "verifies, or put an export into a new place with `surefoot study restore`."
        ) from None


def open_store(address: str | Path) -> Store:
    """The store at an address: a file's path, ``postgresql://host/database?study=NAME``, or ``:memory:``.

    A file that `surefoot study export` wrote is a store that is only read.

    An address with another scheme, such as ``lab://grasping``, is opened by the package that added that scheme.

    Raises:
        StudyError: No installed package opens addresses of that scheme.
    """
    if address == ":memory:":
        from surefoot.study.stores.memory import MemoryStore

        return MemoryStore()
    scheme, colon, _ = address.partition("://") if isinstance(address, str) else ("", "", "")
    if scheme in POSTGRES:
        from surefoot.study.stores.postgres import PostgresStore

        return PostgresStore.at(str(address))
    if colon:
        return _added(scheme, str(address))
    from surefoot.study.stores.exported import ExportedStore, is_export
    from surefoot.study.stores.sqlite import SQLiteStore

    return ExportedStore(address) if is_export(address) else SQLiteStore(address)


def schemes() -> tuple[str, ...]:
    """The schemes of addresses that other packages open."""
    return tuple(_plugins.added("stores", _admitted))


def _added(scheme: str, address: str) -> Store:
    """The store of another package."""
    known = _plugins.added("stores", _admitted)
    if scheme not in known:
        others = ", ".join(f"{name}://" for name in ("postgresql", *known))
        raise StudyError(f"A study must be a file or at an address of {others}; got {without_password(address)!r}.")
    store: Any = known[scheme](address)
    try:
        _plugins.lacking(store, METHODS)
    except TypeError as error:
        raise StudyError(f"{_plugins.packages('stores')[scheme]} gave no store for {scheme}://: {error}.") from None
    opened: Store = store
    return opened


def _admitted(name: str, opens: Any) -> Any:
    if name in (*POSTGRES, "http", "https", "file"):
        raise ValueError(f"addresses of {name}:// are surefoot's own")
    if isinstance(opens, type):
        _plugins.lacking(opens, METHODS)
    return _plugins.callable_only(name, opens)
