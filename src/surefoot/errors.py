"""The errors that a caller can catch.

    SurefootError
    ├── DataError      a file, a row or a value that cannot be used
    └── StudyError     a study that cannot do what was asked

A caller's own mistake (a wrong type, a confidence of 95) is a `TypeError` or `ValueError`; where it is about one
argument, an `ArgumentError` that says which.
"""

from __future__ import annotations

from typing import Any, Self

from surefoot._arguments import shown


class _ToldError(Exception):
    """An error whose message names arguments: as Python does, and as an option where a command shows it."""

    def __init__(self, message: str = "", *more: Any) -> None:
        super().__init__(shown(message), *more)
        self.template = message


class SurefootError(_ToldError):
    """Anything surefoot raises on purpose that a program may want to handle."""


class DataError(SurefootError):
    """Data that cannot be used, with where they came from.

    Attributes:
        source: The file or frame, when known.
        row: The 1-based row within it, when known; the header and blank lines are not counted.
        line: The line of the file or the row of the sheet, where rows before it were left out.
        cure: What to do about it, when something can be done.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        row: int | None = None,
        line: int | None = None,
        cure: str = "",
    ) -> None:
        """Put the place in front of the sentence and the cure behind: ``rollouts.csv, row 3: ...``."""
        self.source, self.row, self.line, self.cure = source or None, row, line, shown(cure)
        self._told = message, cure
        rows = (f"row {row}" if row is not None else None, f"line {line}" if line is not None else None)
        place = ", ".join(part for part in (self.source, *rows) if part is not None)
        super().__init__(f"{place + ': ' if place else ''}{message}{' ' + cure if cure else ''}")

    def placed(self, row: int, line: int) -> Self:
        """The same refusal, of another row and line."""
        message, cure = self._told
        return type(self)(message, source=self.source, row=row, line=line, cure=cure)


class StudyError(SurefootError):
    """A study that cannot do what was asked of it."""


class _AboutError(_ToldError):
    def __init__(self, message: str, *, argument: str = "", value: object = None, cure: str = "") -> None:
        super().__init__(message)
        self.argument, self.value, self.cure = argument, value, shown(cure)


class ArgumentError(_AboutError, ValueError):
    """A value that an argument cannot take.

    Attributes:
        argument: Which argument, by its Python name.
        value: What was given.
        cure: What to do about it, when something can be done.
    """


class ArgumentTypeError(_AboutError, TypeError):
    """A value of a type that an argument cannot take, with the attributes of `ArgumentError`."""
