"""tau-bench and tau2-bench: a list of trials, or the results of a run with its simulations."""

from __future__ import annotations

from typing import Any

from surefoot.files.fields import filled, inner, listed, need, number, objects, outcome, text, unique
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import Head

ABOUT = About(
    name="tau-bench, tau2-bench",
    file="the JSON of a run: a list of task_id, trial and reward; or results.json with simulations",
    becomes="a task is the condition, a trial its repeat, reward the outcome; the agent's model is the policy",
    example="surefoot compare gpt.json claude.json",
)

NAMED = {"policy": "model", "condition": "task", "repeat": "trial", "task": "domain"}
NOT_EVALUATED = ("infrastructure_error", "context_window_exceeded")
"""How a simulation ends that tau2-bench counts in no metric."""
TRIAL = frozenset(("task_id", "reward", "trial"))


def recognises(head: Head) -> bool:
    """A list of trials, or simulations of tasks."""
    document = head.document
    if isinstance(document, list):
        return bool(document) and isinstance(document[0], dict) and document[0].keys() >= TRIAL
    runs = listed(head.json_object, "simulations") or listed(head.json_object, "simulation_index")
    return bool(runs) and "task_id" in runs[0] and "info" in head.json_object


def load(head: Head) -> Sheet:
    """One row per trial of a task; what was not evaluated has no outcome."""
    document = head.document
    is_list = isinstance(document, list)
    key = "simulations" if is_list or document.get("simulations") else "simulation_index"
    trials = document if is_list else need(document, key, list, head.name)
    rows = [_row(place, trial, head.name) for place, trial in objects(trials, head.name, "" if is_list else key)]
    filled(rows, "the run must hold trials", head.name)
    unique(((row["condition"], row["repeat"]) for row in rows), "task and trial", head.name)
    shared = {} if is_list else _shared(document)
    column = outcome(row["reward"] for row in rows)
    lost = sum(row["failure"] in NOT_EVALUATED for row in rows)
    for row in rows:
        row |= {column: row.pop("reward"), **shared}
    notes = [f"{column} is the reward."]
    if lost:
        notes.append(f"{lost:,} of {len(rows):,} trials could not be evaluated, so they have no outcome.")
    if len({row["repeat"] for row in rows}) < 2:
        for row in rows:
            del row["repeat"]
    return Sheet(frame_of(rows, head.name), "tau-bench", tuple(notes), named=NAMED, roles=ITEMS, records=trials)


def _row(place: str, trial: dict[str, Any], source: str) -> dict[str, Any]:
    ended = text(trial.get("termination_reason"))
    found = trial.get("reward") if "reward" in trial else inner(trial, "reward_info").get("reward")
    reward = number(found, source, f"{place}.reward")
    if reward is not None and abs(reward - 1.0) <= 1e-6:  # as both benchmarks count a success
        reward = 1.0
    messages = trial.get("messages") or trial.get("traj")
    return {
        "condition": text(trial.get("task_id")),
        "repeat": text(trial.get("trial")) or "0",
        "reward": None if ended in NOT_EVALUATED else reward,
        "failure": ended or text(inner(trial, "info").get("error")),
        "seed": text(trial.get("seed")),
        "duration": number(trial.get("duration"), source, f"{place}.duration"),
        "cost": number(trial.get("agent_cost"), source, f"{place}.agent_cost"),
        "steps": len(messages) if isinstance(messages, list) else None,
    }


def _shared(document: dict[str, Any]) -> dict[str, Any]:
    """What all simulations of a run share: who acted and where."""
    agent, user = inner(document, "info", "agent_info"), inner(document, "info", "user_info")
    domain = inner(document, "info", "environment_info").get("domain_name")
    named = {"policy": text(agent.get("llm") or agent.get("implementation")), "task": text(domain)}
    return {**{key: value for key, value in named.items() if value}, "user model": text(user.get("llm"))}
