"""How to get the most out of a fixed budget: pick one of many policies in stages, then run it afresh.

Whoever is in the lower half of a stage leaves. The number reported is that of fresh rollouts of the one picked, which
know nothing of how it was picked: it is unbiased, and its bound pays nothing for the choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Bound
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import race_bets
from surefoot.numerics.rates import best_of_many
from surefoot.numerics.rates.best_of_many import Stage
from surefoot.sequential.history import Trail
from surefoot.sequential.registry import Setting, registered
from surefoot.sequential.selection import SelectionRule, SelectionState
from surefoot.stats.rates import clopper_pearson_lower
from surefoot.stats.score_means import score_mean_lower

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


@registered
@dataclass(frozen=True, slots=True)
class Halve(SelectionRule["HalveState"]):
    """A budget spent in stages on 2 to 1,000 policies, then on fresh rollouts of the one picked.

    It does not claim that the one picked is the best. The stages are fixed beforehand; results decide only who goes on.

    Attributes:
        names: The policies.
        horizon: The rounds in all; they follow from the budget.
        confidence: The confidence of the bound for the one picked.
        low: The lowest score possible.
        high: The highest score possible.
        binary: Whether scores are successes and failures.
        budget: The rollouts of all policies together.
        share: How much of the budget the stages may use; what is left is run afresh.
        seed: Draws the order in which ties are broken; it does not depend on the order of the names.

    Example:
        >>> from surefoot.sequential import Halve, run_ranking
        >>> rule = Halve(("new", "old", "none"), budget=60)
        >>> state = run_ranking(rule, [{"new": 0.9, "old": 0.5, "none": 0.1}] * 60)[-1]
        >>> state.named, [(one.policies, one.rollouts) for one in rule.stages], state.rollouts_used
        ('new', [(3, 7), (2, 10)], 60)

    Reference:
        Karnin, Koren and Somekh (2013), "Almost optimal exploration in multi-armed bandits", for halving.
    """

    _: KW_ONLY
    budget: int = 0
    share: float = 0.7

    name: ClassVar[str] = "halve"
    title: ClassVar[str] = "halving"
    label: ClassVar[str] = "Halve"
    summary: ClassVar[str] = "Spends a budget in stages and confirms the one picked on fresh rollouts; claims no best."
    place: ClassVar[int] = 95
    chosen_to: ClassVar[int | None] = 0
    picks: ClassVar[bool] = True
    promise: ClassVar[str] = "halving promise"

    @classmethod
    def made(cls, setting: Setting) -> Self:
        """The rule as it is declared in this setting."""
        told = cls.questioned(setting)
        for name, nothing in (("within", None), ("futility", 0.0)):
            given = getattr(setting, name)
            if given != nothing:
                raise _check.refused(name, "be left out for halving", given, "Use rule = 'race'.")
        if setting.budget is None:
            raise _check.wrong("budget", "be given for halving, such as 500.")
        return cls(**told)

    def __post_init__(self) -> None:
        SelectionRule.__post_init__(self)
        count = len(self.names)
        budget = _check.whole(self.budget, "budget", least=1)
        if not 0.0 < _check.real(self.share, "share") < 1.0:
            raise _check.refused("share", "be strictly between 0 and 1", self.share)
        plan = best_of_many.stages(max(2, count), budget, self.share)
        if budget < 2 * count or not all(stage.rollouts for stage in plan):
            least = max(2 * count, -(-len(plan) * count * 1000 // int(self.share * 1000)))
            raise _check.refused("budget", f"be at least {least:,} for {count:,} policies", self.budget)
        rounds = sum(stage.rollouts for stage in plan)
        used = sum(stage.policies * stage.rollouts for stage in plan)
        object.__setattr__(self, "horizon", rounds + budget - used)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """How many policies run in each stage, and how often each."""
        return best_of_many.stages(len(self.names), self.budget, self.share)

    @property
    def fresh(self) -> int:
        """The fresh rollouts of the one picked."""
        return self.budget - sum(stage.policies * stage.rollouts for stage in self.stages)

    @property
    def most(self) -> int:
        """All rollouts: the budget."""
        return self.budget

    def start(self) -> HalveState:
        """The state before the first round."""
        size = len(self.names)
        nothing = (Trail(),) * size
        return HalveState(self, 0, (0,) * size, (0.0,) * size, ("running",) * size, None, nothing, Trail())

    def step(self, state: HalveState, scores: Mapping[str, float]) -> HalveState:
        """The state after one more round; see `RoundRule.step`."""
        self.running(state, scores)
        kept = {name: self.score(score, name) for name, score in scores.items()}
        unit = {name: (score - self.low) / (self.high - self.low) for name, score in kept.items()}
        after = replace(
            state,
            rounds=state.rounds + 1,
            rollouts=tuple(used + (name in kept) for name, used in zip(self.names, state.rollouts, strict=True)),
            totals=tuple(total + kept.get(name, 0.0) for name, total in zip(self.names, state.totals, strict=True)),
            history=tuple(
                trail.grown(unit[name]) if name in unit else trail
                for name, trail in zip(self.names, state.history, strict=True)
            ),
            confirmed=state.confirmed if state.named is None else state.confirmed.grown(unit[state.named]),
        )
        return self._cut(after) if state.named is None else after

    def _cut(self, state: HalveState) -> HalveState:
        """Without the lower half, where a stage is over; with one picked after the last."""
        ends, at = np.cumsum([stage.rollouts for stage in self.stages]).tolist(), state.rounds
        if at not in ends:
            return state
        place = ends.index(at) + 1
        count = self.stages[place].policies if place < len(self.stages) else 1
        running = np.array([[word == "running" for word in state.standings]])
        stays = best_of_many.kept_of(running, np.array([state.estimates]), self.places(len(self.names)), count)[0]
        words = tuple("running" if stay else "out" for stay in stays)
        return replace(state, standings=words, named=self.names[int(stays.argmax())] if count == 1 else None)

    def played(self, scores: Floats) -> tuple[Ints, Flags, Flags]:
        """See `RoundRule.played`; a policy reads its scores in order, again from the start at their end."""
        unit = (scores - self.low) / (self.high - self.low)
        studies, _, size = unit.shape
        order = np.broadcast_to(self.places(len(self.names)), (studies, size))
        end = best_of_many.halved(self.stages, self.budget, order, race_bets.reader(unit))
        return end.counts, np.zeros((studies, size, size), bool), np.ones(studies, bool)


@dataclass(frozen=True, slots=True)
class HalveState(SelectionState, Record):
    """Where every policy stands after some rounds of `Halve`.

    Attributes:
        rule: The rule it belongs to.
        rounds: Rounds seen.
        rollouts: Rollouts used by each policy, in the order of the rule's names.
        totals: The sum of each policy's scores.
        standings: Of each policy: "running" or "out".
        named: The policy picked, once the stages are over.
        history: The scores of each policy, moved to [0, 1].
        confirmed: The fresh scores of the one picked.
    """

    rule: Halve
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]
    standings: tuple[str, ...]
    named: str | None
    history: tuple[Trail, ...]
    confirmed: Trail

    @property
    def p_values(self) -> tuple[float, ...]:  # type: ignore[override]
        """None: no policy is claimed to be the best, or not to be."""
        return ()

    @property
    def of_first(self) -> Verdict:
        """Undecided: nothing is claimed of any two."""
        return Verdict.UNDECIDED

    @property
    def regret(self) -> None:
        """None: nothing is claimed of how far below the best the one picked is."""

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """None: halving loses no policy."""
        return ()

    @property
    def leaders(self) -> tuple[str, ...]:
        """The policies of the stage, or the one picked."""
        return self._those("running")

    @property
    def running(self) -> tuple[str, ...]:
        """The policies of the next round."""
        return () if self.finished else self.leaders

    @property
    def finished(self) -> bool:
        """Whether the budget is used."""
        return self.rounds >= self.rule.horizon

    @property
    def complete(self) -> bool:
        """Whether the one picked has been run afresh as often as planned."""
        return self.finished

    @property
    def room(self) -> int:
        """How many further rounds the stage has: who runs after it is not known before."""
        ends = [*np.cumsum([stage.rollouts for stage in self.rule.stages]).tolist(), self.rule.horizon]
        return int(next((end for end in ends if end > self.rounds), self.rounds) - self.rounds)

    @property
    def spent(self) -> bool:
        """Whether the budget is used."""
        return self.finished

    @property
    def ranks(self) -> tuple[tuple[int, int], ...]:
        """Any place: no claim is made."""
        return ((1, len(self.rule.names)),) * len(self.rule.names)

    @property
    def number(self) -> Bound | None:
        """The lower bound of the one picked, from its fresh rollouts alone; none before the first of them."""
        rule, fresh = self.rule, self.confirmed.array()
        if not len(fresh):
            return None
        successes = rule.binary is None and (rule.low, rule.high) == (0.0, 1.0) and np.isin(fresh, (0.0, 1.0)).all()
        if rule.binary or successes:
            return clopper_pearson_lower(Tally(int(fresh.sum()), len(fresh)), confidence=rule.confidence)
        values = (rule.low + fresh * (rule.high - rule.low)).tolist()
        return score_mean_lower(Scores(values, low=rule.low, high=rule.high), confidence=rule.confidence)

    @property
    def claim(self) -> str:
        """Who was picked, and how good it is by fresh rollouts."""
        rule, number = self.rule, self.number
        if self.named is None:
            at = sum(stage.rollouts for stage in rule.stages)
            ends = np.cumsum([stage.rollouts for stage in rule.stages])
            stage = 1 + int((ends <= self.rounds).sum())
            running = f"{len(self.leaders)} of {len(rule.names)} run"
            return f"Stage {stage} of {len(rule.stages)}, round {self.rounds} of {at}: {running}."
        if not self.finished or number is None:
            done = f"{len(self.confirmed):,} of {rule.fresh:,}"
            return f"{self.named} is picked; {done} fresh rollouts of it are in."
        shown = formatting.number(number.estimate, number.scale)
        bound = formatting.number(number.value, number.scale, "down")
        verb = "succeeded in" if number.scale == "rate" else "scored"
        return (
            f"{self.named} is picked of {len(rule.names)}. In {rule.fresh:,} fresh rollouts it {verb} "
            f"{shown}: at least {bound} ({formatting.percent(rule.confidence)}). That it is the best is not claimed."
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Nothing besides."""
        return ()
