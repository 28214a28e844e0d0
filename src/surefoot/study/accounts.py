"""What may a study say of itself, blinded and not?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.study import promises
from surefoot.study.deviations import deviations
from surefoot.study.folds import Fold, summary_of
from surefoot.study.judging import RankingJudge
from surefoot.study.plans import Plan
from surefoot.study.verification import Verification

POINTS = 120
"""Most steps kept of a confidence sequence: more cannot be seen, and each interval costs time."""


@dataclass(frozen=True, slots=True)
class StudyStep(Record):
    """What was known after some pairs.

    Attributes:
        pairs: Pairs counted.
        low: The lower end of the gain's interval.
        estimate: The mean gain so far.
        high: The upper end.
        evidence: The evidence, of a rule that has any.
    """

    pairs: int
    low: float
    estimate: float
    high: float
    evidence: float | None


@dataclass(frozen=True, slots=True)
class StudyFinding(Record):
    """What the declared rule found; known only once the study is not blinded.

    Attributes:
        verdict: About the first-named policy.
        statement: The rule's last state, in words.
        p_value: Valid at any moment; none for a ranking.
        interval: Where the gain lies, valid at any moment; none for a ranking or before the first pair.
        steps: How evidence and interval came about.
        threshold: The evidence at which the rule decides; none for a rule without evidence.
        notes: What is to be said where the interval stands beside the verdict.
        methods: Which rule decided, and what it promises.
        assumptions: What must hold for that.
    """

    verdict: Verdict
    statement: str
    p_value: float | None
    interval: Interval | None
    steps: tuple[StudyStep, ...]
    threshold: float | None
    notes: tuple[str, ...]
    methods: tuple[str, ...]
    assumptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Account(Record):
    """A study's progress and, once it is not blinded, what its rule found.

    Attributes:
        plan: The plan, amendments included.
        fingerprint: The hash of the plan as it was declared.
        head: The hash of the log's last line.
        sound: Whether the log verifies.
        decision: Whether to go on: "continue" or "stop: ...".
        recorded: Results recorded.
        blocks: Pairs (or rounds) that count.
        blinded: Whether policies are hidden.
        exploratory: Whether something that binds was changed after the first result.
        deviations: How the study departed from its plan, each as a sentence.
        finding: What the rule found; none while the study is blinded.
    """

    plan: Plan
    fingerprint: str
    head: str
    sound: bool
    decision: str
    recorded: int
    blocks: int
    blinded: bool
    exploratory: bool
    deviations: tuple[str, ...]
    finding: StudyFinding | None


def account(fold: Fold, verification: Verification) -> Account:
    """What a study says of itself."""
    summary = summary_of(fold, fold.history[-1].time)
    return Account(
        plan=fold.plan,
        fingerprint=verification.fingerprint,
        head=verification.head,
        sound=verification.sound,
        decision=summary["decision"],
        recorded=summary["recorded"],
        blocks=summary["blocks"],
        blinded=fold.blinded,
        exploratory=fold.exploratory,
        deviations=deviations(fold, verification.faults),
        finding=None if fold.blinded else _finding(fold),
    )


def _finding(fold: Fold) -> StudyFinding:
    judge, told = fold.judge, {"methods": promises.methods(fold), "assumptions": promises.assumptions(fold)}
    if isinstance(judge, RankingJudge):
        return StudyFinding(judge.verdict, str(judge.state), None, None, (), None, (), **told)
    state = judge.state
    every = max(1, math.ceil(len(judge.states) / POINTS))
    shown = [one for place, one in enumerate(judge.states) if one.pairs and (place % every == 0 or one is state)]
    return StudyFinding(
        verdict=state.verdict,
        statement=str(state),
        p_value=state.p_value,
        interval=state.interval if state.pairs else None,
        steps=tuple(_step(one) for one in shown),
        threshold=1.0 / state.rule.error if hasattr(state, "evidence") else None,
        notes=promises.interval_notes(state.verdict, state.interval) if state.pairs else (),
        **told,
    )


def _step(state: Any) -> StudyStep:
    interval = state.interval
    return StudyStep(state.pairs, interval.low, interval.estimate, interval.high, getattr(state, "evidence", None))
