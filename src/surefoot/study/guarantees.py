"""Which rule decided, what does it promise, and what must hold for that?"""

from __future__ import annotations

from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.verdict import Verdict
from surefoot.sequential.betting import ASSUMPTIONS
from surefoot.sequential.exact_rules import BARELY
from surefoot.study.decision import PairDecision
from surefoot.study.state import Fold

ZERO = 0.0005
"""An end closer to 0 is shown as 0.0, in points."""
ENVIRONMENTS = {
    "one": "Every rollout was in the same environment.",
    "shared": "Both policies of a pair met the same task and condition, set up alike.",
    "independent": "Each rollout drew its own task and condition.",
    "stratified": "Both policies of a pair met the same kind of environment, each drawn afresh.",
}


def methods(fold: Fold) -> tuple[str, ...]:
    """The rule that decides, and what it promises."""
    plan, decision = fold.plan, fold.decision
    wrong, half = (formatting.percent(error, "up") for error in (1.0 - plan.confidence, (1.0 - plan.confidence) / 2.0))
    many = formatting.counted(plan.horizon, "pair" if len(plan.policies) == 2 else "round")
    if not isinstance(decision, PairDecision):
        return (
            f"Verdict: a ranking by the finite-horizon mixture of every two policies, read after every round, {many} "
            "at most.",
            f"The chance of any wrong statement about who is better, over all looks, is at most {wrong}.",
        )
    first, second = plan.policies
    read = f"read once, after {many}" if plan.rule == "fixed" else f"read after every pair, {many} at most"
    looks = "" if plan.rule == "fixed" else ", over all looks together,"
    beyond = f" by more than the margin of {plan.margin:g}" if plan.margin else ""
    promise = f"If {first} is not better than {second}{beyond}, the chance that it is called so{looks} is at most "
    if plan.claim == "either":
        promise = f"The chance of a wrong verdict{looks} is at most {wrong}: {half} in each direction"
    else:
        promise += wrong
    return f"Verdict: the {decision.rule.title} rule, {read}.", f"{promise}."


def assumptions(fold: Fold) -> tuple[str, ...]:
    """What must hold for the rule's promise."""
    plan, decision = fold.plan, fold.decision
    own = decision.state.interval.assumptions if isinstance(decision, PairDecision) else ASSUMPTIONS
    blind = ("Whoever scored a rollout did not know its policy.",) if plan.blinded else ()
    return (
        *own,
        ENVIRONMENTS[plan.environments],
        "Policies were run in the random order that the study drew.",
        *blind,
        "No pair was voided, and no result undone, because of how it went.",
    )


def interval_notes(verdict: Verdict, interval: Interval) -> tuple[str, ...]:
    """What is to be said where the interval of the gain stands beside the verdict: an end shown as 0 is not 0."""
    barely = {Verdict.BETTER: 0.0 < interval.low < ZERO, Verdict.WORSE: -ZERO < interval.high < 0.0}
    return tuple(dict.fromkeys((*map(str, interval.notes), *((BARELY,) if barely.get(verdict) else ()))))
