"""How are two policies compared by their scores, or by clusters of rollouts, when rollouts are no pairs?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from surefoot import stats
from surefoot.analysis.laps import Label, by_task, face_to_face, in_turn, task_labels, unequal
from surefoot.analysis.measures import MANY, Measure
from surefoot.core.gain import Gain
from surefoot.core.moments import Moments
from surefoot.core.scores import Scores
from surefoot.rollouts.table import Rollouts

UNEQUAL = 0.01
"""Task mixes further apart than this (total variation) are compared task by task."""

Labelled = tuple[Sequence[object], str] | None
Found = tuple[Gain, str, tuple[str, ...]]


def by_scores(one: Rollouts, other: Rollouts, reason: str, confidence: float, margin: float) -> Found:
    """The gain in the mean score of two independent policies, task against same task where there are several."""
    first, second = one.moments(), other.moments()
    many = min(len(first), len(second)) > MANY and first.variance + second.variance > 0.0
    if many and not _unequal(one, other):
        gain = stats.moments_gain(first, second, confidence=confidence, margin=margin)
        return gain, f"{reason} Very many scores: {gain.method}.", ()
    sides = [by_task(side.scores().values, task_labels(side, "score")) for side in (one, other)]
    if not _several(sides[0], sides[1]):
        gain = stats.betting_gain(one.scores(), other.scores(), confidence=confidence, margin=margin)
        return gain, f"{reason} Independent scores: {gain.method}.", ()
    ones, others, notes = face_to_face(sides[0], sides[1])
    if len(ones) > MANY:
        gaps = [a - b for a, b in zip(ones, others, strict=True)]
        width = one.high - one.low
        moments = Moments.of_sums(len(gaps), math.fsum(gaps), math.fsum(gap * gap for gap in gaps), -width, width)
        if moments.variance > 0.0:
            gain = stats.moments_paired_gain(moments, confidence=confidence, margin=margin)
            return gain, f"{reason} Very many scores, each against one on the same task: {gain.method}.", notes
    scores = (Scores(values, one.low, one.high) for values in (ones, others))
    gain = stats.betting_gain(*scores, confidence=confidence, margin=margin)
    return gain, f"{reason} Independent scores, each against one on the same task: {gain.method}.", notes


def by_clusters(
    sides: tuple[Rollouts, Rollouts],
    measure: Measure,
    grouped: Sequence[Labelled],
    reason: str,
    *,
    share: bool,
    confidence: float,
    margin: float,
) -> Found:
    """The gain from the clusters' means: by the differences of the clusters that both met, or of all clusters."""
    means = [_cluster_means(side, measure, found) for side, found in zip(sides, grouped, strict=True)]
    tasks = [_cluster_tasks(side, measure, found) for side, found in zip(sides, grouped, strict=True)]
    ends = (sides[0].low, sides[0].high) if measure == "score" else (0.0, 1.0)
    shared = sorted(means[0].keys() & means[1].keys(), key=str) if all(grouped) and share else []
    if len(shared) > max(1, *(len(of) // 2 for of in means)):
        where = [tasks[0].get(label) for label in shared]
        if where == [tasks[1].get(label) for label in shared]:
            shared = [shared[place] for place in in_turn(where)]
        first, second = (Scores([of[label] for label in shared], *ends) for of in means)
        gain = scaled(stats.betting_paired_gain(first, second, confidence=confidence, margin=margin), measure)
        left = sum(len(of) - len(shared) for of in means)
        lost = (f"{left:,} clusters were met by one policy only and were left out.",) if left else ()
        why = f"{reason} The {len(shared):,} clusters are the same for both: {gain.method} on their differences."
        return gain, why, lost
    placed = [
        by_task(list(of.values()), [where.get(label) for label in of]) for of, where in zip(means, tasks, strict=True)
    ]
    ones, others = (list(of.values()) for of in means)
    notes: tuple[str, ...] = ()
    if _several(placed[0], placed[1]):
        ones, others, notes = face_to_face(placed[0], placed[1], "clusters")
    first, second = Scores(ones, *ends), Scores(others, *ends)
    gain = scaled(stats.betting_gain(first, second, confidence=confidence, margin=margin), measure)
    return gain, f"{reason} Rollouts come in clusters: betting interval on the clusters' means.", notes


def scaled(gain: Gain, measure: Measure) -> Gain:
    """A gain computed from scores, shown in points when it is one of success rates."""
    return gain if measure == "score" else replace(gain, interval=replace(gain.interval, scale="gain"))


def _several(first: Mapping[Label, object], second: Mapping[Label, object]) -> bool:
    """Whether there are several tasks, one of them common to both."""
    return len(first.keys() | second.keys()) > 1 and bool(first.keys() & second.keys())


def _unequal(one: Rollouts, other: Rollouts) -> bool:
    """Whether the policies' scores are from tasks in unequal shares; computed where the data are."""
    if "task" not in one.columns:
        return False
    first, second = ({group.key[0]: group.scored for group in side.summary(by=("task",))} for side in (one, other))
    return unequal(first, second, UNEQUAL)


def _cluster_means(rollouts: Rollouts, measure: Measure, found: Labelled) -> dict[object, float]:
    """The mean of each cluster by its name; a rollout that stands alone is one by itself."""
    values = rollouts.scores().values if measure == "score" else tuple(map(float, rollouts.outcomes()))
    low, high = (rollouts.low, rollouts.high) if measure == "score" else (0.0, 1.0)
    groups: dict[object, list[float]] = {}
    for label, value in zip(found[0] if found is not None else range(len(values)), values, strict=True):
        groups.setdefault(label, []).append(value)
    return {label: min(high, max(low, fmean(group))) for label, group in groups.items()}


def _cluster_tasks(rollouts: Rollouts, measure: Measure, found: Labelled) -> dict[object, Label]:
    """The task of each cluster; nothing where some cluster has several, or there are no tasks."""
    if "task" not in rollouts.columns:
        return {}
    labels = task_labels(rollouts, measure)
    of: dict[object, Label] = {}
    for label, task in zip(found[0] if found is not None else range(len(labels)), labels, strict=True):
        if of.setdefault(label, task) != task:
            return {}
    return of
