"""HELM `per_instance_stats.json`: what every metric gave to every instance of a run."""

from __future__ import annotations

import re
from typing import Any

from surefoot._arguments import write
from surefoot.errors import DataError
from surefoot.files.fields import filled, inner, listed, number, objects, outcome, repeated, text
from surefoot.files.importers import ITEMS, About, NoOutcomesError, Sheet, frame_of
from surefoot.files.json_files import parsed
from surefoot.files.recognising import LARGEST_TEXT, Head

ABOUT = About(
    name="HELM",
    file="runs/<suite>/<run>/per_instance_stats.json",
    becomes="an instance is the condition, a train trial its repeat; one metric is the outcome; perturbed copies are "
    "left out",
    example="surefoot report runs/v1/ --where metric=exact_match",
)

FIRST = (
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "chain_of_thought"),
    *("final_number_exact_match", "math_equiv", "math_equiv_chain_of_thought", "test_avg", "f1_score", "ifeval"),
    *("rouge_l", "bleu_4", "BERTScore-F"),
)
"""The metrics that are taken where none is named, in this order."""
NAMED = {"policy": "model", "condition": "instance", "repeat": "train trial"}
MODEL = re.compile(r"(?:^|[,:])model=(?P<model>[^,]+)")


def recognises(head: Head) -> bool:
    """A list of instances, each with its statistics."""
    first = head.document[0] if isinstance(head.document, list) and head.document else None
    return isinstance(first, dict) and {"instance_id", "stats"} <= first.keys()


def load(head: Head) -> Sheet:
    """One row per instance and train trial, with one metric as its outcome."""
    rows: list[dict[str, Any]] = []
    records, perturbed = list[Any](), 0
    for place, instance in objects(head.document, head.name, ""):
        if instance.get("perturbation"):
            perturbed += 1
            continue
        values: dict[str, Any] = {}
        for at, stat in enumerate(listed(instance, "stats")):
            name = text(inner(stat, "name").get("name"))
            if name is not None:
                values[f"metric:{name}"] = number(stat.get("mean"), head.name, f"{place}.stats[{at}].mean")
        one = {"condition": text(instance.get("instance_id")), "repeat": text(instance.get("train_trial_index"))}
        rows.append(one | {"split": next(filter(None, map(_split, listed(instance, "stats"))), None)} | values)
        records.append(instance)
    filled(rows, "the file must hold instances that are not perturbed", head.name)
    names = dict.fromkeys(name for row in rows for name in row if name.startswith("metric:"))
    chosen = _chosen(list(names), head)
    column = outcome(row.get(chosen) for row in rows)
    shared = _run(head)
    several = len({row["repeat"] for row in rows}) > 1
    for row in rows:
        row |= {column: row.get(chosen), **shared}
        row |= {"metric": chosen.removeprefix("metric:")} if "metric" in head.wanted else {}
        if not several:
            del row["repeat"]
    if not several:
        repeated(rows, "condition", "split")
    others = [repr(name.removeprefix("metric:")) for name in names if name != chosen][:6]
    more = f"; choose another by `where`, metric=NAME: {', '.join(others)}" if others else ""
    notes = [f"{column} is the metric {chosen.removeprefix('metric:')!r}{more}."]
    if perturbed:
        notes.append(f"{perturbed:,} perturbed copies of instances are left out.")
    return Sheet(
        frame_of(rows, head.name), "HELM", tuple(notes), named=NAMED, roles=ITEMS, records=records, ordered=False
    )


def _split(stat: dict[str, Any]) -> str | None:
    return text(inner(stat, "name").get("split"))


def _chosen(names: list[str], head: Head) -> str:
    if "metric" in head.wanted:
        wanted = f"metric:{head.wanted['metric'][0]}"
        if wanted not in names:
            there = ", ".join(name.removeprefix("metric:") for name in names)
            raise DataError(f"the metric must be one of {there}; got {head.wanted['metric'][0]!r}.", source=head.name)
        return wanted
    found = next((f"metric:{name}" for name in FIRST if f"metric:{name}" in names), None)
    if found is None:
        raise NoOutcomesError(
            "a metric must be the outcome; none of the usual ones is here. Metrics: "
            f"{', '.join(name.removeprefix('metric:') for name in names[:12])}.",
            source=head.name,
            cure=f"Say which: {write('where', {'metric': None})}.",
        )
    return found


def _run(head: Head) -> dict[str, str]:
    """The model and the scenario, from `run_spec.json` beside the file, else from the folder's name."""
    beside = head.path.with_name("run_spec.json")
    spec: dict[str, Any] = {}
    if beside.is_file() and not beside.is_symlink() and beside.stat().st_size <= LARGEST_TEXT:
        spec = parsed(beside.read_text(encoding="utf-8"), beside.name)
    folder = head.path.absolute().parent.name
    named = MODEL.search(folder)
    model = text(inner(spec, "adapter_spec").get("model")) or (named["model"] if named else None)
    run = text(spec.get("name")) or (folder if named else None)
    scenario = MODEL.sub("", run).rstrip(":,") if run else None
    return {column: value for column, value in (("policy", model), ("task", scenario)) if value}
