"""By which method are two policies compared whose rollouts are no pairs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from surefoot import stats
from surefoot.analysis.asked import Asked, Found, Make, common_tasks
from surefoot.core.notes import Note
from surefoot.core.tally import Tally
from surefoot.errors import DataError
from surefoot.rollouts.structure import Structure, described, rows

if TYPE_CHECKING:
    import polars as pl

MOST_GROUPS = 20
"""Up to so many groups, two for each task, the guaranteed test of scores is used; beyond, the stratified t."""

MANY = 20_000
"""From so many separate scores on, the gain is that of their means and variances: the guaranteed test takes minutes."""

MOST_SCORES = 1_000
"""Up to so many scores in several tasks the guaranteed test is used: beyond, it takes minutes, and hardly differs."""

FEW_SCORES = 10
"""With fewer rollouts on a task than this, the guaranteed test of scores in several tasks is wide."""


def separate_gain(asked: Asked, found: Structure) -> Found:
    """The gain from separate rollouts, within tasks where there are several."""
    common, notes = common_tasks(asked)
    sides = [described(asked.rollouts, asked.measure, (name,))[0] for name in (asked.first, asked.second)]
    clustered = any(side.clusters and side.groups > 1 for side in sides)
    if any(side.clusters and side.groups == 1 for side in sides):
        notes.append(Note("one cluster"))
    if clustered:
        by = max((side for side in sides), key=lambda side: side.groups)
        made = replace(found, clusters=by.clusters, declared=by.declared, groups=sum(side.groups for side in sides))
        made = replace(made, tasks=max(1, len(common)))
        return Found(made, _clustered(asked, sides, common, share=found.unpaired != "asked"), tuple(notes))
    made = replace(found, clusters=(), groups=0, tasks=max(1, len(common)))
    if asked.measure == "success":
        return _of_tallies(asked, common, made, tuple(notes))
    make, more = _of_scores(asked, common)
    return Found(made, make, (*notes, *more))


def _of_tallies(asked: Asked, tasks: tuple[str, ...], found: Structure, notes: tuple[Note, ...]) -> Found:
    names = (asked.first, asked.second)
    if len(tasks) < 2:
        only = {"task": tasks[0]} if tasks else {}
        one, other = (asked.rollouts.where(policy=name, **only).tally() for name in names)
        return Found(found, partial(stats.exact_gain, one, other), notes, (one, other))
    ours, theirs = (_tallies(asked, name) for name in names)
    strata = {task: (ours[task], theirs[task]) for task in tasks}
    return Found(found, partial(stats.stratified_gain, strata, weights=asked.weigh), notes)


def _tallies(asked: Asked, policy: str) -> dict[str | None, Tally]:
    """A policy's tally on every task; looked up once for a table."""
    kept = asked.rollouts.memo
    key = ("tallies", policy)
    if key not in kept:
        kept[key] = {group.key[1]: group.tally for group in asked.known(policy)}
    found: dict[str | None, Tally] = kept[key]
    return found


def _of_scores(asked: Asked, tasks: tuple[str, ...]) -> tuple[Make, list[Note]]:
    names = (asked.first, asked.second)
    frames = [rows(asked.rollouts, asked.measure, name, ("task",) if tasks else ()) for name in names]
    if len(tasks) < 2:
        sides = [frame if not tasks else frame.filter(task=tasks[0]) for frame in frames]
        if sum(side.height for side in sides) > MANY and any(side["value"].n_unique() > 1 for side in sides):
            return partial(stats.moments_gain, *(asked.moments(side["value"]) for side in sides)), []
        return partial(stats.score_gain, *(asked.scores(side["value"]) for side in sides)), []
    return _within_tasks(asked, frames, tasks)


def _within_tasks(asked: Asked, frames: Sequence[pl.DataFrame], tasks: Sequence[str]) -> tuple[Make, list[Note]]:
    """Scores, or means of clusters that weigh the same, in several tasks: guaranteed while the tasks are few."""
    import polars as pl

    parts = [frame.filter(pl.col("task").is_in(list(tasks))) for frame in frames]
    strata = {
        task: (asked.scores(parts[0].filter(task=task)["value"]), asked.scores(parts[1].filter(task=task)["value"]))
        for task in tasks
    }
    sizes = {task: min(map(len, pair)) for task, pair in strata.items()}
    fewest = min(sizes.values())
    if asked.many or 2 * len(tasks) > MOST_GROUPS or sum(part.height for part in parts) > MOST_SCORES:
        if fewest < 2:
            task = min(sizes, key=lambda name: sizes[name])
            raise DataError(
                f"with so many tasks, every one must have at least two scores of each policy; {task!r} has one. Run it "
                "again, or leave it out.",
                source=asked.rollouts.source or None,
            )
        return partial(stats.stratified_t_gain, strata, weights=asked.weigh), []
    notes = [Note("few rollouts a task", {"count": fewest})] if fewest < FEW_SCORES else []
    return partial(stats.stratified_score_gain, strata, weights=asked.weigh), notes


def _clustered(asked: Asked, sides: Sequence[Structure], tasks: tuple[str, ...], *, share: bool) -> Make:
    """The gain when the rollouts of a policy come in clusters."""
    import polars as pl

    names = (asked.first, asked.second)
    frames = []
    for name, side in zip(names, sides, strict=True):
        columns = tuple(dict.fromkeys((*(("task",) if tasks else ()), *side.clusters)))
        frame = rows(asked.rollouts, asked.measure, name, columns)
        alone = not side.clusters or side.groups == 1
        label = pl.int_range(pl.len()) if alone else pl.struct(side.clusters).rank("dense")
        frame = frame.with_columns(label.cast(pl.Int64).alias("label"))
        frames.append(frame.filter(pl.col("task").is_in(list(tasks))) if tasks else frame)
    by = ["task", "label"] if tasks else ["label"]
    means = [frame.group_by(by).agg(pl.len().alias("size"), pl.col("value").sort().mean()).sort(by) for frame in frames]
    if all(len(set(mean["size"])) == 1 for mean in means) and not _spans(frames, tasks):  # the cluster is the unit
        if len(tasks) < 2:
            return asked.shown(partial(stats.score_gain, *(asked.scores(mean["value"]) for mean in means)))
        if 2 * len(tasks) <= MOST_GROUPS:
            return asked.shown(_within_tasks(asked, means, tasks)[0])
    where = (frames[0]["task"].to_list(), frames[1]["task"].to_list()) if len(tasks) > 1 else None
    same = share and sides[0].clusters == sides[1].clusters
    labels = []
    for frame, side in zip(frames, sides, strict=True):
        keys = frame.select(side.clusters).rows() if same and side.groups > 1 else frame["label"].to_list()
        labels.append(keys)
    gain = partial(
        stats.two_sample_cluster_gain,
        asked.scores(frames[0]["value"]),
        asked.scores(frames[1]["value"]),
        (labels[0], labels[1]),
        shared=same,
        tasks=where,
        weights=asked.weigh if where else "rollouts",
    )
    return asked.shown(gain)


def _spans(frames: Sequence[pl.DataFrame], tasks: tuple[str, ...]) -> bool:
    """Whether a cluster lies in several tasks."""
    return bool(tasks) and any(frame.select("label", "task").n_unique() > frame["label"].n_unique() for frame in frames)
