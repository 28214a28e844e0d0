"""How many rollouts of a study were run, and what became of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.study.decision import Decision, RankingDecision
from surefoot.study.schedules import Turn
from surefoot.study.state import Fold

Fate = Literal["counted", "waiting", "void", "surplus"]
"""What became of a result: the rule read it, will once earlier ones are in, or need not; or its block is void."""

COUNTS: tuple[Fate, ...] = ("counted", "waiting")
"""What tables and means of a study are made of."""


@dataclass(frozen=True, slots=True)
class Counts(Record):
    """The rollouts of a study; `run` is the sum of the four that follow it.

    Attributes:
        planned: The most that the plan allows, without repeats for voids.
        run: Results recorded and not undone.
        counted: Those that the rule has read.
        waiting: Those that it will read once earlier ones are in.
        void: Those of a pair or round that was declared void.
        surplus: Those that it did not need: they were handed out before it stopped, or dropped their policy.
        over: Whether the rule needs no more.
    """

    planned: int
    run: int
    counted: int
    waiting: int
    void: int
    surplus: int
    over: bool

    @property
    def saved(self) -> int:
        """Planned rollouts that need not be run any more; none while the rule goes on."""
        return max(0, self.planned - self.run) if self.over else 0

    def __str__(self) -> str:
        parts = [f"{self.counted:,} counted"]
        parts += [f"{self.waiting:,} not read yet"] * bool(self.waiting)
        parts += [f"{self.void:,} void"] * bool(self.void)
        parts += [f"{self.surplus:,} surplus (handed out before they were known not to be needed)"] * bool(self.surplus)
        saved = f" {self.saved:,} were saved." if self.over and self.saved else ""
        return f"{formatting.rollouts(self.run)} were run of at most {self.planned:,}: {', '.join(parts)}.{saved}"


def fates(fold: Fold) -> dict[int, Fate]:
    """What became of every result, by its turn."""
    rest: Fate = "surplus" if fold.finished else "waiting"
    known = dict.fromkeys(fold.results, rest)
    for number, (before, after) in enumerate(fold.readings, 1):
        read = _read(fold.blocks[number], before, after)
        known |= {turn.number: "counted" if turn in read else "surplus" for turn in fold.blocks[number]}
    known |= {turn.number: "void" for number in fold.voids for turn in fold.blocks[number]}
    return {turn: known[turn] for turn in sorted(fold.results)}


def _read(turns: Sequence[Turn], before: Decision, after: Decision) -> Sequence[Turn]:
    """The turns of a complete block that moved the rule on; it leaves out policies that it had dropped meanwhile."""
    if not isinstance(before, RankingDecision) or not isinstance(after, RankingDecision):
        return turns if after.taken > before.taken else ()
    used = [dict(zip(one.rule.names, one.state.rollouts, strict=True)) for one in (before, after)]
    return [turn for turn in turns if used[1].get(turn.policy, 0) > used[0].get(turn.policy, 0)]


def counts_of(fold: Fold) -> Counts:
    """The rollouts of a study, counted."""
    plan, decision = fold.plan, fold.decision
    most = plan.horizon * len(plan.policies)
    if isinstance(decision, RankingDecision) and decision.rule.finds_one:
        most = decision.rule.most
    each = Counter(fates(fold).values())
    return Counts(
        planned=most,
        run=len(fold.results),
        counted=each["counted"],
        waiting=each["waiting"],
        void=each["void"],
        surplus=each["surplus"],
        over=fold.finished,
    )
