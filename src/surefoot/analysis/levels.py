"""Levels of a column that disagree with the headline, columns met unevenly (methods, 20, 21), and what would decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot import stats
from surefoot.analysis.comparison_data import Asked, Cells, Found, Make, cells_of, met_cells
from surefoot.analysis.targets import found_between, weakest, within
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.stats.rate_gains import exact_p, observed_gain
from surefoot.stats.strata import least_p
from surefoot.table.design import MANY, Column

if TYPE_CHECKING:
    from surefoot.analysis.comparison_data import Target
    from surefoot.analysis.comparisons import Comparison
    from surefoot.core.gain import Gain
    from surefoot.core.tally import Tally
    from surefoot.stats.detectable import Outlook, Unit


UNEVEN = 0.1
"""Pearson's distance of the shares from even ones above which a verdict must hold within the column too."""
MOST_SHOWN = 6
"""Of more levels only those that disagree are named, or the lowest and the highest."""
KINDS = ("depends on", "gain differs", "levels disagree")
"""Notes that carry levels of a column."""
FEWEST = 4
"""A unit of fewer levels is spoken of as a setting."""
MOST_LEVELS = 60
"""Levels of all columns together that are looked at for opposite gains."""


def held_within(asked: Asked, found: Found, *, paired: bool | None, target: Target | None) -> Found:
    """A comparison whose verdict must also hold within columns that the two policies met in unequal shares.

    Where units were met once by each policy, partners share all that was set beforehand, and nothing is checked.
    """
    if not found.comparable or (found.reading.paired and found.reading.repeats == 1):
        return found
    ways, notes = [found.make], []
    for column in uneven_columns(asked):
        finer = _within(asked, column, found, paired, target)
        if finer is None:  # what the column tells and the policy cannot be told apart
            return replace(found, notes=(*found.notes, Note("no common task")))
        ways.append(finer)
        notes.append(Note("met unevenly", {"column": column.name}))
    if not notes:
        return found
    return replace(found, make=asked.shown(weakest(ways)), tallies=None, notes=(*found.notes, *notes))


def uneven_columns(asked: Asked) -> list[Column]:
    """Watched columns whose levels the two policies met in unequal shares."""
    watched = [column for column in asked.rollouts.design.of("watched") if not column.result]
    return [column for column in watched if _distance(asked, column) > UNEVEN]


def _distance(asked: Asked, column: Column) -> float:
    """Pearson's distance of the two policies' shares of a column's levels within cells from even shares."""
    import numpy as np

    keys = (*asked.rollouts.design.keys("unit", "setting", "cluster"), column.key)
    cells = Cells(asked, keys, met_cells(asked, keys), 0, 0)
    home = cells.codes(*[key for key in cells.keys if key != column.key])
    total = 0.0
    both = np.bincount(home, cells.tries[0]), np.bincount(home, cells.tries[1])
    share = (both[0] / (both[0] + both[1]))[home]
    whole = cells.tries[0] + cells.tries[1]
    kept = (share > 0.0) & (share < 1.0)
    for side, expected in ((cells.tries[0], whole * share), (cells.tries[1], whole * (1.0 - share))):
        total += float((((side - expected) ** 2)[kept] / expected[kept]).sum())
    return total


def _within(asked: Asked, column: Column, found: Found, paired: bool | None, target: Target | None) -> Any:
    """The same comparison with one column more to compare within; None where the two share none of its levels."""
    said = {**asked.rollouts.design_roles(), column.key: "setting"}
    if asked.rollouts.design.unit is None:
        said[column.key] = "unit"
    finer = replace(asked, rollouts=replace(asked.rollouts, declared=said))
    cells = cells_of(finer)
    if not cells.frame.height or cells.units < 1:
        return None
    wanted = target or found.reading.about.target
    few = wanted == "like" and cells.units < 2
    if asked.rollouts.design.unit is None or cells.once or few or paired is False:
        return within(cells, finer)[0]
    return found_between(finer, target=wanted).make


def disagreeing(asked: Asked, gain: Gain, *, confidence: float) -> tuple[Note, ...]:
    """Notes of columns whose levels disagree with the headline, and of gains that differ between levels."""
    columns = _looked_at(asked) if asked.level is None else []
    if not columns:
        return ()
    error, of = 1.0 - confidence, _levels if asked.measure == "success" else _levels_of_scores
    levels = [level for column in columns for level in of(asked, column, confidence)]
    claimed = {level for level, sure in zip(levels, _holm(_p_values(levels, error), error), strict=True) if sure}
    notes: list[Note] = []
    for column in columns if levels else ():
        own = [level for level in levels if level.key == column.key]
        named = [level for level in own if level in claimed and level.verdict is not gain.verdict]
        gap = _gap(asked, column) * len(columns) if asked.measure == "success" else 1.0
        if named or gap <= error:
            shown = own if len(own) <= MOST_SHOWN else named or _ends(own)
            said = {"scale": gain.interval.scale, "set": column.role != "unit" or column.levels < FEWEST}
            notes.append(_note(column, shown, [level for level in own if level in claimed], gap, said))
    return tuple(notes)


class Opposed(NamedTuple):
    """What goes against an average.

    Attributes:
        column: A column on some levels of which the first is better and on others worse; empty where there is none.
        levels: The levels that go against an average that still answers.
        worse: All levels on which the first is worse.
    """

    column: str = ""
    levels: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()


def opposed(notes: Sequence[Any], verdict: Verdict, margin: float) -> Opposed:
    """What levels show against the average gain, by more than its margin.

    Where levels of a setting are shown better and others worse, the average answers nothing. Of four units or more it
    does: what was asked is their average, and the units that go against it are named beside it.
    """
    shown = [(note, *_shown(note, margin)) for note in notes if note.kind in KINDS]
    worse = tuple(f"{note.values['column']}={name}" for note, names, _ in shown for name in names)
    ahead = {Verdict.BETTER: [(note, names) for note, names, _ in shown if names],
             Verdict.WORSE: [(note, names) for note, _, names in shown if names]}  # fmt: skip
    directed = verdict in ahead
    found = ahead.get(verdict, [(note, [*names, *others]) for note, names, others in shown if names and others])
    both = [note for note, _ in found if note.kind == "depends on"]
    column = str(both[0].values["column"]) if both else ""
    if not directed or any(note.values.get("set", True) for note in both):
        return Opposed(column, worse=worse)
    return Opposed(column, tuple(f"{note.values['column']}={name}" for note, names in found for name in names), worse)


def _shown(note: Note, margin: float) -> tuple[list[str], list[str]]:
    """The levels that are shown worse, and those that are shown better; what lies within the margin does not count."""
    sure = [one for one in note.values["levels"] if one[4]]
    worse = [str(name) for name, gain, low, *_ in sure if gain < 0.0 and low < -margin]
    return worse, [str(name) for name, gain, _, high, _ in sure if gain > 0.0 and high > margin]


@dataclass(frozen=True, eq=False)
class _Level:
    """A level of a column: the method of its gain with its data, and the gain, found when it is asked for."""

    key: str
    name: str
    make: Make
    confidence: float

    @cached_property
    def gain(self) -> Gain:
        return self.make(confidence=self.confidence, margin=0.0)

    @property
    def _cell(self) -> tuple[Tally, Tally] | None:
        """The tallies of the one cell that a level may be."""
        return self.make.args if isinstance(self.make, partial) and self.make.func is stats.exact_gain else None

    @property
    def estimate(self) -> float:
        """The gain that was seen; it takes no interval where the level is one cell."""
        return self.gain.estimate if self._cell is None else observed_gain(*self._cell)

    @property
    def verdict(self) -> Verdict:
        return Verdict.BETTER if self.estimate > 0.0 else Verdict.WORSE

    def least_p(self, error: float) -> float:
        """At most the p-value of the gain, without its interval where that is dear."""
        if self._cell is not None:
            return least_p({"": self._cell}, weights="tasks", error=error)
        if isinstance(self.make, partial) and self.make.func is stats.stratified_rate_gain:
            return least_p(*self.make.args, weights=self.make.keywords["weights"], error=error)
        return self.p_value(error)

    def p_value(self, error: float) -> float:
        """The p-value of the gain."""
        if self._cell is not None:
            return exact_p(*self._cell, error=error)
        return 1.0 if self.gain.p_value is None else self.gain.p_value


def _p_values(levels: list[_Level], error: float) -> list[float]:
    """The p-values of levels; lower bounds of them where even these allow no claim."""
    least = [level.least_p(error) for level in levels]
    if not levels or min(least) > error / len(levels):
        return least
    return [level.p_value(error) for level in levels]


def _ends(own: list[_Level]) -> list[_Level]:
    """The levels with the lowest and the highest gain."""
    ordered = sorted(own, key=lambda level: level.estimate)
    return [ordered[0], ordered[-1]]


def _looked_at(asked: Asked) -> list[Column]:
    design = asked.rollouts.design
    unit = design.unit_column
    few = [unit] if unit is not None and 1 < unit.levels < MANY else []
    watched = [column for column in design.of("watched") if not column.result]
    columns = [*design.of("setting"), *few, *watched]
    return columns if sum(column.levels for column in columns) <= MOST_LEVELS else list(design.of("setting"))


def _level_cells(asked: Asked, column: Column) -> Cells:
    beside = () if column.role in ("unit", "setting") else (column.key,)
    return cells_of(asked, beside)


def _levels(asked: Asked, column: Column, confidence: float) -> list[_Level]:
    """The levels of a column; within each, cells are alike, by rule X."""
    import polars as pl

    cells = _level_cells(asked, column)
    key = f"key_{cells.keys.index(column.key)}"
    parts = cells.frame.filter(pl.col(key).is_not_null()).partition_by(key, maintain_order=True)
    alike = replace(asked, weights="units")
    made = ((str(part[key][0]), within(replace(cells, frame=part, kept={}), alike)[0]) for part in parts)
    found = [_Level(column.key, name, make, confidence) for name, make in made]
    return sorted(found, key=lambda one: one.name)


def _levels_of_scores(asked: Asked, column: Column, confidence: float) -> list[_Level]:
    """The levels of a column that both met, each compared as the design of its rollouts asks for."""
    roles: dict[str, str] = {**asked.rollouts.design_roles(), column.key: "ignore"}
    met: dict[str, set[str | None]] = {}
    for group in asked.rollouts.summary(by=("policy", column.key)):
        if group.known(asked.measure) and group.key[1] is not None:
            met.setdefault(group.key[1], set()).add(group.key[0])
    found = []
    for name in sorted(name for name, who in met.items() if {asked.first, asked.second} <= who):
        part = replace(asked.rollouts.where(**{column.key: name}), declared=roles)
        made = found_between(replace(asked, rollouts=part), strict=False)
        if made.comparable:
            found.append(_Level(column.key, name, made.make, confidence))
    return found


def _holm(p_values: list[float], error: float) -> list[bool]:
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    claimed = [False] * len(p_values)
    for done, place in enumerate(order):
        if p_values[place] * (len(p_values) - done) > error:
            break
        claimed[place] = True
    return claimed


def _gap(asked: Asked, column: Column) -> float:
    """The p-value of no difference of the gain between levels: every level against the rest, Holm."""
    import numpy as np

    from surefoot.stats.strata import gain_gap_p

    cells = _level_cells(asked, column)
    level = cells.codes(column.key)
    count = int(level.max()) + 1
    if count < 2:
        return 1.0
    columns = [cells.column(name) for name in ("first_sum", "first_n", "second_sum", "second_n")]
    found = [
        gain_gap_p(*columns, inside=level == one, weights=np.asarray(cells.weights))
        for one in range(count if count > 2 else 1)
    ]
    return min(1.0, min(found) * len(found))


def _note(column: Column, shown: list[_Level], claimed: list[_Level], gap: float, said: dict[str, Any]) -> Note:
    signs = {level.verdict for level in claimed}
    kind = "depends on" if len(signs) == 2 else "gain differs" if gap <= 0.05 else "levels disagree"
    lines = tuple(
        (one.name, one.gain.estimate, one.gain.interval.low, one.gain.interval.high, one in claimed) for one in shown
    )
    return Note(kind, {"column": column.name, "levels": lines, "p": gap, **said})


def macro_average(asked: Asked, found: Found, gain: Gain) -> tuple[Note, ...]:
    """The gain in which every level of a setting weighs the same, where it says something else."""
    from surefoot.analysis.comparison_data import called

    settings = asked.rollouts.design.of("setting")
    if not settings or asked.weights != "units" or not found.reading.paired:
        return ()
    cells = cells_of(asked)
    column = next((one for one in settings if not cells.crossing(one.key) and len(set(cells.codes(one.key))) > 1), None)
    if column is None:
        return ()
    other = replace(asked, weights="settings")
    made = found_between(other, target=found.reading.about.target)
    macro = called(made.make, confidence=gain.confidence, margin=gain.margin)
    near = abs(macro.estimate - gain.estimate) < (gain.interval.high - gain.interval.low) / 2.0
    if macro.verdict is gain.verdict and near:
        return ()
    ends = [(one.estimate, one.interval.low, one.interval.high) for one in (gain, macro)]
    levels = len(set(cells.codes(column.key).tolist()))
    values = {
        "unit": asked.rollouts.design.unit,
        "setting": column.name,
        "levels": levels,
        "scale": gain.interval.scale,
    }
    return (Note("micro and macro", {**values, "micro": ends[0], "macro": ends[1]}),)


def spread_of_units(asked: Asked, found: Found, verdict: Verdict) -> tuple[Note, ...]:
    """Whether units differ more than tries at one do, where units like these leave the answer open."""
    import numpy as np

    about = found.reading.about
    if verdict is not Verdict.UNDECIDED or about.target != "like" or not about.column or found.reading.repeats < 2:
        return ()
    cells = cells_of(asked)
    if cells.units < 3:
        return ()
    gaps = cells.unit_means[0] - cells.unit_means[1]
    total = float(np.var(gaps, ddof=1))
    if asked.measure != "success":
        return ()
    noise = 0.0
    for mean, tries in zip(cells.means, cells.tries, strict=True):
        more = np.maximum(tries - 1.0, 1.0)
        noise += float(np.bincount(cells.unit, mean * (1.0 - mean) / more).mean())
    repeat = next(iter(asked.rollouts.design.repeats), "")
    kind = "units vary more" if noise < total / 2.0 else "tries vary more"
    return (Note(kind, {"units": about.plural, "tries": repeat}),)


POWER = 0.8
MOST_OUTLOOKS = 12
"""For more tasks than this it is not worked out: it is a plan for each."""


def outlook(found: Comparison, *, most: float = 1.0) -> Outlook | None:
    """What this size could have shown and how many would tell; None when something was decided.

    Args:
        found: The comparison.
        most: The largest gain there can be, in the unit of the scores.
    """
    if found.verdict is not Verdict.UNDECIDED or not found.comparable or found.depends_on:
        return None
    if found.judged is not None:  # more labels, not more rollouts, make this surer: a note says how many
        return None
    from surefoot.stats import detectable

    gain, interval = found.gain, found.interval
    if len(gain.tallies) == 2:
        return detectable.outlook(gain, power=POWER)
    sizes, unit = _units(found)
    ahead = detectable.outlook_from(
        interval.estimate,
        max(interval.high - interval.estimate, interval.estimate - interval.low),
        sizes,
        unit=unit,
        scale=interval.scale,
        confidence=gain.confidence,
        margin=gain.margin,
        power=POWER,
        most=1.0 if interval.scale == "gain" else most,
        not_worse=gain.not_worse,
    )
    return replace(ahead, called=found.about.plural if unit != "rollouts" and found.about.column else "")


def _units(found: Comparison) -> tuple[tuple[int, ...], Unit]:
    """What is independent of one another, and how many there are."""
    made = found.reading
    if made.groups > 1:
        return (made.groups,), "clusters" if made.design.cluster else "environments"
    if made.paired and made.about.target == "like":
        return (made.units,), "pairs"
    return (max(1, found.of_first.trials), max(1, found.of_second.trials)), "rollouts"
