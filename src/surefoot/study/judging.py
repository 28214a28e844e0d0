"""Which rule decides a study, and what does it say of the blocks completed so far?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from surefoot import sequential
from surefoot.core.verdict import Verdict
from surefoot.errors import StudyError
from surefoot.study.plans import Plan

if TYPE_CHECKING:
    from surefoot.sequential import Rule, State


class Judge(Protocol):
    """A declared rule, fed the completed blocks in scheduled order."""

    @property
    def verdict(self) -> Verdict:
        """What has been decided about the first-named policy."""
        ...

    @property
    def finished(self) -> bool:
        """Whether no further block is needed."""
        ...

    @property
    def active(self) -> tuple[str, ...]:
        """The policies whose rollouts are still needed."""
        ...

    def add(self, scores: Mapping[str, float]) -> None:
        """Take in one more completed block."""
        ...


class PairJudge:
    """Two policies, one rule."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.rule = rule_of(plan)
        self.states: list[State[Any]] = [self.rule.start()]

    @property
    def state(self) -> State[Any]:
        """What the rule knows now."""
        return self.states[-1]

    @property
    def verdict(self) -> Verdict:
        """What has been decided about the first-named policy."""
        return self.state.verdict

    @property
    def finished(self) -> bool:
        """Whether no further block is needed."""
        return self.state.finished

    @property
    def active(self) -> tuple[str, ...]:
        """Both policies, to the end."""
        return self.plan.policies

    def add(self, scores: Mapping[str, float]) -> None:
        """Take in one more completed pair."""
        first, second = (scores[policy] for policy in self.plan.policies)
        self.states.append(self.rule.step(self.state, (first, second)))


def judge_of(plan: Plan) -> Judge:
    """The judge that a plan declares."""
    return PairJudge(plan)


def rule_of(plan: Plan) -> Rule[Any]:
    """The sequential rule that a plan declares, checked against the way its rollouts are collected.

    Raises:
        StudyError: The rule does not fit the plan; the sentence says which would.
    """
    shared: dict[str, Any] = {"horizon": plan.horizon, "confidence": plan.confidence, "claim": plan.claim}
    ranged = {"low": plan.low, "high": plan.high, "margin": plan.margin}
    try:
        if plan.rule == "exact":
            paired = plan.environments in ("shared", "stratified")
            exact = sequential.ExactPairedBinary if paired else sequential.ExactBinary
            rule: Rule[Any] = exact(**shared, margin=plan.margin)
        elif plan.rule == "nscore":
            rule = sequential.NScore(**shared, **ranged, levels=plan.levels or None)
        elif plan.rule == "fixed":
            rule = sequential.FixedSize(**shared, **ranged)
        else:
            kinds = {"mixture": sequential.FiniteHorizonMixture, "wsr": sequential.Wsr, "savi": sequential.Savi}
            rule = kinds[plan.rule](**shared, **ranged)
        if plan.measure == "score" and rule.binary_only:
            raise ValueError(f"`rule` must take scores; got {rule.title}. Use rule = 'mixture'.")
        return sequential.admit(rule, plan.environments, randomised=True)
    except (ValueError, TypeError) as error:
        raise StudyError(f"The plan's rule cannot be used: {error}") from None
