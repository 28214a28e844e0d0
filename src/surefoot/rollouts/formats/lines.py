"""JSON Lines and lists of JSON objects: any table of rollouts with an object per rollout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surefoot.errors import DataError
from surefoot.rollouts.columns import OTHER_NAMES, plain
from surefoot.rollouts.heads import LARGEST_TEXT, LONGEST_LINE, Head, parsed
from surefoot.rollouts.sheets import Sheet, frame_of

OUTCOMES = frozenset(("success", "score", *OTHER_NAMES["success"], *OTHER_NAMES["score"]))


def recognises(head: Head) -> bool:
    """An object per line, or a list of objects, or one object that names an outcome."""
    if head.first_record is not None:
        return True
    document = head.document
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict)
    return isinstance(document, dict) and any(plain(str(key)) in OUTCOMES for key in document)


def load(head: Head) -> Sheet:
    """The objects as rows."""
    if head.first_record is not None:
        return Sheet(frame_of(_lines(head), head.name), "JSON Lines")
    document = head.document
    rows = document if isinstance(document, list) else [document]
    return Sheet(frame_of(_objects(rows, head.name), head.name), "JSON")


def _objects(rows: list[Any], source: str) -> Iterator[Mapping[str, Any]]:
    for row, value in enumerate(rows, 1):
        if not isinstance(value, dict):
            raise DataError(f"a rollout must be a JSON object; got {str(value)[:60]!r}.", source=source, row=row)
        yield value


def _lines(head: Head) -> Iterator[Mapping[str, Any]]:
    if head.size > 4 * LARGEST_TEXT:
        raise DataError(
            f"JSON Lines must be at most {LARGEST_TEXT >> 18:,} MiB; got {head.size >> 20:,} MiB. "
            "Write the rollouts to Parquet or CSV, which are read piece by piece.",
            source=head.name,
        )
    row = 0
    with head.path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if not line.strip():
                continue
            row += 1
            if len(line) == LONGEST_LINE:
                raise DataError(f"a line must be shorter than {LONGEST_LINE >> 20} MiB.", source=head.name, row=row)
            try:
                text = line.decode("utf-8-sig" if row == 1 else "utf-8")
            except UnicodeDecodeError as error:
                message = f"text must be UTF-8; byte {error.start} is not."
                raise DataError(message, source=head.name, row=row) from None
            yield from _objects_at(parsed(text, head.name, row=row), head.name, row)


def _objects_at(value: Any, source: str, row: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, dict):
        raise DataError(f"a rollout must be a JSON object; got {str(value)[:60]!r}.", source=source, row=row)
    yield value
