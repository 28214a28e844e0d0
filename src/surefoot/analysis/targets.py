"""The method of a comparison of two policies, by its target and the shape of its cells (methods, sections 20 and 24).

A cell is a unit in a setting. Every unit weighs the same, and in a unit its cells. For units like these, units are the
sample: their gains are independent. For these very units, the rollouts in the cells are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from surefoot import stats
from surefoot.analysis.comparison_data import (
    Asked,
    Cells,
    Combined,
    Found,
    Make,
    Reading,
    Subject,
    Target,
    cells_of,
    runs_that_count,
)
from surefoot.analysis.measurements import refuse_settings
from surefoot.core.gain import Gain, decide
from surefoot.core.notes import Note
from surefoot.core.tally import Tally
from surefoot.errors import DataError
from surefoot.stats.strata import stratified_hoeffding_gain
from surefoot.table.design import MANY, Design
from surefoot.table.design_of import with_unit
from surefoot.table.findings import STOPPED
from surefoot.table.normalising import home
from surefoot.table.pairs import pairs_by_position, tally_of, two_policies

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.rollouts import Rollouts

FEW_TRIES = 5
"""Below so many rollouts a cell, all cells alike, a guaranteed test of these very units is used."""


FEW_BOTH_WAYS = 15
"""Below so many units or clusters that are crossed, hardly any gain can be shown for others like both."""


# Which target, which method


def found_between(
    asked: Asked, *, paired: bool | None = None, target: Target | None = None, strict: bool = True
) -> Found:
    """How the first is compared with the second: for which units, and by which method.

    Args:
        asked: What was asked for.
        paired: False to disregard units; True to pair the n-th rollouts where nothing tells units apart.
        target: What the answer is about; found when not said.
        strict: Whether a target that the data cannot have is refused; otherwise the other one is answered.
    """
    two_policies(asked.rollouts, asked.first, asked.second)
    if asked.weights == "settings":
        refuse_settings(asked.rollouts, asked.rollouts.design.keys("setting"))
    _refuse_stopped(asked)
    asked.require_in_range()
    found = _found(asked, paired, target, strict)
    alone = (column.name for column in asked.rollouts.design.of("cluster") if column.levels == 1)
    return replace(found, notes=(*found.notes, *(Note("of one cluster", {"called": name}) for name in alone)))


def _found(asked: Asked, paired: bool | None, target: Target | None, strict: bool) -> Found:
    design = asked.rollouts.design
    if paired is None and asked.rollouts.collected == "independent":
        paired = False  # each rollout drew what it met: what recurs was drawn twice
    if paired is True and design.unit is None:
        return _by_position(asked, design)
    told = replace(asked, rollouts=with_unit(asked.rollouts))
    if paired is not False and told.rollouts is not asked.rollouts:
        found = _found(told, None, target or ("like" if design.cluster else None), strict)
        return replace(found, reading=replace(found.reading, design=design))
    cells = cells_of(asked) if design.unit is not None else None
    if cells is not None and not cells.frame.height:
        return _nothing_shared(asked, design)
    if cells is None or paired is False:
        return _separate(asked, design, paired, target)
    if target is not None and not strict and not _possible(cells, target):
        target = None
    return _of_cells(cells, design, target)


def _refuse_stopped(asked: Asked) -> None:
    """Refuse a run that stopped by its own outcomes: no method here is made for a size that they decided."""
    for finding in asked.rollouts.findings:
        if finding.about == STOPPED and finding.values["policy"] in (asked.first, asked.second):
            why = f"{finding.says} {finding.threatens} {finding.remedy}"
            raise DataError(f"a run must be whole to be compared; {why}", source=asked.rollouts.source)


def _of_cells(cells: Cells, design: Design, target: Target | None) -> Found:
    asked = cells.asked
    notes = _left_out(cells)
    runs = runs_of(asked, design)
    headline = target or headline_target(cells, design, runs)
    ways = {"like": lambda: _like(cells, design, runs), "these": lambda: _these(cells, design, runs)}
    if target is not None:
        _refuse(cells, target)
    made = ways[headline]()
    other: Target = "these" if headline == "like" else "like"
    found = Found(made.reading, made.make, (*notes, *made.notes), made.tallies)
    if not _possible(cells, other):
        return found
    return replace(found, other=ways[other])


def headline_target(cells: Cells, design: Design, runs: int) -> Target:
    """What the headline is about: units like these from 20 units on, these very ones below."""
    if cells.units < 2 and not cells.single:
        return "these"
    if runs or any(column.levels >= MANY for column in design.of("cluster")) or cells.once:
        return "like"
    return "like" if cells.units >= MANY else "these"


def _possible(cells: Cells, target: Target) -> bool:
    return not cells.once if target == "these" else cells.units > 1


def _refuse(cells: Cells, target: Target) -> None:
    if target == "these" and cells.once:
        rollouts = cells.asked.rollouts
        beside = [rollouts.called(key) for key in cells.keys[1:] if cells.crossing(key)]
        where = f" in each {' and '.join(beside)}" if beside else ""
        tries = f" If {beside[0]!r} tells tries apart, say --repeat {beside[0]}." if beside else ""
        raise DataError(
            f"for these very units, some {cells.unit_name} must be met again; each policy met each once{where}, and "
            "nothing tells a unit's own chance from its noise.",
            source=rollouts.source,
            cure=f"Run some again, or ask for units like these: --target like.{tries}",
        )
    if target == "like" and cells.units < 2:
        raise DataError(
            f"for units like these there must be at least 2; {cells.unit_name} has 1.",
            source=cells.asked.rollouts.source,
        )


def _left_out(cells: Cells) -> list[Note]:
    notes = [Note("no partner", {"count": cells.spare})] if cells.spare else []
    if cells.nameless:
        notes.append(Note("without a task", {"count": cells.nameless}))
    asked = cells.asked
    unknown = sum(group.rollouts - group.known(asked.measure) for group in asked.groups)
    return [*notes, *([Note("no outcome", {"count": unknown, "measure": asked.measure})] if unknown else [])]


def runs_of(asked: Asked, design: Design) -> int:
    """How many runs each policy has at least, where what whole runs share counts: declared runs, or 20 and more."""
    return runs_that_count(design, _fewest_runs(asked, design))


def _fewest_runs(asked: Asked, design: Design) -> int:
    """How many runs each policy has at least."""
    keys = design.keys("run")
    if not keys:
        return 0
    met: dict[str | None, set[tuple[str | None, ...]]] = {asked.first: set(), asked.second: set()}
    for group in asked.rollouts.summary(by=("policy", *keys)):
        if group.key[0] in met and group.known(asked.measure):
            met[group.key[0]].add(group.key[1:])
    return min(len(runs) for runs in met.values())


# For units like these


@dataclass(frozen=True, slots=True)
class _Made:
    reading: Reading
    make: Make
    tallies: Any = None
    notes: tuple[Note, ...] = ()


def _reading(cells: Cells, design: Design, about: Subject, groups: int) -> Reading:
    levels = sum(column.levels for column in design.of("setting"))
    most = int(max(side.max() for side in cells.tries))
    return Reading(design, about, True, cells.units, cells.frame.height, groups, most, levels)


def _like(cells: Cells, design: Design, runs: int) -> _Made:
    """The gain over units like these."""
    asked = cells.asked
    about = Subject("like", cells.unit_name, cells.units, asked.rollouts.words.rollouts, runs)
    clusters = [key for key in design.keys("cluster") if cells.levels(key) > 1]
    if runs:
        ways = [_unit_gain(cells), _run_gain(asked, design)]
        return _Made(_reading(cells, design, about, cells.units), asked.shown(weakest(ways)))
    if clusters:
        ways = [_cluster_gain(cells, key) for key in clusters]
        count = min(cells.levels(key) for key in clusters)
        name = next(column.name for column in design.of("cluster") if column.key == clusters[0])
        about = Subject("like", name, count, about.rollouts)
        fewer = min(count, cells.units)
        both_ways = any(cells.crossing(key) for key in clusters) and fewer < FEW_BOTH_WAYS
        notes = (Note("two ways", {"unit": cells.unit_name, "cluster": name, "count": fewer}),) if both_ways else ()
        return _Made(_reading(cells, design, about, count), asked.shown(weakest(ways)), notes=notes)
    if cells.single and asked.weights != "settings":
        return _pairs(cells, design, about)
    make = _unit_gain(cells)
    groups = 0 if cells.once else cells.units
    if cells.frame.height > cells.units:
        make = weakest([make, _cell_gain(cells)])
        groups = cells.units
    return _Made(_reading(cells, design, about, groups), asked.shown(make))


def _pairs(cells: Cells, design: Design, about: Subject) -> _Made:
    """Units that each policy met once."""
    asked = cells.asked
    first, second = cells.means
    reading = _reading(cells, design, about, 0)
    if asked.measure == "success":
        tally = tally_of(first > 0.5, second > 0.5)
        return _Made(reading, partial(stats.exact_paired_gain, tally), tally)
    several = bool(design.of("setting"))
    make = partial(stats.paired_score_gain, asked.scores(first), asked.scores(second), several_tasks=several)
    return _Made(reading, make)


def _unit_gain(cells: Cells) -> Make:
    """Units as clusters of their rollouts; every unit weighs the same."""
    asked = cells.asked
    first, second = cells.unit_means
    if asked.weights == "settings":
        return _macro(cells)
    if asked.weights == "rollouts":
        import numpy as np

        times = np.bincount(cells.unit, cells.tries[0] + cells.tries[1]).astype(int)
        first, second, unit = (np.repeat(side, times) for side in (first, second, np.arange(cells.units)))
        return partial(stats.cluster_gain, asked.scores(first), asked.scores(second), unit.tolist())
    scores = asked.scores(first), asked.scores(second)
    return partial(stats.cluster_gain, *scores, list(range(cells.units)))


def _macro(cells: Cells) -> Make:
    """Every level of a setting weighs the same: unit gains, one group a level."""
    asked = cells.asked
    nested = [key for key in asked.rollouts.design.keys("setting") if not cells.crossing(key)]
    refuse_settings(asked.rollouts, nested)
    level, (first, second) = cells.of_units(nested[0]), cells.unit_means
    strata = {
        str(one): (asked.scores(first[level == one]), asked.scores(second[level == one])) for one in sorted(set(level))
    }
    return partial(stats.stratified_score_gain, strata, weights="tasks", paired=True)


def _cell_gain(cells: Cells) -> Make:
    """Cells as units of their own: a unit's name may mean something else in another setting."""
    asked = cells.asked
    first, second = cells.means
    if cells.once and asked.measure == "success":
        return partial(stats.exact_paired_gain, tally_of(first > 0.5, second > 0.5))
    scores = asked.scores(first), asked.scores(second)
    if cells.once:
        return partial(stats.paired_score_gain, *scores, several_tasks=True)
    return partial(stats.cluster_gain, *scores, list(range(cells.frame.height)))


def _cluster_gain(cells: Cells, key: str) -> Make:
    """Clusters of units, or units crossed with clusters."""
    asked = cells.asked
    if cells.crossing(key):
        first, second = cells.means
        scores = asked.scores(first), asked.scores(second)
        return partial(stats.cluster_gain, *scores, cells.codes(key), crossed=cells.unit)
    first, second = cells.unit_means
    return partial(stats.cluster_gain, asked.scores(first), asked.scores(second), cells.of_units(key))


def _run_gain(asked: Asked, design: Design) -> Make:
    """Runs of each policy as clusters of their rollouts."""
    keys = design.keys("run")
    sides = [rows(asked, name, keys) for name in (asked.first, asked.second)]
    first, second = (asked.scores(side["value"]) for side in sides)
    ours, theirs = (side.select(keys).rows() for side in sides)
    return partial(stats.two_sample_cluster_gain, first, second, (ours, theirs))


# For these very units


def _these(cells: Cells, design: Design, runs: int) -> _Made:
    """The gain over these very units: only the rollouts in their cells are drawn."""
    asked = cells.asked
    about = Subject("these", cells.unit_name, cells.units, asked.rollouts.words.rollouts, runs)
    reading = _reading(cells, design, about, 0)
    make, tallies = within(cells, asked)
    return _Made(reading, asked.shown(make) if tallies is None else make, tallies)


def within(cells: Cells, asked: Asked) -> tuple[Make, Any]:
    """The gain within cells, and the two tallies where there is one cell of successes."""
    weights = {str(place): float(weight) for place, weight in enumerate(cells.weights)}
    if asked.measure == "success":
        strata = _tallies(cells)
        if len(strata) == 1:
            return partial(stats.exact_gain, *strata["0"]), strata["0"]
        sizes = {tally.trials for pair in strata.values() for tally in pair}
        even = float(cells.weights.max() - cells.weights.min()) < 1e-12
        if len(sizes) == 1 and even and sizes.pop() < FEW_TRIES:
            return partial(stratified_hoeffding_gain, strata), None
        return partial(stats.stratified_rate_gain, strata, weights=weights), None
    values = _cell_values(cells)
    if len(values) == 1:
        return partial(stats.score_gain, *values["0"]), None
    return partial(stats.stratified_score_gain, values, weights=weights), None


def _tallies(cells: Cells) -> dict[str, tuple[Tally, Tally]]:
    columns = [cells.frame[name].to_list() for name in ("first_sum", "first_n", "second_sum", "second_n")]
    return {
        str(place): (Tally(round(x), int(n)), Tally(round(y), int(m)))
        for place, (x, n, y, m) in enumerate(zip(*columns, strict=True))
    }


def _cell_values(cells: Cells) -> dict[str, tuple[Any, Any]]:
    """Both policies' scores in every cell."""
    import polars as pl

    asked = cells.asked
    place = cells.frame.select(pl.col("^key_.*$"), pl.int_range(pl.len()).alias("cell"))
    named = {f"key_{at}": key for at, key in enumerate(cells.keys)}
    sides = []
    for name in (asked.first, asked.second):
        own = rows(asked, name, cells.keys)
        joined = own.join(
            place, left_on=list(named.values()), right_on=list(named), how="inner", nulls_equal=True
        ).sort("cell", "value")
        sides.append(dict(joined.group_by("cell", maintain_order=True).agg("value").iter_rows()))
    return {
        str(cell): (asked.scores(sides[0][cell]), asked.scores(sides[1][cell])) for cell in range(cells.frame.height)
    }


def rows(asked: Asked, policy: str, columns: Sequence[str] = ()) -> pl.DataFrame:
    """The known outcomes of a policy as `value`, with some columns, sorted: whatever the order of the rows was."""
    import narwhals as nw

    own = asked.rollouts.counted().filter((nw.col("policy") == policy) & ~nw.col(asked.measure).is_null())
    value = nw.col(asked.measure).cast(nw.Float64).alias("value")
    return home(own.select(*dict.fromkeys(columns), value)).sort(*dict.fromkeys(columns), "value")


# Without units in common


def _separate(asked: Asked, design: Design, paired: bool | None, target: Target | None) -> Found:
    """Rollouts that are not paired: within settings where there are several, each rollout by itself."""
    unit = asked.rollouts.design.keys("unit")
    why = "as asked" if paired is False else ""
    about = Subject("like", "", 0, asked.rollouts.words.rollouts)
    fewest = _fewest_runs(asked, design)
    if target == "these" and (paired is False or fewest < 2):
        must = "units must be paired; they are not" if unit else "some column must tell units apart; none does"
        raise DataError(f"for these very units {must}.", source=asked.rollouts.source)
    counting = runs_that_count(design, fewest)
    if target == "these":
        return _pooled(asked, Reading(design, Subject("these", design.runs[0], fewest, about.rollouts)))
    if counting:
        these = Subject("these", design.runs[0], fewest, about.rollouts)
        about = replace(these, target="like")
        found = Found(Reading(design, about, groups=counting, why=why), asked.shown(_run_gain(asked, design)))
        other = partial(_pooled, asked, Reading(design, these, why=why))
        return found if paired is False else replace(found, other=other)
    if paired is False and unit and design.keys("setting"):
        cells = cells_of(asked, without=unit)
        made = Reading(design, about, cells=cells.frame.height, why=why)
        make, tallies = within(cells, asked)
        return Found(made, make if tallies is not None else asked.shown(make), tuple(_left_out(cells)), tallies)
    return _pooled(asked, Reading(design, about, why=why))


def _pooled(asked: Asked, reading: Reading) -> Found:
    """All rollouts of the one against all of the other."""
    if asked.measure == "success":
        ours, theirs = (_tally(asked.rollouts, name) for name in (asked.first, asked.second))
        return Found(reading, partial(stats.exact_gain, ours, theirs), (), (ours, theirs))
    sides = [rows(asked, name) for name in (asked.first, asked.second)]
    for name, side in zip((asked.first, asked.second), sides, strict=True):
        if side.is_empty():
            raise DataError(f"{name!r} must have a score to be compared; got none.", source=asked.rollouts.source)
    return Found(reading, partial(stats.score_gain, *(asked.scores(side["value"]) for side in sides)))


def _tally(rollouts: Rollouts, policy: str) -> Tally:
    """The successes of one policy, counted once for a table."""
    return rollouts.once(("tally", policy), lambda: rollouts.where(policy=policy).tally())


def _nothing_shared(asked: Asked, design: Design) -> Found:
    """Two policies that met no cell in common."""
    settings = design.keys("setting")
    apart = design.units < MANY
    if settings and not apart:
        apart = not cells_of(asked, without=design.keys("unit", "cluster")).frame.height
    plain = _separate(asked, replace(design, columns=()), None, None)
    what = asked.rollouts.called(design.keys("unit", "setting", "cluster")[0])
    made = replace(plain, reading=replace(plain.reading, design=design, why=f"the two share no {what}"))
    return replace(made, notes=(*made.notes, Note("no common task"))) if apart else made


def _by_position(asked: Asked, design: Design) -> Found:
    """The n-th rollouts of both, as the user declares."""
    import numpy as np

    pairs = pairs_by_position(asked.rollouts, asked.first, asked.second)
    values = sorted(pairs.values(asked.measure))
    first, second = (np.asarray(side) for side in zip(*values, strict=True))
    spare = pairs.first_alone + pairs.second_alone
    notes = (Note("declared pairs"), *((Note("no partner", {"count": spare}),) if spare else ()))
    about = Subject("like", "", 0, "pairs")
    reading = Reading(design, about, True, len(values), len(values))
    if asked.measure == "success":
        tally = tally_of(first > 0.5, second > 0.5)
        return Found(reading, partial(stats.exact_paired_gain, tally), notes, tally)
    return Found(reading, partial(stats.paired_score_gain, asked.scores(first), asked.scores(second)), notes)


# Several readings


def weakest(ways: Sequence[Make]) -> Make:
    """A gain for which every one of several readings must speak: the hull of intervals and the largest p-value."""
    return ways[0] if len(ways) == 1 else Combined(tuple(ways), hull)


def hull(gains: Sequence[Gain]) -> Gain:
    """What all of several gains support: the hull of the intervals, the largest p-value (intersection-union)."""
    widest = max(gains, key=lambda gain: gain.interval.high - gain.interval.low)
    low, high = min(gain.interval.low for gain in gains), max(gain.interval.high for gain in gains)
    known = [gain.p_value for gain in gains if gain.p_value is not None]
    p_value = max(known) if len(known) == len(gains) else None
    opposite = min(gain.estimate for gain in gains) < 0.0 < max(gain.estimate for gain in gains)
    interval = replace(gains[0].interval, low=low, high=high, method=widest.interval.method,
                       assumptions=widest.assumptions, notes=widest.notes)  # fmt: skip
    verdict = decide(low, high, widest.margin)
    return Gain(interval, 1.0 if opposite and p_value is not None else p_value, verdict, margin=widest.margin)
