"""Is one policy better than another? The method follows from how the data were collected, and the result says which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot import _check, stats
from surefoot.analysis import unpaired
from surefoot.analysis.labels import NOT_CORRECTED
from surefoot.analysis.laps import by_name, in_pairs, pairs_in_turn, unequal
from surefoot.analysis.measures import (
    MANY,
    ONE_CLUSTER,
    Measure,
    cluster_columns,
    clusters,
    in_one_cluster,
    mean_score,
    success_rate,
)
from surefoot.analysis.outlooks import MOST_OUTLOOKS, outlook
from surefoot.core import words
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.rollouts.pairs import NUMBERED, Pairs
from surefoot.rollouts.positions import pairs_by_position
from surefoot.rollouts.table import Rollouts, a_table

NO_COMMON_TASK = "The two share no task: this gain is one between tasks as much as between policies."

REPEATED = (
    "Repeats of one environment that no column numbers count as independent here, so this may be surer than it should "
    "be: say which column is the `repeat`."
)

DECLARED = (
    "Nothing in the table tells which rollouts share an environment: the n-th of both on each task are paired as you "
    "say, which is right only if both met the same starts in the same order."
)


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Two policies compared, with the method that was chosen and why.

    Attributes:
        first: The policy that the gain and the verdict are about.
        second: The policy it is compared with.
        measure: Whether success or the score was compared.
        gain: Interval, p-value and verdict, made together.
        of_first: The first policy alone.
        of_second: The second policy alone.
        why: Which method was used, and the reason.
        task: The task, or None when all are taken together.
        notes: What a reader must know besides.
        outlook: When nothing was decided, what this size could have seen and how many rollouts would tell.
    """

    first: str
    second: str
    measure: Measure
    gain: Gain
    of_first: Interval
    of_second: Interval
    why: str
    task: str | None = None
    notes: tuple[str, ...] = ()
    outlook: str = ""

    @property
    def comparable(self) -> bool:
        """Whether the two met a common task; otherwise the gain only describes what was seen, and no gate may pass."""
        return NO_COMMON_TASK not in self.notes

    @property
    def interval(self) -> Interval:
        """Where the gain, first minus second, lies."""
        return self.gain.interval

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value against no gain, where the method has one."""
        return self.gain.p_value

    @property
    def verdict(self) -> Verdict:
        """What the interval supports, about the first policy; nothing when the two met no common task."""
        return self.gain.verdict

    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        said = self.gain if self.comparable else f"{str(self.interval).removesuffix('.')}; no verdict: no common task."
        return f"{self.first} against {self.second}{where}: {said}"


def compare(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    paired: bool | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Comparison:
    """Is the first policy better than the second, and by how much?

    Args:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: "success" or "score"; success where the table has it.
        paired: Whether to pair rollouts in the same environment; found out from the table when not said. True where no
            column tells which belong together declares that the n-th of both do, task by task.
        confidence: The confidence of the interval and the verdict.
        margin: A gain that would not matter.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> ended = [1] * 17 + [0] * 3 + [1] * 8 + [0] * 12
        >>> table = sf.read(pl.DataFrame({"policy": ["new"] * 20 + ["old"] * 20, "success": ended}))
        >>> print(sf.compare(table, "new", "old").verdict)
        better
    """
    found = plain_comparison(
        rollouts, first, second, measure=measure, paired=paired, confidence=confidence, margin=margin
    )
    return replace(found, outlook=outlook(found))


def plain_comparison(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    paired: bool | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Comparison:
    """As `compare`, without working out what it would take when nothing is decided: for families of many."""
    what = chosen(rollouts, measure)
    margin = _check.margin(margin, 1.0 if what == "success" else rollouts.high - rollouts.low)
    gain, why, notes = _gain(
        rollouts, first, second, what, paired=paired, confidence=_check.confidence(confidence), margin=margin
    )
    if NO_COMMON_TASK in notes:  # the gain only describes what was seen, and says so wherever it is kept
        gain = replace(gain, verdict=Verdict.UNDECIDED)
    return Comparison(
        first=first,
        second=second,
        measure=what,
        gain=gain,
        of_first=alone(rollouts, first, what, confidence),
        of_second=alone(rollouts, second, what, confidence),
        why=why,
        task=rollouts.tasks[0] if len(rollouts.tasks) == 1 == len(rollouts.summary(by=("task",))) else None,
        notes=(*notes, NOT_CORRECTED) if rollouts.labels else notes,
    )


def alone(rollouts: Rollouts, policy: str, measure: Measure, confidence: float) -> Interval:
    """One policy's rate or mean score."""
    of = success_rate if measure == "success" else mean_score
    return of(rollouts.where(policy=policy), confidence=confidence)


def compare_tasks(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> tuple[Comparison, ...]:
    """On which tasks is the first policy better or worse, with no false one among all tasks?

    Every task pays its share of the error, so that all intervals hold together. A task on which one of the two has no
    outcome is left out.
    """
    a_table(rollouts).require("task")
    what = chosen(rollouts, measure)
    known = [
        {group.key[0] for group in rollouts.where(policy=name).summary(by=("task",)) if group.known(what)}
        for name in (first, second)
    ]
    tasks = [task for task in rollouts.tasks if task in known[0] & known[1]]
    if not tasks:
        raise DataError(f"{first!r} and {second!r} must share a task; they share none.", source=rollouts.source or None)
    share = 1.0 - (1.0 - _check.confidence(confidence)) / len(tasks)
    found = []
    for task in tasks:
        part = rollouts.where(task=task)
        one = plain_comparison(part, first, second, measure=what, confidence=share, margin=margin)
        if len(tasks) <= MOST_OUTLOOKS:
            one = replace(one, outlook=outlook(one))
        found.append(family_member(one, len(tasks), confidence))
    return tuple(found)


def family_member(comparison: Comparison, size: int, confidence: float) -> Comparison:
    """One of `size` comparisons that hold together at `confidence`: its interval paid its share, its p-value too."""
    if size == 1:
        return comparison
    gain = comparison.gain
    adjusted = None if gain.p_value is None else min(1.0, size * gain.p_value)
    interval = replace(gain.interval, confidence=confidence, method=f"{gain.interval.method}, Bonferroni over {size:,}")
    return replace(comparison, gain=replace(gain, interval=interval, p_value=adjusted, method=interval.method))


def _gain(
    rollouts: Rollouts,
    first: str,
    second: str,
    measure: Measure,
    *,
    paired: bool | None,
    confidence: float,
    margin: float,
) -> unpaired.Found:
    """The gain by the method that fits the data, why that method, and what else to know."""
    asked = rollouts.pairing(first, second)
    if paired is True and not asked:
        if {"condition", "seed"} & set(rollouts.columns):  # what the table says of its pairs must not be overruled
            raise DataError(f"{asked.why} They cannot be compared as pairs.", source=rollouts.source or None)
        gain, why, said = _paired(pairs_by_position(rollouts, first, second), measure, confidence, margin)
        return gain, why, (*said, DECLARED)
    reason = asked.why if paired is None else "Unpaired, as asked."
    if asked and paired is not False:
        try:
            return _paired(rollouts.pairs(first, second), measure, confidence, margin)
        except DataError:
            if paired:
                raise
            reason = "Not paired: no pair has both outcomes."
    one, other = rollouts.where(policy=first), rollouts.where(policy=second)
    notes: tuple[str, ...] = () if _meet(one, other, measure) else (NO_COMMON_TASK,)
    notes = (*notes, REPEATED) if asked.why.endswith(NUMBERED) else notes
    grouped = [clusters(side, measure) for side in (one, other)]
    if all(in_one_cluster(side, measure) for side in (one, other)):
        notes = (*notes, ONE_CLUSTER)
    if any(grouped):
        gain, why, more = unpaired.by_clusters(
            (one, other), measure, grouped, reason, share=paired is None, confidence=confidence, margin=margin
        )
        return gain, why, (*notes, *more)
    if measure == "score":
        gain, why, more = unpaired.by_scores(one, other, reason, confidence, margin)
        return gain, why, (*notes, *more)
    if len(rollouts.tasks) > 1 and NO_COMMON_TASK not in notes:
        stratified, more = _strata(rollouts, first, second, confidence, margin)
        if stratified is not None:
            why = f"{reason} The policies met tasks in unequal shares: stratified by task."
            return stratified, why, (*notes, *more)
    gain = stats.exact_gain(one.tally(), other.tally(), confidence=confidence, margin=margin)
    return gain, f"{reason} Independent rollouts: {gain.method}.", notes


def chosen(rollouts: Rollouts, measure: Measure | None) -> Measure:
    """What is compared: what was asked for, or success where it is known of any rollout, else the score."""
    if measure is None:
        there = a_table(rollouts).columns
        known = "success" in there and ("score" not in there or any(one.outcomes for one in rollouts.summary()))
        return "success" if known else "score"
    _check.choice(measure, "measure", dict.fromkeys(("success", "score")))
    a_table(rollouts).require(measure)
    return measure


def _paired(pairs: Pairs, measure: Measure, confidence: float, margin: float) -> unpaired.Found:
    names, how = cluster_columns(pairs.rollouts), ""
    joined = names == ("cluster",) or (bool(names) and set(names) < set(pairs.on))
    labels = by_name(pairs).labels(names, measure) if joined else []
    groups = len(set(labels))
    if 1 < groups < len(labels):
        gain, how = _clustered(pairs, labels, measure, confidence, margin)
        how, known = f", clustered by {' and '.join(names)}{how}", len(labels)
    elif measure == "success":
        gain = stats.exact_paired_gain(pairs.tally(), confidence=confidence, margin=margin)
        known = gain.interval.trials
    else:
        moments = pairs.moments() if pairs.matched > MANY else None
        if moments is not None and len(moments) > MANY and moments.variance > 0.0:
            gain = stats.moments_paired_gain(moments, confidence=confidence, margin=margin)
            how, known = ", very many", len(moments)
        else:
            one, other = pairs_in_turn(pairs)
            gain, known = stats.betting_paired_gain(one, other, confidence=confidence, margin=margin), len(one)
    notes, spare = [], pairs.first_alone + pairs.second_alone
    if spare:
        notes.append(f"{words.rollouts(spare)} had no partner and {'was' if spare == 1 else 'were'} left out.")
    if names == ("cluster",) and len(labels) > groups == 1 and labels[0][0] is not None:
        notes.append(ONE_CLUSTER)
    if known < pairs.matched:
        notes.append(f"{pairs.matched - known:,} of {pairs.matched:,} pairs lack an outcome and were left out.")
    why = f"Paired on {', '.join(pairs.on)} ({words.counted(pairs.matched, 'pair')}){how}: {gain.method}."
    return gain, why, tuple(notes)


def _clustered(
    pairs: Pairs, labels: Sequence[object], measure: Measure, confidence: float, margin: float
) -> tuple[Gain, str]:
    """The gain of pairs in clusters, and what else is to be said of how it was found."""
    one, other = in_pairs(pairs, measure)
    gaps = [a - b for a, b in zip(one.values, other.values, strict=True)]
    if max(gaps) - min(gaps) > 1e-12 * (one.high - one.low):  # below, only rounding keeps them apart
        gain = stats.cluster_gain(one, other, labels, confidence=confidence, margin=margin)
        return unpaired.scaled(gain, measure), ""
    alike = _all_alike(one, other, len(set(labels)), measure, confidence, margin)
    return alike, ", all alike, so that each cluster counts as one"


def _meet(one: Rollouts, other: Rollouts, measure: Measure) -> bool:
    """Whether two policies have outcomes on a common task; taken to be so where tasks are not known."""
    if "task" not in one.columns:
        return True
    known = [{group.key[0] for group in side.summary(by=("task",)) if group.known(measure)} for side in (one, other)]
    return any(None in tasks or not tasks for tasks in known) or bool(known[0] & known[1])


def _strata(
    rollouts: Rollouts, first: str, second: str, confidence: float, margin: float
) -> tuple[Gain | None, tuple[str, ...]]:
    """The gain stratified by task when the policies met tasks in unequal shares; and what to know otherwise."""
    found: dict[str, dict[str, Tally]] = {first: {}, second: {}}
    nameless = 0
    for group in rollouts.where(policy=[first, second]).summary(by=("policy", "task")):
        if group.key[1] is None:
            nameless += group.outcomes
        elif group.outcomes:
            found[str(group.key[0])][str(group.key[1])] = group.tally
    tasks = [task for task in found[first] if task in found[second]]
    counts: list[dict[str | None, int]] = [{task: tally.trials for task, tally in of.items()} for of in found.values()]
    if not tasks or not unequal(counts[0], counts[1], unpaired.UNEQUAL):
        return None, ()
    gain = stats.stratified_gain(
        {task: (found[first][task], found[second][task]) for task in tasks}, confidence=confidence, margin=margin
    )
    left = sorted((set(found[first]) | set(found[second])) - set(tasks))
    lost = [f"Left out, run with one policy only: {', '.join(left)}."] if left else []
    lost += [f"Left out, because they name no task: {words.rollouts(nameless)}."] if nameless else []
    return gain, (*map(str, gain.notes), *lost)


def _all_alike(first: Scores, second: Scores, groups: int, measure: Measure, confidence: float, margin: float) -> Gain:
    """The gain when every pair shows the same one: nothing is seen of how clusters differ, so each is one pair."""
    if measure == "success":
        gap = first.values[0] - second.values[0]
        tally = PairTally(0, groups * (gap > 0), groups * (gap < 0), groups * (gap == 0))
        return stats.exact_paired_gain(tally, confidence=confidence, margin=margin)
    sides = (Scores(side.values[:groups], side.low, side.high) for side in (first, second))
    return stats.betting_paired_gain(*sides, confidence=confidence, margin=margin)
