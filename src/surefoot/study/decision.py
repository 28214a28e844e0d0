"""Which rule decides a study, and what does it say of the blocks completed so far?

A decision is a value: one more block gives another decision and leaves this one as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.sequential.rules import Rule
from surefoot.sequential.validity import declared
from surefoot.study.plans import Plan

if TYPE_CHECKING:
    from surefoot.sequential import State
    from surefoot.sequential.round_rules import Standing
    from surefoot.sequential.rules import Ending


@dataclass(frozen=True, slots=True)
class PairDecision:
    """What the rule on two policies says, fed the completed pairs in scheduled order.

    Attributes:
        plan: The plan.
        rule: Its rule.
        state: What the rule knows.
        ending: Why no further pair is needed; none while the rule goes on. Asked many times, and found once: a betting
            rule foresees its chance from all pairs.
    """

    plan: Plan
    rule: Rule[Any]
    state: State[Any]
    ending: Ending | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ending", self.state.ending)

    @property
    def verdict(self) -> Verdict:
        """What has been decided about the first-named policy."""
        return self.state.verdict

    @property
    def finished(self) -> bool:
        """Whether no further block is needed."""
        return self.ending is not None

    @property
    def active(self) -> tuple[str, ...]:
        """Both policies, to the end."""
        return self.plan.policies

    @property
    def taken(self) -> int:
        """The pairs that counted."""
        return self.state.pairs

    def overridden(self) -> PairDecision:
        """The decision that goes on although the rule has stopped for futility."""
        return replace(self, state=self.rule.override(self.state))

    @property
    def room(self) -> int:
        """How many further pairs the horizon allows."""
        return self.plan.horizon - self.taken

    @property
    def spent(self) -> bool:
        """Whether every policy has been run as often as it may be."""
        return not self.room

    def after(self, scores: Mapping[str, float]) -> PairDecision:
        """The decision after one more completed pair."""
        first, second = (scores[policy] for policy in self.plan.policies)
        return replace(self, state=self.rule.step(self.state, (first, second)))


@dataclass(frozen=True, slots=True)
class RankingDecision:
    """Three policies or more, ranked: what `PairDecision` is to two. Policies whose place is settled run no more."""

    plan: Plan
    rule: Any
    state: Standing

    @property
    def verdict(self) -> Verdict:
        """Better when the first-named policy was shown better than every other, worse when shown worse than one."""
        first, *others = self.rule.names
        said = {self.state.verdict(first, other) for other in others}
        if Verdict.WORSE in said:
            return Verdict.WORSE
        all_met = len(self.rule.names) == len(self.plan.policies)
        return Verdict.BETTER if said == {Verdict.BETTER} and all_met else Verdict.UNDECIDED

    @property
    def finished(self) -> bool:
        """Whether every place is settled or the horizon is reached."""
        return self.state.finished

    @property
    def ending(self) -> Ending | None:
        """Why no further round is needed: all is settled, what is open will hardly be, or the horizon is reached."""
        if not self.finished:
            return None
        if self.state.paused and not self.state.complete:
            return "futility"
        return "verdict" if self.state.complete or self.verdict is not Verdict.UNDECIDED else "horizon"

    @property
    def room(self) -> int:
        """How many further rounds the horizon allows: two policies must be short of it."""
        used = dict(zip(self.rule.names, self.state.rollouts, strict=True))
        return self.plan.horizon - sorted(used[name] for name in self.active)[1] if len(self.active) > 1 else 0

    @property
    def spent(self) -> bool:
        """Whether every policy has been run as often as it may be."""
        return min(self.state.rollouts) >= self.plan.horizon

    def overridden(self) -> RankingDecision:
        """The decision that goes on although what is open will hardly be decided in time."""
        state = self.rule.override(self.state)
        return replace(self, rule=state.rule, state=state)

    def joined(self, name: str) -> RankingDecision:
        """The decision with one more policy; what was claimed stays claimed."""
        state = self.rule.with_policy(self.state, name)
        return replace(self, rule=state.rule, state=state)

    @property
    def active(self) -> tuple[str, ...]:
        """The policies whose place is still open."""
        return self.state.running

    @property
    def taken(self) -> int:
        """The rounds that counted."""
        return self.state.rounds

    def after(self, scores: Mapping[str, float]) -> RankingDecision:
        """The decision after one more completed block; results of policies settled meanwhile are not looked at."""
        running = {name: score for name, score in scores.items() if name in self.state.running}
        if set(running) != set(self.state.running):
            return self
        return replace(self, state=self.rule.step(self.state, running))


Decision = PairDecision | RankingDecision


def with_joins(decision: Decision, joins: Mapping[str, int], reached: int) -> Decision:
    """The decision with the policies that join after a block, once it is reached or nothing else is left to run."""
    for name, block in joins.items():
        if isinstance(decision, RankingDecision) and name not in decision.rule.names:
            if block > reached and not decision.finished:
                break
            decision = decision.joined(name)
    return decision


def decision_of(plan: Plan) -> Decision:
    """The decision before the first block, by the rule that a plan declares."""
    rule = rule_of(plan)
    if isinstance(rule, Rule):
        return PairDecision(plan, rule, rule.start())
    return RankingDecision(plan, rule, rule.start())


def table_of(plan: Plan) -> str:
    """The hash of the table by which an exact rule decides; empty for a rule that needs none.

    It is declared with the plan: a table computed elsewhere, or by a later version, may differ.

    Raises:
        StudyError: The rule does not fit the plan; the sentence says which would.
    """
    table: str = rule_of(plan).table
    return table


def rule_of(plan: Plan) -> Any:
    """The sequential rule that a plan declares, checked against the way its rollouts are collected.

    Raises:
        StudyError: The rule does not fit the plan; the sentence says which would.
    """
    try:
        return declared(plan.decides, plan.setting)
    except (ValueError, TypeError) as error:
        raise StudyError(f"The plan's rule cannot be used: {error}") from None
