"""How would many studies of many policies have ended under a ranking rule?"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.numerics import work_blocks
from surefoot.numerics.closed_bets import Gamblers
from surefoot.sequential.betting import Games
from surefoot.sequential.closed_ranking import ClosedRanking
from surefoot.sequential.ranking import RankingRule
from surefoot.stats.rankings import rank_intervals

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


def simulate_ranking(rule: ClosedRanking | RankingRule, scores: ArrayLike) -> RankingSimulation:
    """How would each of many studies have ended? What `run_ranking` gives, many studies at once.

    Args:
        rule: The rule, `ClosedRanking` or `RankingRule`; all its policies run from the start.
        scores: The score of every policy in every round of every study: studies, rounds, policies.

    Raises:
        ValueError: The shape does not fit, or a score is outside the rule's range.
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "buif":
        raise _check.mistyped("scores", "be an array of numbers", array.dtype.name)
    if array.ndim != 3 or array.shape[2] != len(rule.names) or not array.size:
        must = f"hold studies, rounds and {len(rule.names)} policies"
        raise ValueError(f"`scores` must {must}; got shape {array.shape}.")
    if isinstance(rule, ClosedRanking) and any(rule.joined):
        raise ValueError("`rule` must have all policies from the start to be simulated; got one that joins later.")
    array = np.asarray(array, np.float64)
    if not ((array >= rule.low) & (array <= rule.high)).all():  # NaN is not
        raise ValueError(f"`scores` must be in the range [{rule.low:g}, {rule.high:g}]; got one that is not.")
    step = block_studies(rule)
    parts = [array[start : start + step] for start in range(0, len(array), step)]
    ended = work_blocks.spread(played, [(rule, part) for part in parts])
    return RankingSimulation(*(np.concatenate(part) for part in zip(*ended, strict=True)))


def block_studies(rule: ClosedRanking | RankingRule) -> int:
    """How many studies are played side by side."""
    each = len(rule.family(len(rule.names))) if isinstance(rule, ClosedRanking) else 2 * len(rule.pairs)
    return max(1, _ROWS // each)


def played(rule: ClosedRanking | RankingRule, scores: Floats) -> tuple[Whole, Flags, Flags]:
    """Rollouts, claims and completeness of studies whose scores were checked."""
    return _closed(rule, scores) if isinstance(rule, ClosedRanking) else _by_pairs(rule, scores)


def _closed(rule: ClosedRanking, scores: Floats) -> tuple[Whole, Flags, Flags]:
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


def _by_pairs(rule: RankingRule, scores: Floats) -> tuple[Whole, Flags, Flags]:
    """Every pair of every study is a game; verdicts are given where the number of rejected directions grows."""
    studies, rounds, size = scores.shape
    pairs = np.array(list(combinations(range(size), 2)))
    one, other = np.tile(pairs[:, 0], studies), np.tile(pairs[:, 1], studies)
    games, active = Games.begin(rule.pair_rule, studies * len(pairs)), np.arange(studies * len(pairs))
    best = np.zeros((2, studies * len(pairs)))
    verdicts = [(Verdict.UNDECIDED,) * len(pairs)] * studies
    found, rollouts = np.zeros(studies, np.int64), np.zeros((studies, size), np.int64)
    running = np.ones((studies, size), bool)
    for turn in range(min(rounds, rule.horizon)):
        rollouts += running
        study = active // len(pairs)
        games.bet(scores[study, turn, one[active]], scores[study, turn, other[active]])
        best[:, active] = games.log_best
        each = best.reshape(2, studies, -1)
        now = _rejected(rule, np.concatenate(each, axis=1))
        for place in np.flatnonzero(now > found).tolist():
            adjusted = rule.adjusted(np.exp(-each[:, place]).T.ravel().tolist())
            verdicts[place] = rule.decided(verdicts[place], adjusted)
            ranks = rank_intervals(rule.names, rule.pairs, verdicts[place])
            running[place] = [first < last for first, last in ranks]
        found = now
        going = (games.codes() == 0) & running[study, one[active]] & running[study, other[active]]
        games.keep(going)
        active = active[going]
        if not running.any():
            break
    better = np.zeros((studies, size, size), bool)
    for place, (i, j) in enumerate(pairs.tolist()):
        better[:, i, j] = [said[place] is Verdict.BETTER for said in verdicts]
        better[:, j, i] = [said[place] is Verdict.WORSE for said in verdicts]
    return rollouts, better, np.array([Verdict.UNDECIDED not in said for said in verdicts])


def _rejected(rule: RankingRule, log_best: Floats) -> Whole:
    """How many directions each study rejects: those p-values that stand the step-down."""
    error, count = 1.0 - rule.confidence, log_best.shape[1]
    left = np.arange(count, 0, -1) if rule.adjusting == "holm" else np.full(count, count)
    stands = -np.sort(-log_best, axis=1) >= np.log(left / error) - 1e-9  # a hair early: the rule itself decides
    found: Whole = np.cumprod(stands, axis=1).sum(axis=1)
    return found
