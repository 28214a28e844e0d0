"""What does a partial-credit study look like? A seeded, simulated one, for the demo and the docs.

Two policies do three tasks in the same forty initial conditions. A rollout is a chain of five sub-tasks; its score is
the share passed before the first failure, and it succeeds when all are passed. Nothing here was measured on a robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.rollouts.reading import read

if TYPE_CHECKING:
    from surefoot.rollouts.table import Rollouts

SEED = 20260
TASKS = {"fold towel": 0.93, "pour ice": 0.96, "stack cups": 0.90}
POLICIES = {"new": 0.035, "old": -0.035}
CONDITIONS, STEPS = 40, 5


def example_rollouts(seed: int = SEED) -> Rollouts:
    """The simulated study: 2 policies, 3 tasks, 40 shared conditions, partial credit in fifths.

    Example:
        >>> from surefoot.rollouts.example_study import example_rollouts
        >>> print(example_rollouts())
        240 rollouts of 2 policies on 3 tasks, with success and score in [0, 1].
    """
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    contexts = [(task, place) for task in TASKS for place in range(CONDITIONS)]
    rows: list[tuple[object, ...]] = []
    for order in rng.permutation(len(contexts)):
        task, place = contexts[order]
        hardness = rng.normal(0.0, 0.05)  # shared by both policies: pairs are alike
        for policy in rng.permutation(list(POLICIES)):
            chance = min(0.995, max(0.05, TASKS[task] + POLICIES[policy] + hardness))
            passed = int(np.argmin([*(rng.random(STEPS) < chance), False]))
            rows.append((str(policy), task, f"{task} {place + 1:02d}", len(rows) + 1, passed == STEPS, passed / STEPS))
    names = ["policy", "task", "condition", "order", "success", "score"]
    return read(pl.DataFrame(rows, schema=names, orient="row"))
