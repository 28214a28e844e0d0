"""The rule of a study on the blocks completed so far.

A decision is a value: one more block gives another decision and leaves this one as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surefoot._arguments import unshown
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
    def turns(self) -> dict[str, int]:
        """How often each policy runs in the next pair: both once, to the end."""
        return dict.fromkeys(self.plan.policies, 1)

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

    def after(self, rows: Mapping[str, Sequence[float]]) -> PairDecision:
        """The decision after one more completed pair."""
        first, second = (rows[policy][0] for policy in self.plan.policies)
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
        said = self.state.of_first
        all_met = len(self.rule.names) == len(self.plan.policies)
        return Verdict.UNDECIDED if said is Verdict.BETTER and not all_met else said

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
        of_first = self.plan.question == "ranking" and self.verdict is not Verdict.UNDECIDED
        return "verdict" if self.state.complete or of_first else "horizon"

    @property
    def room(self) -> int:
        """How many further rounds the horizon, or the budget, allows."""
        return self.state.room

    @property
    def spent(self) -> bool:
        """Whether every policy has been run as often as it may be."""
        return self.state.spent

    def overridden(self) -> RankingDecision:
        """The decision that goes on although what is open will hardly be decided in time."""
        state = self.rule.override(self.state)
        return replace(self, rule=state.rule, state=state)

    def joined(self, name: str) -> RankingDecision:
        """The decision with one more policy; what was claimed stays claimed."""
        state = self.rule.with_policy(self.state, name)
        return replace(self, rule=state.rule, state=state)

    def left(self, name: str) -> RankingDecision:
        """The decision in which a policy is withdrawn; nothing changes where it does not run any more."""
        state: Any = self.state
        if name not in state.leaders or name in state.withdrawn:
            return self
        return replace(self, state=self.rule.without_policy(state, name))

    @property
    def turns(self) -> dict[str, int]:
        """How often each policy runs in the next round."""
        return self.state.turns

    @property
    def taken(self) -> int:
        """The rounds that counted."""
        return self.state.rounds

    def after(self, rows: Mapping[str, Sequence[float]]) -> RankingDecision:
        """The decision after one more completed block; results of policies settled meanwhile are not looked at."""
        state = self.rule.after_block(self.state, rows)
        return self if state is self.state else replace(self, state=state)


Decision = PairDecision | RankingDecision


def with_changes(decision: Decision, joins: Mapping[str, int], leaves: Mapping[str, int], reached: int) -> Decision:
    """The decision with the policies that join or are withdrawn after a block.

    Whoever joins does so once the block is reached or nothing else is left to run.
    """
    for name, block in leaves.items():
        if isinstance(decision, RankingDecision) and block <= reached and not decision.finished:
            decision = decision.left(name)
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
    """The sequential rule that a plan declares, checked against the way its rollouts are collected."""
    try:
        return declared(plan.decides, plan.setting)
    except (ValueError, TypeError) as error:
        raise StudyError(f"The plan's rule cannot be used: {unshown(error)}") from None
