"""lm-evaluation-harness `samples_*.jsonl`: one line per document and filter."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import number, outcome, scalar, text, unique
from surefoot.files.importers import ITEMS, About, NoOutcomesError, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import first_record, json_records

ABOUT = About(
    name="lm-evaluation-harness samples",
    file="samples_<task>_<date>.jsonl (--log_samples)",
    becomes="a document is the condition; choose a metric by --column success=NAME, a filter by --where filter=NAME",
    example="surefoot compare new/ old/ --where filter=flexible-extract",
)

DATED = re.compile(r"^samples_(?P<task>.+?)(?:_\d{4}-\d{2}-\d{2}T.*)?$")
KNOWN = ("acc", "exact_match", "acc_norm", "pass@1", "f1", "em", "mcc")
"""Metrics that are an outcome of one document, the most usual first."""
NO_OUTCOMES = frozenset(("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"))
"""Metrics over words or bytes: of one document they are a log-likelihood."""


def recognises(head: Head) -> bool:
    """A line with a document's id and the model's responses."""
    record = first_record(head)
    return "doc_id" in record and ("resps" in record or "filtered_resps" in record)


def load(head: Head) -> Sheet:
    """One row per document, of one metric and one filter; which is said."""
    lines = list(json_records(head))
    named = DATED.match(head.path.stem)
    task = named["task"] if named else None
    filters = list(dict.fromkeys(text(line.get("filter")) for _, line in lines))
    chosen = _filter(filters, head)
    lines = [(place, line) for place, line in lines if text(line.get("filter")) == chosen]
    metric = _metric(lines[0][1], task, head.name)
    rows: list[dict[str, Any]] = []
    for place, line in lines:
        if "doc_id" not in line or metric not in line:
            raise DataError(f"a line must have `doc_id` and the metric `{metric}`.", source=head.name, row=place)
        rows.append(
            {
                "task": task,
                "condition": text(line.get("doc_hash") or line["doc_id"]),
                "doc_id": text(line["doc_id"]),
                "value": number(line[metric], head.name, metric),
                **({"filter": chosen} if "filter" in head.wanted else {}),
                **{f"metric:{name}": line[name] for name in _metrics(line) if scalar(line.get(name))},
            }
        )
    unique(((row.pop("doc_id"),) for row in rows), "a document's id within one filter", head.name)
    _tell_apart(rows)
    column = outcome(row["value"] for row in rows)
    for row in rows:
        row[column] = row.pop("value")
    others = [name for name in _single(lines[0][1]) if name != metric]
    another = f"; another can be the column `{column}`: {', '.join(map(repr, others[:6]))}"
    notes = [f"{column} is the metric {metric!r}{another if others else ''}."]
    if len(filters) > 1:
        away = ", ".join(repr(one) for one in filters if one != chosen)
        notes.append(
            f"The filter {chosen!r} is taken; the lines of {away} are left out. To choose: --where filter=NAME, and "
            "--where filter=none beside it to keep tasks that have no filter."
        )
    if named:
        notes.append(f"The task is called {task!r}, after the file.")
    return Sheet(
        frame_of(rows, head.name),
        "lm-evaluation-harness samples",
        tuple(notes),
        named={"policy": "model", "condition": "document"},
        roles=ITEMS,
        records=[line for _, line in lines],
    )


def _filter(filters: list[str | None], head: Head) -> str | None:
    """The filter that the user wants, or the first: the harness writes them in the order of the task's definition."""
    wanted = head.wanted.get("filter")
    if wanted is None:
        return filters[0]
    for one in filters:
        if one in wanted:
            return one
    there = " or ".join(repr(one) for one in filters)
    raise NoOutcomesError(f"the filter must be {there}; got {' or '.join(map(repr, wanted))}.", source=head.name)


def _tell_apart(rows: list[dict[str, Any]]) -> None:
    """Some data sets hold the same document twice: the second is then called hash#2, in every model's file."""
    times: Counter[str] = Counter()
    for row in rows:
        name = row["condition"]
        times[name] += 1
        if times[name] > 1:
            row["condition"] = f"{name}#{times[name]}"


def _metrics(line: dict[str, Any]) -> list[str]:
    listed = line.get("metrics")
    if isinstance(listed, list):
        return [name for name in listed if isinstance(name, str) and name in line]
    return [name for name in KNOWN if name in line]


def _single(line: dict[str, Any]) -> list[str]:
    """The metrics that are one number, an outcome of the document."""
    return [name for name in _metrics(line) if isinstance(line[name], (bool, int, float)) and name not in NO_OUTCOMES]


def _metric(line: dict[str, Any], task: str | None, source: str) -> str:
    metrics = _metrics(line)
    if not metrics:
        raise DataError("a line must name at least one known metric; got none.", source=source, row=1)
    single = _single(line)
    if not single:  # some metrics are lists, one number per instruction; perplexities are a likelihood and a length
        raise NoOutcomesError(
            f"every document must have its own outcome; the task {task or 'of this file'} has "
            f"{', '.join(metrics[:4])} only.",
            source=source,
        )
    return next((name for name in KNOWN if name in single), single[0])
