"""JSON Lines and lists of JSON objects: any table of rollouts with an object per rollout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surefoot.errors import DataError
from surefoot.files.imported import Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import json_lines
from surefoot.files.totals import is_rollout, names_outcome


def recognises(head: Head) -> bool:
    """An object per line, or a list of objects, or one object that is a rollout and no total."""
    if head.first_record is not None:
        return True
    document = head.document
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict)
    return names_outcome(document) and is_rollout(document)


def load(head: Head) -> Sheet:
    """The objects as rows."""
    if head.first_record is not None:
        return Sheet(frame_of((line for _, line in json_lines(head)), head.name), "JSON Lines")
    document = head.document
    rows = document if isinstance(document, list) else [document]
    return Sheet(frame_of(_objects(rows, head.name), head.name), "JSON")


def _objects(rows: list[Any], source: str) -> Iterator[Mapping[str, Any]]:
    for row, value in enumerate(rows, 1):
        if not isinstance(value, dict):
            raise DataError(f"a rollout must be a JSON object; got {str(value)[:60]!r}.", source=source, row=row)
        yield value
