"""Sequential halving: budgets of its stages, and fresh rollouts of the policy picked.

Many studies are played side by side, one per row. Scores are in [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


class Stage(NamedTuple):
    """So many policies run so often each."""

    policies: int
    rollouts: int


def stages(policies: int, budget: int, share: float) -> tuple[Stage, ...]:
    """The stages of so many policies: all, the higher half, and so on down to two, each of an equal share."""
    sizes = [policies]
    while sizes[-1] > 2:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(Stage(size, int(share * budget / (len(sizes) * size) + 1e-9)) for size in sizes)


class Halved(NamedTuple):
    """How each of many studies ended.

    Attributes:
        counts: Rollouts of each policy, a row per study.
        pick: The policy picked.
        fresh: The sum of its fresh scores.
        rollouts: How many fresh rollouts it ran.
    """

    counts: Ints
    pick: Ints
    fresh: Floats
    rollouts: int


def halved(plan: tuple[Stage, ...], budget: int, order: Ints, draw: Callable[[Ints, Ints, Ints], Floats]) -> Halved:
    """Studies run to their ends.

    Args:
        plan: The stages.
        budget: All rollouts.
        order: The place of each policy among ties, a row per study.
        draw: The sum of each policy's next scores, from the studies, how often each runs and how often it has run.
    """
    studies, size = order.shape
    rows, running = np.arange(studies), np.ones((studies, size), bool)
    counts, sums = np.zeros((studies, size), np.int64), np.zeros((studies, size))
    for place, stage in enumerate(plan):
        turns = running * np.int64(stage.rollouts)
        sums += draw(rows, turns, counts)
        counts += turns
        kept = plan[place + 1].policies if place + 1 < len(plan) else 1
        running = kept_of(running, sums / np.maximum(counts, 1), order, kept)
    left = budget - sum(stage.policies * stage.rollouts for stage in plan)
    turns = running * np.int64(left)
    fresh = draw(rows, turns, counts)
    pick = running.argmax(axis=1)
    return Halved(counts + turns, pick, fresh[rows, pick], left)


def kept_of(running: Ints, means: Floats, order: Ints, count: int) -> Ints:
    """Which of the running ones have the highest means; of ties those first in the order."""
    height = np.where(running, means, -np.inf)
    first = np.lexsort((order, -height), axis=1)[:, :count]
    kept = np.zeros_like(running)
    np.put_along_axis(kept, first, True, axis=1)
    return kept
