"""vla-eval result JSON: one file per benchmark, tasks with their episodes."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.rollouts.fields import may, need, number, objects, outcome, text, unique
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet, frame_of


def recognises(head: Head) -> bool:
    """A benchmark with a list of tasks that hold episodes."""
    document = head.document
    if not isinstance(document, dict) or not isinstance(document.get("tasks"), list):
        return False
    return "benchmark" in document or "harness_version" in document


def load(head: Head) -> Sheet:
    """One row per episode; the episode's id is its condition, with the run's seed."""
    document: dict[str, Any] = head.document
    keys = may(document, "metric_keys", dict, head.name) or {}
    rows: list[dict[str, Any]] = []
    for place, task in objects(need(document, "tasks", list, head.name), head.name, "tasks"):
        episodes = need(task, "episodes", list, head.name, place)
        for number_, episode in enumerate(objects(episodes, head.name, f"{place}.episodes"), 1):
            rows.append(_row(document, task, episode[1], number_, keys, episode[0], head.name))
    if not rows:
        raise DataError("the file must hold episodes; it has none.", source=head.name)
    unique(((row["task"], row["condition"]) for row in rows), "an episode's id within its task", head.name)
    names = [name for name in rows[0] if name.startswith("metric:")]
    chosen = "metric:success" if "metric:success" in names else names[0] if names else None
    if chosen is None:
        raise DataError("`tasks[0].episodes[0].metrics` must hold a metric; it has none.", source=head.name)
    column = outcome(row.get(chosen) for row in rows)
    for row in rows:
        row[column] = row.get(chosen)
    notes = [f"{column} is the metric {chosen.removeprefix('metric:')!r}."]
    if document.get("seed") is not None:
        notes.append("Episodes with the same id and run seed are taken to share their start.")
    return Sheet(frame_of(rows, head.name), "vla-eval", tuple(notes))


def _row(
    document: dict[str, Any],
    task: dict[str, Any],
    episode: dict[str, Any],
    order: int,
    keys: dict[str, Any],
    place: str,
    source: str,
) -> dict[str, Any]:
    metrics = need(episode, "metrics", dict, source, place)
    wanted = [*keys, *(key for key in metrics if key not in keys)]
    return {
        "task": text(task.get("task")),
        "dataset": text(document.get("benchmark")),
        "condition": text(episode.get("episode_id", order - 1)),
        "seed": text(document.get("seed")),
        "order": order,
        "steps": number(episode.get("steps"), source, f"{place}.steps"),
        "duration": number(episode.get("elapsed_sec"), source, f"{place}.elapsed_sec"),
        "failure": text(episode.get("failure_reason")),
        **{
            f"metric:{key}": number(metrics[key], source, f"{place}.metrics.{key}")
            for key in wanted
            if isinstance(metrics.get(key), (bool, int, float))
        },
    }
