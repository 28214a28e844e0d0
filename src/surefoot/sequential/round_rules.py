"""Rules that rank many policies round by round, and their states.

A round is one rollout of every policy still running. As with two policies, `start()` is the state of knowing nothing
and `step(state, scores)` the state after one more round.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.sequential.registry import Offered, Setting, for_fewer
from surefoot.stats.letters import Letters, compact_letters

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


Pair = tuple[str, str]
MOST = 1000
"""The most policies of which the best is found."""
AGAINST = "against "
"""Begins the question that compares each policy with one baseline."""
FINDING = ("best", "top ")
"""Begin the questions of which policies are the best."""
APART = (Verdict.BETTER, Verdict.WORSE)

S = TypeVar("S", bound="Standing")


@dataclass(frozen=True, slots=True)
class RoundRule(Generic[S], Offered, ABC):
    """A ranking of many policies, declared before the first round.

    Attributes:
        names: The policies.
        horizon: The most rounds, that is rollouts of each policy.
        confidence: The chance that every claim is right, over all looks and all pairs.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures; none where it is left open.
    """

    names: tuple[str, ...]
    horizon: int = 200
    _: KW_ONLY
    confidence: float = 0.95
    low: float = 0.0
    high: float = 1.0
    binary: bool | None = None

    policies: ClassVar[tuple[int, int | None]] = (3, None)
    claims: ClassVar[tuple[str, ...]] = ("either",)
    needs_random_order: ClassVar[bool] = False

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The ranking of all policies as it is declared in this setting."""
        size = len(setting.policies)
        cure = for_fewer(cls, setting)
        if setting.question.startswith("best") and size > MOST:
            raise _check.wrong("policies", f"be at most {MOST:,} where the best is asked for; got {size:,}.")
        if setting.question != "ranking":
            raise _check.refused("question", f"be 'ranking' for {cls.title}", setting.question, cure)
        if setting.futility:
            raise _check.refused("futility", f"be 0 for {cls.title}", setting.futility, cure)
        return cls(**ranked(setting))

    def __post_init__(self) -> None:
        given: Any = self.names
        names = (given,) if isinstance(given, str) else tuple(given)
        if len(names) < 2 or len(set(names)) < len(names):
            raise _check.refused("names", "be two or more different policies", given)
        if self.binary is not None and not isinstance(self.binary, bool):
            raise _check.mistyped("binary", "be True, False or None", self.binary)
        low, high = _check.span(self.low, self.high)
        checked = {"names": names, "horizon": _check.whole(self.horizon, "horizon", least=1), "low": low, "high": high}
        for name, value in (checked | {"confidence": _check.confidence(self.confidence)}).items():
            object.__setattr__(self, name, value)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every pair of policies, in the order of the names."""
        return tuple(combinations(self.names, 2))

    @property
    def joined(self) -> tuple[int, ...]:
        """After how many rounds each policy joined: all are there from the start."""
        return (0,) * len(self.names)

    @abstractmethod
    def start(self) -> S:
        """The state before the first round."""

    @abstractmethod
    def step(self, state: S, scores: Mapping[str, float]) -> S:
        """The state after one more round.

        Args:
            state: The state before.
            scores: The score of every policy still running, and of no other.

        Raises:
            ValueError: The ranking is finished, a policy is missing or does not run, or a score is out of range. The
                state stays what it was.
        """

    def replayed(self, rounds: Iterable[Mapping[str, Any]]) -> list[S]:
        """See `run_ranking`."""
        state, states = self.start(), []
        for scores in rounds:
            state = self.step(state, {name: scores[name] for name in state.running if name in scores})
            states.append(state)
            if state.finished:
                break
        return states

    def after_block(self, state: S, rows: Mapping[str, Sequence[float]]) -> S:
        """The state after a round as it was handed out, perhaps before an earlier one was known.

        Those who stopped meanwhile are not looked at; where one who runs is missing, the state stays what it was.

        Args:
            state: The state before.
            rows: The scores of each policy in the round.
        """
        told = {name: rows[name][-1] for name in state.running if name in rows}
        return self.step(state, told) if len(told) == len(state.running) else state

    @property
    def longest(self) -> int:
        """The most rounds."""
        return self.horizon

    @property
    def most(self) -> int:
        """The most rollouts of all policies together."""
        return self.horizon * len(self.names)

    def own(self, state: S) -> S:
        """A state of this rule, or a refusal."""
        if state.rule != self:
            raise _check.wrong("state", "come from this rule; got a state of another.", state)
        return state

    def running(self, state: S, scores: Mapping[str, float]) -> tuple[str, ...]:
        """The policies of the next round, when the scores are theirs."""
        if self.own(state).finished:
            raise _check.wrong(
                "state", f"be unfinished; got one after {state.rounds} rounds. A ranking is final.", state
            )
        if set(scores) != set(state.running):
            raise _check.refused("scores", f"name the running policies {list(state.running)}", sorted(scores))
        return state.running

    @property
    def games(self) -> int:
        """How many bets one study takes side by side, by which many studies are cut into blocks."""
        return 2 * len(self.pairs)

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """How many studies ended at once: rollouts of each policy, claims, and whether all that was asked is decided.

        Args:
            scores: The score of every policy in every round of every study, checked: studies, rounds, policies.
        """
        ended = [run_ranking(self, [dict(zip(self.names, row, strict=True)) for row in one])[-1] for one in scores]
        better = [
            [[a != b and state.verdict(a, b) is Verdict.BETTER for b in self.names] for a in self.names]
            for state in ended
        ]
        return (
            np.array([state.rollouts for state in ended]),
            np.array(better),
            np.array([one.complete for one in ended]),
        )


def claimed_part(seen: Interval, verdict: Verdict) -> Interval:
    """The part of a pair's interval that agrees with what the ranking claims of the pair: all of it above 0, or below.

    The claims hold together, and so do the intervals; whoever relies on both may leave out what the claim rules out. An
    estimate on the other side moves to the end at 0, and a note says so.
    """
    if verdict not in APART:
        return seen
    barely = math.nextafter(0.0, 1.0)
    if verdict is Verdict.BETTER:
        low, high = max(seen.low, barely), max(seen.high, barely)
    else:
        low, high = min(seen.low, -barely), min(seen.high, -barely)
    estimate = min(high, max(low, seen.estimate))
    observed = formatting.number(seen.estimate, seen.scale) + formatting.unit(seen.scale)
    moved = () if estimate == seen.estimate else (Note("follows from others", {"observed": observed}),)
    return replace(seen, low=low, high=high, estimate=estimate, notes=(*seen.notes, *moved))


def ranked(setting: Setting) -> dict[str, Any]:
    """What every ranking is told."""
    if setting.within is not None and not setting.question.startswith("best"):
        raise _check.refused("within", "be left out unless the question is 'best'", setting.within)
    if setting.claim != "either" or setting.margin:
        raise _check.wrong(("claim", "margin"), "be 'either' and 0 for a ranking.", (setting.claim, setting.margin))
    told: dict[str, Any] = {"names": setting.policies, "horizon": setting.horizon, "confidence": setting.confidence}
    return told | {"low": setting.low, "high": setting.high, "binary": True if setting.binary else None}


def checked_pausing(value: Any) -> float:
    """The chance of a claim below which a pair is paused."""
    futility = _check.real(value, "futility")
    if not 0.0 <= futility < 0.5:
        raise _check.refused("futility", "be from 0 (never) to below 0.5", value)
    return futility


def checked_joined(joined: Iterable[Any], count: int) -> tuple[int, ...]:
    """After how many rounds each of so many policies joined; left out, all are there from the start."""
    rounds = tuple(_check.whole(round_, "joined") for round_ in joined) or (0,) * count
    if len(rounds) != count or list(rounds) != sorted(rounds) or rounds[1]:
        raise _check.refused("joined", "hold a round for each policy, rising, the first two 0", joined)
    return rounds


def run_ranking(rule: RoundRule[S], rounds: Iterable[Mapping[str, Any]]) -> list[S]:
    """What would have been known after each round? The states, up to the one that finished.

    Scores of policies that no longer run are not looked at.

    Args:
        rule: The rule.
        rounds: The scores of each round, by policy.
    """
    return rule.replayed(rounds)


class Standing(ABC):
    """What every state of a ranking can tell, from its verdicts, ranks and rollouts."""

    __slots__ = ()

    rule: Any
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    verdicts: tuple[Verdict, ...]
    p_values: tuple[float, ...]

    @property
    @abstractmethod
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have."""

    @property
    @abstractmethod
    def running(self) -> tuple[str, ...]:
        """The policies of the next round."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nobody runs any more."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether all that was asked is decided."""

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that are not told apart."""
        pairs = zip(self.rule.pairs, self.verdicts, strict=True)
        return tuple(pair for pair, verdict in pairs if verdict not in APART)

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The open pairs that are run no more because they will hardly be decided in time."""
        return ()

    @property
    def turns(self) -> dict[str, int]:
        """How many rollouts each running policy must run in the next round: one."""
        return dict.fromkeys(self.running, 1)

    @property
    def room(self) -> int:
        """How many further rounds the horizon allows: two policies must be short of it."""
        used = dict(zip(self.rule.names, self.rollouts, strict=True))
        return int(self.rule.horizon - sorted(used[name] for name in self.running)[1]) if len(self.running) > 1 else 0

    @property
    def spent(self) -> bool:
        """Whether every policy has been run as often as it may be."""
        return bool(min(self.rollouts) >= self.rule.horizon)

    @property
    def of_first(self) -> Verdict:
        """Better when the first-named policy was shown better than every other, worse when shown worse than one."""
        first, *others = self.rule.names
        said = {self.verdict(first, other) for other in others}
        if Verdict.WORSE in said:
            return Verdict.WORSE
        return Verdict.BETTER if said == {Verdict.BETTER} else Verdict.UNDECIDED

    @property
    def words(self) -> tuple[str, ...]:
        """Where each policy stands in a word, where the question is which are the best."""
        return ()

    @property
    def claim(self) -> str:
        """What a question other than the ranking has found, in a sentence; empty where there is none."""
        return ""

    @property
    def evidence(self) -> float | None:
        """None: a ranking has evidence for every pair, not one number."""
        return None

    @property
    def standing(self) -> None:
        """None: a ranking decides by no table of counts."""
        return None

    @abstractmethod
    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second, valid at any moment; all pairs' intervals hold together."""

    @property
    def estimates(self) -> tuple[float, ...]:
        """The mean score of each policy so far."""
        return tuple(total / max(1, used) for total, used in zip(self.totals, self.rollouts, strict=True))

    @property
    def letters(self) -> Letters:
        """Two policies share a letter exactly when they are not separated; 'a' is the best."""
        apart = [pair for pair, verdict in zip(self.rule.pairs, self.verdicts, strict=True) if verdict in APART]
        order = sorted(zip(self.ranks, (-e for e in self.estimates), self.rule.names, strict=True))
        return compact_letters([name for _, _, name in order], apart)

    @property
    def rollouts_used(self) -> int:
        """All rollouts so far."""
        return sum(self.rollouts)

    def verdict(self, first: str, second: str) -> Verdict:
        """What is known about the first of two policies against the second."""
        if (first, second) in self.rule.pairs:
            found: Verdict = self.verdicts[self.rule.pairs.index((first, second))]
            return found
        if (second, first) not in self.rule.pairs:
            raise _check.refused("second", f"be another of {', '.join(self.rule.names)}", second)
        return self.verdict(second, first).mirrored

    def p_value(self, first: str, second: str) -> float:
        """The adjusted anytime p-value that the first of two policies is better; it never rises."""
        self.verdict(first, second)  # refuses unknown names
        pairs: tuple[Pair, ...] = self.rule.pairs
        if (first, second) in pairs:
            return self.p_values[2 * pairs.index((first, second))]
        return self.p_values[2 * pairs.index((second, first)) + 1]

    def __str__(self) -> str:
        width = max(len(name) for name in self.rule.names)
        of = dict(zip(self.rule.names, zip(self.ranks, self.rollouts, strict=True), strict=True))
        rows, letters = [], self.letters
        for name, own in zip(letters.names, letters.letters, strict=True):
            (best, worst), used = of[name]
            place = f"rank {best}" if best == worst else f"rank {best} to {worst}"
            rows.append(f"{name:<{width}}  {place}  {own}  {formatting.rollouts(used)}")
        return "\n".join([*rows, self.summary, *self.remarks])

    @property
    def summary(self) -> str:
        """How much is settled, and after how much, in a sentence."""
        so_far = f"{formatting.counted(self.rounds, 'round')} and {formatting.rollouts(self.rollouts_used)}"
        return f"{self.settled} after {so_far} (at most {self.rule.most:,})."

    @property
    def settled(self) -> str:
        """How much is settled, in words."""
        return self.places_settled

    @property
    def places_settled(self) -> str:
        """How many places, or comparisons with a baseline, are settled, in words."""
        if baseline := getattr(self.rule, "baseline", None):
            asked = len(self.rule.names) - 1
            return f"{asked - len(self.undecided)} of {asked} were shown to differ from {baseline}"
        if self.complete:
            return "All places are settled"
        return f"{sum(best < worst for best, worst in self.ranks)} places are open"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences below the table: the pairs that are paused, and who joined when."""
        horizon = self.rule.horizon
        paused = [f"{one} and {other}: not decidable within {horizon:,} rounds." for one, other in self.paused]
        return (*paused, *self.joinings)

    @property
    def joinings(self) -> tuple[str, ...]:
        """Who joined when, a sentence each."""
        late = zip(self.rule.names, self.rule.joined, strict=True)
        return tuple(f"{name} joined after {formatting.counted(round_, 'round')}." for name, round_ in late if round_)
