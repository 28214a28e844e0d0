"""lm-evaluation-harness `samples_*.jsonl`: one line per document and filter."""

from __future__ import annotations

import re
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import number, outcome, scalar, text, unique
from surefoot.files.imported import Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import json_lines

DATED = re.compile(r"^samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T.*)?$")
KNOWN = ("acc", "exact_match", "acc_norm", "pass@1", "f1", "em", "mcc")


def recognises(head: Head) -> bool:
    """A line with a document's id and the model's responses."""
    record = head.first_record or head.document
    return isinstance(record, dict) and "doc_id" in record and ("resps" in record or "filtered_resps" in record)


def load(head: Head) -> Sheet:
    """One row per document; the first metric and the first filter are taken, and said."""
    lines = list(json_lines(head)) if head.first_record is not None else [(1, head.document)]
    named = DATED.match(head.path.stem)
    notes: list[str] = []
    rows: list[dict[str, Any]] = []
    first: dict[str, Any] = lines[0][1]
    filters = list(dict.fromkeys(text(line.get("filter")) for _, line in lines))
    metric = _metric(first, head.name)
    for place, line in lines:
        if text(line.get("filter")) != filters[0]:
            continue
        if "doc_id" not in line or metric not in line:
            raise DataError(f"a line must have `doc_id` and the metric `{metric}`.", source=head.name, row=place)
        rows.append(
            {
                "task": named["task"] if named else None,
                "condition": text(line.get("doc_hash") or line["doc_id"]),
                "doc_id": text(line["doc_id"]),
                "value": number(line[metric], head.name, metric),
                **{f"metric:{name}": line[name] for name in _metrics(line) if scalar(line.get(name))},
            }
        )
    unique(((row.pop("doc_id"),) for row in rows), "a document's id within one filter", head.name)
    _tell_apart(rows)
    column = outcome(row["value"] for row in rows)
    for row in rows:
        row[column] = row.pop("value")
    notes.append(f"{column} is the metric {metric!r}.")
    if len(filters) > 1:
        notes.append(
            f"The filter {filters[0]!r} is taken; the lines of {', '.join(map(repr, filters[1:]))} are left out."
        )
    if named:
        notes.append(f"The task is called {named['task']!r}, after the file.")
    return Sheet(
        frame_of(rows, head.name), "lm-evaluation-harness samples", tuple(notes), named={"condition": "document"}
    )


def _tell_apart(rows: list[dict[str, Any]]) -> None:
    """Some data sets hold the same document twice: the second is then called hash#2, in every model's file."""
    times: dict[str, int] = {}
    for row in rows:
        name = row["condition"]
        times[name] = times.get(name, 0) + 1
        if times[name] > 1:
            row["condition"] = f"{name}#{times[name]}"


def _metrics(line: dict[str, Any]) -> list[str]:
    listed = line.get("metrics")
    if isinstance(listed, list):
        return [name for name in listed if isinstance(name, str) and name in line]
    return [name for name in KNOWN if name in line]


def _metric(line: dict[str, Any], source: str) -> str:
    metrics = _metrics(line)
    if not metrics:
        raise DataError("a line must name its metrics; got none that is known.", source=source, row=1)
    single = (name for name in metrics if isinstance(line[name], (bool, int, float)))
    return next(single, metrics[0])  # some metrics are lists, one number per instruction
