"""The conduct of a study: what went wrong, who scored, which robots ran, when, and whether it drifted.

While a study is blinded only who, where and when is told: nothing of any policy or outcome.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.stats.rates import clopper_pearson
from surefoot.study.decision import Decision, RankingDecision
from surefoot.study.leases import PREFIX, known_as
from surefoot.study.plan_parts import Task
from surefoot.study.recording import Result
from surefoot.study.schedules import Turn
from surefoot.study.state import Fold

Fate = Literal["counted", "waiting", "void", "surplus"]
"""What became of a result: the rule read it, will once earlier ones are in, or need not; or its block is void."""

COUNTS: tuple[Fate, ...] = ("counted", "waiting")
"""What tables and means of a study are made of."""


@dataclass(frozen=True, slots=True)
class Counts(Record):
    """The rollouts of a study; `run` is the sum of the four that follow it.

    Attributes:
        planned: The most that the plan allows, without repeats for voids.
        run: Results recorded and not undone.
        counted: Those that the rule has read.
        waiting: Those that it will read once earlier ones are in.
        void: Those of a pair or round that was declared void.
        surplus: Those that it did not need: they were handed out before it stopped, or dropped their policy.
        over: Whether the rule needs no more.
    """

    planned: int
    run: int
    counted: int
    waiting: int
    void: int
    surplus: int
    over: bool

    @property
    def saved(self) -> int:
        """Planned rollouts that need not be run any more; none while the rule goes on."""
        return max(0, self.planned - self.run) if self.over else 0

    def __str__(self) -> str:
        parts = [f"{self.counted:,} counted"]
        parts += [f"{self.waiting:,} not read yet"] * bool(self.waiting)
        parts += [f"{self.void:,} void"] * bool(self.void)
        parts += [f"{self.surplus:,} surplus (handed out before they were known not to be needed)"] * bool(self.surplus)
        saved = f" {self.saved:,} were saved." if self.over and self.saved else ""
        return f"{formatting.rollouts(self.run)} were run of at most {self.planned:,}: {', '.join(parts)}.{saved}"


def fates(fold: Fold) -> dict[int, Fate]:
    """What became of every result, by its turn."""
    rest: Fate = "surplus" if fold.finished else "waiting"
    known = dict.fromkeys(fold.results, rest)
    for number, (before, after) in enumerate(fold.readings, 1):
        read = _read(fold.blocks[number], before, after)
        known |= {turn.number: "counted" if turn in read else "surplus" for turn in fold.blocks[number]}
    known |= {turn.number: "void" for number in fold.voids for turn in fold.blocks[number]}
    return {turn: known[turn] for turn in sorted(fold.results)}


def _read(turns: Sequence[Turn], before: Decision, after: Decision) -> Sequence[Turn]:
    """The turns of a complete block that moved the rule on; it leaves out policies that it had dropped meanwhile."""
    if not isinstance(before, RankingDecision) or not isinstance(after, RankingDecision):
        return turns if after.taken > before.taken else ()
    used = [dict(zip(one.rule.names, one.state.rollouts, strict=True)) for one in (before, after)]
    return [turn for turn in turns if used[1].get(turn.policy, 0) > used[0].get(turn.policy, 0)]


def counts_of(fold: Fold) -> Counts:
    """The rollouts of a study, counted."""
    plan, decision = fold.plan, fold.decision
    most = plan.horizon * len(plan.policies)
    if isinstance(decision, RankingDecision) and decision.rule.finds_one:
        most = decision.rule.most
    each = Counter(fates(fold).values())
    return Counts(
        planned=most,
        run=len(fold.results),
        counted=each["counted"],
        waiting=each["waiting"],
        void=each["void"],
        surplus=each["surplus"],
        over=fold.finished,
    )


PAUSE = timedelta(hours=1)
"""A gap between results from which on a new session begins."""
STAGES = 3
UNNAMED = "a script without a name"
PROVED = " (own token)"


@dataclass(frozen=True, slots=True)
class FailureMode(Record):
    """A way in which a policy failed, how often of its rollouts that count, and what was noted of it.

    The interval of its share holds by itself (Clopper and Pearson), for a number of rollouts fixed beforehand.
    """

    policy: str
    failure: str
    count: int
    notes: tuple[str, ...]
    share: Interval | None = None


@dataclass(frozen=True, slots=True)
class Reached(Record):
    """How many rollouts of a policy got as far as a stage, or further; of one task where tasks have stages apart."""

    policy: str
    stage: str
    reached: int
    rollouts: int
    task: str = ""


@dataclass(frozen=True, slots=True)
class VoidedPair(Record):
    """A pair that does not count: the turn that was voided, why, and whether an outcome had been seen."""

    turn: int
    policy: str
    reason: str
    note: str
    seen: bool


@dataclass(frozen=True, slots=True)
class Share(Record):
    """How many results somebody recorded, or a robot ran."""

    name: str
    recorded: int


@dataclass(frozen=True, slots=True)
class Session(Record):
    """Results without a long pause between them; times are UTC."""

    began: str
    ended: str
    recorded: int


@dataclass(frozen=True, slots=True)
class Part(Record):
    """How a policy did in a part of the study: a third of its course, or one task and condition."""

    policy: str
    part: str
    rollouts: int
    mean: float


@dataclass(frozen=True, slots=True)
class SuccessTimes(Record):
    """By which time so many of a policy's rollouts had succeeded; what failed never does.

    Attributes:
        policy: The policy.
        rollouts: Rollouts whose duration is known, and those that crashed; where every success has one, all.
        seconds: Times at which one more had succeeded, ascending, within the time limit.
        limit: Where the curve ends: the plan's time limit, or the longest rollout.
    """

    policy: str
    rollouts: int
    seconds: tuple[float, ...]
    limit: float

    def by(self, seconds: float) -> float:
        """The share of rollouts that had succeeded by then."""
        return sum(one <= seconds for one in self.seconds) / self.rollouts


@dataclass(frozen=True, slots=True)
class Conduct(Record):
    """All of it; what tells of policies or outcomes is empty while the study is blinded.

    Attributes:
        scorers: Who recorded.
        robots: Which robots ran.
        sessions: When.
        modes: What went wrong.
        voids: What does not count.
        stages: Each third of the course.
        conditions: Each task and condition.
        times: When rollouts succeeded.
        funnel: How far rollouts got, by the plan's stages.
        places: Each rig and each operator that the plan names.
        minutes: The time of all rollouts whose duration is known.
        policies: The policies as they were run: from a replaced checkpoint on, one is another policy.
        minutes_saved: What those would have taken that need not be run any more, each as long as planned or as others.
    """

    scorers: tuple[Share, ...]
    robots: tuple[Share, ...]
    sessions: tuple[Session, ...]
    modes: tuple[FailureMode, ...] = ()
    voids: tuple[VoidedPair, ...] = ()
    stages: tuple[Part, ...] = ()
    conditions: tuple[Part, ...] = ()
    times: tuple[SuccessTimes, ...] = ()
    funnel: tuple[Reached, ...] = ()
    places: tuple[Part, ...] = ()
    minutes: float = 0.0
    minutes_saved: float = 0.0
    policies: tuple[str, ...] = ()


def conduct_of(fold: Fold) -> Conduct:
    """What happened in the conduct of a study."""
    results = [result for _, result in sorted(fold.results.items())]
    proved = _proved(fold)
    scorers = _shares((known_as(one.author) or UNNAMED) + (PROVED if one.author in proved else "") for one in results)
    robots = _shares(_robot(one.holder) for one in results)
    spent, saved = sum(one.duration or 0.0 for one in results) / 60.0, _saved(fold, results)
    if fold.blinded:
        return Conduct(scorers, robots, _sessions(results), minutes=spent, minutes_saved=saved)
    counted = [fold.results[number] for number, fate in fates(fold).items() if fate in COUNTS]
    return Conduct(
        scorers=scorers,
        robots=robots,
        sessions=_sessions(results),
        modes=_failures(fold, counted),
        voids=_voids(fold),
        stages=_stages(fold, counted),
        conditions=_conditions(fold, counted),
        times=_times(fold, counted),
        funnel=_funnel(fold, counted),
        places=_places(fold, counted),
        minutes=spent,
        minutes_saved=saved,
        policies=tuple(fold.policies),
    )


def _saved(fold: Fold, results: list[Result]) -> float:
    """Minutes that the rollouts would have taken which need not be run any more."""
    known, budget = [one.duration for one in results if one.duration is not None], fold.plan.time_budget
    each = sum(known) / len(known) / 60.0 if known else 0.0
    each = each if budget is None else budget.rollout_minutes + budget.reset_minutes
    return counts_of(fold).saved * each


def _funnel(fold: Fold, results: list[Result]) -> tuple[Reached, ...]:
    """How many rollouts of each policy got as far as each stage; tasks whose stages are the same count together."""
    described = {task: fold.plan.task(task) for task in fold.plan.tasks or ("",)}
    alike = len({tuple(one.name for one in task.stages) for task in described.values()}) == 1
    found: dict[tuple[str, str, str], list[int]] = {}
    for task in described.values():
        for stage in task.stages:
            for policy in fold.policies:
                found.setdefault(("" if alike else task.name, stage.name, policy), [0, 0])
    for one in results:
        turn = fold.turns[one.turn]
        task = described.get(turn.task) or fold.plan.task(turn.task)
        for place, stage in enumerate(task.stages, 1):
            cell = found.setdefault(("" if alike else task.name, stage.name, one.policy), [0, 0])
            cell[0] += _passed(fold, one, task) >= place
            cell[1] += 1
    return tuple(
        Reached(policy, stage, good, all_, name) for (name, stage, policy), (good, all_) in found.items() if all_
    )


def _passed(fold: Fold, one: Result, task: Task) -> int:
    """How many stages a rollout passed; where none was named, as many as its result amounts to."""
    if one.stage or fold.plan.measure == "success":
        asked = task.success_stage or task.stages[-1].name
        return task.reached(one.stage or (asked if one.score else ""))
    return sum(fold.plan.low + stage.points <= one.score + 1e-9 for stage in task.stages)


def _places(fold: Fold, results: list[Result]) -> tuple[Part, ...]:
    """How each policy did on each rig, and by each operator."""
    plan, parts = fold.plan, list[tuple[str, Result]]()
    for rig in plan.rigs if len(plan.rigs) > 1 else ():
        parts += [(f"rig {rig}", one) for one in results if fold.turns[one.turn].rig == rig]
    for operator in plan.operators if len(plan.operators) > 1 else ():
        parts += [(f"by {operator}", one) for one in results if fold.turns[one.turn].operator == operator]
    return _parts(fold, parts)


def _proved(fold: Fold) -> set[str]:
    """Authors who proved their name with every result: by a token that was made for it before."""
    invited: dict[str, str] = {}
    found: set[str] = set()
    claimed: set[str] = set()
    for event in fold.history:
        if event.kind == "invited":
            invited[event.body["name"]] = event.body["role"]
        elif event.kind == "recorded":
            (found if event.role == invited.get(event.author) else claimed).add(event.author)
    return found - claimed


def _robot(holder: str) -> str:
    return UNNAMED if not holder or holder.startswith(PREFIX) else known_as(holder)


def _shares(names: Iterable[str]) -> tuple[Share, ...]:
    counts = sorted(Counter(names).items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count) for name, count in counts)


def _sessions(results: list[Result]) -> tuple[Session, ...]:
    """Results by the times at which they were recorded, cut where nobody recorded for an hour or more."""
    times = sorted(one.time for one in results)
    found: list[list[str]] = []
    for time in times:
        if not found or datetime.fromisoformat(time) - datetime.fromisoformat(found[-1][-1]) >= PAUSE:
            found.append([])
        found[-1].append(time)
    return tuple(Session(each[0], each[-1], len(each)) for each in found)


def _failures(fold: Fold, results: list[Result]) -> tuple[FailureMode, ...]:
    kept: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in results:
        if one.failure:
            kept[one.policy, one.failure].append(one.note)
    order, ran = fold.policies.index, Counter(one.policy for one in results)
    ranked = sorted(kept.items(), key=lambda item: (order(item[0][0]), -len(item[1]), item[0][1]))
    return tuple(
        FailureMode(
            policy,
            failure,
            len(notes),
            tuple(dict.fromkeys(filter(None, notes))),
            clopper_pearson(Tally(len(notes), ran[policy]), confidence=fold.plan.confidence),
        )
        for (policy, failure), notes in ranked
    )


def _voids(fold: Fold) -> tuple[VoidedPair, ...]:
    told = [event.body for _, event in sorted(fold.voids.items())]
    return tuple(
        VoidedPair(one["turn"], fold.turns[one["turn"]].policy, one["reason"], one["note"], one["seen"]) for one in told
    )


def _parts(fold: Fold, named: Iterable[tuple[str, Result]]) -> tuple[Part, ...]:
    kept: dict[tuple[str, str], list[float]] = {}
    for part, one in named:
        kept.setdefault((part, one.policy), []).append(one.score)
    return tuple(
        Part(policy, part, len(kept[part, policy]), sum(kept[part, policy]) / len(kept[part, policy]))
        for part in dict.fromkeys(part for part, _ in kept)
        for policy in fold.policies
        if (part, policy) in kept
    )


def _stages(fold: Fold, results: list[Result]) -> tuple[Part, ...]:
    """Each third of the blocks that count, by which a robot that wears or a scorer who tires would show."""
    names = thirds(fold)
    return _parts(fold, ((names[fold.turns[one.turn].block], one) for one in results)) if names else ()


def thirds(fold: Fold) -> dict[int, str]:
    """In which third of the study each block was run that counts and has a result; none when there are too few."""
    blocks = sorted({fold.turns[number].block for number in fold.results} - set(fold.voids))
    if len(blocks) < STAGES:
        return {}
    names = ("first third", "second third", "last third")
    return {block: names[STAGES * place // len(blocks)] for place, block in enumerate(blocks)}


def _conditions(fold: Fold, results: list[Result]) -> tuple[Part, ...]:
    if len(fold.plan.contexts) < 2 or fold.plan.items:  # an item has one rollout of each policy: see the rollouts
        return ()
    order = {context: place for place, context in enumerate(fold.plan.contexts)}
    met = [((fold.turns[one.turn].task, fold.turns[one.turn].condition), one) for one in results]
    met.sort(key=lambda item: order.get(item[0], len(order)))
    return _parts(fold, ((" · ".join(filter(None, context)), one) for context, one in met))


def _times(fold: Fold, results: list[Result]) -> tuple[SuccessTimes, ...]:
    if fold.plan.measure != "success":
        return ()
    took = [one.duration for one in results if one.duration is not None and one.score]
    if not any(took):  # none is known, or a script answers at once
        return ()
    limit = fold.plan.time_limit or max(took)
    # where a success has no time, a failure without one must not count either: it would weigh down the share
    whole = all(one.duration is not None for one in results if one.score)
    found = []
    for policy in fold.policies:
        own = [one for one in results if one.policy == policy]
        known = [
            one for one in own if one.duration is not None or (not one.score and (whole or one.ended != "finished"))
        ]
        if known:
            seconds = sorted(one.duration for one in known if one.score and one.duration is not None)
            found.append(SuccessTimes(policy, len(known), tuple(each for each in seconds if each <= limit), limit))
    return tuple(found)
