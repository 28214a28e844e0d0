"""inspect-robots EvalLog JSON: scenes, each tried in several epochs."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, inner, may, need, number, objects, outcome, text, unique
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.table.findings import STOPPED, Finding

ABOUT = About(
    name="inspect-robots",
    file="log.json (EvalLog version 1)",
    becomes="a scene is the condition, an epoch the repeat",
    example="surefoot report log.json",
)

NAMED = {"condition": "scene", "repeat": "epoch", "robot": "embodiment"}


def recognises(head: Head) -> bool:
    """An evaluation of a policy with a list of samples."""
    return "policy" in inner(head.json_object, "eval") and isinstance(head.json_object.get("samples"), list)


def load(head: Head) -> Sheet:
    """One row per scene and epoch; epochs of one scene are repeats, clustered by the scene."""
    document = head.json_object
    evaluation = need(document, "eval", dict, head.name)
    rows: list[dict[str, Any]] = []
    for place, sample in objects(need(document, "samples", list, head.name), head.name, "samples"):
        epochs = need(sample, "epochs", list, head.name, place)
        reasons = may(sample, "termination_reasons", list, head.name, place) or []
        tried = [{} if scores is None else scores for scores in epochs]  # an errored trial has no scores
        for epoch, (at, scores) in enumerate(objects(tried, head.name, f"{place}.epochs"), 1):
            rows.append(
                {
                    "policy": text(evaluation.get("policy")),
                    "task": text(evaluation.get("task")),
                    "robot": text(evaluation.get("embodiment")),
                    "seed": text(evaluation.get("seed")),
                    "condition": text(sample.get("scene_id")),
                    "repeat": str(epoch),
                    "failure": text(reasons[epoch - 1]) if epoch <= len(reasons) else None,
                    **{f"score:{name}": number(value, head.name, f"{at}.{name}") for name, value in scores.items()},
                }
            )
    filled(rows, "the log must hold trials", head.name)
    unique(((row["condition"], row["repeat"]) for row in rows), "scene and epoch", head.name)
    names = list(dict.fromkeys(name for row in rows for name in row if name.startswith("score:")))
    if not names:
        raise DataError("at least one trial must be scored; none is.", source=head.name)
    chosen = next((name for name in ("score:success", *names) if name in names and "success" in name), names[0])
    column = outcome(row.get(chosen) for row in rows)
    for row in rows:
        row[column] = row.get(chosen)
    notes = [f"{column} is what the scorer {chosen.removeprefix('score:')!r} gave."]
    status = text(document.get("status"))
    unfinished = "" if status in (None, "success") else f"the run's status is {status!r}"
    if unfinished:
        notes.append(f"The run's status is {status!r}: trials may be missing.")
    return Sheet(
        frame_of(rows, head.name),
        "inspect-robots log",
        tuple(notes),
        _stopped(document["samples"], str(rows[0]["policy"])),
        named=NAMED,
        roles=ITEMS,
        unfinished=unfinished,
    )


def _stopped(samples: list[Any], policy: str) -> tuple[Finding, ...]:
    """What must be known of a run that `surefoot.integrations.inspect_robots` has ended early."""
    planned = inner(samples[0], "scene_metadata", "surefoot").get("of")
    if not isinstance(planned, int) or planned <= len(samples):
        return ()
    return (
        Finding(
            about=STOPPED,
            values={"policy": policy, "not_run": planned - len(samples), "manager": "surefoot"},
            says=f"{planned - len(samples):,} scenes were not run: 'surefoot' stopped early.",
            threatens="Intervals and p-values for a fixed size do not hold once outcomes decide when to stop.",
            remedy="Run all scenes to compare the log; the verdict of the run is that of its own rule.",
        ),
    )
