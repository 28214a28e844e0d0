"""The status of a study, blinded and not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot.core.assumptions import BLINDED, ENVIRONMENTS_MET, NOTHING_HIDDEN, RANDOM_ORDER, Assumed
from surefoot.core.formatting import one_line
from surefoot.core.interval import Interval
from surefoot.core.notes import Note, Noted
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.after_stop import AT_ONCE, IntervalKind, interval_kind
from surefoot.sequential.betting import ASSUMPTIONS
from surefoot.sequential.exact_binary import ExactPairedBinaryState
from surefoot.sequential.exact_rules import BARELY
from surefoot.sequential.list_mean import ListMean, run_list
from surefoot.sequential.rules import Ending
from surefoot.sequential.simulation import run
from surefoot.study.conduct import Conduct, Counts, conduct_of, counts_of
from surefoot.study.decision import PairDecision, RankingDecision
from surefoot.study.deviations import Deviation, deviations, from_earlier
from surefoot.study.leases import LeaseClock, Wait, wait_of
from surefoot.study.plans import Plan
from surefoot.study.ranking import StudyRanking, ranking_of
from surefoot.study.schedules import drawn_order
from surefoot.study.state import Fold
from surefoot.study.verification import Verification

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
        decision: Whether to go on, in words.
        waits: The pair that the rule waits for while later ones are complete.
        verdict: About the first-named policy; none while the study is blinded.
        claim: Of a declared list, what the verdict says and of what, and of a race who is named, as a sentence; empty
            while the study is blinded.
        ending: How the rule has ended; none while it goes on.
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
    claim: str = ""
    ending: Ending | None = None


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
    return str(fold.begun.body["seed_hash"])[:16]


def status_of(fold: Fold, clock: LeaseClock) -> Status:
    """Progress, whether to go on, and what is waited for."""
    standing = fold.standing
    return Status(
        study=id_of(fold),
        title=one_line(fold.plan.title),
        recorded=fold.recorded,
        blocks=standing.taken,
        horizon=fold.most_blocks,
        voided=len(fold.voids),
        finished=fold.finished,
        blinded=fold.blinded,
        exploratory=fold.exploratory,
        version=fold.version,
        head=fold.head,
        decision=DECISIONS[standing.ending],
        waits=wait_of(fold, clock),
        verdict=None if fold.blinded else fold.decision.verdict,
        claim="" if fold.blinded else _claim(fold),
        ending=standing.ending,
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
        interval: Where the gain lies; none for a ranking or before the first pair.
        steps: How evidence and interval came about.
        threshold: The evidence at which the rule decides; none for a rule without evidence.
        notes: What is to be said where the interval stands beside the verdict.
        methods: Which rule decided, and what it guarantees.
        assumptions: What must hold for that.
        kind: When the interval holds: at any moment, or after this stop.
        observed: The mean gain of the pairs that counted, as it is; an early verdict flatters it.
        means: The mean result of each policy in those pairs.
        of_list: Where the gain lies on the declared list of environments itself, where each is run once.
        ranking: Where every policy stands; none for two policies.
        claims: Of a study of a declared list, what is said of the list, then of items like those on it.
        on_list: Each policy's mean on the whole of a declared list, helped by the predictions declared with it; none
            where none were.
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
    kind: IntervalKind = "anytime"
    observed: float | None = None
    means: tuple[float, ...] = ()
    of_list: Interval | None = None
    ranking: StudyRanking | None = None
    claims: tuple[Note, ...] = ()
    on_list: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class Account(Record):
    """A study's progress and, once it is not blinded, what its rule found.

    Attributes:
        plan: The plan, amendments included.
        fingerprint: The hash of the plan as it was declared.
        head: The hash of the log's last line.
        sound: Whether the log verifies.
        decision: Whether to go on, in words.
        recorded: Results recorded.
        blocks: Pairs (or rounds) that count.
        blinded: Whether policies are hidden.
        exploratory: Whether something that binds was changed after the first result.
        deviations: How the study departed from its plan, and what verification remarks.
        finding: What the rule found; none while the study is blinded.
        mark: The log's length and head in one word, which makes the report a witness of it.
        conduct: What happened on the way: failures, voids, scorers, robots, sessions, durations, drift.
        ending: How the rule has ended; none while it goes on.
        counts: How many rollouts were run, and what became of them.
        most: The most pairs (or rounds) that may count; none in what earlier versions wrote.
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
    deviations: tuple[Deviation, ...]
    finding: StudyFinding | None
    mark: str = ""
    conduct: Conduct | None = None
    ending: Ending | None = None
    counts: Counts | None = None
    most: int | None = None

    @classmethod
    def from_earlier(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Version 0.1.0 wrote only the words."""
        known = {said: ending for ending, said in DECISIONS.items()}
        told = {"deviations": from_earlier(body.get("deviations", ()))}
        return {"ending": known.get(body.get("decision", "")), **body, **told}


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
        deviations=(*deviations(fold, verification.faults), *(Deviation("note", one) for one in verification.notes)),
        finding=None if fold.blinded else finding_of(fold, certified=True),
        mark=verification.mark,
        conduct=conduct_of(fold),
        ending=known.ending,
        counts=counts_of(fold),
        most=known.horizon,
    )


def finding_of(fold: Fold, *, certified: bool, steps: int = POINTS) -> StudyFinding:
    """What the declared rule found, of a study that is not blinded.

    Args:
        fold: What its log amounts to.
        certified: Whether the interval after a stop is proved, which takes seconds for long horizons; otherwise it is
            the one at hand, and says so. What is told of a declared list besides its verdict takes as long.
        steps: The most steps to keep of how it came about.
    """
    decision = fold.decision
    if isinstance(decision, RankingDecision):
        stated = methods(fold), assumptions(fold, None)
        ranking = ranking_of(fold, gains=True)
        said = str(decision.state)
        return StudyFinding(decision.verdict, said, None, None, (), None, (), *stated, ranking=ranking)
    state: Any = decision.state
    proved = certified and state.interval_kind == "final, not certified"
    interval = state.final_interval() if proved else state.interval
    shown = thinned(fold.states, steps) if steps else []
    return StudyFinding(
        state.verdict,
        str(state),
        state.p_value,
        interval if state.pairs else None,
        tuple(_step(one) for one in shown if one.pairs),
        state.rule.threshold,
        interval_notes(fold, interval) if state.pairs else (),
        methods(fold),
        assumptions(fold, interval),
        kind="final" if proved else state.interval_kind,
        observed=state.observed if state.pairs else None,
        means=means_of(fold),
        of_list=_of_list(fold, state),
        claims=claims_of(fold) if certified else (),
        on_list=means_on_list(fold) if certified else (),
    )


def thinned(states: Sequence[Any], most: int) -> list[Any]:
    """About as many states as asked for at most, evenly; the last is among them."""
    every = max(1, math.ceil(len(states) / most))
    return [one for place, one in enumerate(states) if place % every == 0 or place == len(states) - 1]


def _claim(fold: Fold) -> str:
    """What is claimed beyond the verdict on the first-named policy."""
    if fold.plan.items:
        return str(on_the_list(fold))
    return fold.decision.state.claim if isinstance(fold.decision, RankingDecision) else ""


def on_the_list(fold: Fold) -> Note:
    """What is known of the declared list, said so that nobody takes it for other items."""
    state: Any = fold.decision.state
    found: Note = state.on_the_list(fold.plan.policies[0])
    return found


def claims_of(fold: Fold) -> tuple[Note, ...]:
    """Both claims that the pairs of a declared list allow: on the list, and on items like those on it.

    The second is that of the same rule without the list, after the same pairs. It holds if the list is itself a random
    draw of such items.
    """
    if not fold.plan.items or not fold.decision.taken:
        return ()
    state: Any = fold.decision.state
    wide = run(replace(state.rule, population=None), zip(state.first, state.second, strict=True))[-1]
    plan = fold.plan
    told = {"first": plan.policies[0], "verdict": wide.verdict.value, "claim": plan.claim, "margin": plan.margin}
    return on_the_list(fold), Note("verdict on items like these", {**told, "confidence": plan.confidence})


def means_on_list(fold: Fold) -> tuple[Interval, ...]:
    """The mean of each policy on the whole of a declared list, with the predictions declared for it."""
    plan = fold.plan
    if not plan.helped_by or not fold.counted:
        return ()
    rule = ListMean(
        len(plan.items),
        within=(plan.high - plan.low) / math.sqrt(len(plan.items)),  # about what half of the list can tell
        helped_by=plan.helped_by,
        confidence=plan.confidence,
        low=plan.low,
        high=plan.high,
    )
    order = drawn_order(fold.seed.reveal(), len(plan.items))
    turns = [turn for number in fold.counted for turn in fold.blocks[number]]
    found = []
    for policy in plan.policies:
        run_of = [(order[turn.block - 1], fold.results[turn.number].score) for turn in turns if turn.policy == policy]
        found.append(run_list(rule, run_of)[-1].interval)
    return tuple(found)


def means_of(fold: Fold) -> tuple[float, ...]:
    """The mean result of each of two policies in the pairs that counted; none before the first."""
    scores = [{turn.policy: fold.results[turn.number].score for turn in fold.blocks[number]} for number in fold.counted]
    return tuple(sum(one[policy] for one in scores) / len(scores) for policy in fold.plan.policies) if scores else ()


def _of_list(fold: Fold, state: Any) -> Interval | None:
    """The gain on the declared list of environments, where the pairs that counted are a random part of it.

    A void deals one environment more, so that the pairs that count are no longer of one list. For horizons above 300 it
    takes half a minute or more and is left to `list_interval()`.
    """
    plan = fold.plan
    listed = plan.environments == "shared" and len(plan.contexts) == plan.horizon <= AT_ONCE and not fold.voids
    if not listed or not isinstance(state, ExactPairedBinaryState) or state.interval_kind == "anytime":
        return None
    return state.list_interval()


def _step(state: Any) -> StudyStep:
    interval = state.anytime_interval
    return StudyStep(state.pairs, interval.low, interval.estimate, interval.high, state.evidence)
