"""An exported log as a store that is only read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from surefoot.errors import StudyError
from surefoot.study import log_files
from surefoot.study.events import Line
from surefoot.study.stores import StoreError

STARTS = b'{"author":'
"""How the first line of an export begins."""


def is_export(path: str | Path) -> bool:
    """Whether a file begins as `surefoot study export` writes."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return file.read(len(STARTS)) == STARTS
    return False


class ExportedStore:
    """The log in a file that `surefoot study export` wrote."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lines: list[Line] | None = None

    @property
    def clips(self) -> Path:
        """A folder beside the file."""
        return self.path.with_suffix(".clips")

    def append(self, lines: Sequence[Line], *, after: str) -> None:
        """Refuse every line."""
        _ = lines, after
        raise StoreError(
            f"{self.path} is an exported log, which is only read. To go on with the study, restore it first: "
            f"`surefoot study restore {self.path.name} study.db`."
        )

    def read(self, after: int = 0) -> list[Line]:
        """All lines after number `after`, in order."""
        if self._lines is None:
            try:
                self._lines = log_files.parsed(self.path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise StudyError(f"{self.path}: the exported log cannot be read: {error}.") from None
        return self._lines[after:]
