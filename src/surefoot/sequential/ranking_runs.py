"""How would many studies of many policies have ended under a closed ranking?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.numerics import blocks
from surefoot.numerics.closed_bets import Gamblers
from surefoot.sequential.closed_ranking import ClosedRanking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_ROWS = 60_000  # gamblers played side by side: more fill the caches


class RankingSimulation(NamedTuple):
    """How each of many studies ended.

    Attributes:
        rollouts: Rollouts of each policy, a row per study.
        better: The claims: whether a was shown better than b, a square per study.
        complete: Whether all that was asked was decided.
    """

    rollouts: Whole
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


def simulate_ranking(rule: ClosedRanking, scores: ArrayLike) -> RankingSimulation:
    """How would each of many studies have ended? What `run_ranking` gives, many studies at once.

    Args:
        rule: The rule; all its policies run from the start.
        scores: The score of every policy in every round of every study: studies, rounds, policies.

    Raises:
        ValueError: The shape does not fit, or a score is outside the rule's range.
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "buif":
        raise TypeError(_check.refusal("scores", "be an array of numbers", array.dtype.name))
    if array.ndim != 3 or array.shape[2] != len(rule.names) or not array.size:
        must = f"hold studies, rounds and {len(rule.names)} policies"
        raise ValueError(f"`scores` must {must}; got shape {array.shape}.")
    if any(rule.joined):
        raise ValueError("`rule` must have all policies from the start to be simulated; got one that joins later.")
    array = np.asarray(array, np.float64)
    if not ((array >= rule.low) & (array <= rule.high)).all():  # NaN is not
        raise ValueError(f"`scores` must be in the range [{rule.low:g}, {rule.high:g}]; got one that is not.")
    step = block_studies(rule)
    parts = [array[start : start + step] for start in range(0, len(array), step)]
    ended = blocks.spread(played, [(rule, part) for part in parts])
    return RankingSimulation(*(np.concatenate(part) for part in zip(*ended, strict=True)))


def block_studies(rule: ClosedRanking) -> int:
    """How many studies are played side by side."""
    return max(1, _ROWS // len(rule.family(len(rule.names))))


def played(rule: ClosedRanking, scores: Floats) -> tuple[Whole, Flags, Flags]:
    """Rollouts, claims and completeness of studies whose scores were checked."""
    unit = (scores - rule.low) / (rule.high - rule.low)
    studies, rounds, size = unit.shape
    games, going = Gamblers.begin(rule.family(size), rule.terms, studies), np.arange(studies)
    rollouts, better = np.zeros((studies, size), np.int64), np.zeros((studies, size, size), bool)
    complete = np.zeros(studies, bool)
    for turn in range(min(rounds, rule.horizon)):
        rollouts[going] += games.running
        games = games.step(unit[going, turn], p_values=False)
        better[going], complete[going] = games.better, ~games.open.any(axis=(1, 2))
        more: Flags = np.any(games.running, axis=1)
        if not more.all():
            if not more.any():
                break
            games, going = games.keep(more), going[more]
    return rollouts, better, complete
