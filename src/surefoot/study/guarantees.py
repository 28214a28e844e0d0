"""The rule that decided, what it promises, and what must hold for that."""

from __future__ import annotations

from surefoot.core.assumptions import BLINDED, ENVIRONMENTS_MET, NOTHING_HIDDEN, RANDOM_ORDER, Assumed
from surefoot.core.interval import Interval
from surefoot.core.notes import Note, Noted
from surefoot.core.verdict import Verdict
from surefoot.sequential.after_stop import interval_kind
from surefoot.sequential.betting import ASSUMPTIONS
from surefoot.sequential.exact_rules import BARELY
from surefoot.study.decision import PairDecision
from surefoot.study.state import Fold

ZERO = 0.0005
"""An end closer to 0 is shown as 0.0, in points."""


def methods(fold: Fold) -> tuple[Note, ...]:
    """The rule that decides, and what it promises."""
    plan, decision = fold.plan, fold.decision
    error = 1.0 - plan.confidence
    if not isinstance(decision, PairDecision):
        told = {"rule": decision.rule.title, "rounds": plan.horizon}
        near = "" if plan.within is None else f", and none more than {plan.within:g} below the best is named"
        promised = {"error": error, "confidence": plan.confidence, "near": near}
        return Note("ranking rule", told), Note(decision.rule.promise, promised)
    once = decision.rule.once
    if plan.claim == "either":
        promise = Note("promise either way", {"error": error, "once": once})
    else:
        named = dict(zip(("first", "second"), plan.policies, strict=True))
        promise = Note("promise of a claim", {**named, "margin": plan.margin, "error": error, "once": once})
    rule = Note("pairs rule", {"rule": decision.rule.title, "pairs": plan.horizon, "once": once})
    return rule, promise, *_declared_list(fold)


def _declared_list(fold: Fold) -> tuple[Note, ...]:
    said = fold.begun.body.get("list")
    if said is None:
        return ()
    told = {"items": said["length"], "digest": said["items"], "order": said["order"]}
    helped = {"predictions": said["helped_by"]} if "helped_by" in said else {}
    return (Note("declared list", {**told, **helped}),)


def assumptions(fold: Fold, interval: Interval | None) -> tuple[Assumed, ...]:
    """What must hold for the rule's promise, and for the interval of the gain where there is one."""
    plan = fold.plan
    own = ASSUMPTIONS if interval is None else interval.assumptions
    blind = (BLINDED,) if plan.blinded else ()
    return (*own, ENVIRONMENTS_MET[plan.environments], RANDOM_ORDER, *blind, NOTHING_HIDDEN)


def interval_notes(fold: Fold, interval: Interval) -> tuple[Noted, ...]:
    """What is to be said where the interval of the gain stands beside the verdict.

    An end shown as 0 is not 0; and an early verdict flatters the observed gain, which is the estimate of an interval
    that holds at any moment.
    """
    decision, verdict = fold.decision, fold.decision.verdict
    raw = interval_kind(interval) == "anytime" and decision.ending == "verdict" and decision.taken < fold.plan.horizon
    early = (Note("raw_verdict"),) if raw else ()
    barely = {Verdict.BETTER: 0.0 < interval.low < ZERO, Verdict.WORSE: -ZERO < interval.high < 0.0}
    return tuple(dict.fromkeys((*interval.notes, *((BARELY,) if barely.get(verdict) else ()), *early)))
