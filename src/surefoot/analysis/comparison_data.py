"""What is asked of two policies, and the method with its data that answers it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _check
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.words import plural
from surefoot.stats.one_sided_gains import CENTRAL, bounds_of, central_form
from surefoot.table.crosstab import combined, crosstab
from surefoot.table.design import FEW, MANY, Column, Design, noun
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.summaries import Group

if TYPE_CHECKING:
    import polars as pl


Target = Literal["like", "these"]
"""Units as a sample of units like them, or as the very ones that matter."""
TARGETS: tuple[Target, ...] = ("like", "these")


@dataclass(frozen=True, slots=True)
class Subject(Record):
    """What an answer is about.

    Attributes:
        target: Whether units stand for others like them, or for themselves.
        column: The column that tells them apart, as the file calls it; empty where no column does.
        count: How many there are.
        rollouts: What a row is called, for answers about rollouts.
        runs: How many runs of each policy are meant in the same way as the units; 0 where no run is counted.

    Example:
        >>> from surefoot.analysis.comparison_data import Subject
        >>> str(Subject("like", "task", 88)), str(Subject("these", "scene", 4))
        ('tasks like these 88', 'these 4 scenes')
    """

    target: Target
    column: str = ""
    count: int = 0
    rollouts: str = "rollouts"
    runs: int = 0

    def __str__(self) -> str:
        if not self.column:
            return f"{self.rollouts} like these"
        word, beside = self._noun()
        runs = f" and these {self.runs} runs of each" if self.runs else ""
        if self.target == "these" and self.count == 1:
            return f"this setting ({self.column}){runs}"
        if self.target == "these":
            return f"these {self.count:,} {word}{beside}{runs}"
        return f"{word} like these {self.count:,}{beside}{runs}"

    @property
    def plural(self) -> str:
        """Several of the units, in the user's word."""
        return self._noun()[0] if self.column else self.rollouts

    def _noun(self) -> tuple[str, str]:
        word = noun(self.column).replace("_", " ")
        if self.target == "these" and self.count < FEW:
            return "settings", f" ({self.column})"
        if not re.fullmatch(r"[^\W\d_]{3,}( [^\W\d_]{2,})*", word):
            return "units", f" ({self.column})"
        return (word if word.endswith("s") and not word.endswith("ss") else plural(word)), ""


def runs_that_count(design: Design, fewest: int) -> int:
    """How many runs of a policy stand for runs like them: declared ones from 2 on, others from 20 on; else 0."""
    said = any(key in design.declared for key in design.keys("run"))
    said = said or any(note.kind == "counted runs" for note in design.said)
    return fewest if fewest >= (2 if said else MANY) else 0


@dataclass(frozen=True, slots=True)
class Reading(Record):
    """How the rollouts of two policies were read: which units, in which cells.

    Attributes:
        design: The role of every column.
        about: What the answer is about.
        paired: Whether units that both met are compared with themselves.
        units: The units that both policies met; 0 where nothing tells them apart.
        cells: The cells that both policies met: units, or units by settings.
        groups: How many clusters rollouts of a unit, or units of a cluster, make; 0 where each rollout stands alone.
        repeats: The most rollouts of one policy in a cell.
        settings: How many levels of settings there are in all; 0 without settings.
        why: Why units are not compared with themselves, where they are not.
    """

    design: Design
    about: Subject
    paired: bool = False
    units: int = 0
    cells: int = 0
    groups: int = 0
    repeats: int = 1
    settings: int = 0
    why: str = ""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The table's columns of what is independent, where rollouts are not: the unit's, or the clusters'."""
        return () if not self.groups else self.design.keys("cluster") or self.design.keys("unit")

    @property
    def environment(self) -> tuple[str, ...]:
        """The table's columns that tell apart what both policies met."""
        return self.design.keys("unit", "setting")

    def __str__(self) -> str:
        by = f", paired by {self.design.unit}" if self.paired and self.design.unit else ""
        if self.why:
            by = f", not paired: {self.why}"
        return f"Read as: {self.design.reading()}{by}."


def reading_of_structure(structure: Mapping[str, Any]) -> dict[str, Any]:
    """How version 0.2.0 read a table, as a reading of today: what it paired is the unit, what it clustered the cluster.

    Its answers named no target; they were about rollouts, or pairs of them, like those that were run.
    """

    def column(role: str, keys: Sequence[str], levels: int) -> dict[str, Any]:
        named = " and ".join(structure["named"].get(key, key) for key in keys)
        made = Column(named, "unit" if role == "unit" else "cluster", levels, "as version 0.2.0 read it", keys[0])
        return made.to_dict()

    met, clusters, groups = structure["environment"], structure["clusters"], structure["groups"]
    columns = [column("unit", met, structure["environments"])] if met else []
    columns += [column("cluster", clusters, groups)] if groups and clusters and clusters != met else []
    unpaired = structure["unpaired"]
    reading = Reading(
        Design(),
        Subject("like", "", 0, "rollouts" if unpaired else "pairs"),
        paired=unpaired is None,
        units=structure["shared"] if met else 0,
        cells=structure["shared"] if met else 0,
        groups=groups,
        repeats=2 if structure["recurring"] else 1,
        why=f"{unpaired}" if unpaired and unpaired != "one policy" else "",
    )
    made = reading.to_dict()
    return {**made, "design": {**made["design"], "columns": columns}}


Weights = Literal["units", "settings", "rollouts"]
"""How units weigh in a gain: all alike, so that settings weigh alike, or so that every rollout does."""
WEIGHTS = ("units", "settings", "rollouts")

Make = Callable[..., Gain]
"""A method with its data: a gain at the `confidence` and `margin` asked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """How two policies are compared: a method with its data, how the table was read for it, and what else to know.

    Attributes:
        reading: Which units are compared, and what the answer is about.
        make: The method with its data.
        notes: What a reader must know besides.
        tallies: The pairs, or the two tallies, where the gain is exact; None for other methods.
        other: The method and reading for the other target; None where the data cannot have one.
    """

    reading: Reading
    make: Make
    notes: tuple[Note, ...] = ()
    tallies: PairTally | tuple[Tally, Tally] | None = None
    other: Callable[[], Any] | None = None

    @property
    def comparable(self) -> bool:
        """Whether the two met a common task or setting."""
        return not any(note.kind == "no common task" for note in self.notes)

    def gain(self, *, confidence: float, margin: float, central: bool = False) -> Gain:
        """The gain; with `central`, each end of its interval is a bound by itself: for families and gates."""
        return called(self.make, confidence=confidence, margin=margin, central=central)


@dataclass(frozen=True, slots=True)
class Combined:
    """A method made of others: all of them must speak, or their gain is shown on another scale."""

    ways: tuple[Make, ...]
    combine: Callable[[list[Gain]], Gain]

    def __call__(self, *, confidence: float, margin: float, central: bool = False) -> Gain:
        """The combined gain."""
        return self.combine([called(way, confidence=confidence, margin=margin, central=central) for way in self.ways])


def called(make: Make, *, confidence: float, margin: float, central: bool = False) -> Gain:
    """A gain; with `central`, each end of its interval is a bound by itself, with half of the error."""
    if isinstance(make, Combined):
        return make(confidence=confidence, margin=margin, central=central)
    if central and isinstance(make, partial) and make.func in CENTRAL:
        make = partial(CENTRAL[make.func], *make.args, **make.keywords)
    elif central:
        make = central_form(make)
    return make(confidence=confidence, margin=margin)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for.

    Attributes:
        rollouts: The table.
        first: The policy the gain is about.
        second: The policy it is compared with.
        measure: What is compared.
        weights: How units weigh.
        lower_is_better: Whether less is better.
        level: The columns and their level, where only that level is looked at.
    """

    rollouts: Rollouts
    first: str
    second: str
    measure: Measure
    weights: Weights = "units"
    lower_is_better: bool = False
    level: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        _check.choice(self.weights, "weights", dict.fromkeys(WEIGHTS))

    @property
    def compared(self) -> Asked:
        """What is computed: where less is better, how much less the first needs than the second."""
        return replace(self, first=self.second, second=self.first) if self.lower_is_better else self

    @property
    def ends(self) -> tuple[float, float]:
        """The range of an outcome."""
        return self.rollouts.ends(self.measure)

    @property
    def groups(self) -> list[Group]:
        """The counts of the two policies."""
        each = self.rollouts.once(("summary by policy",), lambda: {one.key[0]: one for one in self.rollouts.summary()})
        return [each[name] for name in (self.first, self.second) if name in each]

    def require_in_range(self) -> None:
        """Refuse scores that the stated range does not allow."""
        for group in self.groups if self.measure == "score" else ():
            self.rollouts.require_in_range(group)

    def scores(self, values: Any) -> Scores:
        """Outcomes, or means of them, as scores; rounding may carry a mean a hair beyond its range."""
        import numpy as np

        return Scores(np.clip(np.asarray(values, float), *self.ends).tolist(), *self.ends)

    def shown(self, make: Make) -> Make:
        """A gain computed from scores, shown in points when it is one of success rates."""
        if self.measure == "score":
            return make

        return Combined((make,), _in_points)


def limited(rollouts: Rollouts, measure: Measure, lower_is_better: bool) -> Rollouts:
    """The table whose scores above the stated limit count as the limit, where less is better: time had run out.

    The usual 1 is nobody's limit: scores above it are refused where they are compared.
    """
    import narwhals as nw

    if not lower_is_better or measure != "score" or rollouts.high == 1.0:
        return rollouts
    if all(group.most is None or group.most <= rollouts.high for group in rollouts.summary()):
        return rollouts
    limit = nw.when(nw.col("score") > rollouts.high).then(nw.lit(rollouts.high)).otherwise(nw.col("score"))
    note = Note("capped", {"limit": rollouts.high})
    return replace(rollouts, frame=rollouts.frame.with_columns(limit.alias("score")), notes=(*rollouts.notes, note))


def _in_points(gains: list[Gain]) -> Gain:
    (gain,) = gains
    return replace(gain, interval=replace(gain.interval, scale="gain"))


def bounds_by(make: Callable[[float], Gain | None], at: tuple[float, float]) -> tuple[Bound, Bound] | None:
    """The lower and the upper bound, each at its confidence: ends of intervals with half of the error on each side."""
    gains = [make(round(2.0 * one - 1.0, 15)) for one in dict.fromkeys(at)]
    if any(gain is None for gain in gains):
        return None
    every = [bounds_of(gain.interval, one) for gain, one in zip(gains, dict.fromkeys(at), strict=True) if gain]
    return every[0][0], every[-1][1]


def several_in_one(unit: Any, codes: Any, units: int) -> bool:
    """Whether some unit, of so many, has cells with different codes."""
    import numpy as np

    one = np.zeros(units, dtype=codes.dtype)
    one[unit] = codes
    return bool((one[unit] != codes).any())


@dataclass(frozen=True, eq=False)
class Cells:
    """What two policies did in the cells that both met.

    Attributes:
        asked: What was asked for.
        keys: The table's columns that make cells: the unit, settings, clusters.
        frame: A row for each cell: key_0, key_1, ... as in `keys`, and first_n, first_sum, second_n, second_sum.
        spare: Rollouts in cells that only one of the two met.
        nameless: Rollouts that name no unit.
    """

    asked: Asked
    keys: tuple[str, ...]
    frame: pl.DataFrame
    spare: int
    nameless: int
    kept: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False)  # shared where both met all cells

    def codes(self, *columns: str) -> Any:
        """A number for each cell, the same where these columns are."""
        if columns not in self.kept:
            keys = [self.frame[f"key_{self.keys.index(column)}"] for column in columns]
            self.kept[columns] = combined(keys, self.frame.height)
        return self.kept[columns]

    def levels(self, column: str) -> int:
        """How many levels of a column there are."""
        return int(self.codes(column).max(initial=-1)) + 1

    def column(self, name: str) -> Any:
        """A column of numbers."""
        return self.frame[name].to_numpy().astype("float64")

    @property
    def unit_name(self) -> str:
        """What the file calls the units; a setting stands for them where no column is finer."""
        return self.asked.rollouts.called(self.keys[0])

    @cached_property
    def unit(self) -> Any:
        """The unit of every cell."""
        return self.codes(*self.keys[:1])

    @cached_property
    def units(self) -> int:
        """How many units both policies met."""
        return int(self.unit.max()) + 1 if self.frame.height else 0

    @cached_property
    def means(self) -> tuple[Any, Any]:
        """Both policies' mean outcome in every cell."""
        first, second = (self.column(f"{who}_sum") / self.column(f"{who}_n") for who in ("first", "second"))
        return first, second

    @cached_property
    def tries(self) -> tuple[Any, Any]:
        """How often each policy was run in every cell."""
        return self.column("first_n"), self.column("second_n")

    @cached_property
    def unit_means(self) -> tuple[Any, Any]:
        """Both policies' mean outcome in every unit, its cells weighing alike or by their rollouts."""
        import numpy as np

        share = self._in_unit()
        first, second = (np.bincount(self.unit, share * side) / np.bincount(self.unit, share) for side in self.means)
        return first, second

    def _in_unit(self) -> Any:
        """What each cell weighs beside the others of its unit."""
        import numpy as np

        return self.tries[0] + self.tries[1] if self.asked.weights == "rollouts" else np.ones(len(self.unit))

    @cached_property
    def single(self) -> bool:
        """Whether every unit was met once by each policy."""
        return self.units == self.frame.height and self.once

    @cached_property
    def once(self) -> bool:
        """Whether each policy was run once in every cell."""
        return bool((self.tries[0] == 1).all() and (self.tries[1] == 1).all())

    def of_units(self, column: str) -> Any:
        """A column's level for every unit, where units lie in its levels."""
        import numpy as np

        found = np.zeros(self.units, dtype=np.int64)
        found[self.unit] = self.codes(column)
        return found

    def crossing(self, column: str) -> bool:
        """Whether a column takes several levels in one unit."""
        return several_in_one(self.unit, self.codes(column), self.units)

    @cached_property
    def weights(self) -> Any:
        """How much each cell weighs in the gain, summing to 1."""
        import numpy as np

        share = self._in_unit()
        share = self.unit_weights()[self.unit] * share / np.bincount(self.unit, share)[self.unit]
        return share / share.sum()

    def unit_weights(self) -> Any:
        """How much each unit weighs."""
        import numpy as np

        nested = [key for key in self.asked.rollouts.design.keys("setting") if key in self.keys]
        nested = [key for key in nested if not self.crossing(key)]
        share: Any
        if self.asked.weights == "rollouts":
            share = np.bincount(self.unit, self.tries[0] + self.tries[1])
        elif self.asked.weights == "settings" and nested:
            level = self.of_units(nested[0])
            share = 1.0 / np.bincount(level)[level]
        else:
            share = np.ones(self.units)
        return share / share.sum()


def cells_of(asked: Asked, beside: Sequence[str] = (), without: Sequence[str] = ()) -> Cells:
    """The cells that both policies met; kept until another pair of policies is asked for.

    Args:
        asked: What was asked for.
        beside: Columns that make cells besides those of the design.
        without: Columns of the design that do not.
    """
    given = asked.rollouts.design.keys("unit", "setting", "cluster")
    keys = tuple(key for key in (*given, *beside) if key not in without)
    who = asked.first, asked.second, asked.measure, asked.weights
    kept: dict[tuple[str, ...], Cells] = asked.rollouts.once(("cells",), dict)
    if (*who, *keys) not in kept:
        if any(one[: len(who)] != who for one in kept):
            kept.clear()
        kept[*who, *keys] = _cells(asked, keys)
    return kept[*who, *keys]


def _cells(asked: Asked, keys: tuple[str, ...]) -> Cells:
    import numpy as np

    rollouts, frame = asked.rollouts, _every_cell(asked, keys)
    first, second = (frame[f"{who}_n"].to_numpy() for who in ("first", "second"))
    named = rollouts.once(("named", asked.measure, *keys), lambda: frame["key_0"].is_not_null().to_numpy())
    both, total = named & (first > 0) & (second > 0), first + second
    spare, nameless = int(total[named & ~both].sum()), int(total[~named].sum())
    if not both.all():
        return Cells(asked, keys, frame[np.flatnonzero(both)], spare, nameless)
    return Cells(asked, keys, frame, spare, nameless, rollouts.once(("codes", asked.measure, *keys), dict))


def met_cells(asked: Asked, keys: tuple[str, ...]) -> pl.DataFrame:
    """What either policy did in the cells that one of the two met at least."""
    import polars as pl

    return _every_cell(asked, keys).filter((pl.col("first_n") > 0) | (pl.col("second_n") > 0))


def _every_cell(asked: Asked, keys: tuple[str, ...]) -> pl.DataFrame:
    """What both policies did in every cell of the table; made for every pair of policies, without the lazy engine."""
    import polars as pl

    table = crosstab(asked.rollouts, asked.measure, keys, asked.rollouts.policies)
    (first, first_sum), (second, second_sum) = table.of(asked.first), table.of(asked.second)
    numbers = {"first_n": first, "first_sum": first_sum, "second_n": second, "second_sum": second_sum}
    labels = asked.rollouts.once(
        ("labels", asked.measure, *keys), lambda: table.frame.select(f"key_{place}" for place in range(len(keys)))
    )
    return labels.hstack([pl.Series(name, values) for name, values in numbers.items()])
