"""How would many studies of many policies have ended under a ranking rule?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.numerics import work_blocks
from surefoot.sequential.round_rules import RoundRule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Ints

_ROWS = 60_000  # gamblers played side by side: more fill the caches


class RankingSimulation(NamedTuple):
    """How each of many studies ended.

    Attributes:
        rollouts: Rollouts of each policy, a row per study.
        better: The claims: whether a was shown better than b, a square per study.
        complete: Whether all that was asked was decided.
    """

    rollouts: Ints
    better: Flags
    complete: Flags

    @property
    def mean_rollouts(self) -> float:
        """Mean rollouts of a study."""
        return float(self.rollouts.sum(axis=1).mean())

    def __str__(self) -> str:
        return (
            f"{len(self.complete):,} studies, {self.mean_rollouts:.1f} rollouts on average, "
            f"{self.complete.mean():.1%} complete."
        )


def simulate_ranking(rule: RoundRule[Any], scores: ArrayLike) -> RankingSimulation:
    """How would each of many studies have ended? What `run_ranking` gives, many studies at once.

    Args:
        rule: A rule such as `ClosedRanking`; all its policies run from the start.
        scores: The score of every policy in every round of every study: studies, rounds, policies.

    Raises:
        ValueError: The shape does not fit, or a score is outside the rule's range.
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "buif":
        raise _check.mistyped("scores", "be an array of numbers", array.dtype.name)
    if array.ndim != 3 or array.shape[2] != len(rule.names) or not array.size:
        must = f"hold studies, rounds and {len(rule.names)} policies"
        raise _check.wrong("scores", f"{must}; got shape {array.shape}.", scores)
    if any(rule.joined):
        raise _check.wrong("rule", "have all policies from the start to be simulated; got one that joins later.", rule)
    array = np.asarray(array, np.float64)
    if not ((array >= rule.low) & (array <= rule.high)).all():  # NaN is not
        raise _check.wrong("scores", f"be in the range [{rule.low:g}, {rule.high:g}]; got one that is not.", scores)
    step = block_studies(rule)
    parts = [array[start : start + step] for start in range(0, len(array), step)]
    ended = work_blocks.spread(rule.played, [(part,) for part in parts])
    return RankingSimulation(*(np.concatenate(part) for part in zip(*ended, strict=True)))


def block_studies(rule: RoundRule[Any]) -> int:
    """How many studies are played side by side."""
    return max(1, _ROWS // rule.games)
