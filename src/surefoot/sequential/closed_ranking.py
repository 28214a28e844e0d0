"""Sequential ranking of up to sixteen policies, by closed testing with bets.

One gambler bets against every possible order of the policies, ties included. A claim is made once every order that
contradicts it has been rejected. Exactly one order is true, so one error covers all claims at all moments. Of eight
policies and more, claims of pairs by Holm come first, until the orders that they leave are few.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import gated_orders, weak_orders
from surefoot.numerics.betting.closed_stakes import Gamblers, Terms, widened
from surefoot.numerics.betting.gated_orders import Gate
from surefoot.sequential.history import Trail
from surefoot.sequential.registry import Setting, registered
from surefoot.sequential.round_rules import (
    AGAINST,
    Pair,
    RoundRule,
    Standing,
    checked_joined,
    checked_pausing,
    claimed_part,
    ranked,
)
from surefoot.sequential.rules import in_range
from surefoot.stats.means import betting_sequence

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

_PLAIN = ("ranking", "best", "best or tied")
_TOP = "top "
_BASED = 10  # policies that are compared with a baseline: eleven have 59,049 hypotheses
_KEPT = 100_000  # bytes of gamblers that an earlier state may keep; beyond, they are played anew if it is asked again


@registered
@dataclass(frozen=True, slots=True)
class ClosedRanking(RoundRule["ClosedRankingState"]):
    """A ranking of up to sixteen policies by closed testing over weak orders, declared before the first rollout.

    The default for three to sixteen policies: it needs about four fifths of the rollouts of `RankingRule` (Holm) and
    finds more. It holds whatever the dependence within a round. Of up to seven, and of the best few, a policy may be
    added while it runs. Of eight or more, Holm's claims at a tenth of the error come first; once they leave at most
    4,000 orders, these are tested with all rounds so far at the rest.

    Attributes:
        names: The policies: at most sixteen to be ranked, ten against a baseline, seven for "best" or "best or tied"
            (`Race` takes more), and 50 for "top M", of which there may be 20,000 sets.
        horizon: The most rollouts of each policy.
        confidence: The chance that every claim is right, over all looks and all pairs.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures; it sets the opening guess of the variance. Left out, the
            guess follows the rounds already seen.
        question: "ranking" for all pairs; "best" for the one that is better than all others; "best or tied" for one
            than which none is better; "top M" for M policies, each at least as good as every other one; "against
            NAME" for each against one baseline.
        futility: A pair whose chance to be decided by the horizon is below this is paused: 0.05 is careful, 0.1
            thrifty, 0 never. It cannot make a claim wrong.
        joined: After how many rounds each policy joined; left out, all are there from the start. See `with_policy`.

    Example:
        >>> from surefoot.sequential import ClosedRanking, run_ranking
        >>> rule = ClosedRanking(("new", "old", "none"), 60)
        >>> rounds = [{"new": 0.9, "old": 0.5 + 0.1 * (i % 3), "none": 0.0} for i in range(60)]
        >>> print(run_ranking(rule, rounds)[-1])
        new   rank 1  a  15 rollouts
        old   rank 2  b  15 rollouts
        none  rank 3  c  10 rollouts
        All places are settled after 15 rounds and 40 rollouts (at most 180).

    Reference:
        Marcus, Peritz and Gabriel (1976) for closed testing; Ville (1939); the bets are surefoot's own (see
        docs/closed-ranking.md).
    """

    _: KW_ONLY
    question: str = "ranking"
    futility: float = 0.0
    joined: tuple[int, ...] = ()

    name: ClassVar[str] = "closed"
    title: ClassVar[str] = "closed ranking"
    label: ClassVar[str] = "Closed"
    summary: ClassVar[str] = "Ranks three to sixteen policies in the fewest rollouts, or finds the best of them."
    place: ClassVar[int] = 80
    chosen_to: ClassVar[int | None] = None
    policies: ClassVar[tuple[int, int | None]] = (3, weak_orders.MOST_POLICIES)
    gives_up: ClassVar[bool] = True
    widens: ClassVar[bool] = True

    @classmethod
    def up_to(cls, question: str) -> int:
        """The most policies that it takes for this question."""
        if question.startswith(AGAINST):
            return _BASED
        if question in _PLAIN:
            return gated_orders.MOST if question == "ranking" else weak_orders.MOST
        return weak_orders.MOST_POLICIES

    @classmethod
    def asked(cls, setting: Setting) -> bool:
        """Whether it takes so many policies for this question."""
        return len(setting.policies) <= cls.up_to(setting.question)

    @classmethod
    def grows(cls, setting: Setting) -> bool:
        """Whether a policy may be added: not where claims of pairs come first."""
        few = setting.question != "ranking" or len(setting.policies) <= weak_orders.MOST
        return few and len(setting.policies) <= cls.up_to(setting.question)

    @classmethod
    def suits(cls, setting: Setting) -> bool:
        """Whether it may be chosen unasked: not where one nearly as good as the best will do."""
        return setting.within is None and cls.chosen(setting)

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The ranking as it is declared in this setting."""
        if setting.within is not None:
            raise _check.refused("within", "be left out for closed ranking", setting.within, "Use rule = 'race'.")
        return cls(**ranked(setting), question=setting.question, futility=setting.futility)

    def __post_init__(self) -> None:
        RoundRule.__post_init__(self)
        set_, names = object.__setattr__, self.names
        set_(self, "futility", checked_pausing(self.futility))
        self._check_question()
        joined = checked_joined(self.joined, len(names))
        set_(self, "joined", joined)
        if self.baseline is not None and joined[names.index(self.baseline)]:
            raise _check.refused("question", "name a baseline that runs from the start", self.question)
        if self.top is not None and self.top >= joined.count(0):
            raise _check.refused("question", f"ask for fewer than the {joined.count(0)} first policies", self.question)

    def _check_question(self) -> None:
        question, names = self.question, self.names
        if question not in (*_PLAIN, *(AGAINST + name for name in names)) and self.top is None:
            known = (*_PLAIN, "top M", *(AGAINST + name for name in names))
            raise _check.refused("question", f"be one of {', '.join(known)}", question)
        most = self.up_to(question)
        if len(names) > most:
            hint = "Race takes more." if question.startswith("best") else "RankingRule takes more, by Holm."
            must = f"be at most {most} policies for {question!r}; got {len(names)}."
            raise _check.wrong("names", must, names, "" if self.top else hint)
        sets = math.comb(len(names), self.top or 0)
        if sets > weak_orders.MOST_SETS:
            must = f"leave at most {weak_orders.MOST_SETS:,} sets of the best"
            raise _check.refused("question", must, f"{question}: {sets:,} sets of {len(names)}")

    @property
    def baseline(self) -> str | None:
        """The policy that the others are compared with, where that is the question."""
        return self.question.removeprefix(AGAINST) if self.question.startswith(AGAINST) else None

    @property
    def top(self) -> int | None:
        """How many of the best are asked for, where that is the question."""
        count = self.question.removeprefix(_TOP)
        return int(count) if self.question.startswith(_TOP) and count.isdecimal() and int(count) else None

    @property
    def gated(self) -> bool:
        """Whether claims of pairs come first, because there are too many orders."""
        return self.question == "ranking" and len(self.names) > weak_orders.MOST

    @property
    def terms(self) -> Terms:
        """What the gamblers must know."""
        return Terms(1.0 - self.confidence, self.horizon, self.binary, self.futility)

    def family(self, size: int) -> weak_orders.Family:
        """The hypotheses about the first so many policies."""
        if self.question == "ranking":
            return weak_orders.weak_orders(size)
        if self.baseline is not None:
            return weak_orders.against(size, self.names.index(self.baseline))
        if self.top is not None:
            return weak_orders.top_sets(size, self.top)
        return weak_orders.best_sets(size) if self.question == "best" else weak_orders.best_ones(size)

    def start(self) -> ClosedRankingState:
        """The state before the first round."""
        return self._told(self._begun(), 0, (0.0,) * len(self.names), (Trail(), Trail()))

    def step(self, state: ClosedRankingState, scores: Mapping[str, float]) -> ClosedRankingState:
        """The state after one more round; see `RoundRule.step`."""
        running = self.running(state, scores)
        kept = {name: in_range(scores[name], f"scores[{name!r}]", self.low, self.high) for name in running}
        before = self._gamblers(state)
        history, mask = state.history, 0
        for name, score in kept.items():
            history, mask = history.grown(score), mask | 1 << self.names.index(name)
        after = self._grown(before.step(self._row(kept, before.size)), state.rounds + 1)
        totals = tuple(total + kept.get(name, 0.0) for name, total in zip(self.names, state.totals, strict=True))
        if before.nbytes > _KEPT:  # a whole study of seven policies would else fill the memory with its past
            object.__setattr__(state, "memory", None)
        return self._told(after, state.rounds + 1, totals, (history, state.ran.grown(mask)))

    def with_policy(self, state: ClosedRankingState, name: str) -> ClosedRankingState:
        """The state with one more policy, which costs no error, even if the results so far made you add it.

        Its `rule` is the one to go on with. Every order of the policies starts from what was known about it; policies
        whose place was settled run again, for their place beside the new one is open.

        Args:
            state: A state of this rule.
            name: The new policy.
        """
        rule = replace(self, names=(*self.names, name), joined=(*self.joined, state.rounds))
        gamblers = self._gamblers(self.own(state))
        if rule.gated or isinstance(gamblers, Gate):
            must = f"be of at most {weak_orders.MOST} policies to be joined by one; got {len(rule.names)}."
            raise _check.wrong("rule", must, self)
        gamblers = widened(gamblers, rule.family(len(rule.names)))
        return rule._told(gamblers, state.rounds, (*state.totals, 0.0), (state.history, state.ran))

    def override(self, state: ClosedRankingState) -> ClosedRankingState:
        """The state that goes on with the pairs that were paused as hardly decidable; its `rule` pauses none.

        Claims and p-values hold as before.

        Raises:
            ValueError: The state belongs to another rule, or no pair is paused.
        """
        if not self.own(state).futile:
            raise _check.wrong("state", "have paused a pair to be overridden; got one that has paused none.", state)
        rule = replace(self, futility=0.0)
        gamblers = self._gamblers(state)
        going = replace(gamblers, terms=rule.terms, futile=np.zeros_like(gamblers.futile)).on()
        return rule._told(going, state.rounds, state.totals, (state.history, state.ran))

    @property
    def games(self) -> int:
        """A bet on every hypothesis, or on every pair where these come first."""
        size = len(self.names)
        return size * (size - 1) if self.gated else len(self.family(size))

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """See `RoundRule.played`."""
        unit = (scores - self.low) / (self.high - self.low)
        size = len(self.names)
        if self.gated:
            return gated_orders.played(Gate.begin(size, self.terms, len(unit)), unit)
        return gated_orders.played_out(Gamblers.begin(self.family(size), self.terms, len(unit)), unit)

    def _begun(self) -> Gamblers | Gate:
        if self.gated:
            return Gate.begin(len(self.names), self.terms)
        return Gamblers.begin(self.family(self.joined.count(0)), self.terms)

    def _grown(self, gamblers: Gamblers | Gate, rounds: int) -> Gamblers | Gate:
        """With the policies that join after this round."""
        for round_ in self.joined:
            if rounds and round_ == rounds and isinstance(gamblers, Gamblers):
                gamblers = widened(gamblers, self.family(gamblers.size + 1))
        return gamblers

    def _gamblers(self, state: ClosedRankingState) -> Gamblers | Gate:
        """The gamblers of a state; played anew where it no longer has them."""
        known: Gamblers | Gate | None = state.memory
        if known is not None:
            return known
        gamblers = self._begun()
        for rounds, scores in enumerate(state.scores()):
            size = gamblers.size
            ran = np.array([[name in scores for name in self.names[:size]]])  # who ran, also before an override
            gamblers = self._grown(replace(gamblers, running=ran).step(self._row(scores, size)), rounds + 1)
        return gamblers

    def _row(self, scores: Mapping[str, float], size: int) -> Floats:
        row = np.array([[scores.get(name, self.low) for name in self.names[:size]]])
        return (row - self.low) / (self.high - self.low)

    def _told(
        self, gamblers: Gamblers | Gate, rounds: int, totals: tuple[float, ...], past: tuple[Trail, Trail]
    ) -> ClosedRankingState:
        names, size = self.names, gamblers.size
        pairs, late = list(combinations(range(len(names)), 2)), len(names) - size  # late: still to join
        better, p = gamblers.better[0], gamblers.p_values[0]
        open_, futile = gamblers.open[0], gamblers.futile[0]
        first, last = (place[0].tolist() for place in gamblers.places())
        may, sure = (those[0] for those in gamblers.leaders())
        counts = gamblers.seen.rounds[0].astype(int).tolist()

        def verdict(a: int, b: int) -> Verdict:
            if b >= size or not (better[a, b] or better[b, a]):
                return Verdict.UNDECIDED
            return Verdict.BETTER if better[a, b] else Verdict.WORSE

        return ClosedRankingState(
            rule=self,
            rounds=rounds,
            rollouts=(*counts, *[0] * late),
            totals=totals,
            verdicts=tuple(verdict(a, b) for a, b in pairs),
            p_values=tuple(float(p[i, j]) if b < size else 1.0 for a, b in pairs for i, j in ((a, b), (b, a))),
            places=tuple(zip(first, (worst + late for worst in last), strict=True)) + ((1, len(names)),) * late,
            going=tuple(name for name, runs in zip(names, gamblers.running[0], strict=False) if runs),
            open=tuple((names[a], names[b]) for a, b in pairs if b < size and open_[a, b]),
            futile=tuple((names[a], names[b]) for a, b in pairs if b < size and open_[a, b] and futile[a, b]),
            leaders=tuple(name for place, name in enumerate(names) if place >= size or may[place]),
            best=tuple(name for name, is_ in zip(names, sure, strict=False) if is_ and self.baseline is None),
            history=past[0],
            ran=past[1],
            memory=gamblers,
        )


@dataclass(frozen=True, slots=True)
class ClosedRankingState(Standing, Record):
    """Where every policy can stand after some rounds of a `ClosedRanking`.

    Attributes:
        rule: The rule it belongs to.
        rounds: Rounds seen.
        rollouts: Rollouts used by each policy, in the order of the rule's names.
        totals: The sum of each policy's scores.
        verdicts: The verdict of every pair, about its first policy; final once given.
        p_values: For every pair, the p-value that the first is better and that the second is.
        places: The best and the worst place each policy can have.
        going: The policies of the next round.
        open: The pairs that were asked about and are not settled.
        futile: Those of them that will hardly be decided within the horizon.
        leaders: The policies that may still be best.
        best: The policies shown to be best, perhaps tied.
        history: All scores, round by round.
        ran: Who ran in each round, as bits.
        memory: The gamblers; none where they would fill the memory.
    """

    rule: ClosedRanking
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    verdicts: tuple[Verdict, ...]
    p_values: tuple[float, ...]
    places: tuple[tuple[int, int], ...]
    going: tuple[str, ...]
    open: tuple[Pair, ...]
    futile: tuple[Pair, ...]
    leaders: tuple[str, ...]
    best: tuple[str, ...]
    history: Trail
    ran: Trail
    memory: Any = field(default=None, compare=False, repr=False)

    @property
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have: those that some order not yet rejected gives it."""
        return self.places

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that were asked about and are not settled."""
        return self.open

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The open pairs that will hardly be decided within the horizon."""
        return self.futile

    @property
    def running(self) -> tuple[str, ...]:
        """The policies of the next round: those with an open pair that is not futile."""
        return self.going

    @property
    def finished(self) -> bool:
        """Whether nobody runs any more: all is settled or futile, or the horizon is reached."""
        return not self.running

    @property
    def complete(self) -> bool:
        """Whether all that was asked is decided."""
        return not self.open

    def scores(self) -> list[dict[str, float]]:
        """The scores of every round so far, by policy."""
        rounds, place, values = [], 0, self.history.array().tolist()
        for mask in self.ran:
            ran = [name for bit, name in enumerate(self.rule.names) if int(mask) >> bit & 1]
            rounds.append(dict(zip(ran, values[place : place + len(ran)], strict=True)))
            place += len(ran)
        return rounds

    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second, valid at any moment; all pairs' intervals hold together.

        A betting sequence for each pair, Bonferroni over all of them: a family with an error of its own. Of a pair that
        closed testing has decided, the part on the other side of 0 is left out. For a pair that never met, `trials` is
        0 and the interval is the whole range.
        """
        verdict = self.verdict(first, second)  # refuses unknown names
        rule, pairs = self.rule, len(self.rule.pairs)
        width = rule.high - rule.low
        met = [scores for scores in self.scores() if first in scores and second in scores]
        gains = [min(width, max(-width, scores[first] - scores[second])) for scores in met]
        binary = width == 1.0 and all(gain in (-1.0, 0.0, 1.0) for gain in gains)
        scale: formatting.Scale = "gain" if binary else "score gain"
        note = Note("interval_family", {"pairs": pairs, "confidence": rule.confidence})
        told: dict[str, Any] = {"confidence": rule.confidence, "scale": scale, "method": "anytime betting, Bonferroni"}
        if not gains:
            return Interval(-width, width, 0.0, notes=(note,), **told)
        share = 1.0 - (1.0 - rule.confidence) / pairs
        seen = betting_sequence(Scores(gains, -width, width), confidence=share).latest
        return claimed_part(replace(seen, notes=(*seen.notes, note), data=(), **told), verdict)

    @property
    def words(self) -> tuple[str, ...]:
        """Of the best few, where each policy stands in a word; empty for another question."""
        if self.rule.top is None:
            return ()
        words = dict.fromkeys(self.leaders, "may be of the best") | dict.fromkeys(self.best, "of the best")
        return tuple(words.get(name, "out") for name in self.rule.names)

    @property
    def claim(self) -> str:
        """Which are the best few, in a sentence; empty for another question."""
        return f"{self.settled} ({formatting.percent(self.rule.confidence)})." if self.rule.top else ""

    @property
    def settled(self) -> str:
        """How much is settled, in words."""
        rule = self.rule
        if rule.question == "ranking" or rule.baseline is not None:
            return self.places_settled
        if rule.top is not None:
            open_ = [name for name in self.leaders if name not in self.best]
            sure = f"the best {rule.top}, perhaps tied" if not open_ else f"of the best {rule.top}, perhaps tied"
            said = f"{', '.join(self.best)} {'is' if len(self.best) == 1 else 'are'} {sure}" if self.best else ""
            return "; ".join(filter(None, [said, f"{', '.join(open_)} may be of them" if open_ else ""]))
        if self.complete:
            return f"{self.best[0]} is best" + (", perhaps tied" if rule.question == "best or tied" else "")
        tied = f"{self.best[0]} is best, perhaps tied; " if self.best else ""
        return f"{tied}{', '.join(self.leaders)} may be best"

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready data; the gamblers are left out and played anew when needed."""
        return Record.to_dict(replace(self, memory=None))
