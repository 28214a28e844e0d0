"""Sequential ranking of many policies, with Holm's procedure after every round.

A round is one rollout of every policy still running, in the same conditions or in conditions of their own. Every pair
of policies is a comparison in both directions, and one error covers all of them at every moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from surefoot import _check
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting.closed_stakes import GOAL, little_chance, opening_guess
from surefoot.sequential.betting import BettingState, Games
from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture
from surefoot.sequential.registry import Setting, registered
from surefoot.sequential.round_rules import (
    AGAINST,
    APART,
    FINDING,
    Pair,
    RoundRule,
    Standing,
    checked_pausing,
    claimed_part,
    ranked,
)
from surefoot.stats.multiplicity import bonferroni, holm
from surefoot.stats.rankings import rank_intervals

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints

_ADJUSTING = {"holm": holm, "bonferroni": bonferroni}


@registered
@dataclass(frozen=True, slots=True)
class RankingRule(RoundRule["RankingState"]):
    """A ranking of many policies, declared before the first rollout.

    Each pair is bet on in both directions by a `FiniteHorizonMixture`, and each direction counts as a hypothesis of its
    own: four policies make twelve. Holm's step-down on their anytime p-values is valid at every moment, because no
    p-value ever rises, and never finds less than Bonferroni, the published baseline. Against a baseline, only the pairs
    with it count.

    Attributes:
        names: The policies.
        horizon: The most rounds, that is rollouts of each policy.
        confidence: The chance that every verdict is right, over all looks and all pairs.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures; see `FiniteHorizonMixture`.
        adjusting: How the error is shared among pairs: "holm" or "bonferroni".
        question: "ranking" for all pairs; "against NAME" for each against one baseline.
        futility: A pair whose chance to be decided by the horizon is below this is paused: 0.05 is careful, 0.1
            thrifty, 0 never. It cannot make a verdict wrong.

    Example:
        >>> from surefoot.sequential import RankingRule, run_ranking
        >>> rule = RankingRule(("new", "old", "none"), 60)
        >>> rounds = [{"new": 0.9, "old": 0.5 + 0.1 * (i % 3), "none": 0.0} for i in range(60)]
        >>> states = run_ranking(rule, rounds)
        >>> print(states[-1])
        new   rank 1  a  17 rollouts
        old   rank 2  b  17 rollouts
        none  rank 3  c  11 rollouts
        All places are settled after 17 rounds and 45 rollouts (at most 180).

    Reference:
        Holm (1979), "A simple sequentially rejective multiple test procedure"; Snyder et al. (2026), section V, for
        Bonferroni.
    """

    _: KW_ONLY
    adjusting: Literal["holm", "bonferroni"] = "holm"
    question: str = "ranking"
    futility: float = 0.0

    name: ClassVar[str] = "holm"
    title: ClassVar[str] = "Holm's ranking"
    label: ClassVar[str] = "Holm"
    summary: ClassVar[str] = "Ranks any number of policies: every two by the mixture, one error for all by Holm."
    place: ClassVar[int] = 90
    chosen_to: ClassVar[int | None] = None
    gives_up: ClassVar[bool] = True

    @classmethod
    def asked(cls, setting: Setting) -> bool:
        """Whether pairs are asked about, and not which policies are the best."""
        return not setting.question.startswith(FINDING)

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The ranking as it is declared in this setting."""
        if not cls.asked(setting):
            hint = "Use rule = 'race' for the best of many, 'closed' for the best few of up to 50."
            raise _check.refused(
                "question", "be 'ranking' or 'against NAME' for Holm's ranking", setting.question, hint
            )
        return cls(**ranked(setting), question=setting.question, futility=setting.futility)

    def __post_init__(self) -> None:
        RoundRule.__post_init__(self)
        _check.choice(self.adjusting, "adjusting", _ADJUSTING)
        object.__setattr__(self, "futility", checked_pausing(self.futility))
        if self.question != "ranking" and self.baseline not in self.names:
            known = ", ".join(("ranking", *(AGAINST + name for name in self.names)))
            raise _check.refused("question", f"be one of {known}", self.question)

    @property
    def baseline(self) -> str | None:
        """The policy that the others are compared with, where that is the question."""
        return self.question.removeprefix(AGAINST) if self.question.startswith(AGAINST) else None

    @property
    def compared(self) -> tuple[Pair, ...]:
        """The pairs that the question is about."""
        return tuple(pair for pair in self.pairs if self.baseline in (None, *pair))

    @property
    def goal(self) -> float:
        """How many standard errors decide a pair by the horizon, for all that are asked about."""
        return GOAL * math.sqrt(math.log(2 * len(self.compared) / (1.0 - self.confidence)) / math.log(20.0))

    @property
    def pair_rule(self) -> FiniteHorizonMixture:
        """The rule of one pair, at its equal share of the error."""
        share = (1.0 - self.confidence) / len(self.compared) * (1.0 - 1e-9)  # so that rounding cannot miss it
        return FiniteHorizonMixture(
            self.horizon, confidence=1.0 - share, claim="either", low=self.low, high=self.high, binary=self.binary
        )

    def start(self) -> RankingState:
        """The state before the first round."""
        sides = tuple(self.pair_rule.start() for _ in self.compared)
        verdicts = (Verdict.UNDECIDED,) * len(self.pairs)
        return RankingState(self, 0, (0,) * len(self.names), (0.0,) * len(self.names), sides, verdicts)

    def step(self, state: RankingState, scores: Mapping[str, float]) -> RankingState:
        """The state after one more round; see `RoundRule.step`."""
        self.running(state, scores)
        rule = self.pair_rule
        kept = {name: rule.scores((score, score))[0] for name, score in scores.items()}
        sides = tuple(
            rule.step(side, (kept[one], kept[other])) if not side.finished and {one, other} <= set(kept) else side
            for (one, other), side in zip(self.compared, state.sides, strict=True)
        )
        after = RankingState(
            self,
            state.rounds + 1,
            tuple(used + (name in kept) for name, used in zip(self.names, state.rollouts, strict=True)),
            tuple(total + kept.get(name, 0.0) for name, total in zip(self.names, state.totals, strict=True)),
            sides,
            self.decided(state.verdicts, adjusted_p(self, sides)),
        )
        return replace(after, futile=self._hopeless(state, after, kept)) if self.futility else after

    def _hopeless(self, before: RankingState, after: RankingState, ran: Mapping[str, float]) -> tuple[Pair, ...]:
        """The open pairs with little chance to be decided in time; as it was where one of the two did not run."""
        open_, width = set(after.undecided), self.high - self.low
        met = [
            (pair, (side.first.array() - self.low) / width, (side.second.array() - self.low) / width)
            for pair, side in zip(self.compared, after.sides, strict=True)
            if pair in open_ and set(pair) <= set(ran)
        ]
        gains = [one - other for _, one, other in met]
        lead, squares = (np.array([float(one.sum()) for one in each]) for each in (gains, [g * g for g in gains]))
        between = np.array([bool(((one % 1.0) + (other % 1.0)).any()) for _, one, other in met])
        guess = opening_guess(self.binary, between)
        n = np.array([float(len(gain)) for gain in gains])
        now = little_chance(np.abs(lead), squares, n, guess, (self.goal, self))
        hopeless = {pair for (pair, _, _), little in zip(met, now, strict=True) if little}
        as_before = {pair for pair in before.futile if pair in open_ and not set(pair) <= set(ran)}
        return tuple(pair for pair in self.compared if pair in hopeless | as_before)

    def override(self, state: RankingState) -> RankingState:
        """The state that goes on with the pairs that were paused as hardly decidable; its `rule` pauses none.

        Raises:
            ValueError: The state belongs to another rule, or no pair is paused.
        """
        if not self.own(state).futile:
            raise _check.wrong("state", "have paused a pair to be overridden; got one that has paused none.", state)
        return replace(state, rule=replace(self, futility=0.0), futile=())

    def decided(self, before: tuple[Verdict, ...], adjusted: Sequence[float]) -> tuple[Verdict, ...]:
        """Verdicts so far and the new ones, strongest first, with all that follows from them.

        Args:
            before: The verdict of every pair so far.
            adjusted: For every pair, the adjusted p-value that its first policy is better, and that it is worse.
        """
        found = sorted((p, place) for place, p in enumerate(adjusted) if p <= 1.0 - self.confidence)
        verdicts, asked = list(before), self._places
        for _, place in found:
            pair, verdict = asked[place // 2], place % 2
            if verdicts[pair] is Verdict.UNDECIDED:
                verdicts[pair] = Verdict.WORSE if verdict else Verdict.BETTER
                verdicts = _closed(self.pairs, self.names, verdicts)
        return tuple(verdicts)

    @property
    def _places(self) -> tuple[int, ...]:
        """Where among all pairs each stands that is asked about."""
        return tuple(place for place, pair in enumerate(self.pairs) if self.baseline in (None, *pair))

    def adjusted(self, p_values: Sequence[float]) -> tuple[float, ...]:
        """The p-values of both directions of every pair, adjusted for there being so many."""
        return _ADJUSTING[self.adjusting](p_values)

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """See `RoundRule.played`.

        Every pair of every study is a game; verdicts are given where the number of rejected directions grows.
        """
        studies, rounds, size = scores.shape
        every = np.array(list(combinations(range(size), 2)))
        pairs = every[list(self._places)]
        count = len(pairs)
        one, other = np.tile(pairs[:, 0], studies), np.tile(pairs[:, 1], studies)
        games, active = Games.begin(self.pair_rule, studies * count), np.arange(studies * count)
        best, between = np.zeros((2, studies * count)), np.zeros(studies * count, bool)
        verdicts = [(Verdict.UNDECIDED,) * len(every)] * studies
        found, rollouts = np.zeros(studies, np.int64), np.zeros((studies, size), np.int64)
        open_, futile = np.ones((studies, count), bool), np.zeros((studies, count), bool)
        running, ends = np.ones((studies, size), bool), np.eye(size, dtype=int)[pairs].sum(axis=1)
        for turn in range(min(rounds, self.horizon)):
            rollouts += running
            study = active // count
            seen = scores[study, turn, one[active]], scores[study, turn, other[active]]
            games.bet(*seen)
            best[:, active] = games.log_best
            between[active] |= np.any([(score != self.low) & (score != self.high) for score in seen], axis=0)
            each = best.reshape(2, studies, -1)
            now = _rejected(self, np.concatenate(each, axis=1))
            for place in np.flatnonzero(now > found).tolist():
                adjusted = self.adjusted(np.exp(-each[:, place]).T.ravel().tolist())
                verdicts[place] = self.decided(verdicts[place], adjusted)
                open_[place] = [verdicts[place][pair] is Verdict.UNDECIDED for pair in self._places]
            found = now
            if self.futility:
                guess = opening_guess(self.binary, between[active])
                n, lead = np.full(len(active), turn + 1.0), np.abs(games.sums[0])
                futile.ravel()[active] = little_chance(lead, games.squares[0], n, guess, (self.goal, self))
            running = (open_ & ~futile) @ ends > 0
            going = (games.codes() == 0) & running[study, one[active]] & running[study, other[active]]
            games.keep(going)
            active = active[going]
            if not running.any():
                break
        better = np.zeros((studies, size, size), bool)
        for place, (i, j) in enumerate(every.tolist()):
            better[:, i, j] = [said[place] is Verdict.BETTER for said in verdicts]
            better[:, j, i] = [said[place] is Verdict.WORSE for said in verdicts]
        left: Flags = np.any(open_, axis=1)
        return rollouts, better, ~left


def adjusted_p(rule: RankingRule, sides: Iterable[BettingState]) -> tuple[float, ...]:
    """Adjusted anytime p-values: of every pair, that the first is better and that it is worse."""
    return rule.adjusted([math.exp(-one.log_best) for side in sides for one in side.sides])


def _rejected(rule: RankingRule, log_best: Floats) -> Ints:
    """How many directions each study rejects: those p-values that stand the step-down."""
    error, count = 1.0 - rule.confidence, log_best.shape[1]
    left = np.arange(count, 0, -1) if rule.adjusting == "holm" else np.full(count, count)
    stands = -np.sort(-log_best, axis=1) >= np.log(left / error) - 1e-9  # a hair early: the rule itself decides
    found: Ints = np.cumprod(stands, axis=1).sum(axis=1)
    return found


def _closed(pairs: tuple[Pair, ...], names: tuple[str, ...], verdicts: list[Verdict]) -> list[Verdict]:
    """The verdicts with those that follow: better than one that is better than a third."""
    over = {(a, b) if v is Verdict.BETTER else (b, a) for (a, b), v in zip(pairs, verdicts, strict=True) if v in APART}
    for middle in names:
        over |= {(a, b) for a in names for b in names if (a, middle) in over and (middle, b) in over}
    said = {True: Verdict.BETTER, False: Verdict.WORSE}
    return [
        said[(a, b) in over] if v is Verdict.UNDECIDED and {(a, b), (b, a)} & over else v
        for (a, b), v in zip(pairs, verdicts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class RankingState(Standing, Record):
    """Where every policy can stand after some rounds.

    Attributes:
        rule: The rule it belongs to.
        rounds: Rounds seen.
        rollouts: Rollouts used by each policy, in the order of the rule's names.
        totals: The sum of each policy's scores.
        sides: The betting state of every pair.
        verdicts: The verdict of every pair, about its first policy; final once given.
        futile: The open pairs that will hardly be decided within the horizon.
    """

    rule: RankingRule
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    sides: tuple[BettingState, ...]
    verdicts: tuple[Verdict, ...]
    futile: tuple[Pair, ...] = ()

    @property
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have."""
        return rank_intervals(self.rule.names, self.rule.pairs, self.verdicts)

    @property
    def undecided(self) -> tuple[Pair, ...]:
        """The pairs that were asked about and are not told apart."""
        rule = self.rule
        return tuple(rule.pairs[place] for place in rule._places if self.verdicts[place] not in APART)

    @property
    def paused(self) -> tuple[Pair, ...]:
        """The open pairs that will hardly be decided within the horizon."""
        return self.futile

    @property
    def complete(self) -> bool:
        """Whether every pair that was asked about is decided."""
        return not self.undecided

    @property
    def running(self) -> tuple[str, ...]:
        """The policies with an open pair that is not paused."""
        those = {name for pair in self.undecided if pair not in self.futile for name in pair}
        return tuple(name for name in self.rule.names if name in those)

    @property
    def finished(self) -> bool:
        """Whether all is settled or paused, or the horizon is reached."""
        return self.rounds >= self.rule.horizon or not self.running

    @property
    def p_values(self) -> tuple[float, ...]:  # type: ignore[override]
        """The adjusted anytime p-values of every pair: that the first is better, and worse; 1 if not asked about."""
        found = np.ones((len(self.rule.pairs), 2))
        found[list(self.rule._places)] = np.reshape(adjusted_p(self.rule, self.sides), (-1, 2))
        return tuple(found.ravel().tolist())

    def interval(self, first: str, second: str) -> Interval:
        """The gain of the first over the second; all pairs' intervals hold together, and agree with the verdicts.

        With Bonferroni every pair has the interval of its own share. With Holm a separated pair shows that there is a
        gain, not how large it is at least, and all other ends share the error of what was found already. The interval
        of a decided pair ends at 0; where the verdict follows from two others against the gain observed, a note says
        so. For a pair that never met, `trials` is 0.
        """
        if (first, second) not in self.rule.pairs:
            self.verdict(first, second)  # refuses unknown names
            seen = self.interval(second, first)
            return replace(seen, low=0.0 - seen.high, high=0.0 - seen.low, estimate=0.0 - seen.estimate)
        if (first, second) not in self.rule.compared:
            return replace(self.rule.pair_rule.start().interval, confidence=self.rule.confidence)
        place, verdict = self.rule.compared.index((first, second)), self.verdict(first, second)
        seen = replace(self.sides[place].interval, confidence=self.rule.confidence)
        observed = seen.estimate
        if self.rule.adjusting == "bonferroni":
            return claimed_part(seen, verdict)
        found = sum(p <= 1.0 - self.rule.confidence for p in adjusted_p(self.rule, self.sides))
        low, high = self.sides[place].ends((1.0 - self.rule.confidence) / (2 * len(self.rule.compared) - found))
        low = min(low, 0.0, observed)  # gains that drift may be left out by their bets: then the end moves to them
        high = max(high, 0.0, observed)
        method = f"{seen.method}, Holm-compatible"
        return claimed_part(replace(seen, low=low, high=high, method=method), verdict)
