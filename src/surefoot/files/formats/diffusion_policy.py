"""diffusion_policy `eval_log.json`: the largest reward of each seed, in training and test starts."""

from __future__ import annotations

import re
from typing import Any

from surefoot.files.fields import number
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.table.findings import own_mean

ABOUT = About(
    name="diffusion_policy",
    file="eval_log.json",
    becomes="a score per seed; test and train starts are two tasks",
    example="surefoot compare new/eval_log.json old/eval_log.json",
)

KEY = re.compile(r"^(?P<part>[\w-]+)/sim_max_reward_(?P<seed>\d+)$")


def recognises(head: Head) -> bool:
    """A flat object with a largest reward per seed."""
    return any(KEY.match(key) for key in head.json_object)


def load(head: Head) -> Sheet:
    """One row per seed, with its score; test and train starts are two tasks."""
    rows: list[dict[str, Any]] = []
    for key, value in head.json_object.items():
        match = KEY.match(key)
        if match:
            rows.append({"task": match["part"], "seed": match["seed"], "score": number(value, head.name, key)})
    findings = []
    for part in dict.fromkeys(row["task"] for row in rows):
        total = f"{part}/mean_score"
        mean = number(head.json_object.get(total), head.name, total)
        findings += own_mean(total, mean, (row["score"] for row in rows if row["task"] == part))
    note = "The largest reward is the score, in [0, 1]; test and train starts are two tasks."
    return Sheet(
        frame_of(rows, head.name), "diffusion_policy eval_log.json", (note,), tuple(findings), roles={"seed": "unit"}
    )
