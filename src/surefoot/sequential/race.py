"""Race for the best of many policies, or one nearly as good.

One gambler per policy bets that it is not a best one. Whoever is out stops at once; only the gambler of a truly best
policy could err, so there is no price for the number of policies, for looking, for joining or for leaving.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import race_bets
from surefoot.numerics.betting.race_bets import OUT, SETTLED, WITHDRAWN, Terms
from surefoot.sequential.history import Trail
from surefoot.sequential.registry import Setting, registered
from surefoot.sequential.round_rules import Pair, checked_joined
from surefoot.sequential.selection import SelectionRule, SelectionState

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
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

    rule: Any  # a `Race`, which stands below
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


_WORDS = {OUT: "out", race_bets.RUNNING: "running", SETTLED: "settled", WITHDRAWN: "withdrawn"}


@registered
@dataclass(frozen=True, slots=True)
class Race(SelectionRule[RaceState]):
    """A race of 2 to 1,000 policies for the best one, or one `within` so much of it, declared before the first rollout.

    Every running policy runs once a round; the leader runs several times, as `RaceState.turns` says, unless conditions
    are `shared`. A policy that is out stops at once. With the declared confidence, at all moments together: a best
    policy is never out, and no policy more than `within` below the best is named.

    Attributes:
        names: The policies.
        horizon: The most rounds; not looked at where there is a budget.
        confidence: The chance that every claim is right, over all looks.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures; it sets the opening guess of the variance. Left out, the
            guess follows the rounds already seen.
        within: How far below the best the one named may be; left out, it must be a best one.
        shared: Whether all rollouts of a round share their conditions; then each policy runs once a round.
        budget: The most rollouts of all policies together.
        futility: Stop when every other policy has less than this chance to be put out in time: 0.05 is careful, 0
            never. It cannot make a claim wrong. Not with `within`.
        seed: Draws the order in which ties are broken; it does not depend on the order of the names.
        joined: After how many rounds each policy joined; left out, all are there from the start. See `with_policy`.

    Example:
        >>> from surefoot.sequential import Race
        >>> rule = Race(("new", "old", "none"), 60)
        >>> state = rule.start()
        >>> while not state.finished:
        ...     rates = {"new": 0.9, "old": 0.5, "none": 0.1}
        ...     state = rule.step(state, {name: [rates[name]] * turns for name, turns in state.turns.items()})
        >>> state.named, state.out, state.rollouts_used
        ('new', ('old', 'none'), 29)

    Reference:
        Ville (1939); the bets are surefoot's own (see docs/best.md).
    """

    _: KW_ONLY
    within: float | None = None
    shared: bool = False
    futility: float = 0.0
    joined: tuple[int, ...] = ()

    name: ClassVar[str] = "race"
    title: ClassVar[str] = "race"
    label: ClassVar[str] = "Race"
    summary: ClassVar[str] = "Names the best of many policies, or one nearly as good; whoever is out stops at once."
    place: ClassVar[int] = 85
    chosen_to: ClassVar[int | None] = None
    gives_up: ClassVar[bool] = True
    widens: ClassVar[bool] = True
    loses: ClassVar[bool] = True
    promise: ClassVar[str] = "race promise"

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The race as it is declared in this setting."""
        told = cls.questioned(setting) | {"within": setting.within, "futility": setting.futility}
        return cls(**told, shared=setting.paired)

    @classmethod
    def suits(cls, setting: Setting) -> bool:
        """Whether it may be chosen unasked: where the question is which is best."""
        return cls.stands(setting) and cls.chosen(setting)

    def __post_init__(self) -> None:
        SelectionRule.__post_init__(self)
        count, set_ = len(self.names), object.__setattr__
        _check.whole(self.horizon, "horizon", least=2)
        if self.within is not None:
            set_(self, "within", _check.real(self.within, "within"))
            if not 0.0 < self.within < self.high - self.low:
                width = f"{self.high - self.low:g}"
                raise _check.refused("within", f"be above 0 and below {width}, the width of the scores", self.within)
        if self.budget is not None and _check.whole(self.budget, "budget") < 2 * count:
            raise _check.refused("budget", f"be at least {2 * count:,}, two rollouts of each policy", self.budget)
        if not isinstance(self.shared, bool):
            raise _check.mistyped("shared", "be True or False", self.shared)
        futility = _check.real(self.futility, "futility")
        if not 0.0 <= futility < 0.5 or (futility and self.within is not None):
            must = "be from 0 (never) to below 0.5" + (", and 0 beside `within`" if self.within is not None else "")
            raise _check.refused("futility", must, self.futility)
        set_(self, "futility", futility)
        set_(self, "joined", checked_joined(self.joined, count))

    @property
    def terms(self) -> Terms:
        """What the gamblers must know."""
        near = None if self.within is None else self.within / (self.high - self.low)
        error = 1.0 - self.confidence
        return Terms(error, self.horizon, near, self.binary, self.shared, self.budget, self.futility)

    def start(self) -> RaceState:
        """The state before the first round."""
        size = sum(round_ == 0 for round_ in self.joined)
        bets = race_bets.Race.begin(self.terms, self.places(size))
        return self._told(bets, tuple(Trail() for _ in range(size)))

    def step(self, state: RaceState, scores: Mapping[str, Any], *, turns: Mapping[str, int] | None = None) -> RaceState:
        """The state after one more round.

        Args:
            state: The state before.
            scores: The score of every running policy, and of no other; a list of them where `state.turns` asks for
                more than one.
            turns: How often each running policy ran, where that was fixed by an earlier state and before any of these
                scores was known, as for rounds handed out ahead; left out, `state.turns`.

        Raises:
            ValueError: The race is finished, a policy is missing or does not run or has another number of scores than
                `state.turns` asks, or a score is out of range. The state stays what it was.
        """
        self.running(state, scores)
        before, history = state.kept(), list(state.history)
        totals, between, asked = np.zeros((1, len(history))), False, state.turns if turns is None else turns
        counts = np.zeros((1, len(history)), np.int64)
        for name in state.running:
            row, place = self._scores(name, scores[name], asked.get(name, 0)), self.names.index(name)
            totals[0, place], counts[0, place] = sum(row), len(row)
            if self.binary is not True:
                between |= any(score not in (0.0, 1.0) for score in row)
                for score in row:
                    history[place] = history[place].grown(score)
        after = before.step(totals, np.array([between]), counts)
        for round_ in self.joined[len(history) :]:
            if round_ == int(after.rounds[0]):
                after, history = self._wider(after, len(history)), [*history, Trail()]
        return self._told(after, tuple(history))

    def _scores(self, name: str, given: Any, turns: int) -> list[float]:
        """The scores of one policy in a round, moved to [0, 1]."""
        many = isinstance(given, (list, tuple, np.ndarray)) and np.ndim(given) == 1
        row = list(given) if many else [given]
        if len(row) != turns or not row:
            must = f"hold {formatting.counted(turns, 'score')} of {name}, as `turns` asks"
            raise _check.refused(f"scores[{name!r}]", must, len(row))
        width = self.high - self.low
        return [(self.score(score, name) - self.low) / width for score in row]

    def _wider(self, bets: race_bets.Race, size: int) -> race_bets.Race:
        return bets.joined(int(self.places(size + 1)[0, -1]))

    def with_policy(self, state: RaceState, name: str) -> RaceState:
        """The state with one more policy, which costs no error, even if the results so far made you add it.

        Its `rule` is the one to go on with. Whoever is out stays out.

        Args:
            state: A state of this rule.
            name: The new policy.
        """
        size = len(self.own(state).history)
        if size < len(self.names):
            raise _check.wrong("state", "have all declared policies before one is added; got one still to join.", state)
        rule = replace(self, names=(*self.names, name), joined=(*self.joined, state.rounds))
        return rule._told(rule._wider(state.kept(), size), (*state.history, Trail()))

    def without_policy(self, state: RaceState, name: str) -> RaceState:
        """The state in which a policy is withdrawn: it runs no more, but may still be the best one.

        Every later claim is made unless it is that one.

        Args:
            state: A state of this rule.
            name: The policy; it must not be out.
        """
        inside = [one for one in self.own(state).present if one not in (*state.out, *state.withdrawn)]
        if name not in inside:
            raise _check.refused("name", f"be one of {', '.join(inside)}", name)
        return self._told(state.kept().withdrawn(self.names.index(name)), state.history)

    def override(self, state: RaceState) -> RaceState:
        """The state that goes on although it was futile; its `rule` never stops for futility.

        Raises:
            ValueError: The state belongs to another rule, or is not futile.
        """
        if not self.own(state).futile:
            raise _check.wrong("state", "have stopped for futility to be overridden; got one that has not.", state)
        rule = replace(self, futility=0.0)
        return rule._told(replace(state.kept(), terms=rule.terms, futile=np.zeros(1, bool)), state.history)

    def replayed(self, rounds: Iterable[Mapping[str, Any]]) -> list[RaceState]:
        """The states after each round; each policy's scores are read in order, as many as it runs.

        Scores of policies that no longer run are not looked at. It ends where a policy has no score left.
        """
        rows = list(rounds)
        streams = {name: [one[name] for one in rows if name in one] for name in self.names}
        state, states = self.start(), []
        while not state.finished:
            at = dict(zip(self.names, state.rollouts, strict=True))
            turns = state.turns
            if self.shared:
                read = {name: [rows[state.rounds][name]] if state.rounds < len(rows) else [] for name in turns}
            else:
                read = {name: streams[name][at[name] : at[name] + often] for name, often in turns.items()}
            if any(len(read[name]) < often for name, often in turns.items()):
                break
            state = self.step(state, read)
            states.append(state)
        return states

    def after_block(self, state: RaceState, rows: Mapping[str, Sequence[float]]) -> RaceState:
        """See `RoundRule.after_block`: each policy counts with the mean of its rollouts."""
        told = {name: list(rows[name]) for name in state.running if name in rows}
        if len(told) < len(state.running):
            return state
        return self.step(state, told, turns={name: len(row) for name, row in told.items()})

    @property
    def longest(self) -> int:
        """The most rounds: with a budget, as many as two policies can have."""
        return self.horizon if self.budget is None else self.budget // 2

    @property
    def most(self) -> int:
        """The most rollouts of all policies together: all run to the end, and the leader several times a round."""
        return self.budget or self.horizon * int(
            race_bets.Race.begin(self.terms, self.places(self.games)).turns().sum()
        )

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """See `RoundRule.played`; claims are that the one named is better than those that are out.

        A policy reads its scores in order, again from the start at their end.
        """
        unit = (scores - self.low) / (self.high - self.low)
        studies, _, size = unit.shape
        order = np.broadcast_to(self.places(size), (studies, size))
        between = self.binary is not True and bool(((unit != 0.0) & (unit != 1.0)).any())
        end = race_bets.played(race_bets.Race.begin(self.terms, order, studies), race_bets.reader(unit), between)
        better = np.zeros((studies, size, size), bool)
        found = np.flatnonzero(end.named >= 0)
        better[found, end.named[found]] = end.status[found] == OUT
        return end.counts, better, end.named >= 0

    def _told(self, bets: race_bets.Race, history: tuple[Trail, ...]) -> RaceState:
        late = len(self.names) - len(history)
        names, width = self.names, self.high - self.low
        champion, named = int(bets.champion[0]), int(bets.named[0])
        counts = bets.counts[0].tolist()
        sums = bets.sums[0] * width + bets.counts[0] * self.low
        return RaceState(
            rule=self,
            rounds=int(bets.rounds[0]),
            rollouts=(*counts, *[0] * late),
            totals=(*sums.tolist(), *[0.0] * late),
            standings=tuple(_WORDS[int(one)] for one in bets.status[0]),
            p_values=(*np.minimum(1.0, np.exp(-bets.best[0])).tolist(), *[1.0] * late),
            champion=names[champion] if champion >= 0 else None,
            champions=int(bets.champions[0]),
            named=names[named] if named >= 0 and not late else None,
            regret=float(bets.regret()[0]) * width if champion >= 0 else None,
            futile=bool(bets.futile[0]),
            over=bool(bets.finished[0]) and not (late and named >= 0),
            history=history,
            bets=bets,
        )
