"""What is known in a race: who is out, who may still be the best one, and how far below it is the champion at most?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.history import Trail
from surefoot.sequential.round_rules import Pair
from surefoot.sequential.selection import SelectionState

if TYPE_CHECKING:
    from surefoot.numerics.betting import race_bets


@dataclass(frozen=True, slots=True)
class RaceState(SelectionState, Record):
    """Where every policy stands after some rounds of a `Race`.

    Attributes:
        rule: The rule it belongs to.
        rounds: Rounds seen.
        rollouts: Rollouts used by each policy, in the order of the rule's names.
        totals: The sum of each policy's scores.
        standings: Of each policy: "running", "out", "settled" (not more than `within` better than the champion) or
            "withdrawn".
        p_values: The anytime p-value that each policy is a best one.
        champion: The policy that all others are held against, once there is one; only with `within`.
        champions: How many there have been.
        named: The policy named at the end.
        regret: How far below the best the champion is at most, with the declared confidence at all moments together.
        futile: Whether the race stopped because those running can hardly be told apart in time.
        over: Whether no further round is needed or allowed.
        history: The scores of each policy, moved to [0, 1]; empty for successes.
        bets: The gamblers.
    """

    rule: Any  # a `Race`, whose file imports this one
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    standings: tuple[str, ...]
    p_values: tuple[float, ...]
    champion: str | None
    champions: int
    named: str | None
    regret: float | None
    futile: bool
    over: bool
    history: tuple[Trail, ...]
    bets: Any = field(default=None, compare=False, repr=False)

    @property
    def finished(self) -> bool:
        """Whether no further round is needed or allowed."""
        return self.over

    @property
    def running(self) -> tuple[str, ...]:
        """The policies of the next round."""
        return () if self.finished else self._those("running")

    @property
    def out(self) -> tuple[str, ...]:
        """The policies shown not to be the best one."""
        return self._those("out")

    @property
    def settled(self) -> tuple[str, ...]:  # type: ignore[override]
        """The policies shown not to be more than `within` better than the champion."""
        return self._those("settled")

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """The policies that run no more but may still be the best one."""
        return self._those("withdrawn")

    @property
    def leaders(self) -> tuple[str, ...]:
        """The policies that may still be the best one."""
        return tuple(name for name in self.present if name not in self.out)

    @property
    def turns(self) -> dict[str, int]:
        """How many rollouts each running policy must run in the next round."""
        if self.finished:
            return {}
        often = self.kept().turns()[0].tolist()
        return {name: count for name, count in zip(self.present, often, strict=True) if count}

    @property
    def room(self) -> int:
        """How many further rounds the horizon allows, or the budget as the next one is."""
        horizon: int = self.rule.horizon
        budget: int | None = self.rule.budget
        if budget is None:
            return max(0, horizon - self.rounds)
        return (budget - self.rollouts_used) // max(1, sum(self.turns.values()))

    @property
    def spent(self) -> bool:
        """Whether no further round is allowed, even were another policy to join."""
        return self.room < 1 if self.rule.budget is None else self.rule.budget - self.rollouts_used < 2

    @property
    def of_first(self) -> Verdict:
        """Worse when the first-named policy is out: another is better. Never better: the best may be tied."""
        return Verdict.WORSE if self.rule.names[0] in self.out else Verdict.UNDECIDED

    def kept(self) -> race_bets.Race:
        """The gamblers, or a refusal where the state was read from a file."""
        if self.bets is None:
            must = "come from a race under way; got one read from a file. Run its rounds again."
            raise _check.wrong("state", must, self)
        known: race_bets.Race = self.bets
        return known

    @property
    def complete(self) -> bool:
        """Whether one is named."""
        return self.named is not None

    @property
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have: out is second at best, named (no `within`) first."""
        last = len(self.rule.names)
        sure = self.named if self.named and not (self.settled or self.withdrawn) else None
        return tuple((1 + (name in self.out), 1 if name == sure else last) for name in self.rule.names)

    def p_value(self, name: str) -> float:  # type: ignore[override]
        """The anytime p-value that a policy is a best one; it never rises."""
        return self.p_values[self._place(name)]

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The running policies that can hardly be told from the first of them, where the race stopped for that."""
        still = self._those("running") if self.futile else ()
        return tuple((still[0], other) for other in still[1:])

    @property
    def claim(self) -> str:
        """What can be said of who is best, in a sentence."""
        unless = f", unless it is {' or '.join(self.withdrawn)}" if self.withdrawn else ""
        share, within = formatting.percent(self.rule.confidence), self.rule.within
        if self.named and (within is None or not self.settled):
            return f"{self.named} is the best one, perhaps tied{unless} ({share})."
        if self.named:
            return f"{self.named} is within {within:g} of the best{unless} ({share})."
        count = f"{len(self.leaders)} of {len(self.rule.names)}"
        if self.futile:
            return f"In {self.rule.horizon:,} rounds none of {count} can be shown best: {', '.join(self.leaders)}."
        said = f"{count} may be the best ({share}): {', '.join(self.leaders)}."
        if self.champion is not None and self.regret is not None and self.regret < self.rule.high - self.rule.low:
            said += f" {self.champion} is at most {self.regret:.2g} below the best{unless}."
        return said

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready data; the gamblers are left out."""
        return Record.to_dict(replace(self, bets=None))
