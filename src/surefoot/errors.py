"""Which errors can a caller catch?

    SurefootError
    ├── DataError      a file, a row or a value that cannot be used
    └── StudyError     a study that cannot do what was asked

A caller's own mistake (a wrong type, a confidence of 95) is a plain `TypeError` or `ValueError`.
"""

from __future__ import annotations


class SurefootError(Exception):
    """Anything surefoot raises on purpose that a program may want to handle."""


class DataError(SurefootError):
    """Data that cannot be used, with where they came from.

    Attributes:
        source: The file or frame, when known.
        row: The 1-based row within it, when known.
    """

    def __init__(self, message: str, *, source: str | None = None, row: int | None = None) -> None:
        """Put the place in front of the sentence: ``rollouts.csv, row 3: ...``."""
        place = ", ".join(part for part in (source, f"row {row}" if row is not None else None) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)
        self.source = source
        self.row = row


class StudyError(SurefootError):
    """A study that cannot do what was asked of it."""
