"""By which method are two policies compared that met the same environments?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any

from surefoot import stats
from surefoot.analysis.asked import Asked, Found, Make, common_tasks
from surefoot.core.moments import Moments
from surefoot.core.notes import Note
from surefoot.core.tally import PairTally
from surefoot.rollouts.positions import pairs_by_position
from surefoot.rollouts.structure import Structure, rows

if TYPE_CHECKING:
    import polars as pl

    from surefoot.rollouts.crosstab import Crosstab


MANY = 200_000
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
    tasks = np.array(table.labels("task"), dtype=object)[both] if "task" in table.on else np.zeros(int(both.sum()))
    sizes = np.array(list(Counter(tasks.tolist()).values()))
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
    matched = _Matched(first, second, ones[both], others[both], labels, tasks)
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
        means = [np.bincount(clusters, weights * side) / sizes for side in (met.first, met.second)]
        return partial(
            stats.paired_score_gain,
            asked.scores(means[0]),
            asked.scores(means[1]),
            several_tasks=several,
        )
    # an environment weighs by its rollouts, the same for both policies, however unequally often they met it: else the
    # gain would show who met the easy ones more often
    alike = (met.ones == met.others).all()
    times = met.ones if alike else met.ones + met.others
    first, second, label, where = (np.repeat(column, times) for column in (met.first, met.second, clusters, met.tasks))
    return partial(
        stats.cluster_gain,
        asked.scores(first),
        asked.scores(second),
        label.tolist(),
        **asked.within(where.tolist() if several else None, label.tolist()),
    )


def _of_pairs(asked: Asked, first: Any, second: Any, found: Structure, notes: tuple[Note, ...]) -> Found:
    """The gain of pairs that stand alone."""
    import numpy as np

    if asked.measure == "success":
        one, other = first > 0, second > 0
        counts = [int((a & b).sum()) for a, b in ((one, other), (one, ~other), (~one, other), (~one, ~other))]
        tally = PairTally(*counts)
        return Found(found, partial(stats.exact_paired_gain, tally), notes, tally)
    if first.size > MANY and np.ptp(first - second) > 0.0:
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
    gain = partial(
        stats.cluster_gain,
        asked.scores(pairs["value"]),
        asked.scores(pairs["value_right"]),
        labels,
        crossed=pairs["run"].to_list(),
        **asked.within(tasks, labels),
    )
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
