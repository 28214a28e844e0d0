"""Harbor jobs: `jobs/<job>/<trial>/result.json`, a file per trial of a task."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from surefoot._arguments import write
from surefoot.errors import DataError
from surefoot.files.fields import inner, listed, may, number, text
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head

ABOUT = About(
    name="Harbor",
    file="a job's folder, jobs/<job>/<trial>/result.json",
    becomes="a task is the condition, a trial its repeat, agent and model the policy; a trial without a reward is a "
    "failure, as Harbor counts it; a cancelled one is left out",
    example="surefoot report jobs/",
)

NAMED = {"policy": "agent", "condition": "task", "repeat": "trial"}


def recognises(head: Head) -> bool:
    """The result of one trial: which task, by which agent."""
    return {"task_name", "trial_name", "agent_info"} <= head.json_object.keys()


def load(head: Head) -> Sheet:
    """One row: a trial."""
    trial = head.json_object
    error = inner(trial, "exception_info")
    row: dict[str, Any] = {
        "policy": _agent(trial, head.name),
        "dataset": text(trial.get("source")),
        "condition": text(trial.get("task_name")),
        "repeat": text(trial.get("trial_name")),
        "started_at": text(trial.get("started_at")),
        "duration": _seconds(trial),
        "failure": text(error.get("exception_type")),
        **_spent(trial, head.name),
    }
    reward = _reward(trial, head)
    row["success" if reward in (0.0, 1.0) else "score"] = reward
    row |= {"metric": head.wanted["metric"][0]} if "metric" in head.wanted else {}
    unfinished = "the trial was cancelled" if row["failure"] == "CancelledError" else ""
    if trial.get("finished_at") is None and not row["failure"]:
        unfinished = "the trial has not finished"
    return Sheet(
        frame_of([row], head.name),
        "Harbor trial",
        named=NAMED,
        roles=ITEMS,
        records=[trial],
        unfinished=unfinished,
        run=text(trial.get("id")) or "",
    )


def _agent(trial: dict[str, Any], source: str) -> str:
    agent = may(trial, "agent_info", dict, source) or {}
    name, model = text(agent.get("name")) or "agent", text(inner(agent, "model_info").get("name"))
    return f"{name} / {model}" if model else name


def _reward(trial: dict[str, Any], head: Head) -> float:
    """The reward of that name, or the only one; none is a failure, as in Harbor's own mean."""
    rewards = inner(trial, "verifier_result", "rewards") or inner(trial, "verifier_result")
    values = {name: value for name, value in rewards.items() if value is not None}
    wanted = head.wanted.get("metric", ("reward",))[0]
    if values and wanted not in values and len(values) > 1:
        raise DataError(
            f"one reward must be the outcome; got {', '.join(map(repr, values))}.",
            source=head.name,
            cure=f"Say which: {write('where', {'metric': None})}.",
        )
    found = values.get(wanted, next(iter(values.values()), 0.0))
    reward = number(found, head.name, "verifier_result.rewards")
    return 0.0 if reward is None else reward


def _spent(trial: dict[str, Any], source: str) -> dict[str, float | None]:
    """Tokens and cost of the agent, over all steps."""
    agents = [inner(trial, "agent_result")] if trial.get("agent_result") else []
    agents += [inner(step, "agent_result") for step in listed(trial, "step_results")]
    spent: dict[str, float | None] = {}
    for column, keys in {"cost": ("cost_usd",), "tokens": ("n_input_tokens", "n_output_tokens")}.items():
        found = [number(one.get(key), source, f"agent_result.{key}") for one in agents for key in keys]
        known = [value for value in found if value is not None]
        spent[column] = sum(known) if known else None
    return spent


def _seconds(trial: dict[str, Any]) -> float | None:
    try:
        begun, ended = (datetime.fromisoformat(str(trial.get(key))) for key in ("started_at", "finished_at"))
        return (ended - begun).total_seconds()
    except (TypeError, ValueError):
        return None
