"""Where is a log kept that nobody needs tomorrow? For rehearsals and simulations."""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

from surefoot.study.events import Line, head_of
from surefoot.study.stores import ConflictError, refused


class MemoryStore:
    """A log in this process's memory; gone with it."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._keys: set[str] = set()
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def clips(self) -> Path:
        """A folder that goes with the store."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="surefoot-clips-", ignore_cleanup_errors=True)
            weakref.finalize(self, self._folder.cleanup)
        return Path(self._folder.name)

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Keep all lines, or raise and keep none."""
        keys = [line.event.key for line in lines if line.event.key is not None]
        with self._lock:
            if after != head_of(self._lines[-1] if self._lines else None):
                raise refused(lines, len(self._lines))
            numbers = [line.number for line in lines]
            expected = list(range(len(self._lines) + 1, len(self._lines) + 1 + len(lines)))
            if numbers != expected or len(set(keys)) < len(keys) or not self._keys.isdisjoint(keys):
                raise ConflictError("That line of the log was written by somebody else first.")
            self._lines += lines
            self._keys.update(keys)

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        with self._lock:
            return self._lines[after:]
