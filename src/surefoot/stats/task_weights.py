"""Weights of tasks in an average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from surefoot import _check

Weights = Literal["rollouts", "tasks"] | Mapping[str, float]
"""How tasks weigh: by their share of rollouts, equally, or as given."""


def task_weights(counts: Mapping[str, int], weights: Weights) -> dict[str, float]:
    """How much each task weighs, summing to 1; `counts` are the rollouts of all policies together."""
    if isinstance(weights, Mapping):
        if set(weights) != set(counts):
            odd = sorted(map(str, set(weights) ^ set(counts)))
            raise _check.wrong(
                "weights", f"hold one number for each task; got a difference in {', '.join(odd)}.", weights
            )
        given = {task: _check.positive(weights[task], f"weights[{task!r}]") for task in counts}
    else:
        _check.choice(weights, "weights", {"rollouts": 1, "tasks": 1})
        given = {task: float(count) if weights == "rollouts" else 1.0 for task, count in counts.items()}
    total = math.fsum(given.values())
    return {task: weight / total for task, weight in given.items()}
