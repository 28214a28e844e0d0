"""How good is each policy, on each task?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from surefoot import _check, stats
from surefoot.analysis.laps import scores_in_turn
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.rollouts.canon import small
from surefoot.rollouts.table import Rollouts, a_table

Measure = Literal["success", "score"]
ONE_CLUSTER = "All rollouts are of one cluster: this is about that cluster, and says nothing of others."
MANY = 20_000
"""From so many scores on, the mean's interval is empirical Bernstein's: as guaranteed, by half wider, one pass."""


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


def success_rate(rollouts: Rollouts, *, confidence: float = 0.95) -> Interval:
    """Where does the success rate of the one policy in the table lie?

    Wilson's interval; where rollouts come in clusters, on the number of independent rollouts that they are worth.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 10, "success": [1] * 8 + [0] * 2}))
        >>> print(sf.success_rate(rollouts))
        80.0% [49.0%, 94.4%] n=10 (95% Wilson interval).
    """
    tally = a_table(rollouts).tally()
    groups = clusters(rollouts, "success")
    if groups is None:
        return _told(stats.wilson(tally, confidence=confidence), rollouts, "success")
    labels, why = groups
    found = stats.cluster_rate(rollouts.outcomes(), labels, confidence=confidence)
    return _with_clusters(found.interval, why, found.design_effect)


def mean_score(rollouts: Rollouts, *, confidence: float = 0.95) -> Interval:
    """Where does the mean score of the one policy in the table lie?

    Guaranteed for scores in their stated range; approximate, by the clusters' spread, where rollouts come in clusters.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 20, "score": [1.0, 0.5, 0.75, 1.0] * 5}))
        >>> print(sf.mean_score(rollouts))
        0.812 [0.649, 0.911] n=20 (95% betting interval).
    """
    if not cluster_columns(a_table(rollouts)):
        moments = rollouts.moments()
        if len(moments) > MANY:
            return stats.moments_mean(moments, confidence=confidence)
    groups = clusters(rollouts, "score")
    if groups is None:
        return _told(score_interval(scores_in_turn(rollouts), confidence=confidence), rollouts, "score")
    scores, (labels, why) = rollouts.scores(), groups
    if len(set(scores.values)) == 1:  # nothing is seen of how clusters differ: each counts as one score
        each = Scores(scores.values[: len(set(labels))], scores.low, scores.high)
        alike = replace(score_interval(each, confidence=confidence), trials=len(scores), data=(scores,))
        return replace(alike, notes=(*alike.notes, f"{why} All scores are alike: each cluster counts as one."))
    found = stats.cluster_mean(scores, labels, confidence=confidence)
    return _with_clusters(found.interval, why, found.design_effect)


def measure(
    rollouts: Rollouts, *, by_task: bool = False, only: Measure | None = None, confidence: float = 0.95
) -> tuple[Measurement, ...]:
    """How good is each policy, and on each task when asked? One measurement each, every one with interval and n.

    Args:
        rollouts: The table.
        by_task: Whether every task is measured by itself.
        only: "success" or "score" to measure that alone; both, where the table has them, when not said.
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
    _check.confidence(confidence)
    by = ("policy", "task") if by_task else ("policy",)
    a_table(rollouts)
    if by_task:
        rollouts.require("task")
    found = []
    for group in rollouts.summary(by=by):
        policy, task = str(group.key[0]), group.key[1] if by_task else None
        if by_task and task is None:  # rollouts that name no task are in the policy's own row only
            continue
        part = rollouts.where(policy=policy) if task is None else rollouts.where(policy=policy, task=task)
        found.append(
            Measurement(
                policy=policy,
                task=task,
                rollouts=group.rollouts,
                void=group.void,
                success=success_rate(part, confidence=confidence) if group.outcomes and only != "score" else None,
                score=mean_score(part, confidence=confidence) if group.scored and only != "success" else None,
                tally=group.tally if group.outcomes else None,
            )
        )
    return tuple(found)


def _told(interval: Interval, rollouts: Rollouts, column: Measure) -> Interval:
    return replace(interval, notes=(*interval.notes, ONE_CLUSTER)) if in_one_cluster(rollouts, column) else interval


def in_one_cluster(rollouts: Rollouts, column: Measure) -> bool:
    """Whether a `cluster` column puts all rollouts, more than one, into the same cluster."""
    if "cluster" not in rollouts.columns:
        return False
    known = [group for group in rollouts.summary(by=("cluster",)) if group.known(column)]
    return len(known) == 1 and known[0].key[0] is not None and known[0].known(column) > 1


def _with_clusters(interval: Interval, why: str, effect: float) -> Interval:
    return replace(interval, notes=(*interval.notes, f"{why} Design effect {effect:.2f}."))


def score_interval(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """The guaranteed interval of a mean score: betting, or empirical Bernstein for very many scores."""
    if len(scores) > MANY:
        return stats.empirical_bernstein(scores, confidence=confidence)
    return stats.betting_mean(scores, confidence=confidence)


def clusters(rollouts: Rollouts, column: Measure) -> tuple[Sequence[object], str] | None:
    """The cluster of each rollout of one policy and why they are clusters; None when rollouts stand alone.

    Rollouts belong together when a `cluster` column says so, or when a `repeat` column says that one condition was
    run several times.
    """
    import narwhals as nw

    names = cluster_columns(rollouts)
    if not names:
        return None
    known = rollouts.in_order(column, *names).filter(~nw.col(column).is_null())
    together = known.group_by(*names).agg(nw.len().alias("rollouts")).filter(nw.col("rollouts") > 1).head(1)
    if not small(together)["rollouts"]:
        return None
    home = small(known.select(*names))
    labels = list(zip(*(home[name] for name in names), strict=True))
    groups = len(set(labels))
    if groups < 2:
        return None
    return labels, f"{len(labels):,} rollouts in {groups:,} clusters ({' and '.join(names)})."


def cluster_columns(rollouts: Rollouts) -> tuple[str, ...]:
    """The columns that tell which rollouts belong together; empty when nothing does."""
    if "cluster" in rollouts.columns:
        return ("cluster",)
    if {"condition", "repeat"} <= set(rollouts.columns):
        return tuple(name for name in ("task", "condition") if name in rollouts.columns)
    return ()
