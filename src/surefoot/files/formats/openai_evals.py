"""OpenAI evals logs, as `oaieval` records them: a line for the run, then one per event."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import inner, may, number, outcome, repeated, text
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import json_lines
from surefoot.table.findings import Finding, own_mean

ABOUT = About(
    name="OpenAI evals",
    file="the record of oaieval (.jsonl)",
    becomes="a match is a success; the completion function is the policy",
    example="surefoot compare new.jsonl old.jsonl",
)

EVENT = frozenset(("sample_id", "type", "data"))
SPEC = frozenset(("completion_fns", "eval_name", "base_eval"))
NAMED = {"policy": "model", "condition": "sample"}


def recognises(head: Head) -> bool:
    """A first line with the run's spec, or an event."""
    first = head.first_record or {}
    return bool(inner(first, "spec").keys() & SPEC) or first.keys() >= EVENT | {"event_id"}


def load(head: Head) -> Sheet:
    """One row per match; where no event is a match, one per set of metrics."""
    spec: dict[str, Any] = {}
    report: dict[str, Any] = {}
    matches: list[tuple[str, dict[str, Any]]] = []
    metrics: list[tuple[str, dict[str, Any]]] = []
    met: dict[str, str | None] = {}
    for row, line in json_lines(head):
        spec |= may(line, "spec", dict, head.name) or {}
        report |= may(line, "final_report", dict, head.name) or {}
        if not line.keys() >= EVENT:
            if not line.keys() & {"spec", "final_report"}:
                raise DataError("a line must be a spec, an event or a final report.", source=head.name, row=row)
            continue
        sample, data = text(line["sample_id"]) or "", may(line, "data", dict, head.name, f"line {row}") or {}
        met.setdefault(sample, None)
        if line["type"] == "match":
            matches.append((sample, data))
        elif line["type"] == "metrics":
            metrics.append((sample, data))
        elif line["type"] == "error":
            met[sample] = text(data.get("message") or data.get("type") or data.get("error")) or "error"
    policy = _policy(spec)
    task = text(spec.get("eval_name") or spec.get("base_eval"))
    key, found = _chosen(matches, metrics, head.name)
    rows: list[dict[str, Any]] = []
    for sample, data in found:
        value = number(data.get(key), head.name, f"{sample}.{key}")
        row_ = {"task": task, "condition": sample, "value": value, "failure": met[sample]}
        rows.append(row_ | ({"policy": policy} if policy else {}))
    column = outcome(row["value"] for row in rows)
    for row_ in rows:
        row_[column] = row_.pop("value")
    notes = [f"{column} is {key!r} of the {'match' if matches else 'metrics'} events."]
    if repeated(rows, "condition"):
        notes.append("Several results of one sample are repeats.")
    left = len(met.keys() - {sample for sample, _ in found})
    if left:
        notes.append(f"{left:,} samples have events but no result; they are left out.")
    totals = _totals(report, [row[column] for row in rows], key, head.name)
    records = [data for _, data in found]
    return Sheet(
        frame_of(rows, head.name), "OpenAI evals", tuple(notes), totals, named=NAMED, roles=ITEMS, records=records
    )


def _policy(spec: dict[str, Any]) -> str | None:
    """The completion functions that were run; older logs name a model."""
    ran = spec.get("completion_fns")
    if isinstance(ran, list) and ran:
        return ", ".join(text(one) or "" for one in ran)
    return text(spec.get("model_name"))


def _chosen(
    matches: list[tuple[str, dict[str, Any]]], metrics: list[tuple[str, dict[str, Any]]], source: str
) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """What is the outcome, and the events that give it."""
    if matches:
        return "correct", matches
    names = dict.fromkeys(name for _, data in metrics for name, value in data.items() if _number(value))
    always = [name for name in names if all(_number(data.get(name)) for _, data in metrics)]
    if not always:
        raise DataError("the log must hold match events, or metrics with a number; it has neither.", source=source)
    return always[0], metrics


def _number(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def _totals(report: dict[str, Any], values: list[float | None], key: str, source: str) -> tuple[Finding, ...]:
    """The run's own accuracy, or mean of the metric, held against the events."""
    name = "accuracy" if key == "correct" else key
    says = number(report.get(name), source, f"final_report.{name}") if _number(report.get(name)) else None
    return tuple(own_mean(f"{name} of {source}", says, values))
