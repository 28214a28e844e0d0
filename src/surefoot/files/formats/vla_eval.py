"""vla-eval result JSON: one file per benchmark, tasks with their episodes."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, may, need, number, objects, outcome, text, unique
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.table.findings import Finding, own_total, same_total

ABOUT = About(
    name="vla-eval",
    file="the result JSON of a benchmark",
    becomes="an episode is the condition, with the run's seed",
    example="surefoot report new.json old.json",
)


def recognises(head: Head) -> bool:
    """A benchmark with a list of tasks that hold episodes."""
    document = head.json_object
    return isinstance(document.get("tasks"), list) and not {"benchmark", "harness_version"}.isdisjoint(document)


def load(head: Head) -> Sheet:
    """One row per episode; the episode's id is its condition, with the run's seed."""
    document = head.json_object
    keys = may(document, "metric_keys", dict, head.name) or {}
    rows: list[dict[str, Any]] = []
    for place, task in objects(need(document, "tasks", list, head.name), head.name, "tasks"):
        common = {"task": text(task.get("task")), "dataset": text(document.get("benchmark"))}
        episodes = objects(may(task, "episodes", list, head.name, place) or [], head.name, f"{place}.episodes")
        for order, (at, episode) in enumerate(episodes, 1):
            own = {"condition": text(episode.get("episode_id", order - 1)), "seed": text(document.get("seed"))}
            rows.append({**common, **own, "order": order, **_cells(episode, keys, at, head.name)})
    filled(rows, "the file must hold episodes", head.name)
    unique(((row["task"], row["condition"]) for row in rows), "an episode's id within its task", head.name)
    names = dict.fromkeys(name for row in rows for name in row if name.startswith("metric:"))
    chosen = "metric:success" if "metric:success" in names else next(iter(names), None)
    if chosen is None:
        raise DataError("at least one episode must have a metric; none has.", source=head.name)
    column, metric = outcome(row.get(chosen) for row in rows), chosen.removeprefix("metric:")
    for row in rows:
        row[column] = row.get(chosen)
    notes = [f"{column} is the metric {metric!r}."]
    if document.get("seed") is not None:
        notes.append("Episodes with the same id and run seed are taken to share their start.")
    totals = _totals(document, rows, column, metric, head.name)
    return Sheet(frame_of(rows, head.name), "vla-eval", tuple(notes), totals, named={"condition": "episode"})


def _totals(
    document: dict[str, Any], rows: list[dict[str, Any]], column: str, metric: str, source: str
) -> tuple[Finding, ...]:
    """Each task's own number of episodes and mean, held against its episodes; errors may count as failures or not."""
    found = []
    for place, task in objects(document["tasks"], source, "tasks"):
        name = text(task.get("task"))
        values = [row[column] for row in rows if row["task"] == name]
        known = [value for value in values if value is not None]
        episodes = number(task.get("num_episodes"), source, f"{place}.num_episodes")
        if episodes is not None and values and episodes not in (len(values), len(known)):
            found.append(own_total(f"num_episodes of {name}", episodes, len(values)))
        mean = number(task.get(f"mean_{metric}"), source, f"{place}.mean_{metric}")
        sizes = {len(values), len(known)} if known else set()
        if mean is not None and sizes and not any(same_total(mean, sum(known) / size) for size in sizes):
            found.append(own_total(f"mean_{metric} of {name}", mean, sum(known) / len(known)))
    return tuple(found)


def _cells(episode: dict[str, Any], keys: dict[str, Any], place: str, source: str) -> dict[str, Any]:
    """What an episode says of how it went."""
    metrics = may(episode, "metrics", dict, source, place) or {}  # an episode that ended in an error has none
    wanted = [*keys, *(key for key in metrics if key not in keys)]
    return {
        "steps": number(episode.get("steps"), source, f"{place}.steps"),
        "duration": number(episode.get("elapsed_sec"), source, f"{place}.elapsed_sec"),
        "failure": text(episode.get("failure_reason")),
        **{
            f"metric:{key}": number(metrics[key], source, f"{place}.metrics.{key}")
            for key in wanted
            if isinstance(metrics.get(key), (bool, int, float))
        },
    }
