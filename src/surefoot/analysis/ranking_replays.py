"""How many rollouts would a ranking have taken, had these rollouts of many policies been run under it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import _check
from surefoot.analysis.comparisons import chosen
from surefoot.analysis.measurements import Measure
from surefoot.analysis.replays import BLOCKED, HINDSIGHT, blocking
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.errors import DataError
from surefoot.numerics.weak_orders import MOST
from surefoot.sequential import RankingRule, registry, run_ranking, simulate_ranking
from surefoot.sequential.registry import Setting
from surefoot.sequential.validity import declared
from surefoot.table.rollouts import Rollouts

Round = dict[str, float]


@dataclass(frozen=True, slots=True)
class ReplayedRanking(Record):
    """Many policies on one task, ranked round by round.

    Attributes:
        task: The task, or None when there is only one.
        rounds: Rounds recorded.
        horizon: The most rounds that the rule was given.
        state: Where the rule ended: a `ClosedRankingState`, or a `RankingState` for eight policies or more.
        holm: The rollouts that Holm's step-down would have taken, for comparison.
        notes: What a reader must know besides.
    """

    task: str | None
    rounds: int
    horizon: int
    state: Any
    holm: int
    notes: tuple[str, ...] = ()

    @property
    def batch(self) -> int:
        """The rollouts of all policies run to the horizon."""
        return self.horizon * len(self.state.rule.names)

    @property
    def used(self) -> int:
        """The rollouts that the rule would have taken."""
        return int(self.state.rollouts_used)

    def __str__(self) -> str:
        head = f"{self.task}:\n" if self.task else ""
        return f"{head}{self.state}"


@dataclass(frozen=True, slots=True)
class RankingReplay(Record):
    """Recorded rollouts of many policies, replayed under a ranking rule.

    Attributes:
        policies: The policies.
        measure: Whether success or the score was compared.
        confidence: Over all looks and all pairs, for each task.
        rankings: One per task.
        notes: What a reader must know besides.
    """

    policies: tuple[str, ...]
    measure: Measure
    confidence: float
    rankings: tuple[ReplayedRanking, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        used, holm, batch = (sum(getattr(one, name) for one in self.rankings) for name in ("used", "holm", "batch"))
        beside = f" Holm: {holm:,}." if len(self.policies) <= MOST else " Eight policies or more are ranked by Holm."
        total = f"{used:,} of {batch:,} rollouts, {1.0 - used / batch:.0%} saved.{beside}"
        return "\n".join((*map(str, self.rankings), total, *self.notes))


def replay_ranking(
    rollouts: Rollouts,
    *,
    policies: Sequence[str] | None = None,
    horizon: int | None = None,
    measure: Measure | None = None,
    confidence: float = 0.95,
    question: str = "ranking",
    futility: float = 0.0,
    pooled: bool = False,
) -> RankingReplay:
    """How many rollouts would a ranking have taken on recorded rollouts, in recorded order?

    Rollouts in the same environment form a round; where the table cannot tell, the n-th rollouts of all policies do.
    Every task is a ranking of its own unless `pooled`. Up to seven policies are ranked by `ClosedRanking`, more by
    Holm.

    Args:
        rollouts: The table.
        policies: The policies to rank; left out, all.
        horizon: The most rounds; left out, as many as were recorded.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks and all pairs.
        question: See `ClosedRanking`.
        futility: See `ClosedRanking`.
        pooled: Whether all tasks make one ranking, in the order they were run.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({"policy": ["new", "old", "none"] * 30, "success": [1, 1, 0, 1, 0, 0] * 15})
        >>> print(sf.replay_ranking(sf.read(frame)).rankings[0].state)
        new   rank 1  a  14 rollouts
        old   rank 2  b  14 rollouts
        none  rank 3  c  13 rollouts
        All places are settled after 14 rounds and 41 rollouts (at most 90).
    """
    what = chosen(rollouts, measure)
    names = rollouts.policies if policies is None else tuple(policies)
    for name in names:
        _check.choice(name, "policies", dict.fromkeys(rollouts.policies))
    if len(set(names)) < 3 or len(set(names)) < len(names):
        raise _check.refused("policies", "be three or more different policies", list(names))
    if len(names) > MOST and (question != "ranking" or futility):
        raise ValueError(f"`policies` must be at most {MOST} for a question or futility; got {len(names)}.")
    tasks: Sequence[str | None] = rollouts.tasks if len(rollouts.tasks) > 1 and not pooled else (None,)
    found = []
    for task in tasks:
        part = rollouts if task is None else rollouts.where(task=task)
        known = {group.key[0] for group in part.summary() if group.known(what)}
        if set(names) <= known:
            found.append(_replayed(part, task, names, what, horizon, (confidence, question, futility)))
    if not found:
        raise DataError(f"the policies must share a task with a known {what}; got none.", source=rollouts.source)
    notes = dict.fromkeys(note for one in found for note in one.notes)
    return RankingReplay(names, what, float(confidence), tuple(found), (*notes, HINDSIGHT))


def _replayed(
    part: Rollouts,
    task: str | None,
    names: tuple[str, ...],
    measure: Measure,
    horizon: int | None,
    asked: tuple[float, str, float],
) -> ReplayedRanking:
    rounds, left = _rounds(part, names, measure)
    notes = (
        [f"{formatting.rollouts(left)}{f' on {task}' if task else ''} in no round of all policies: left out."]
        if left
        else []
    )
    notes += [BLOCKED.format(what=what) for what in blocking(part, task)]
    most = len(rounds) if horizon is None else horizon
    confidence, question, futility = asked
    low, high = (0.0, 1.0) if measure == "success" else (part.low, part.high)
    setting = Setting(
        policies=names,
        horizon=most,
        confidence=confidence,
        measure=measure,
        low=low,
        high=high,
        question=question,
        futility=futility,
    )
    rule: Any = declared(registry.advised(setting), setting)
    holm = RankingRule.made(replace(setting, question="ranking", futility=0.0))
    state = run_ranking(rule, rounds)[-1]
    beside = int(simulate_ranking(holm, [[list(one.values()) for one in rounds]]).rollouts.sum())
    return ReplayedRanking(task, len(rounds), most, state, beside, tuple(notes))


def _rounds(part: Rollouts, names: tuple[str, ...], measure: Measure) -> tuple[list[Round], int]:
    """The scores of every round that all policies have, and how many rollouts are in none."""
    pairings = [part.pairing(names[0], name) for name in names[1:]]
    on = pairings[0].on if all(pairings) and len({one.on for one in pairings}) == 1 else ()
    own: dict[str, dict[object, float]] = {}
    for name in names:
        mine = part.where(policy=name)
        scores = mine.column(measure)
        keys: Any = zip(*(mine.column(key) for key in on), strict=True) if on else _places(scores)
        own[name] = {key: float(score) for key, score in zip(keys, scores, strict=True) if score is not None}
    rounds = [
        {name: own[name][key] for name in names} for key in own[names[0]] if all(key in own[name] for name in names)
    ]
    if not rounds:
        raise DataError("the policies must share an environment; got none that all of them met.", source=part.source)
    return rounds, sum(map(len, own.values())) - len(rounds) * len(names)


def _places(scores: Sequence[Any]) -> list[int]:
    """The place of each known score among the known ones."""
    places, seen = [], 0
    for score in scores:
        places.append(seen)
        seen += score is not None
    return places
