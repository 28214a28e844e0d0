"""Recorded rollouts of many policies, replayed under a sequential ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from surefoot import _check
from surefoot.analysis.comparisons import chosen
from surefoot.analysis.replays import BLOCKED, CUT, HINDSIGHT, ORDER, blocking, one_task, tasks_apart
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.sentences import fill
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.sequential import registry, run_ranking, simulate_ranking
from surefoot.sequential.registry import Setting
from surefoot.sequential.validity import declared
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.start_order import by_starts, rounds_of, said_order

if TYPE_CHECKING:
    from surefoot.sequential.round_rules import RoundRule

Round = dict[str, float]


@dataclass(frozen=True, slots=True)
class ReplayedRanking(Record):
    """Many policies on one task, ranked round by round.

    Attributes:
        task: The task, or None when there is only one.
        rounds: Rounds recorded.
        horizon: The most rounds that the rule was given.
        state: Where the rule ended, such as a `ClosedRankingState`.
        regrets: Of a race to within so much of the best, after each round: how far below the best its champion is at
            most, with the declared confidence at all moments together; none before there is one.
        others: The rollouts that other rules would have taken for the whole ranking, by their labels.
        notes: What a reader must know besides.
    """

    task: str | None
    rounds: int
    horizon: int
    state: Any
    others: Mapping[str, int] = field(default_factory=dict)
    regrets: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def batch(self) -> int:
        """The rollouts of all policies run to the horizon."""
        return int(self.horizon * len(self.state.rule.names))

    @property
    def used(self) -> int:
        """The rollouts that the rule would have taken."""
        return int(self.state.rollouts_used)

    def __str__(self) -> str:
        head = f"{self.task}:\n" if self.task else ""
        return f"{head}{self.state}"


@dataclass(frozen=True, slots=True)
class RankingReplay(Worded):
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
        used, batch = (sum(getattr(one, name) for one in self.rankings) for name in ("used", "batch"))
        first = self.rankings[0]
        others = {label: sum(one.others[label] for one in self.rankings) for label in first.others}
        beside = "".join(f" {label}: {rollouts:,}." for label, rollouts in others.items())
        by = beside or f" By {first.state.rule.title}."
        total = f"{used:,} of {batch:,} {self.words.rollouts}, {1.0 - used / batch:.0%} saved.{by}"
        return "\n".join((*map(str, self.rankings), total, *self.notes))


@in_its_words
def replay_ranking(
    rollouts: Rollouts,
    *,
    policies: Sequence[str] | None = None,
    rule: str | None = None,
    horizon: int | None = None,
    measure: Measure | None = None,
    confidence: float = 0.95,
    question: str | None = None,
    within: float | None = None,
    futility: float = 0.0,
    pooled: bool = False,
    start_order: str | None = None,
) -> RankingReplay:
    """Stopping point of a sequential ranking on recorded rollouts, taken in the order in which they were started.

    Rollouts in the same environment form a round; where the table cannot tell, the n-th rollouts of all policies do.
    Every task is a ranking of its own unless `pooled`.

    Args:
        rollouts: The table.
        policies: The policies to rank; left out, all.
        rule: A rule that ranks, by its word in plan files; left out, the one that fits best: "closed" for up to
            sixteen policies, "holm" for more, "race" for the best of more than seven or with `within`.
        horizon: The most rounds; left out, as many as were recorded.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks and all pairs.
        question: See `ClosedRanking`; left out, "best" with `within` or for a race, else "ranking".
        within: How far below the best the one named may be; see `Race`.
        futility: See `ClosedRanking`.
        pooled: Whether all tasks make one ranking, in the order they were run.
        start_order: The column that tells the order of the starts, as for `replay`.

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
    asked = question or asked_of(rule, within)
    least = 2 if asked.startswith("best") else 3
    if len(set(names)) < least or len(set(names)) < len(names):
        must = f"be {'two' if least == 2 else 'three'} or more different {rollouts.words.policies}"
        raise _check.refused("policies", must, list(names))
    how = said_order(rollouts, start_order)
    rollouts, waits = by_starts(rollouts, what, names, start_order)
    tasks = tasks_apart(rollouts, pooled=pooled)
    found = []
    for task in tasks:
        part = rollouts if task is None else one_task(rollouts, task)
        known = {group.key[0] for group in part.summary() if group.known(what)}
        if set(names) <= known:
            low, high = part.ends(what)
            setting = Setting(
                policies=names, confidence=confidence, claim="either", measure=what, low=low, high=high,
                question=asked, within=within, futility=futility,
            )  # fmt: skip
            found.append(_replayed(part, task, setting, horizon, rule))
    if not found:
        raise DataError(
            f"the {rollouts.words.policies} must share {rollouts.words.a_task} with a known {what}; got none.",
            source=rollouts.source,
        )
    notes = dict.fromkeys(note for one in found for note in one.notes)
    notes |= dict.fromkeys(
        [fill(ORDER, words=rollouts.words, how=how), *([fill(CUT, words=rollouts.words, waits=waits)] if waits else [])]
    )
    return RankingReplay(names, what, float(confidence), tuple(found), (*notes, fill(HINDSIGHT, words=rollouts.words)))


def asked_of(rule: str | None, within: float | None) -> str:
    """The question where none is named: the rule's own, or which is best where one nearly as good will do."""
    if rule is None:
        return "ranking" if within is None else "best"
    own = [kind.questions for kind in registry.kinds(registry.known(rule))]
    return next((one[0] for one in own if one is not None), "ranking")


def _replayed(
    part: Rollouts, task: str | None, setting: Setting, horizon: int | None, rule: str | None
) -> ReplayedRanking:
    rounds, left, shared = _rounds(part, setting.policies, setting.measure)
    where = f" on {task}" if task else ""
    said = f"{formatting.rollouts(left, part.words)}{where} in no round of all {part.words.policies}: left out."
    notes = [said] if left else []
    notes += [BLOCKED.format(what=what) for what in blocking(part)]
    horizon = len(rounds) if horizon is None else horizon
    setting = replace(setting, horizon=horizon, environments="shared" if shared else setting.environments)
    chosen: Any = declared(registry.advised(setting) if rule is None else rule, setting)
    states = run_ranking(chosen, rounds)
    whole = replace(setting, question="ranking", within=None, futility=0.0)
    scores = [[list(one.values()) for one in rounds]]
    others = {
        kind.label: int(simulate_ranking(cast("RoundRule[Any]", kind.made(whole)), scores).rollouts.sum())
        for kind in registry.fitting(whole)
        if kind.name != chosen.name and len(setting.policies) > 2
    }
    if not states[-1].finished and len(rounds) == setting.horizon:
        used = dict(zip(chosen.names, states[-1].rollouts, strict=True))
        short = [name for name, often in states[-1].turns.items() if used[name] + often > len(rounds)]
        notes.append(f"{' and '.join(short)} ran several times a round and had none left: the race ended there.")
    regrets = tuple(one.regret for one in states) if setting.within is not None else ()
    return ReplayedRanking(task, len(rounds), setting.horizon, states[-1], others, regrets, tuple(notes))


def _rounds(part: Rollouts, names: tuple[str, ...], measure: Measure) -> tuple[list[Round], int, bool]:
    """The scores of every round that all have, how many rollouts are in none, and whether a round shares conditions."""
    pairings = [part.pairing(names[0], name, measure=measure) for name in names[1:]]
    on = pairings[0].on if all(pairings) and len({one.on for one in pairings}) == 1 else ()
    rounds = [dict(zip(names, scores, strict=True)) for scores in rounds_of(part, measure, on, names)]
    if not rounds:
        raise DataError(
            f"the {part.words.policies} must share {part.words.an_environment}; got none that all of them met.",
            source=part.source,
        )
    known = sum(group.known(measure) for group in part.summary() if group.key[0] in names)
    return rounds, known - len(rounds) * len(names), bool(on)
