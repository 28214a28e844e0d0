"""By which method are two policies compared? It follows from how their rollouts belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any

from surefoot import stats
from surefoot.analysis.comparison_data import Asked, Found, Make, common_tasks
from surefoot.core.moments import Moments
from surefoot.core.notes import Note
from surefoot.core.tally import Tally
from surefoot.core.words import spoken
from surefoot.errors import DataError
from surefoot.table.pairs import pairs_by_position, tally_of, two_policies
from surefoot.table.structure import Structure, described, rows

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.crosstab import Crosstab


def found_between(asked: Asked, *, paired: bool | None = None) -> Found:
    """How the first is compared with the second: by the method that the structure of their rollouts calls for."""
    two_policies(asked.rollouts, asked.first, asked.second)
    for group in asked.groups if asked.measure == "score" else ():
        asked.rollouts.require_in_range(group)
    found, table = described(asked.rollouts, asked.measure, (asked.first, asked.second))
    if paired is True and not found.shared:
        if table is not None or found.unpaired == "incomplete":  # what the table says must not be overruled
            raise DataError(f"{found} They cannot be compared as pairs.", source=asked.rollouts.source)
        return gain_by_position(asked, found)
    if paired is not None:
        found = replace(found, unpaired=None if paired else "asked")
    if found.runs:
        return gain_of_runs(asked, found, table)
    if table is not None and found.paired:
        return paired_gain(asked, found, table)
    return separate_gain(asked, found)


MANY_PAIRS = 200_000
"""From so many pairs of scores on, the gain is that of the mean and variance of their differences: one pass."""


def paired_gain(asked: Asked, found: Structure, table: Crosstab) -> Found:
    """The gain over the environments that both policies met."""
    import numpy as np

    (ones, sums), (others, theirs) = (table.of(name) for name in (asked.first, asked.second))
    both = (ones > 0) & (others > 0)
    notes = []
    spare = int(ones[~both].sum() + others[~both].sum())
    if spare:
        notes.append(Note("no partner", {"count": spare}))
    unknown = sum(group.rollouts - group.known(asked.measure) for group in asked.groups)
    if unknown:
        notes.append(Note("no outcome", {"count": unknown, "measure": asked.measure}))
    sizes = np.bincount(table.codes(*(column for column in table.on if column == "task"))[both])
    sizes = sizes[sizes > 0]
    found = replace(found, tasks=len(sizes))
    uneven = asked.weigh == "tasks" and bool(np.ptp(sizes) > 0)
    clustered = bool(found.clusters) and found.groups > 1
    if found.clusters and not clustered:
        notes.append(Note("one cluster"))
    recurs = bool((ones[both] > 1).any() or (others[both] > 1).any())
    if not clustered and not recurs and not uneven:
        return _of_pairs(asked, sums[both], theirs[both], found, tuple(notes))
    first, second = sums[both] / ones[both], theirs[both] / others[both]
    labels = table.codes(*(found.clusters if clustered else table.on))[both]
    tasks = np.array(table.labels("task"), dtype=object) if "task" in table.on else np.zeros(len(both))
    matched = _Matched(first, second, ones[both], others[both], labels, tasks[both])
    if (ones[both] * others[both].sum() != others[both] * ones[both].sum()).any():
        notes.append(Note("met unequally often"))
    return Found(found, asked.shown(_of_clusters(asked, matched, uneven=uneven)), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Matched:
    """What two policies did in the environments that both met: means, how often, in which cluster and task."""

    first: Any
    second: Any
    ones: Any
    others: Any
    labels: Any
    tasks: Any


def _of_clusters(asked: Asked, met: _Matched, *, uneven: bool) -> Make:
    """The gain of environments that were met several times or come in clusters, or of tasks that weigh alike."""
    import numpy as np

    several = len(set(met.tasks.tolist())) > 1
    weights = (met.ones + met.others) / 2.0
    _, clusters = np.unique(met.labels, return_inverse=True)
    sizes = np.bincount(clusters, weights)
    same = len(set(met.ones.tolist())) == len(set(met.others.tolist())) == 1
    if not uneven and same and np.ptp(sizes) == 0.0:  # the cluster is the unit, and all weigh the same
        means = (asked.scores(np.bincount(clusters, weights * side) / sizes) for side in (met.first, met.second))
        return partial(stats.paired_score_gain, *means, several_tasks=several)
    # an environment weighs by its rollouts, the same for both policies, however unequally often they met it: else the
    # gain would show who met the easy ones more often
    alike = (met.ones == met.others).all()
    times = met.ones if alike else met.ones + met.others
    first, second, label, where = (np.repeat(column, times) for column in (met.first, met.second, clusters, met.tasks))
    within = asked.within(where.tolist() if several else None, label.tolist())
    return partial(stats.cluster_gain, asked.scores(first), asked.scores(second), label.tolist(), **within)


def _of_pairs(asked: Asked, first: Any, second: Any, found: Structure, notes: tuple[Note, ...]) -> Found:
    """The gain of pairs that stand alone."""
    import numpy as np

    if asked.measure == "success":
        tally = tally_of(first > 0, second > 0)
        return Found(found, partial(stats.exact_paired_gain, tally), notes, tally)
    if first.size > MANY_PAIRS and np.ptp(first - second) > 0.0:
        low, high = asked.ends
        gaps = (first - second).tolist()
        sums = (len(gaps), fsum(gaps), fsum(gap * gap for gap in gaps))
        return Found(found, partial(stats.moments_paired_gain, Moments.of_sums(*sums, low - high, high - low)), notes)
    scores = (asked.scores(first), asked.scores(second))
    return Found(found, partial(stats.paired_score_gain, *scores, several_tasks=found.tasks > 1), notes)


def gain_of_runs(asked: Asked, found: Structure, table: Crosstab | None) -> Found:
    """The gain of policies that were trained several times: runs are clusters, beside the environments."""
    import polars as pl

    keys = table.on if table is not None else ("task",) if "task" in asked.rollouts.columns else ()
    frames = [rows(asked.rollouts, asked.measure, name, (*keys, "run")) for name in (asked.first, asked.second)]
    means = [
        frame.group_by(*keys, "run").agg(pl.col("value").sort().mean(), pl.len().alias("size")).sort(*keys, "run")
        for frame in frames
    ]
    named_alike = _of_run_pairs(asked, found, means)
    if named_alike is not None:
        return named_alike
    common, notes = common_tasks(asked)
    several = "task" in keys and len(common) > 1
    if several:
        frames = [frame.filter(pl.col("task").is_in(list(common))) for frame in frames]
    one, other = frames
    runs = [("first", run) for run in one["run"]], [("second", run) for run in other["run"]]
    home = tuple(found.clusters)
    known = bool(home) and min(frame.select(home).n_unique() for frame in frames) > 1
    gain = partial(
        stats.two_sample_cluster_gain,
        asked.scores(one["value"]),
        asked.scores(other["value"]),
        (one.select(home).rows(), other.select(home).rows()) if known else runs,
        crossed=runs if known else None,
        shared=known and found.paired,
        tasks=(one["task"].to_list(), other["task"].to_list()) if several else None,
        weights=asked.weigh if several else "rollouts",
    )
    made = replace(found, unpaired=found.unpaired or "other runs", tasks=max(1, len(common)))
    if not known:
        made = replace(made, clusters=("run",), declared=True, groups=sum(len(set(each)) for each in runs))
    return Found(made, asked.shown(gain), tuple(notes))


def _of_run_pairs(asked: Asked, found: Structure, means: Sequence[pl.DataFrame]) -> Found | None:
    """The gain of runs that are named alike in both policies, over the environments that both met in such a run."""
    on = [*found.environment, "run"]
    if not found.paired:
        return None
    pairs = means[0].join(means[1], on=on, how="inner", nulls_equal=True).sort(on)
    if 2 * pairs.height < min(side.height for side in means) or pairs["run"].n_unique() < 2:
        return None
    kept = sum(int(pairs[size].sum()) for size in ("size", "size_right"))
    spare = sum(int(side["size"].sum()) for side in means) - kept
    home = found.clusters or found.environment
    labels = pairs.select(home).rows()
    tasks = pairs["task"].to_list() if "task" in on and pairs["task"].n_unique() > 1 else None
    one, other = (asked.scores(pairs[side]) for side in ("value", "value_right"))
    runs = pairs["run"].to_list()
    gain = partial(stats.cluster_gain, one, other, labels, crossed=runs, **asked.within(tasks, labels))
    return Found(found, asked.shown(gain), (Note("no partner", {"count": spare}),) if spare else ())


def gain_by_position(asked: Asked, found: Structure) -> Found:
    """The gain of pairs that the user declares: the n-th rollouts of both, task by task."""
    import numpy as np

    pairs = pairs_by_position(asked.rollouts, asked.first, asked.second)
    values = sorted(pairs.values(asked.measure))
    one, other = (np.asarray(side) for side in zip(*values, strict=True))
    spare = pairs.first_alone + pairs.second_alone
    notes = [Note("declared pairs"), *([Note("no partner", {"count": spare})] if spare else [])]
    made = replace(found, unpaired=None, environment=pairs.on, shared=len(values), environments=len(values))
    return _of_pairs(asked, one, other, made, tuple(notes))


MOST_GROUPS = 20
"""Up to so many groups, two for each task, the guaranteed test of scores is used; beyond, the stratified t."""

MANY_SCORES = 20_000
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
    known = asked.known
    return asked.rollouts.once(("tallies", policy), lambda: {group.key[1]: group.tally for group in known(policy)})


def _of_scores(asked: Asked, tasks: tuple[str, ...]) -> tuple[Make, list[Note]]:
    names = (asked.first, asked.second)
    frames = [rows(asked.rollouts, asked.measure, name, ("task",) if tasks else ()) for name in names]
    if len(tasks) < 2:
        sides = [frame if not tasks else frame.filter(task=tasks[0]) for frame in frames]
        for name, side in zip(names, sides, strict=True):
            if side.is_empty():
                raise DataError(f"{name!r} must have a score to be compared; got none.", source=asked.rollouts.source)
        if sum(side.height for side in sides) > MANY_SCORES and any(side["value"].n_unique() > 1 for side in sides):
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
                f"with so many {spoken().tasks}, every one must have at least two scores of each {spoken().policy}; "
                f"{task!r} has one. Run it again, or leave it out.",
                source=asked.rollouts.source,
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
    labels = [
        frame.select(side.clusters).rows() if same and side.groups > 1 else frame["label"].to_list()
        for frame, side in zip(frames, sides, strict=True)
    ]
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
