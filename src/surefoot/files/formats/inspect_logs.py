"""Inspect AI logs: `.eval` (a zip file, deflate or zstd) and `.json`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from surefoot.errors import DataError
from surefoot.files.archives import Archive
from surefoot.files.fields import may, need, number, objects, outcome, scalar, text, unique
from surefoot.files.imported import Sheet, frame_of
from surefoot.files.json_files import parsed
from surefoot.files.recognising import Head

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
NAMED = {"policy": "model", "condition": "sample", "repeat": "epoch"}


def recognises(head: Head) -> bool:
    """A zip file with a log's header, or a JSON document with an evaluation of a model."""
    if head.members:
        return "header.json" in head.members or "_journal/start.json" in head.members
    document = head.document
    return (
        isinstance(document, dict)
        and isinstance(document.get("eval"), dict)
        and "model" in document["eval"]
        and "task" in document["eval"]
    )


def load(head: Head) -> Sheet:
    """One row per sample and epoch; epochs of one sample are repeats, clustered by the sample."""
    header, samples, notes = _archive(head) if head.members else _document(head)
    evaluation = need(header, "eval", dict, head.name)
    status = text(header.get("status"))
    if status is not None and status != "success":
        notes.append(f"The run's status is {status!r}: samples may be missing.")
    rows = [_row(place, sample, evaluation, head.name) for place, sample in objects(samples, head.name, "samples")]
    if not rows:
        raise DataError("the log must hold samples; it has none.", source=head.name)
    unique(((row["condition"], row["repeat"]) for row in rows), "sample id and epoch", head.name)
    notes += _choose(rows, header, head.name)
    if len({row["repeat"] for row in rows}) > 1:
        for row in rows:
            row["cluster"] = row["condition"]
        notes.append("Epochs of one sample are repeats: cluster is the sample's id.")
    return Sheet(frame_of(rows, head.name), "Inspect log", tuple(notes), named=NAMED)


def _document(head: Head) -> tuple[dict[str, Any], Iterable[Any], list[str]]:
    document: dict[str, Any] = head.document
    return document, need(document, "samples", list, head.name), []


def _archive(head: Head) -> tuple[dict[str, Any], Iterable[Any], list[str]]:
    with Archive(head.path, head.name) as archive:

        def inside(name: str) -> Any:
            try:
                return parsed(archive.read(name).decode(), head.name)
            except UnicodeDecodeError:
                raise DataError(f"{name} must be UTF-8.", source=head.name) from None

        notes = []
        name = "header.json" if "header.json" in archive.names else "_journal/start.json"
        header = inside(name)
        if not isinstance(header, dict):
            raise DataError(f"{name} must be an object.", source=head.name)
        if "summaries.json" in archive.names:
            samples = inside("summaries.json")
        else:
            names = sorted(one for one in archive.names if one.startswith("samples/") and one.endswith(".json"))
            samples = [inside(one) for one in names]
            if not samples:
                parts = sorted(one for one in archive.names if one.startswith("_journal/summaries/"))
                samples = [sample for one in parts for sample in _list(inside(one), one, head.name)]
                notes.append("The run did not finish: samples come from its journal.")
        return header, _list(samples, "summaries.json", head.name), notes


def _list(value: Any, name: str, source: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{name} must be a list.", source=source)
    return value


def _row(place: str, sample: dict[str, Any], evaluation: dict[str, Any], source: str) -> dict[str, Any]:
    dataset = may(evaluation, "dataset", dict, source, "eval") or {}
    row: dict[str, Any] = {
        "policy": text(evaluation.get("model")),
        "task": text(evaluation.get("task")),
        "dataset": text(dataset.get("name")),
        "run": text(evaluation.get("run_id")),
        "condition": text(sample.get("id")),
        "repeat": text(sample.get("epoch", 1)),
        "duration": number(sample.get("total_time"), source, f"{place}.total_time"),
    }
    error = sample.get("error")
    if error is not None:
        row["failure"] = text(error.get("message") if isinstance(error, dict) else error)
    for scorer, score in (may(sample, "scores", dict, source, place) or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        row |= _values(f"score:{scorer}", value)
    metadata = may(sample, "metadata", dict, source, place) or {}
    return row | {f"metadata:{key}": value for key, value in metadata.items() if scalar(value)}


def _values(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {f"{name}.{key}": part for key, part in value.items()}
    if isinstance(value, list):
        return {f"{name}.{key}": part for key, part in enumerate(value)}
    return {name: value}


def _value(value: Any, place: str, source: str) -> float | None:
    if not isinstance(value, str):
        return number(value, source, place)
    grade = GRADES.get(value, GRADES.get(value.lower()))
    if grade is not None:
        return grade
    try:
        known = float(value)
    except ValueError:
        raise DataError(f"`{place}` must be C, I, P, N or a number; got {value[:60]!r}.", source=source) from None
    return None if math.isnan(known) else known


def _other(value: Any, source: str) -> Any:
    """What a scorer gave that does not decide: a number where it is one, else as it stands."""
    try:
        return _value(value, "", source)
    except DataError:
        return value if scalar(value) else None


def _choose(rows: list[dict[str, Any]], header: dict[str, Any], source: str) -> list[str]:
    """The headline score becomes success or score; the others stay reachable by their names."""
    names = list(dict.fromkeys(name for row in rows for name in row if name.startswith("score:")))
    if not names:
        raise DataError("at least one sample must be scored; none is.", source=source)
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, dict) else None
    first = scores[0] if isinstance(scores, list) and scores and isinstance(scores[0], dict) else {}
    name, by = first.get("name"), first.get("scorer")
    wanted = (f"score:{name}", f"score:{by}.{name}", f"score:{by}")
    numeric = (one for one in names if all(not isinstance(_other(row.get(one), source), str) for row in rows))
    chosen = next((one for one in wanted if one in names), None) or next(numeric, names[0])
    scorer = chosen.removeprefix("score:")
    for place, row in enumerate(rows):
        for one in names:
            if one in row and one != chosen:
                row[one] = _other(row[one], source)
        row[chosen] = _value(row.get(chosen), f"samples[{place}].scores.{scorer}", source)
    column = outcome(row[chosen] for row in rows)
    for row in rows:
        row[column] = row[chosen]
        if scorer.startswith("model_graded"):
            row["judge"] = scorer
    others = [name for name in names if name != chosen]
    if not others:
        return [f"{column} is what the scorer {scorer!r} gave."]
    listed = ", ".join(repr(name) for name in others[:6])
    return [f"{column} is what the scorer {scorer!r} gave; choose another by columns={{'score': ...}}: {listed}."]
