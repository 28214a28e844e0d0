"""JSON Lines and lists of JSON objects: any table of rollouts with an object per rollout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from surefoot.errors import DataError
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import json_lines
from surefoot.files.totals import is_rollout, names_outcome

ABOUT = About(
    name="JSON, JSON Lines",
    file="an object per rollout; also Braintrust, LangSmith and HELM exports",
    becomes="a row per object; fields inside objects by path",
    example="surefoot report export.jsonl --column policy=experiment.name --column score=scores.Factuality",
)


def recognises(head: Head) -> bool:
    """An object per line, or a list of objects, or one object that is a rollout and no total."""
    if head.first_record is not None:
        return True
    document = head.document
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict)
    return names_outcome(document) and is_rollout(document)


def wrapped(document: Any) -> list[Any]:
    """The one list of objects that an object holds beside other things; empty when there is none, or several."""
    if not isinstance(document, dict):
        return []
    lists = [value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return lists[0] if len(lists) == 1 else []


def load(head: Head) -> Sheet:
    """The objects as rows."""
    if head.first_record is not None:
        return Sheet(frame_of((line for _, line in json_lines(head)), head.name), "JSON Lines")
    document = head.document
    rows = document if isinstance(document, list) else wrapped(document) or [document]
    return Sheet(frame_of(_objects(rows, head.name), head.name), "JSON")


def _objects(rows: list[Any], source: str) -> Iterator[Mapping[str, Any]]:
    for row, value in enumerate(rows, 1):
        if not isinstance(value, dict):
            raise DataError(f"a rollout must be a JSON object; got {str(value)[:60]!r}.", source=source, row=row)
        yield value
