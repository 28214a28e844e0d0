"""JSON Lines and lists of JSON objects: any table of rollouts with an object per rollout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.stray_rows import HEADER, LeftOut
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
    again: dict[int, str] = {}
    rows: Iterable[Mapping[str, Any]]
    if head.first_record is not None:
        rows, kind = (line for _, line in json_lines(head)), "JSON Lines"
    else:
        document, kind = head.document, "JSON"
        listed = document if isinstance(document, list) else wrapped(document) or [document]
        rows = _objects(listed, head.name)
    frame = frame_of(_rollouts(rows, again), head.name)
    said = (Note(HEADER, {"lines": tuple(place + 1 for place in again)}),) if again else ()
    left = LeftOut(again, said, lambda place: place + 1)
    return Sheet(frame, kind, said, left_out=left)


def _rollouts(rows: Iterable[Mapping[str, Any]], again: dict[int, str]) -> Iterator[Mapping[str, Any]]:
    """The objects but for those whose values are their own keys, a header once more; their places go to `again`."""
    for place, row in enumerate(rows):
        if len(row) > 1:
            for key, value in row.items():
                if key != value:  # the first already, mostly
                    break
            else:
                again[place] = HEADER
                continue
        yield row


def _objects(rows: list[Any], source: str) -> Iterator[Mapping[str, Any]]:
    for row, value in enumerate(rows, 1):
        if not isinstance(value, dict):
            raise DataError(f"a rollout must be a JSON object; got {str(value)[:60]!r}.", source=source, row=row)
        yield value
