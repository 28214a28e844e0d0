"""Which of many policies are better than which, with a look after every round?

A round is one rollout of every policy still running, in the same conditions or in conditions of their own. Every pair
of policies is a comparison in both directions, and one error covers all of them at every moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from surefoot import _check
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.betting import BettingState, Games
from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture
from surefoot.sequential.registry import registered
from surefoot.sequential.round_rules import APART, Pair, RoundRule, Standing, claimed_part
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
    p-value ever rises, and never finds less than Bonferroni, the published baseline.

    Attributes:
        names: The policies.
        horizon: The most rounds, that is rollouts of each policy.
        confidence: The chance that every verdict is right, over all looks and all pairs.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures; see `FiniteHorizonMixture`.
        adjusting: How the error is shared among pairs: "holm" or "bonferroni".

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

    name: ClassVar[str] = "holm"
    title: ClassVar[str] = "Holm's ranking"
    label: ClassVar[str] = "Holm"
    summary: ClassVar[str] = "Ranks any number of policies: every two by the mixture, one error for all by Holm."
    place: ClassVar[int] = 90
    chosen_to: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        RoundRule.__post_init__(self)
        _check.choice(self.adjusting, "adjusting", _ADJUSTING)

    @property
    def pair_rule(self) -> FiniteHorizonMixture:
        """The rule of one pair, at its equal share of the error."""
        share = (1.0 - self.confidence) / len(self.pairs) * (1.0 - 1e-9)  # so that rounding cannot miss it
        return FiniteHorizonMixture(
            self.horizon, confidence=1.0 - share, claim="either", low=self.low, high=self.high, binary=self.binary
        )

    def start(self) -> RankingState:
        """The state before the first round."""
        sides = tuple(self.pair_rule.start() for _ in self.pairs)
        verdicts = (Verdict.UNDECIDED,) * len(self.pairs)
        return RankingState(self, 0, (0,) * len(self.names), (0.0,) * len(self.names), sides, verdicts)

    def step(self, state: RankingState, scores: Mapping[str, float]) -> RankingState:
        """The state after one more round; see `RoundRule.step`."""
        self.running(state, scores)
        rule = self.pair_rule
        kept = {name: rule.scores((score, score))[0] for name, score in scores.items()}
        sides = tuple(
            rule.step(side, (kept[one], kept[other])) if not side.finished and {one, other} <= set(kept) else side
            for (one, other), side in zip(self.pairs, state.sides, strict=True)
        )
        return RankingState(
            self,
            state.rounds + 1,
            tuple(used + (name in kept) for name, used in zip(self.names, state.rollouts, strict=True)),
            tuple(total + kept.get(name, 0.0) for name, total in zip(self.names, state.totals, strict=True)),
            sides,
            self.decided(state.verdicts, adjusted_p(self, sides)),
        )

    def decided(self, before: tuple[Verdict, ...], adjusted: Sequence[float]) -> tuple[Verdict, ...]:
        """Verdicts so far and the new ones, strongest first, with all that follows from them.

        Args:
            before: The verdict of every pair so far.
            adjusted: For every pair, the adjusted p-value that its first policy is better, and that it is worse.
        """
        found = sorted((p, place) for place, p in enumerate(adjusted) if p <= 1.0 - self.confidence)
        verdicts = list(before)
        for _, place in found:
            pair, verdict = divmod(place, 2)
            if verdicts[pair] is Verdict.UNDECIDED:
                verdicts[pair] = Verdict.WORSE if verdict else Verdict.BETTER
                verdicts = _closed(self.pairs, self.names, verdicts)
        return tuple(verdicts)

    def adjusted(self, p_values: Sequence[float]) -> tuple[float, ...]:
        """The p-values of both directions of every pair, adjusted for there being so many."""
        return _ADJUSTING[self.adjusting](p_values)

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """See `RoundRule.played`.

        Every pair of every study is a game; verdicts are given where the number of rejected directions grows.
        """
        studies, rounds, size = scores.shape
        pairs = np.array(list(combinations(range(size), 2)))
        one, other = np.tile(pairs[:, 0], studies), np.tile(pairs[:, 1], studies)
        games, active = Games.begin(self.pair_rule, studies * len(pairs)), np.arange(studies * len(pairs))
        best = np.zeros((2, studies * len(pairs)))
        verdicts = [(Verdict.UNDECIDED,) * len(pairs)] * studies
        found, rollouts = np.zeros(studies, np.int64), np.zeros((studies, size), np.int64)
        running = np.ones((studies, size), bool)
        for turn in range(min(rounds, self.horizon)):
            rollouts += running
            study = active // len(pairs)
            games.bet(scores[study, turn, one[active]], scores[study, turn, other[active]])
            best[:, active] = games.log_best
            each = best.reshape(2, studies, -1)
            now = _rejected(self, np.concatenate(each, axis=1))
            for place in np.flatnonzero(now > found).tolist():
                adjusted = self.adjusted(np.exp(-each[:, place]).T.ravel().tolist())
                verdicts[place] = self.decided(verdicts[place], adjusted)
                ranks = rank_intervals(self.names, self.pairs, verdicts[place])
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
    """

    rule: RankingRule
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    sides: tuple[BettingState, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """The best and the worst place each policy can have."""
        return rank_intervals(self.rule.names, self.rule.pairs, self.verdicts)

    @property
    def complete(self) -> bool:
        """Whether every pair is decided."""
        return Verdict.UNDECIDED not in self.verdicts

    @property
    def running(self) -> tuple[str, ...]:
        """The policies whose place is still open."""
        return tuple(name for name, (best, worst) in zip(self.rule.names, self.ranks, strict=True) if best < worst)

    @property
    def finished(self) -> bool:
        """Whether every place is settled or the horizon is reached."""
        return self.rounds >= self.rule.horizon or not self.running

    @property
    def p_values(self) -> tuple[float, ...]:  # type: ignore[override]
        """The adjusted anytime p-values of every pair: that the first is better, and that it is worse."""
        return adjusted_p(self.rule, self.sides)

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
        place = self.rule.pairs.index((first, second))
        seen = replace(self.sides[place].interval, confidence=self.rule.confidence)
        verdict, observed = self.verdicts[place], seen.estimate
        if self.rule.adjusting == "bonferroni":
            return claimed_part(seen, verdict)
        found = sum(p <= 1.0 - self.rule.confidence for p in self.p_values)
        low, high = self.sides[place].ends((1.0 - self.rule.confidence) / (2 * len(self.rule.pairs) - found))
        low = min(low, 0.0, observed)  # gains that drift may be left out by their bets: then the end moves to them
        high = max(high, 0.0, observed)
        method = f"{seen.method}, Holm-compatible"
        return claimed_part(replace(seen, low=low, high=high, method=method), verdict)
