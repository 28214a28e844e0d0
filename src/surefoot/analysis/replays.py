"""Recorded rollouts, replayed under sequential rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import _check, sequential
from surefoot._arguments import in_python, write
from surefoot.analysis.comparisons import chosen
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.sentences import fill
from surefoot.core.verdict import Verdict
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.sequential.after_stop import AT_ONCE
from surefoot.sequential.exact_binary import ExactPairedBinaryState
from surefoot.sequential.registry import Setting
from surefoot.sequential.rules import Claim, Ending, Rule, checked_futility
from surefoot.sequential.validity import holding
from surefoot.table.crosstab import coverage
from surefoot.table.design import MANY
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.start_order import by_starts, in_blocks, rounds_of, said_order

BLOCKED = (
    "The order is in blocks of {what}: one was run after another. If the gain differs between them, no sequential "
    "rule keeps its promise in this order. Next time mix them at random."
)
AVERAGED = (
    "Each {unit} was met several times: one {unit} is one step, its outcomes averaged, and the verdict is about others "
    "like these."
)
NO_ORDER = (
    "The order across {words.tasks} is not recorded: each {words.task} counts its own {words.rollouts}. If "
    "{words.tasks} were run in turn and the gain differs between them, no sequential rule keeps its promise."
)
CLUSTERED = (
    "The {words.rollouts} come in clusters: the rules treat all pairs as independent, so their verdicts are about "
    "these clusters only. A comparison at fixed size allows for clusters."
)
ORDER = "The {words.rollouts} enter in the order {how}."
CUT = "The file has no {waits}: {words.rollouts} that were started later are left out."
NOT_DRAWN = (
    "be given with an order that was drawn at random; got a list of {items:,} items in the order of their file. Files "
    "are sorted, and in file order 11 to 21% of such verdicts were false."
)
NOT_EVERYWHERE = "Rules that do not suit every {words.task} are not shown: {names}."
HINDSIGHT = "A replay shows what a rule would have done; it is not a second test of the same {words.rollouts}."


@dataclass(frozen=True, slots=True)
class Stop(Record):
    """Where one rule would have stopped.

    Attributes:
        rule: The rule.
        name: Its short name.
        pairs: Pairs it would have used; the horizon when undecided.
        verdict: What it would have said.
        p_value: Its anytime p-value then.
        evidence: Its evidence after each pair; empty for a rule that has none.
        threshold: The evidence at which it decides; 0 for a rule that has none.
        interval: Where the gain lies, by the pairs it would have used: the final interval of an exact rule that has
            stopped, otherwise the one that holds at any moment.
        ending: Why it would have stopped: a verdict, the horizon, no verdict in reach, or futility; none where the
            recorded pairs ran out first.
    """

    rule: Rule[Any]
    name: str
    pairs: int
    verdict: Verdict
    p_value: float
    evidence: tuple[float, ...]
    threshold: float
    interval: Interval | None = None
    ending: Ending | None = None

    @property
    def decided(self) -> bool:
        """Whether it would have decided."""
        return self.verdict is not Verdict.UNDECIDED

    def __str__(self) -> str:
        what = f"{self.verdict.value} at {self.pairs}" if self.decided else f"undecided (counted {self.pairs})"
        return f"{self.name}: {what}"


@dataclass(frozen=True, slots=True)
class ReplayedPair(Record):
    """Two policies on one task, replayed under several rules.

    Attributes:
        task: The task, or None when there is only one.
        pairs: Pairs recorded.
        horizon: The horizon that the rules were given.
        stops: Where each rule would have stopped.
        notes: What a reader must know besides.
    """

    task: str | None
    pairs: int
    horizon: int
    stops: tuple[Stop, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replay(Worded):
    """A suite of comparisons, replayed under several rules.

    Attributes:
        first: The policy that the verdicts are about.
        second: The policy it is compared with.
        measure: Whether success or the score was compared.
        claim: What the rules could show.
        confidence: Over all looks, for each comparison.
        comparisons: One per task.
        notes: What a reader must know besides.
    """

    first: str
    second: str
    measure: Measure
    claim: str
    confidence: float
    comparisons: tuple[ReplayedPair, ...]
    notes: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules."""
        return tuple(stop.name for stop in self.comparisons[0].stops)

    def total(self, name: str) -> int:
        """Rollouts of both policies over the suite; an undecided comparison counts its whole horizon."""
        return sum(2 * stop.pairs for stop in self._stops(name))

    def undecided(self, name: str) -> int:
        """How many comparisons the rule would have left undecided."""
        return sum(not stop.decided for stop in self._stops(name))

    def saving(self, name: str) -> float:
        """The share of the batch that the rule would have saved."""
        return 1.0 - self.total(name) / self.batch

    @property
    def batch(self) -> int:
        """Rollouts of both policies when every comparison is run to its horizon."""
        return sum(2 * comparison.horizon for comparison in self.comparisons)

    @property
    def as_recorded(self) -> bool:
        """Whether every comparison was planned as long as it was recorded."""
        return all(comparison.horizon == comparison.pairs for comparison in self.comparisons)

    def _stops(self, name: str) -> list[Stop]:
        _check.choice(name, "name", dict.fromkeys(self.rules))
        return [stop for comparison in self.comparisons for stop in comparison.stops if stop.name == name]

    def __str__(self) -> str:
        lines = []
        for comparison in self.comparisons:
            where = f"{comparison.task}: " if comparison.task else ""
            lines.append(where + "; ".join(map(str, comparison.stops)) + ".")
        for name in self.rules:
            left = self.undecided(name)
            marked = f" ({left} undecided, counted at the horizon)" if left else ""
            total = (
                f"{self.total(name):,} of {self.batch:,} {self.words.rollouts}{'' if self.as_recorded else ' planned'}"
            )
            lines.append(f"{name}: {total}{marked}, {self.saving(name):.0%} saved.")
        return "\n".join((*lines, *self.notes))


@in_its_words
def replay(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    horizon: int | None = None,
    measure: Measure | None = None,
    confidence: float = 0.95,
    claim: Claim = "first better",
    randomised: bool = False,
    pooled: bool = False,
    rules: Sequence[str] | None = None,
    population: int | None = None,
    futility: float = 0.0,
    start_order: str | None = None,
) -> Replay:
    """Stopping points of sequential rules on recorded rollouts, taken in the order in which they were started.

    Rollouts in the same environment are paired; where the table cannot tell, rollout n of one policy is paired with
    rollout n of the other. Every task is a comparison of its own unless `pooled`. The order is that of a column of
    start times, of `order`, or of the rows, which are then assumed to be in the order of the starts.

    Args:
        rollouts: The table.
        first: The policy that the verdicts are about.
        second: The policy it is compared with.
        horizon: The most pairs; left out, as many as were recorded.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks.
        claim: "first better" or "either".
        randomised: Whether the order of the environments was drawn at random; only then are the exact rules shown.
        pooled: Whether all tasks make one comparison, in the order they were run, in place of one each.
        rules: The rules to replay, by their names in plan files; left out, all that suit the rollouts.
        population: The length of the list that the rollouts are of, for verdicts about what a complete run of it would
            show; the horizon is then the whole list. The order must have been drawn at random.
        futility: The chance of a verdict below which a rule that can gives up; 0 for never.
        start_order: The column that tells the order of the starts: numbers, of which only those before the first
            missing one count, or times.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> frame = pl.DataFrame({"policy": ["new", "old"] * 30, "score": [0.9, 0.3, 0.7, 0.4] * 15})
        >>> print(sf.replay(sf.read(frame), "new", "old").comparisons[0].stops[0])
        FHM: better at 9
    """
    what = chosen(rollouts, measure)
    declared = _declared(horizon, confidence, claim, randomised, population, futility)
    for policy in (first, second):
        _check.choice(policy, "policy", dict.fromkeys(rollouts.policies))
    how = said_order(rollouts, start_order)
    rollouts, waits = by_starts(rollouts, what, (first, second), start_order)
    tasks = tasks_apart(rollouts, pooled=pooled)
    if population is not None and len(tasks) > 1:
        pool = in_python("pooled=True", "--pooled")
        hint = f"Say {pool} if all {rollouts.words.tasks} are one list, or replay one {rollouts.words.task}."
        raise _check.wrong(
            "population", f"be the length of one list; got {len(tasks)} {rollouts.words.tasks}.", population, hint
        )
    found = []
    for task in tasks:
        part = rollouts if task is None else one_task(rollouts, task)
        known = {group.key[0] for group in part.summary() if group.known(what)}
        if task is None or {first, second} <= known:
            found.append(_replayed(part, task, (first, second), what, declared, rules))
    if not found:
        raise DataError(
            f"{first!r} and {second!r} must share {rollouts.words.a_task}; got none.", source=rollouts.source
        )
    notes = dict.fromkeys(note for comparison in found for note in comparison.notes)
    notes |= dict.fromkeys(
        [fill(ORDER, words=rollouts.words, how=how), *([fill(CUT, words=rollouts.words, waits=waits)] if waits else [])]
    )
    shown = dict.fromkeys(stop.name for comparison in found for stop in comparison.stops)
    everywhere = set.intersection(*({stop.name for stop in comparison.stops} for comparison in found))
    if len(everywhere) < len(shown):  # a total over some tasks only would pass for a saving
        notes[
            fill(
                NOT_EVERYWHERE, words=rollouts.words, names=", ".join(name for name in shown if name not in everywhere)
            )
        ] = None
        found = [replace(one, stops=tuple(stop for stop in one.stops if stop.name in everywhere)) for one in found]
    notes |= dict.fromkeys(_of_list(found[0], first, population))
    return Replay(
        first, second, what, claim, float(confidence), tuple(found), (*notes, fill(HINDSIGHT, words=rollouts.words))
    )


def tasks_apart(rollouts: Rollouts, *, pooled: bool) -> Sequence[str | None]:
    """The tasks that are replayed each by itself; None alone where all rollouts are one stream.

    Units that every policy met once are one stream: each of them is one step.
    """
    unit, split = rollouts.design.unit_column, rollouts.split
    steps = unit is not None and unit.key == split and coverage(rollouts).once
    return (None,) if pooled or steps or len(rollouts.tasks) < 2 else rollouts.tasks


def one_task(rollouts: Rollouts, task: str) -> Rollouts:
    """The rollouts of one task, whose columns keep the roles that they have in the whole table."""
    part = rollouts.where(**{str(rollouts.split): task})
    return replace(part, declared={**rollouts.design_roles(), str(rollouts.split): "ignore"})


def replay_pairs(
    pairs: Iterable[tuple[float, float]],
    *,
    horizon: int | None = None,
    confidence: float = 0.95,
    claim: Claim = "first better",
    randomised: bool = False,
    shared: bool = True,
    low: float = 0.0,
    high: float = 1.0,
    rules: Sequence[str] | None = None,
    population: int | None = None,
    futility: float = 0.0,
) -> Replay:
    """Stopping times and verdicts of sequential rules on recorded pairs (first, second).

    Args:
        pairs: The scores of each pair, in the order they were run.
        horizon: The most pairs; left out, as many as there are.
        confidence: Over all looks.
        claim: "first better" or "either".
        randomised: Whether the order of the environments was drawn at random.
        shared: Whether both rollouts of a pair share their environment.
        low: The lowest score possible.
        high: The highest score possible.
        rules: The rules to replay, by their names in plan files; left out, all that suit the pairs.
        population: The length of the list that the pairs are of, as for `replay`.
        futility: The chance of a verdict below which a rule that can gives up; 0 for never.
    """
    declared = _declared(horizon, confidence, claim, randomised, population, futility)
    kept = [(float(one), float(other)) for one, other in pairs]
    _check.filled(kept, "pairs", "hold at least one pair")
    binary = {score for pair in kept for score in pair} <= {low, high}
    measure: Measure = "success" if binary else "score"
    collected = replace(declared, measure=measure, environments="shared" if shared else "independent")
    comparison = _under_rules(kept, replace(collected, low=low, high=high), rules)
    notes = (*_of_list(comparison, "first", population), fill(HINDSIGHT))
    return Replay("first", "second", measure, claim, float(confidence), (comparison,), notes)


def _declared(
    horizon: int | None, confidence: float, claim: Claim, randomised: bool, population: int | None, futility: float
) -> Setting:
    """What the replayed rules are declared with; a horizon of 0 stands for as many pairs as were recorded."""
    most = 0 if horizon is None else _check.whole(horizon, "horizon", least=1)
    check_population(population, randomised=randomised)
    return Setting(
        horizon=most or population or 0,
        confidence=confidence,
        claim=claim,
        randomised=randomised,
        population=population,
        futility=futility,
    )


def check_population(population: int | None, *, randomised: bool) -> None:
    """The length of a list whose order was drawn."""
    if population is not None:
        items = _check.whole(population, "population", least=1)
        if not randomised:
            cure = f"If it was drawn, say so: {in_python('randomised=True', '--randomised')}."
            raise _check.wrong("population", NOT_DRAWN.format(items=items), population, cure)


def _of_list(one: ReplayedPair, first: str, population: int | None) -> list[str]:
    """What the first rule says of the list, so that nobody takes it for other items."""
    if population is None or not one.stops:
        return []
    stop = one.stops[0]
    run = stop.pairs if stop.decided else one.pairs
    said = {"first": first, "verdict": stop.verdict.value, "claim": stop.rule.claim, "margin": stop.rule.margin}
    size = {"items": population, "run": run, "confidence": stop.rule.confidence}
    return [f"{stop.name}: {Note('verdict on these items', {**said, **size})}"]


def _replayed(
    part: Rollouts,
    task: str | None,
    policies: tuple[str, str],
    measure: Measure,
    declared: Setting,
    only: Sequence[str] | None,
) -> ReplayedPair:
    recurs = bool(coverage(part).recurring)
    averaged = recurs and part.design.units >= MANY
    if averaged:
        return _by_unit(part, task, policies, measure, declared, only)
    pairing = part.pairing(*policies, measure=measure)
    notes = []
    pairs = [(one, other) for one, other in rounds_of(part, measure, pairing.on, policies)]
    if not pairs:
        known = measure == "score" and "success" in part.columns
        cure = f"Successes are there: {write('measure', 'success')}." if known else ""
        raise DataError(f"both {part.words.policies} must have a {measure}; got none.", source=part.source, cure=cure)
    if not pairing:
        sizes = [next(g.known(measure) for g in part.summary() if g.key[0] == policy) for policy in policies]
        if sizes[0] != sizes[1]:
            short, long = policies if sizes[0] < sizes[1] else policies[::-1]
            where, fewer = f" on {task}" if task else "", formatting.rollouts(abs(sizes[0] - sizes[1]), part.words)
            notes.append(f"{short!r} has {fewer} fewer than {long!r}{where}: the surplus is left out.")
    notes += [fill(BLOCKED, words=part.words, what=what) for what in blocking(part)]
    if part.design.cluster or recurs:
        notes.append(fill(CLUSTERED, words=part.words))
    if task is None and len(part.tasks) > 1 and "order" in part.columns:
        orders = part.where(policy=policies[0]).column("order")
        notes += [fill(NO_ORDER, words=part.words)] if len(set(orders)) < len(orders) else []
    low, high = part.ends(measure)
    environments = part.collected or ("shared" if pairing else "independent")
    collected = replace(declared, measure=measure, environments=environments, low=low, high=high)
    return replace(_under_rules(pairs, collected, only), task=task, notes=tuple(notes))


def _under_rules(pairs: list[tuple[float, float]], setting: Setting, only: Sequence[str] | None) -> ReplayedPair:
    """Where every rule would have stopped that holds for pairs collected in this way, the default one first."""
    population, binary = setting.population, setting.binary
    if population is not None and len(pairs) > population:
        must = f"be at least {len(pairs):,}, the pairs recorded"
        raise _check.refused("population", must, population, "An item counts once.")
    checked_futility(setting.futility)
    levels = (setting.low, setting.high) if binary else ()
    setting = replace(setting, horizon=setting.horizon or len(pairs), levels=levels, between=not binary)
    stops: dict[str, Stop] = {}
    for kind, rule in holding(setting, only):
        name = kind.label or kind.name
        states = sequential.run(rule, pairs)
        last = states[-1]
        evidence = tuple(state.evidence for state in states if state.evidence is not None)
        decided = last.verdict is not Verdict.UNDECIDED
        gave_up = bool(rule.futility) and last.finished
        used = last.pairs if decided or gave_up else rule.horizon
        known = last.verdict, last.p_value, evidence, rule.threshold or 0.0
        stops[name] = Stop(rule, name, used, *known, interval=_interval(last, population), ending=last.ending)
    return ReplayedPair(None, len(pairs), setting.horizon, tuple(stops.values()))


def _interval(state: Any, population: int | None) -> Interval | None:
    """Where the gain lies at the stop; for a declared list, that on the list itself."""
    if population is None or not isinstance(state, ExactPairedBinaryState):
        found: Interval = state.interval
        return found
    stopped = state.interval_kind != "anytime" and state.rule.horizon <= AT_ONCE
    return state.list_interval() if stopped else None


def _by_unit(
    part: Rollouts,
    task: str | None,
    policies: tuple[str, str],
    measure: Measure,
    declared: Setting,
    only: Sequence[str] | None,
) -> ReplayedPair:
    """Units that were met several times: one unit is one step, its mean a score, once both policies have ended it."""
    import polars as pl

    keys = part.design.keys("unit", "setting")
    frame = part.polars().with_row_index("__row__").filter(pl.col(measure).is_not_null())
    if "valid" in frame.columns:
        frame = frame.filter(pl.col("valid").fill_null(True))
    if "order" in frame.columns:
        frame = frame.sort("order", nulls_last=True, maintain_order=True).drop("__row__").with_row_index("__row__")
    value = pl.col(measure).cast(pl.Float64)
    sides = [
        frame.filter(policy=name)
        .group_by(keys)
        .agg(value.sort().mean().alias(f"mean{at}"), pl.col("__row__").max().alias(f"last{at}"))
        for at, name in enumerate(policies)
    ]
    met = sides[0].join(sides[1], on=keys, how="inner").sort(pl.max_horizontal("last0", "last1"))
    if not met.height:
        raise DataError(f"both {part.words.policies} must share some {part.design.unit}; got none.", source=part.source)
    low, high = part.ends(measure)
    collected = replace(declared, measure="score", environments="shared", low=low, high=high)
    said = AVERAGED.format(unit=part.design.unit)
    return replace(_under_rules(met.select("mean0", "mean1").rows(), collected, only), task=task, notes=(said,))


def blocking(part: Rollouts) -> list[str]:
    """The columns that name contexts which were run in blocks."""
    columns = part.design.keys("unit", "setting", "cluster")
    blocked = (name for name in columns if any(in_blocks(part.where(policy=p).column(name)) for p in part.policies))
    return [part.called(name) for name in blocked]
