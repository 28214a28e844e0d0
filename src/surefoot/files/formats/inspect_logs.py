"""Inspect AI logs: `.eval` (a zip file, deflate or zstd) and `.json`."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

from surefoot.errors import DataError
from surefoot.files.archives import Archive
from surefoot.files.fields import filled, inner, listed, may, need, number, objects, outcome, scalar, text, unique
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.json_files import parsed
from surefoot.files.recognising import Head
from surefoot.table.findings import STOPPED, Finding, own_mean

ABOUT = About(
    name="Inspect",
    file="*.eval (deflate or zstd), *.json",
    becomes="a sample is the condition, an epoch the repeat; the cluster and the reducer that the log "
    "declares are used",
    example="surefoot compare pr.eval main.eval --gate",
)

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
KNOWN = 2
"""The newest version of Inspect's logs that is known."""
NAMED = {"policy": "model", "condition": "sample", "repeat": "epoch"}


def recognises(head: Head) -> bool:
    """A zip file with a log's header, or a JSON document with an evaluation of a model."""
    if head.members:
        return "header.json" in head.members or "_journal/start.json" in head.members
    return {"model", "task"} <= inner(head.json_object, "eval").keys()


def load(head: Head) -> Sheet:
    """One row per sample and epoch; epochs of one sample are repeats, clustered by the sample or as the log says."""
    header, samples, reductions, notes = _archive(head) if head.members else _document(head)
    evaluation = need(header, "eval", dict, head.name)
    status = text(header.get("status"))
    unfinished = "" if status in (None, "success") else f"the run's status is {status!r}"
    version = header.get("version")
    if isinstance(version, int) and version > KNOWN:
        notes.append(f"The log's format is version {version}, newer than those known, up to {KNOWN}.")
    if unfinished:
        notes.append(f"The run's status is {status!r}: samples may be missing.")
    records = [sample for _, sample in objects(samples, head.name, "samples")]
    run = _run(evaluation, head.name)
    rows = [_row(at, sample, run, head.name) for at, sample in enumerate(records)]
    filled(rows, "the log must hold samples", head.name)
    unique(((row["condition"], row["repeat"]) for row in rows), "sample id and epoch", head.name)
    declared = _declared(header, head.wanted.get("reducer"))
    chosen = _choose(rows, declared, head.name, status)
    reduced = _reduced(reductions, declared, chosen, head.name)
    if declared.reducer not in (None, "mean") and declared.total is not None and not isinstance(reductions, list):
        reduced = _reduce(rows, chosen, declared.reducer)  # logs of the first versions hold no reduced values
    if reduced is not None:
        rows, records = _one_each(rows, records, chosen, reduced)
        notes.append(f"Epochs are reduced to one value a sample by {declared.reducer!r}, as the log declares.")
    elif declared.reducer not in (None, "mean"):
        notes.append(
            f"The log declares the reducer {declared.reducer!r} but holds no reduced values, so it is not used."
        )
    whole = declared.total is not None and status in (None, "success")
    findings = _total(declared, [(row["condition"], row[chosen]) for row in rows], head.name) if whole else []
    column = outcome(row[chosen] for row in rows)
    for row in rows:
        row[column] = row[chosen]
        row |= {"reducer": declared.reducer} if "reducer" in head.wanted else {}
    notes += _clustered(rows, declared)
    if len({row["repeat"] for row in rows}) > 1 and "cluster" not in rows[0]:
        notes.append("Epochs of one sample are repeats.")
    stopped = _stopped_early(header, rows[0]["policy"])
    findings += stopped
    notes += [finding.says for finding in stopped]
    notes.insert(0, f"{column} is what the scorer {chosen.removeprefix('score:')!r} gave{_others(rows, chosen)}.")
    return Sheet(
        frame_of(rows, head.name),
        "Inspect log",
        tuple(notes),
        tuple(findings),
        named=NAMED,
        roles={**ITEMS, "cluster": "cluster"},
        records=records,
        unfinished=unfinished or " ".join(finding.says.rstrip(".") for finding in stopped),
        run=text(evaluation.get("eval_id")) or "",
    )


class Declared(NamedTuple):
    """What a log says of its headline score: whose it is, how epochs were reduced, its clusters, and its total."""

    score: str | None = None
    scorer: str | None = None
    reducer: str | None = None
    cluster: str | None = None
    metric: str = ""
    total: float | None = None


def _declared(header: dict[str, Any], wanted: tuple[str, ...] | None) -> Declared:
    """The headline score, or the first with metrics; of several reducers the one that is wanted."""
    results = inner(header, "results")
    scores, headline = listed(results, "scores"), inner(results, "headline")
    keys = (("name", "score"), ("scorer", "scorer"))
    own = [one for one in scores if all(headline.get(key) in (None, one.get(name)) for name, key in keys)] or [*scores]
    asked = wanted or ((headline["reducer"],) if isinstance(headline.get("reducer"), str) else None)
    own.sort(key=lambda one: not inner(one, "metrics"))  # one that nothing was computed of is a by-product
    score = next((one for one in own if asked and one.get("reducer") in asked), own[0] if own else {})
    metrics = [one for one in inner(score, "metrics").values() if isinstance(one, dict)]
    total = next((one for one in metrics if one.get("name") in ("accuracy", "mean")), {})
    value = total.get("value")
    return Declared(
        text(score.get("name")),
        text(score.get("scorer")) if scores else _planned_scorer(header),
        text(score.get("reducer")) if scores else _planned_reducer(header),
        _cluster(metrics) or _cluster(_planned(header)),
        text(total.get("name")) or "",
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None,
    )


def _planned_reducer(header: dict[str, Any]) -> str | None:
    """The first reducer that a run was to use, where it has no results."""
    reducers = inner(header, "eval", "config").get("epochs_reducer")
    return text(reducers[0]) if isinstance(reducers, list) and reducers else None


def _planned_scorer(header: dict[str, Any]) -> str | None:
    """The first scorer that a run was to compute metrics of, where it has no results."""
    named = (one.get("name") for one in listed(inner(header, "eval"), "scorers") if listed(one, "metrics"))
    first = next((name for name in named if isinstance(name, str)), None)
    return None if first is None else first.rpartition("/")[2]


def _planned(header: dict[str, Any]) -> list[dict[str, Any]]:
    """The metrics that a run was to compute, where it has no results; each with its options."""
    return [metric for one in listed(inner(header, "eval"), "scorers") for metric in listed(one, "metrics")]


def _cluster(metrics: list[dict[str, Any]]) -> str | None:
    """The field of metadata that a standard error is clustered by."""
    named = (inner(metric, key).get("cluster") for metric in metrics for key in ("params", "options"))
    return next((name for name in named if isinstance(name, str)), None)


def _clustered(rows: list[dict[str, Any]], declared: Declared) -> list[str]:
    """Cluster by the field that the log declares, where every sample has it."""
    if declared.cluster is None:
        return []
    field = f"metadata:{declared.cluster}"
    if any(row.get(field) is None for row in rows):
        return [f"The log declares the cluster {declared.cluster!r}, but some samples lack it, so it is not used."]
    for row in rows:
        row["cluster"] = row[field] if isinstance(row[field], str) else text(row[field])
    return [f"cluster is the metadata field {declared.cluster!r}, as the log's own standard error declares."]


def _reduced(reductions: Any, declared: Declared, chosen: str, source: str) -> dict[str, float | None] | None:
    """The value of each sample after the log's reducer; None where epochs stay repeats, as for a mean."""
    if declared.reducer in (None, "mean") or not isinstance(reductions, list):
        return None
    for one in reductions:
        if isinstance(one, dict) and (one.get("scorer"), one.get("reducer")) == (declared.scorer, declared.reducer):
            samples = objects(need(one, "samples", list, source, "reductions"), source, "reductions.samples")
            by_id = {}
            for place, sample in samples:
                values = _values(f"score:{declared.scorer}", sample.get("value"))
                value = values.get(chosen, values.get(f"score:{declared.scorer}"))
                by_id[text(sample.get("sample_id")) or ""] = _value(value, f"{place}.value", source)
            return by_id
    return None


def _reduce(rows: list[dict[str, Any]], chosen: str, reducer: str) -> dict[str, float | None] | None:
    """The value of each sample by one of Inspect's own reducers; None for any other."""
    name, _, number = reducer.rpartition("_")
    k = int(number) if number.isdigit() else 0
    ways: dict[str, Callable[[list[float]], float]] = {
        "max": max,
        "median": statistics.median,
        "mode": statistics.mode,
        "at_least": lambda values: float(sum(value >= 1.0 for value in values) >= k),
        "pass_at": lambda values: 1.0 - math.comb(sum(value < 1.0 for value in values), k) / math.comb(len(values), k),
    }
    way = ways.get(name if k else reducer)
    if way is None:
        return None
    epochs = defaultdict[str, list[float]](list)
    for row in rows:
        if row[chosen] is not None:
            epochs[row["condition"]].append(row[chosen])
    return {sample: way(values) for sample, values in epochs.items() if len(values) >= k}


def _one_each(
    rows: list[dict[str, Any]], records: list[Any], chosen: str, reduced: dict[str, float | None]
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The first epoch of each sample, with the reduced value and without what other scorers gave to that epoch."""
    kept, own = {}, []
    for row, record in zip(rows, records, strict=True):
        if row["condition"] not in kept:
            left = {name: cell for name, cell in row.items() if not name.startswith("score:") and name != "repeat"}
            kept[row["condition"]] = {**left, "repeat": "1", chosen: reduced.get(row["condition"])}
            own.append(record)
    return list(kept.values()), own


def _total(declared: Declared, values: list[tuple[str, float | None]], source: str) -> list[Finding]:
    """The log's own mean over samples, held against its rows."""
    samples = defaultdict[str, list[float]](list)
    for sample, value in values:
        if value is not None:
            samples[sample].append(value)
    means = [sum(each) / len(each) for each in samples.values()]
    return own_mean(f"{declared.metric} of {source}", declared.total, means)


def _stopped_early(header: dict[str, Any], policy: Any) -> list[Finding]:
    """What a run that stopped by its own outcomes allows: the verdict of its rule, and nothing of a fixed size."""
    early = inner(header, "results", "early_stopping")
    stops = early.get("early_stops")
    if not isinstance(stops, list) or not stops:
        return []
    manager = text(early.get("manager")) or "the run"
    sentence = text(inner(early, "metadata").get("sentence")) if manager == "surefoot" else None
    return [
        Finding(
            about=STOPPED,
            values={"policy": policy, "not_run": len(stops), "manager": manager},
            says=f"{len(stops):,} samples were not run: {manager!r} stopped early.",
            threatens="Intervals and p-values for a fixed size do not hold once outcomes decide when to stop.",
            remedy=f"Its own rule says: {sentence}" if sentence else "Run the log in full to compare it.",
        )
    ]


def _others(rows: list[dict[str, Any]], chosen: str) -> str:
    """How to choose what another scorer gave."""
    names = dict.fromkeys(chain.from_iterable(rows))
    shown = ", ".join([repr(name) for name in names if name.startswith("score:") and name != chosen][:6])
    return f"; another can be the column `score`: {shown}" if shown else ""


Parts = tuple[dict[str, Any], Iterable[Any], Any, list[str]]
"""A log's header, samples and reductions, and what must be said of them."""


def _document(head: Head) -> Parts:
    document = head.json_object
    return document, need(document, "samples", list, head.name), document.get("reductions"), []


def _archive(head: Head) -> Parts:
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
        reductions = inside("reductions.json") if "reductions.json" in archive.names else None
        return header, _list(samples, "summaries.json", head.name), reductions, notes


def _list(value: Any, name: str, source: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{name} must be a list.", source=source)
    return value


def _run(evaluation: dict[str, Any], source: str) -> dict[str, Any]:
    """What all samples of a log have in common."""
    dataset = may(evaluation, "dataset", dict, source, "eval") or {}
    return {
        "policy": text(evaluation.get("model")),
        "task": text(evaluation.get("task")),
        "dataset": text(dataset.get("name")),
        "run": text(evaluation.get("run_id")),
    }


def _row(at: int, sample: dict[str, Any], run: dict[str, Any], source: str) -> dict[str, Any]:
    row = {**run, "condition": text(sample.get("id")), "repeat": text(sample.get("epoch", 1)), "duration": None}
    if sample.get("total_time") is not None:
        row["duration"] = number(sample["total_time"], source, f"samples[{at}].total_time")
    error = sample.get("error")
    if error is not None:
        row["failure"] = text(error.get("message") if isinstance(error, dict) else error)
    if sample.get("scores"):
        for scorer, score in need(sample, "scores", dict, source, f"samples[{at}]").items():
            value = score.get("value") if isinstance(score, dict) else score
            if isinstance(value, (dict, list)):
                row |= _values(f"score:{scorer}", value)
            else:
                row[f"score:{scorer}"] = value
    if sample.get("model_usage"):
        used = [one.get("total_tokens") for one in inner(sample, "model_usage").values() if isinstance(one, dict)]
        row |= {"tokens": sum([one for one in used if isinstance(one, int)])} if used else {}
    if sample.get("metadata"):
        for key, value in need(sample, "metadata", dict, source, f"samples[{at}]").items():
            if scalar(value):
                row[f"metadata:{key}"] = value
    return row


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


def _choose(rows: list[dict[str, Any]], declared: Declared, source: str, status: str | None = None) -> str:
    """Which score is the outcome, every one of them a number; the others stay reachable by their names."""
    names = [name for name in dict.fromkeys(chain.from_iterable(rows)) if name.startswith("score:")]
    if not names:
        ended = "" if status in (None, "success") else f" The run's status is {status!r}."
        raise DataError(f"at least one sample must be scored; none is.{ended}", source=source)
    name, by = declared.score, declared.scorer
    wanted = (f"score:{name}", f"score:{by}.{name}", f"score:{by}")
    numeric = (one for one in names if all(not isinstance(_other(row.get(one), source), str) for row in rows))
    chosen = next((one for one in wanted if one in names), None) or next(numeric, names[0])
    scorer = chosen.removeprefix("score:")
    judged, others = scorer.startswith("model_graded"), [one for one in names if one != chosen]
    for place, row in enumerate(rows):
        for one in others:
            if one in row:
                row[one] = _other(row[one], source)
        value = row.get(chosen)
        grade = GRADES.get(value) if isinstance(value, str) else None
        row[chosen] = _value(value, f"samples[{place}].scores.{scorer}", source) if grade is None else grade
        if judged:
            row["judge"] = scorer
    return chosen
