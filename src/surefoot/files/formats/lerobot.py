"""LeRobot `eval_info.json`, as `lerobot-eval` writes it, and `results.jsonl`, a line per finished task."""

from __future__ import annotations

from collections import Counter
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, inner, may, need, number, objects, text
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.text_files import first_record, json_records
from surefoot.table.findings import Finding, own_mean

ABOUT = About(
    name="LeRobot",
    file="eval_info.json (lerobot-eval), results.jsonl",
    becomes="success of every episode; the largest reward is a score when it lies in [0, 1]",
    example="surefoot compare act/eval_info.json dp/eval_info.json --paired",
)


def _unseeded() -> str:
    return (
        "lerobot-eval does not write its seeds. Rollouts are paired only when you say so "
        "(`paired`), which is right only if both runs used the same --seed."
    )


def recognises(head: Head) -> bool:
    """A list of tasks with their totals, a line per task, or the older list of episodes with an aggregate."""
    there = head.json_object.keys()
    tasks = "per_task" in there and not there.isdisjoint(("overall", "per_group"))
    return _is_progress(head) or tasks or {"per_episode", "aggregated"} <= there or bool(_checkpoints(head))


def load(head: Head) -> Sheet:
    """One row per episode; `max_reward` is the score when all of it lies in [0, 1]."""
    if _is_progress(head):
        return _finished(head)
    document = head.json_object
    if checkpoints := _checkpoints(head):
        return _by_checkpoint(checkpoints, head.name)
    if "per_task" in document:
        rows = _tasks(document, head.name)
        total, notes = may(document, "overall", dict, head.name) or {}, [_unseeded()]
    else:
        rows = _episodes(document, head.name)
        total, notes = need(document, "aggregated", dict, head.name), []
    filled(rows, "the file must hold episodes", head.name)
    notes += _scores(rows)
    return Sheet(frame_of(rows, head.name), "LeRobot eval_info.json", tuple(notes), _totals(total, rows, head.name))


def _checkpoints(head: Head) -> dict[str, dict[str, Any]]:
    """The results of each checkpoint, where a file has a level above the tasks; none where it has not."""
    document = head.json_object
    levels = {name: one for name in document if "per_task" in (one := inner(document, name))}
    return levels if levels and levels.keys() == {name for name in document if isinstance(document[name], dict)} else {}


def _by_checkpoint(checkpoints: dict[str, dict[str, Any]], source: str) -> Sheet:
    """One row per episode of each checkpoint, which are the policies."""
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for name, results in checkpoints.items():
        own = _tasks(results, source)
        findings += _totals(may(results, "overall", dict, source, name) or {}, own, f"{source}, {name}")
        rows += [{"policy": name, **row} for row in own]
    filled(rows, "the file must hold episodes", source)
    notes = [_unseeded(), *_scores(rows)]
    named = {"policy": "checkpoint"}
    return Sheet(frame_of(rows, source), "LeRobot checkpoints", tuple(notes), tuple(findings), named=named)


def _is_progress(head: Head) -> bool:
    """Whether a file has a line per task that a run has finished."""
    first = first_record(head)
    return {"task_group", "task_id"} <= first.keys() and bool({"metrics", "status"} & first.keys())


def _finished(head: Head) -> Sheet:
    """The tasks that a run finished so far; a task that failed and was run again counts once, when it finished."""
    tasks: dict[tuple[str | None, str | None], dict[str, Any]] = {}
    failed: dict[tuple[str | None, str | None], str] = {}
    findings: list[Finding] = []
    for row, line in json_records(head):
        key = (text(line.get("task_group")), text(line.get("task_id")))
        if line.get("error") or not line.get("metrics"):
            failed[key] = text(line.get("status")) or "no metrics"
            continue
        if key in tasks:
            raise DataError(
                f"a task must be listed as finished only once; got {key[0]}/{key[1]} twice.", source=head.name, row=row
            )
        tasks[key] = line
        values = need(need(line, "metrics", dict, head.name, f"line {row}"), "successes", list, head.name)
        findings += _totals(line, [{"success": number(one, head.name, "successes")} for one in values], head.name)
    rows = _tasks({"per_task": list(tasks.values())}, head.name)
    filled(rows, "the file must hold finished tasks", head.name)
    notes = [_unseeded(), *_scores(rows)]
    left = [f"{key[0]}/{key[1]} ({status})" for key, status in failed.items() if key not in tasks]
    if left:
        notes.append(f"Not finished, left out: {', '.join(left[:8])}{', ...' if len(left) > 8 else ''}.")
    return Sheet(
        frame_of(rows, head.name), "LeRobot results.jsonl", tuple(notes), tuple(findings), repeats="eval_info.json"
    )


def _scores(rows: list[dict[str, Any]]) -> list[str]:
    """Keep the largest rewards as scores where they can be; what is said of them."""
    rewards = [row["score"] for row in rows if row.get("score") is not None]
    if any(not 0.0 <= reward <= 1.0 for reward in rewards):
        for row in rows:
            row.pop("score", None)
        return ["Some of the largest rewards lie outside [0, 1], so they are not used as scores."]
    return ["The largest reward of an episode is taken as its score, in [0, 1]."] if rewards else []


def _tasks(document: dict[str, Any], source: str) -> list[dict[str, Any]]:
    tasks = list(objects(need(document, "per_task", list, source), source, "per_task"))
    sizes = Counter(text(task.get("task_group")) for _, task in tasks)
    rows: list[dict[str, Any]] = []
    for position, (place, task) in enumerate(tasks):
        group = text(task.get("task_group")) or "task"
        name = group if sizes[group] == 1 else f"{group}/{text(task.get('task_id', position))}"
        metrics = need(task, "metrics", dict, source, place)
        successes = need(metrics, "successes", list, source, f"{place}.metrics")
        lists = {key: may(metrics, key, list, source, f"{place}.metrics") for key in ("sum_rewards", "max_rewards")}
        for key, values in lists.items():
            if values and len(values) != len(successes):
                raise DataError(
                    f"`{place}.metrics.{key}` must have as many values as `successes`, {len(successes)}; "
                    f"got {len(values)}.",
                    source=source,
                )
        for episode, success in enumerate(successes):
            at = f"{place}.metrics"
            row = {"task": name, "dataset": group, "order": episode + 1}
            row["success"] = number(success, source, f"{at}.successes[{episode}]")
            for key, column in (("sum_rewards", "reward"), ("max_rewards", "score")):
                if values := lists[key]:
                    row[column] = number(values[episode], source, f"{at}.{key}[{episode}]")
            rows.append(row)
    return rows


def _episodes(document: dict[str, Any], source: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for place, episode in objects(need(document, "per_episode", list, source), source, "per_episode"):
        names = (("success", "success"), ("reward", "sum_reward"), ("score", "max_reward"))
        row: dict[str, Any] = {
            column: number(episode.get(key), source, f"{place}.{key}")
            for column, key in names
            if key in episode or key == "success"
        }
        rows.append({"seed": text(episode.get("seed")), "order": len(rows) + 1, **row})
    return rows


def _totals(total: dict[str, Any], rows: list[dict[str, Any]], source: str) -> tuple[Finding, ...]:
    percent = number(total.get("pc_success"), source, "overall.pc_success")
    return tuple(own_mean(f"pc_success of {source}", percent, (row["success"] for row in rows), unit=100.0))
