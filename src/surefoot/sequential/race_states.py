"""What is known in a race: who is out, who may still be the best one, and how far below it is the champion at most?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting.race_bets import running_low
from surefoot.sequential.history import Trail
from surefoot.sequential.round_rules import Pair, Standing
from surefoot.stats.confidence_sequences import betting_sequence
from surefoot.stats.letters import Letters, compact_letters

if TYPE_CHECKING:
    from surefoot.numerics.betting import race_bets


@dataclass(frozen=True, slots=True)
class RaceState(Standing, Record):
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
    def present(self) -> tuple[str, ...]:
        """The policies that have joined."""
        names: tuple[str, ...] = self.rule.names
        return names[: len(self.standings)]

    def _those(self, word: str) -> tuple[str, ...]:
        return tuple(name for name, said in zip(self.present, self.standings, strict=True) if said == word)

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

    @property
    def verdicts(self) -> tuple[Verdict, ...]:  # type: ignore[override]
        """Undecided for every pair: a race says who is best, and ties are possible."""
        return (Verdict.UNDECIDED,) * len(self.rule.pairs)

    def verdict(self, first: str, second: str) -> Verdict:
        """Undecided: a race says who is best, not which of two is better."""
        if first == second or not {first, second} <= set(self.rule.names):
            raise _check.refused("second", f"be another of {', '.join(self.rule.names)}", second)
        return Verdict.UNDECIDED

    def p_value(self, name: str) -> float:  # type: ignore[override]
        """The anytime p-value that a policy is a best one; it never rises."""
        return self.p_values[self._place(name)]

    def _place(self, name: str) -> int:
        names: tuple[str, ...] = self.rule.names
        _check.choice(name, "name", dict.fromkeys(names))
        return names.index(name)

    @property
    def letters(self) -> Letters:
        """All share a letter: a race does not tell two policies apart."""
        order = sorted(zip((-one for one in self.estimates), self.rule.names, strict=True))
        return compact_letters([name for _, name in order], [])

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The running policies that can hardly be told from the first of them, where the race stopped for that."""
        still = self._those("running") if self.futile else ()
        return tuple((still[0], other) for other in still[1:])

    def lower(self, name: str) -> float:
        """The lower bound of a policy's mean, valid at any moment, for all policies together."""
        return self._bound(self._place(name), (1.0 - self.rule.confidence) / len(self.rule.names))[0]

    def _bound(self, place: int, error: float) -> tuple[float, float]:
        """Anytime lower and upper bounds, each at this error."""
        rule = self.rule
        width, used = rule.high - rule.low, self.rollouts[place]
        if not used:
            return rule.low, rule.high
        trail = self.history[place].array() if rule.binary is not True else np.empty(0)
        if rule.binary is True or np.isin(trail, (0.0, 1.0)).all():
            wins = round((self.totals[place] - used * rule.low) / width)
            low, high = running_low(wins, used - wins, error), 1.0 - running_low(used - wins, wins, error)
        else:
            seen = betting_sequence(Scores(trail.tolist(), 0.0, 1.0), confidence=1.0 - 2.0 * error).latest
            low, high = seen.low, seen.high
        return rule.low + width * low, rule.low + width * high

    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second, valid at any moment: from the bounds of all policies' means."""
        self.verdict(first, second)  # refuses unknown names
        rule = self.rule
        share = (1.0 - rule.confidence) / (2 * len(rule.names))
        a, b = self._place(first), self._place(second)
        (low, high), (least, most) = self._bound(a, share), self._bound(b, share)
        gain = self.estimates[a] - self.estimates[b]
        scale: formatting.Scale = "gain" if rule.binary else "score gain"
        method = "anytime bounds of all policies"
        return Interval(low - most, high - least, gain, confidence=rule.confidence, method=method, scale=scale)

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

    @property
    def summary(self) -> str:
        """What is known and after how much, in a sentence."""
        so_far = f"{formatting.counted(self.rounds, 'round')} and {formatting.rollouts(self.rollouts_used)}"
        return f"{self.claim} After {so_far}."

    def __str__(self) -> str:
        width = max(len(name) for name in self.present)
        rows = list(zip(self.standings, self.estimates, self.present, self.rollouts, strict=False))
        rows.sort(key=lambda row: (row[0] == "out", -row[1]))
        said = [f"{name:<{width}}  {word}  {formatting.rollouts(used)}" for word, _, name, used in rows]
        return "\n".join([*said, self.summary])

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready data; the gamblers are left out."""
        return Record.to_dict(replace(self, bets=None))
