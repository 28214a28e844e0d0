"""How good is each policy, on each task?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any

from surefoot import _check, stats
from surefoot.analysis.comparison_data import Weigh
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.table.rollouts import Rollouts, a_table
from surefoot.table.structure import Measure as Measure
from surefoot.table.structure import Structure, part, rows, structure

if TYPE_CHECKING:
    import polars as pl

MANY = 2_000_000
"""From so many scores on, the mean's interval is empirical Bernstein's: as guaranteed, a little wider, one pass."""


@dataclass(frozen=True, slots=True)
class Measurement(Record):
    """One policy's success rate and mean score, with their intervals.

    Attributes:
        policy: The policy.
        task: The task, or None when all tasks are taken together.
        rollouts: Rollouts that count.
        void: Rollouts declared not to count.
        success: The success rate; None when no success is known.
        score: The mean score; None when there are no scores.
        tally: Successes among rollouts with a known success; None when there are none.
    """

    policy: str
    task: str | None
    rollouts: int
    void: int
    success: Interval | None
    score: Interval | None
    tally: Tally | None = None

    def of(self, measure: Measure) -> Interval | None:
        """The interval of one of the two."""
        return self.success if measure == "success" else self.score

    def __str__(self) -> str:
        where = f" on {self.task}" if self.task else ""
        parts = [f"{name} {found}" for name, found in (("success", self.success), ("score", self.score)) if found]
        return f"{self.policy}{where}: {' '.join(parts)}"


def success_rate(rollouts: Rollouts, *, confidence: float = 0.95, weigh: Weigh = "rollouts") -> Interval:
    """Where does the success rate of the one policy in the table lie?

    Wilson's interval; where rollouts come in clusters, Clopper and Pearson's on the number of independent rollouts that
    they are worth.

    Args:
        rollouts: The table.
        confidence: The confidence of the interval.
        weigh: How several tasks weigh: "rollouts", by their share of rollouts, or "tasks", all alike.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 10, "success": [1] * 8 + [0] * 2}))
        >>> print(sf.success_rate(rollouts))
        80.0% [49.0%, 94.4%] n=10 (95% Wilson interval).
    """
    tally = a_table(rollouts).tally()

    def rate(found: _Grouped) -> Interval:
        if found.alone:
            return stats.wilson(tally, confidence=confidence)
        outcomes, labels, tasks = found.columns()
        succeeded, weights = [value > 0.0 for value in outcomes], weigh if tasks else "rollouts"
        return stats.cluster_rate(succeeded, labels, tasks=tasks, weights=weights, confidence=confidence).interval

    return _widest(rollouts, "success", weigh, rate)


def mean_score(rollouts: Rollouts, *, confidence: float = 0.95, weigh: Weigh = "rollouts") -> Interval:
    """Where does the mean score of the one policy in the table lie?

    Guaranteed for scores in their stated range, and for clusters of one size; approximate, by the clusters' spread,
    where clusters differ in size.

    Args:
        rollouts: The table.
        confidence: The confidence of the interval.
        weigh: How several tasks weigh: "rollouts", by their share of rollouts, or "tasks", all alike.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 20, "score": [1.0, 0.5, 0.75, 1.0] * 5}))
        >>> print(sf.mean_score(rollouts))
        0.812 [0.650, 0.902] n=20 (95% Gaffke interval).
    """
    moments = a_table(rollouts).moments()

    def mean(found: _Grouped) -> Interval:
        if found.alone and len(moments) > MANY:
            return stats.moments_mean(moments, confidence=confidence)
        several = found.structure.tasks > 1
        values, labels, tasks = found.columns()
        scores = Scores(values, rollouts.low, rollouts.high)
        if found.alone:
            return stats.score_mean(scores, several_tasks=several, confidence=confidence)
        sums: dict[object, list[float]] = {}
        for label, value in zip(labels, values, strict=True):
            sums.setdefault(label, []).append(value)
        if not found.uneven and len(set(map(len, sums.values()))) == 1:  # the cluster is the unit, and all weigh alike
            means = [min(scores.high, max(scores.low, fsum(each) / len(each))) for each in sums.values()]
            units = Scores(means, scores.low, scores.high)
            made = stats.score_mean(units, several_tasks=several, confidence=confidence)
            return replace(made, trials=len(scores), data=(scores,))
        weights = weigh if tasks else "rollouts"
        return stats.cluster_mean(scores, labels, tasks=tasks, weights=weights, confidence=confidence).interval

    return _widest(rollouts, "score", weigh, mean)


@dataclass(frozen=True, slots=True)
class _Grouped:
    """The rollouts of one policy, with what they belong to.

    Attributes:
        structure: How they belong together.
        rows: Their outcomes, sorted, with the columns that are needed.
        labels: The columns of the clusters; None where every rollout stands alone.
        uneven: Whether tasks are to weigh alike and do not by themselves.
    """

    structure: Structure
    rows: Callable[[tuple[str, ...]], pl.DataFrame]
    labels: tuple[str, ...] | None
    uneven: bool

    @property
    def alone(self) -> bool:
        """Whether every rollout stands alone and weighs the same."""
        return self.labels is None and not self.uneven

    def columns(self) -> tuple[list[float], list[object], list[str] | None]:
        """The outcomes, the cluster of each and, where tasks are weighed, its task."""
        wanted = (*(("task",) if self.uneven else ()), *(self.labels or ()))
        frame = self.rows(tuple(dict.fromkeys(wanted)))
        if self.uneven:
            frame = frame.drop_nulls("task")
        labels = frame.select(self.labels).rows() if self.labels else list(range(frame.height))
        return frame["value"].to_list(), list(labels), frame["task"].to_list() if self.uneven else None


def _widest(rollouts: Rollouts, measure: Measure, weigh: Weigh, make: Callable[[_Grouped], Interval]) -> Interval:
    """The interval; where there are several training runs, the wider of that and the one with runs for clusters."""
    policy = rollouts.policies[0]
    found = structure(rollouts, measure, (policy,))
    counts = [group.known(measure) for group in rollouts.summary(by=("task",))] if rollouts.tasks else []
    uneven = weigh == "tasks" and len({count for count in counts if count}) > 1
    clusters = found.clusters if found.groups > 1 else None
    grouped = _Grouped(found, partial(rows, rollouts, measure, policy), clusters, uneven)
    ways = [grouped, replace(grouped, labels=("run",))] if found.runs else [grouped]
    return max((_told(make(way), way) for way in ways), key=lambda interval: interval.width)


def _told(interval: Interval, found: _Grouped) -> Interval:
    """An interval with what must be known of the clusters."""
    if found.labels is not None:
        return replace(interval, notes=(*interval.notes, Note("in clusters", {"structure": found.structure})))
    return replace(interval, notes=(*interval.notes, Note("one cluster"))) if found.structure.clusters else interval


MEASURED: dict[Measure, Callable[..., Interval]] = {"success": success_rate, "score": mean_score}
"""How one policy is measured, by what is measured."""


def measure(
    rollouts: Rollouts,
    *,
    by_task: bool = False,
    only: Measure | None = None,
    weigh: Weigh = "rollouts",
    confidence: float = 0.95,
) -> tuple[Measurement, ...]:
    """How good is each policy, and on each task when asked? One measurement each, every one with interval and n.

    Args:
        rollouts: The table.
        by_task: Whether every task is measured by itself.
        only: "success" or "score" to measure that alone; both, where the table has them, when not said.
        weigh: How several tasks weigh: "rollouts", by their share of rollouts, or "tasks", all alike.
        confidence: The confidence of each interval.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new", "old"] * 5, "success": [1, 0, 1, 1, 1] * 2}))
        >>> for one in sf.measure(rollouts):
        ...     print(one)
        new: success 80.0% [37.5%, 96.4%] n=5 (95% Wilson interval).
        old: success 80.0% [37.5%, 96.4%] n=5 (95% Wilson interval).
    """
    level: dict[str, Any] = {"confidence": _check.confidence(confidence), "weigh": weigh}
    by = ("policy", "task") if by_task else ("policy",)
    a_table(rollouts)
    if by_task:
        rollouts.require("task")
    measures: dict[str, Measure] = {what: what for what in MEASURED}
    wanted = tuple(measures.values()) if only is None else (_check.choice(only, "only", measures),)
    alone = not {"condition", "seed", "cluster", "run"} & set(rollouts.columns)
    found = []
    for group in rollouts.summary(by=by):
        policy, task = str(group.key[0]), group.key[1] if by_task else None
        if by_task and task is None:  # rollouts that name no task are in the policy's own row only
            continue
        known = [what for what in wanted if group.known(what)]
        if task is not None and alone and not group.scored:  # of thousands of cells, none needs its rows
            made = {what: stats.wilson(group.tally, confidence=confidence) for what in known}
        else:
            own = part(rollouts, known, policy, task)
            made = {what: MEASURED[what](own, **level) for what in known}
        tally = group.tally if group.outcomes else None
        ends = made.get("success"), made.get("score")
        found.append(Measurement(policy, task, group.rollouts, group.void, *ends, tally))
    return tuple(found)
