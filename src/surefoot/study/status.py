"""What may a study say of itself, blinded and not?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.core.assumptions import Assumed
from surefoot.core.interval import Interval
from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.rules import Ending
from surefoot.study import guarantees
from surefoot.study.course import Course, course_of
from surefoot.study.decision import RankingDecision
from surefoot.study.deviations import deviations
from surefoot.study.leases import LeaseClock, Wait, wait_of
from surefoot.study.plans import Plan
from surefoot.study.state import Fold
from surefoot.study.verification import Verification

POINTS = 120
"""Most steps kept of a confidence sequence: more cannot be seen, and each interval costs time."""


@dataclass(frozen=True, slots=True)
class Status(Record):
    """Progress that gives no policy away.

    Attributes:
        study: The study's short name for itself.
        title: What it is called.
        recorded: Results recorded.
        blocks: Pairs (or rounds) that have entered the rule.
        horizon: The most pairs.
        voided: Pairs declared not to count.
        finished: Whether the rule needs no further rollout.
        blinded: Whether policies are hidden.
        exploratory: Whether something that binds was changed after the first result.
        version: The number of lines in the log.
        head: The hash of its last line: kept elsewhere, it proves later that none of those lines was changed or lost.
        decision: Whether to go on.
        waits: The pair that the rule waits for while later ones are complete.
        verdict: About the first-named policy; none while the study is blinded.
    """

    study: str
    title: str
    recorded: int
    blocks: int
    horizon: int
    voided: int
    finished: bool
    blinded: bool
    exploratory: bool
    version: int
    head: str
    decision: str
    waits: Wait | None
    verdict: Verdict | None


DECISIONS: dict[Ending | None, str] = {
    None: "continue",
    "verdict": "stop: decided",
    "horizon": "stop: nothing more can be decided",
    "out of reach": "stop: nothing more can be decided",
    "futility": "stop: hardly any chance left to decide",
}
"""Whether to go on, in words, by how the rule has ended."""


@dataclass(frozen=True, slots=True)
class Receipt(Record):
    """What a study acknowledges, once it is durable.

    Attributes:
        turns: The turns that it is about.
        repeated: Whether it had been done before, so that nothing changed.
        status: The study after it, with its log's length and head.
    """

    turns: tuple[int, ...]
    repeated: bool
    status: Status


def id_of(fold: Fold) -> str:
    """A study's short name for itself, the same wherever it is kept."""
    return str(fold.history[0].body["seed_hash"])[:16]


def status_of(fold: Fold, clock: LeaseClock) -> Status:
    """Progress, whether to go on, and what is waited for."""
    standing = fold.standing
    return Status(
        study=id_of(fold),
        title=fold.plan.title,
        recorded=len(fold.results),
        blocks=fold.count if standing is fold.decision else standing.taken,
        horizon=fold.plan.horizon,
        voided=len(fold.voids),
        finished=fold.finished,
        blinded=fold.blinded,
        exploratory=fold.exploratory,
        version=fold.version,
        head=fold.head,
        decision=DECISIONS[standing.ending],
        waits=wait_of(fold, clock),
        verdict=None if fold.blinded else fold.decision.verdict,
    )


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
        methods: Which rule decided, and what it guarantees.
        assumptions: What must hold for that.
    """

    verdict: Verdict
    statement: str
    p_value: float | None
    interval: Interval | None
    steps: tuple[StudyStep, ...]
    threshold: float | None
    notes: tuple[Noted, ...]
    methods: tuple[Noted, ...]
    assumptions: tuple[Assumed, ...]


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
        mark: The log's length and head in one word, which makes the report a witness of it.
        course: What happened on the way: failures, voids, scorers, robots, sessions, durations, drift.
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
    mark: str = ""
    course: Course | None = None


def account(fold: Fold, verification: Verification) -> Account:
    """What a study says of itself."""
    known = status_of(fold, LeaseClock())
    return Account(
        plan=fold.plan,
        fingerprint=verification.fingerprint,
        head=verification.head,
        sound=verification.sound,
        decision=known.decision,
        recorded=known.recorded,
        blocks=known.blocks,
        blinded=fold.blinded,
        exploratory=fold.exploratory,
        deviations=(*deviations(fold, verification.faults), *verification.notes),
        finding=None if fold.blinded else _finding(fold),
        mark=verification.mark,
        course=course_of(fold),
    )


def _finding(fold: Fold) -> StudyFinding:
    decision, stated = fold.decision, (guarantees.methods(fold), guarantees.assumptions(fold))
    if isinstance(decision, RankingDecision):
        return StudyFinding(decision.verdict, str(decision.state), None, None, (), None, (), *stated)
    state, states = decision.state, fold.states
    every = max(1, math.ceil(len(states) / POINTS))
    shown = [one for place, one in enumerate(states) if one.pairs and (place % every == 0 or one is state)]
    return StudyFinding(
        state.verdict,
        str(state),
        state.p_value,
        state.interval if state.pairs else None,
        tuple(_step(one) for one in shown),
        state.rule.threshold,
        guarantees.interval_notes(state.verdict, state.interval) if state.pairs else (),
        *stated,
    )


def _step(state: Any) -> StudyStep:
    interval = state.interval
    return StudyStep(state.pairs, interval.low, interval.estimate, interval.high, state.evidence)
