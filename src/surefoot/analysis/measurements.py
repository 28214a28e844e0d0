"""Success rate and mean score of each policy, with intervals that know what the rollouts share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from surefoot import _check, stats
from surefoot._arguments import weights_once_weigh
from surefoot.analysis.comparison_data import (
    Subject,
    Target,
    Weights,
    runs_that_count,
    several_in_one,
)
from surefoot.core.formatting import Scale
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import Tally
from surefoot.core.words import in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.numerics.arrays import numbered
from surefoot.stats.means import moments_mean
from surefoot.table.crosstab import Crosstab, crosstab
from surefoot.table.design import MANY, Design
from surefoot.table.design_of import with_unit
from surefoot.table.normalising import home
from surefoot.table.rollouts import Measure, Rollouts, a_table
from surefoot.table.unit_counts import gathered

MANY_SCORES = 2_000_000
"""From so many scores on, the mean's interval is empirical Bernstein's: as guaranteed, a little wider, one pass."""


@dataclass(frozen=True, slots=True)
class Measurement(Record):
    """One policy's success rate and mean score, with their intervals.

    Attributes:
        policy: The policy.
        task: The level of the column that is looked at, or None when all are taken together.
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


@reads_frames
@weights_once_weigh
@in_its_words
def success_rate(
    rollouts: Rollouts, *, confidence: float = 0.95, weights: Weights = "units", target: Target | None = None
) -> Interval:
    """Confidence interval of the success rate of the one policy in the table.

    Wilson's interval where every rollout stands alone. Where units were met several times, Gaffke's interval of the
    units' rates for units like these, and Clopper and Pearson's or rule X for these very units.

    Args:
        rollouts: The table.
        confidence: The confidence of the interval.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        target: "like" for units like these, "these" for these very units; from 20 units on "like" when not said.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 10, "success": [1] * 8 + [0] * 2}))
        >>> print(sf.success_rate(rollouts))
        80.0% [49.0%, 94.4%] n=10 (95% Wilson interval).
    """
    rollouts = gathered(a_table(rollouts))
    rollouts.tally()
    return measured(rollouts, "success", confidence, weights, target)


@reads_frames
@weights_once_weigh
@in_its_words
def mean_score(
    rollouts: Rollouts, *, confidence: float = 0.95, weights: Weights = "units", target: Target | None = None
) -> Interval:
    """Confidence interval of the mean score of the one policy in the table.

    Guaranteed for scores in their stated range; approximate, measured, where units come in clusters.

    Args:
        rollouts: The table.
        confidence: The confidence of the interval.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        target: "like" for units like these, "these" for these very units; from 20 units on "like" when not said.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rollouts = sf.read(pl.DataFrame({"policy": ["new"] * 20, "score": [1.0, 0.5, 0.75, 1.0] * 5}))
        >>> print(sf.mean_score(rollouts))
        0.812 [0.650, 0.902] n=20 (95% Gaffke interval).
    """
    rollouts = gathered(a_table(rollouts))
    rollouts.moments()
    return measured(rollouts, "score", confidence, weights, target)


@dataclass(frozen=True, eq=False)
class _OwnCells:
    """The cells of one policy: units by settings and clusters."""

    design: Design
    table: Crosstab
    rows: Any
    tries: Any
    sums: Any
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def keys(self) -> tuple[str, ...]:
        return self.table.on

    @property
    def unit(self) -> Any:
        return self.codes(self.keys[0])

    @cached_property
    def means(self) -> Any:
        return self.sums / self.tries

    @cached_property
    def units(self) -> int:
        return int(self.unit.max()) + 1

    def crossing(self, key: str) -> bool:
        """Whether a column takes several levels in one unit."""
        return several_in_one(self.unit, self.codes(key), self.units)

    @property
    def held(self) -> bool:
        """Whether units lie in several levels of a setting, so that they are not of one law."""
        settings = (key for key in self.design.keys("setting") if key in self.keys)
        return any(not self.crossing(key) and self.levels(key) > 1 for key in settings)

    def levels(self, key: str) -> int:
        """How many levels of a column there are."""
        return int(self.codes(key).max()) + 1

    def unit_means(self) -> Any:
        import numpy as np

        return np.bincount(self.unit, self.means) / np.bincount(self.unit)

    def cell_weights(self, weights: Weights) -> Any:
        import numpy as np

        if weights == "rollouts":
            return self.tries / self.tries.sum()
        share = 1.0 / np.bincount(self.unit)[self.unit]
        if weights == "settings" and (key := next(iter(self.design.keys("setting")), None)) in self.keys:
            level = self.codes(str(key))
            share = share / np.bincount(level, share)[level]
        return share / share.sum()

    def codes(self, key: str) -> Any:
        if key not in self.kept:
            codes = self.table.codes(key)
            self.kept[key], _ = numbered(codes[self.rows], int(codes.max()) + 1)
        return self.kept[key]


def _own_cells(rollouts: Rollouts, measure: Measure, policy: str) -> _OwnCells | None:
    import numpy as np

    design = rollouts.design
    keys = design.keys("unit", "setting", "cluster")
    if not keys:
        return None
    table = crosstab(rollouts.whole_table, measure, keys, rollouts.whole_table.policies)
    counts, sums = table.of(policy)
    rows = np.flatnonzero((counts > 0) & table.frame["key_0"].is_not_null().to_numpy())
    if not rows.size:
        return None
    return _OwnCells(design, table, rows, counts[rows].astype("float64"), sums[rows])


def measured(
    rollouts: Rollouts,
    measure: Measure,
    confidence: float,
    weights: Weights = "units",
    target: Target | None = None,
    *,
    central: bool = False,
) -> Interval:
    """The rate or mean of one policy; with `central` each end is a bound by itself, with half of the error."""
    policy = rollouts.policies[0]
    if weights == "settings":
        refuse_settings(rollouts, rollouts.design.keys("setting"))
    if (told := with_unit(rollouts.whole_table)) is not rollouts.whole_table:
        target = target or ("like" if rollouts.design.cluster else None)
        rollouts = told.where(policy=policy)
    cells = _own_cells(rollouts, measure, policy)
    unit = "" if cells is None else rollouts.called(cells.keys[0])
    own = cells is None and bool(rollouts.design.runs)
    if target == "these" and not own and (cells is None or (cells.tries == 1).all()):
        must = "column must tell units apart; none does" if cells is None else f"{unit} must be met again; none was"
        raise DataError(f"for these very units some {must}.", source=rollouts.source)
    count, runs = _by_runs(rollouts, measure, policy, confidence, target, central)
    if cells is None or (cells.units == cells.tries.sum() and not _clusters(cells)):
        return runs or _standing_alone(rollouts, measure, confidence)
    chosen = target or ("like" if runs else _headline(cells))
    words = rollouts.words.rollouts
    about = Subject(chosen, unit, cells.units, words, count)
    clusters = _clusters(cells)
    if chosen == "these":
        found = _these(cells, rollouts, measure, policy, confidence, weights, central)
    elif clusters:
        key = clusters[0]
        name = next(column.name for column in rollouts.design.of("cluster") if column.key == key)
        about = Subject("like", name, cells.levels(key), words)
        found = _by_clusters(cells, rollouts, measure, key, confidence, central)
        for other in clusters[1:]:  # the weakest of several
            also = _by_clusters(cells, rollouts, measure, other, confidence, central)
            found = replace(found, low=min(found.low, also.low), high=max(found.high, also.high))
    else:
        found = _like(cells, rollouts, measure, confidence, weights, central)
    if runs is not None and chosen == "like":  # what units share and what runs share both count
        found = replace(found, low=min(found.low, runs.low), high=max(found.high, runs.high))
    return replace(found, notes=(*found.notes, Note("about", {"subject": str(about)})))


def refuse_settings(rollouts: Rollouts, keys: Sequence[str]) -> None:
    """Refuse settings as weights where there are none: nothing would weigh otherwise."""
    if not keys:
        must = "--weights settings must come with a setting that holds several units; there is none."
        raise DataError(must, source=rollouts.source)


def _by_runs(
    rollouts: Rollouts, measure: Measure, policy: str, confidence: float, target: Target | None, central: bool
) -> tuple[int, Interval | None]:
    """How many runs of the policy count, and its mean with runs as clusters, or of these very runs."""
    import narwhals as nw

    keys = list(rollouts.design.keys("run"))
    if not keys:
        return 0, None
    known = rollouts.counted().filter((nw.col("policy") == policy) & ~nw.col(measure).is_null())
    rows = home(known.select(*keys, measure)).sort(*keys, measure)
    runs = rows.select(keys).rows()
    count, scores = runs_that_count(rollouts.design, len(set(runs))), _scores(rollouts, measure, rows[measure])
    if target == "these" and measure == "success":
        found = stats.clopper_pearson(rollouts.tally(), confidence=confidence)
    elif target == "these":
        found = stats.score_mean(scores, several_tasks=True, confidence=confidence)
    elif count:
        clustered = stats.cluster_mean(scores, runs, central=central, confidence=confidence)
        found = _as(measure, clustered.interval, rows.height)
    else:
        return 0, None
    about = Subject(target or "like", rollouts.design.runs[0], len(set(runs)), rollouts.words.rollouts)
    return count, replace(found, notes=(*found.notes, Note("about", {"subject": str(about)})))


def _headline(cells: _OwnCells) -> Target:
    if any(column.levels >= MANY for column in cells.design.of("cluster")) or cells.units == cells.tries.sum():
        return "like"
    return "like" if cells.units >= MANY else "these"


def _clusters(cells: _OwnCells) -> list[str]:
    return [key for key in cells.design.keys("cluster") if cells.levels(key) > 1]


def _standing_alone(rollouts: Rollouts, measure: Measure, confidence: float) -> Interval:
    """Rollouts that share nothing that is known."""
    if measure == "success":
        return stats.wilson(rollouts.tally(), confidence=confidence)
    moments = rollouts.moments()
    if len(moments) > MANY_SCORES:
        return moments_mean(moments, confidence=confidence)
    several = bool(rollouts.design.of("setting"))
    scores = Scores(sorted(rollouts.scores().values), rollouts.low, rollouts.high)  # whatever the order of the rows was
    return stats.score_mean(scores, several_tasks=several, confidence=confidence)


def _scores(rollouts: Rollouts, measure: Measure, values: Any) -> Scores:
    import numpy as np

    low, high = rollouts.ends(measure)
    return Scores(np.clip(np.asarray(values, float), low, high).tolist(), low, high)


def _as(measure: Measure, interval: Interval, trials: float) -> Interval:
    """An interval of scores, shown as one of a rate where successes are measured."""
    scale: Scale = "rate" if measure == "success" else "score"
    return replace(interval, scale=scale, trials=int(trials), data=())


def _like(
    cells: _OwnCells, rollouts: Rollouts, measure: Measure, confidence: float, weights: Weights, central: bool
) -> Interval:
    """Units as a sample of units like them."""
    means = _scores(rollouts, measure, cells.unit_means())
    if weights == "units":
        found = stats.score_mean(means, several_tasks=cells.held, confidence=confidence)
        return _as(measure, found, cells.tries.sum())
    share = cells.cell_weights(weights)
    times = [max(1, round(1000 * len(share) * float(weight))) for weight in share]
    values = [value for value, many in zip(cells.means, times, strict=True) for _ in range(many)]
    units = [int(unit) for unit, many in zip(cells.unit, times, strict=True) for _ in range(many)]
    scores = _scores(rollouts, measure, values)
    found = stats.cluster_mean(scores, units, central=central, confidence=confidence).interval
    return _as(measure, found, cells.tries.sum())


def _by_clusters(
    cells: _OwnCells, rollouts: Rollouts, measure: Measure, key: str, confidence: float, central: bool
) -> Interval:
    """Clusters of units, or units crossed with clusters."""
    import numpy as np

    if cells.crossing(key):
        means, of = _scores(rollouts, measure, cells.means), cells.codes(key)
        both = stats.cluster_mean(means, of, crossed=cells.unit, central=central, confidence=confidence)
        return _as(measure, both.interval, cells.tries.sum())
    unit_cluster = np.zeros(cells.units, dtype=np.int64)
    unit_cluster[cells.unit] = cells.codes(key)
    means = _scores(rollouts, measure, cells.unit_means())
    found = stats.cluster_mean(means, unit_cluster, central=central, confidence=confidence).interval
    return _as(measure, found, cells.tries.sum())


def _these(
    cells: _OwnCells,
    rollouts: Rollouts,
    measure: Measure,
    policy: str,
    confidence: float,
    weights: Weights,
    central: bool,
) -> Interval:
    """These very units: only the rollouts in their cells are drawn."""
    import narwhals as nw
    import numpy as np

    share = cells.cell_weights(weights)
    if measure == "success":
        counts = zip(cells.sums.tolist(), cells.tries.tolist(), strict=True)
        tallies = {str(place): Tally(round(hits), int(tries)) for place, (hits, tries) in enumerate(counts)}
        weighed = {str(place): float(weight) for place, weight in enumerate(share)}
        return stats.stratified_rate(tallies, weights=weighed, confidence=confidence)
    if np.ptp(cells.tries) == 0.0 and np.ptp(share) < 1e-12:
        known = rollouts.counted().filter((nw.col("policy") == policy) & ~nw.col(measure).is_null())
        values = home(known.select(measure))[measure].sort().to_list()
        return stats.score_mean(_scores(rollouts, measure, values), several_tasks=True, confidence=confidence)
    return _like(cells, rollouts, measure, confidence, weights, central)


MEASURED: dict[Measure, Callable[..., Interval]] = {"success": success_rate, "score": mean_score}
"""How one policy is measured, by what is measured."""


@reads_frames
@weights_once_weigh
@in_its_words
def measure(
    rollouts: Rollouts,
    *,
    by_task: bool = False,
    only: Measure | None = None,
    weights: Weights = "units",
    target: Target | None = None,
    confidence: float = 0.95,
) -> tuple[Measurement, ...]:
    """Success rate and mean score of each policy, and in each level of the column shown side by side when asked.

    Args:
        rollouts: The table.
        by_task: Whether every level (few units, or a setting's) is measured by itself.
        only: "success" or "score" to measure that alone; both, where the table has them, when not said.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        target: "like" for units like these, "these" for these very units; from 20 units on "like" when not said.
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
    level: dict[str, Any] = {"confidence": _check.confidence(confidence), "weights": weights, "target": target}
    rollouts = gathered(a_table(rollouts))
    split = rollouts.split if by_task else None
    if by_task and split is None:
        raise DataError(
            "some column must have few levels to be measured side by side; none has.", source=rollouts.source
        )
    by = ("policy",) if split is None else ("policy", split)
    measures: dict[str, Measure] = {what: what for what in MEASURED}
    wanted = tuple(measures.values()) if only is None else (_check.choice(only, "only", measures),)
    found = []
    for group in rollouts.summary(by=by):
        policy, task = str(group.key[0]), group.key[1] if by_task else None
        if by_task and task is None:  # rollouts that name no level are in the policy's own row only
            continue
        known = [what for what in wanted if group.known(what)]
        if split is not None and rollouts.design.keys("unit")[:1] == (split,) and not group.scored:
            made = {what: stats.wilson(group.tally, confidence=confidence) for what in known}
        else:
            own = rollouts.where(policy=policy) if split is None else _part(rollouts, policy, split, str(task))
            made = {what: MEASURED[what](own, **level) for what in known}
        tally = group.tally if group.outcomes else None
        ends = made.get("success"), made.get("score")
        found.append(Measurement(policy, task, group.rollouts, group.void, *ends, tally))
    return tuple(found)


def _part(rollouts: Rollouts, policy: str, split: str, level: str) -> Rollouts:
    """One level of a column, its other columns as they are in the whole table."""
    part = rollouts.where(**{split: level})
    return replace(part, declared={**rollouts.design_roles(), split: "ignore"}).where(policy=policy)
