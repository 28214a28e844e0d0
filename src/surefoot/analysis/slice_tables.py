"""The cells and slices of a table: which columns are looked at, what is shuffled, which slices there are (21a, b)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from surefoot import _arguments, stats
from surefoot.analysis.comparison_data import Combined
from surefoot.analysis.levels import UNEVEN, uneven_columns
from surefoot.analysis.need_evidence import sides_at
from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.stats.multiplicity import Sides
from surefoot.stats.slices import POWER
from surefoot.stats.strata import least_p
from surefoot.table.design import MANY, Column, as_number
from surefoot.table.design_of import NO_LABELS
from surefoot.table.normalising import home

if TYPE_CHECKING:
    import polars as pl

    from surefoot.analysis.comparison_data import Asked
    from surefoot.core.interval import Interval
    from surefoot.stats.slices import SliceTests
    from surefoot.table.rollouts import Rollouts


SMALLEST = 8
"""The fewest rollouts of each policy in a slice."""
MOST = 300
"""The most slices that are looked at."""
MOST_LEVELS = 50
"""The most levels of a column whose slices are looked at by name."""
APART = 0.05
"""A column in which more than this share of partners differ was not set beforehand."""
RECURS = 3
"""Whole numbers that recur this often on average are measured; others number rollouts."""
NONE = "(none)"
FIRST, VALUE = "__first__", "__outcome__"
"""Columns beside those of the file: whether a row is the first policy's, and its outcome."""


@dataclass(frozen=True, slots=True)
class Where:
    """A slice: levels of one or two columns, by the file's names."""

    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return " & ".join(f"{column}={level}" for column, level in self.parts)


@dataclass(frozen=True, eq=False)
class SliceTable:
    """Rows of the policies looked at, coded.

    Attributes:
        asked: The two policies and the measure; for one policy the second is empty.
        frame: A row for each rollout with a known outcome: `first`, `value`, and a column of text for every key.
        factors: The table's columns whose levels are looked at.
        strata: The columns to compare within.
        unit: The column of what is shuffled or signed as a whole; None where each rollout is.
        inner: Columns that make pairs inside such a unit.
        own: Whether each policy has such units of its own.
        guards: Other columns that the two met in unequal shares.
        notes: What was left out, and why.
    """

    asked: Asked
    frame: pl.DataFrame
    factors: tuple[str, ...]
    strata: tuple[str, ...]
    unit: str | None
    inner: tuple[str, ...]
    own: bool
    guards: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The columns that make cells."""
        return tuple(dict.fromkeys((*self.strata, *self.factors, *self.guards)))

    @cached_property
    def codes(self) -> dict[str, Any]:
        """The level of every row, numbered by how often each policy met it and what came of it; names break ties."""
        return {key: _coded(self.frame, key) for key in self.keys}

    def numbered(self, keys: Sequence[str]) -> Any:
        """A number for every row, the same where these columns are."""
        import numpy as np

        found = np.zeros(self.frame.height, dtype=np.int64)
        for key in keys:
            own = self.codes[key][0]
            _, found = np.unique(found * (int(own.max(initial=0)) + 1) + own, return_inverse=True)
        return found

    @cached_property
    def cell(self) -> Any:
        """The cell of every row."""
        return self.numbered(self.keys)

    @cached_property
    def first(self) -> Any:
        """Whether a row is the first policy's."""
        return self.frame[FIRST].to_numpy()

    @cached_property
    def value(self) -> Any:
        """The outcome of every row."""
        return self.frame[VALUE].to_numpy()

    def called(self, key: str) -> str:
        """What the file calls a column."""
        rollouts = self.asked.rollouts
        return rollouts.called(key) if key in rollouts.named else key

    def cut(self, ways: int, smallest: int, told: Any) -> tuple[list[Where], Any, int]:
        """Slices of enough rollouts of each: their names, their cells (cells by slices), and how many were too many.

        Args:
            ways: Whether pairs of levels are looked at too.
            smallest: The fewest rollouts of each policy.
            told: Which rows tell anything.
        """
        import numpy as np

        count = int(self.cell.max(initial=-1)) + 1
        ours = np.bincount(self.cell[told & self.first], minlength=count)
        theirs = np.bincount(self.cell[told & ~self.first], minlength=count)
        single = not self.asked.second
        home_of = {key: np.zeros(count, dtype=np.int64) for key in self.factors}
        for key in self.factors:
            home_of[key][self.cell] = self.codes[key][0]
        one_way = [((key, level),) for key in self.factors for level in range(len(self.codes[key][1]))]
        pairs = [
            (a, b)
            for one, other in combinations(self.factors, 2)
            for (a,) in one_way
            if a[0] == one
            for (b,) in one_way
            if b[0] == other
        ]
        met, found = set(), []
        any_told = (ours + theirs) > 0 if single else (ours > 0) & (theirs > 0)
        for parts in (*one_way, *(pairs if ways == 2 else ())):
            inside = np.logical_and.reduce([home_of[key] == level for key, level in parts])
            key = (inside & any_told).tobytes()
            rest = (ours * ~inside).sum() if single else (theirs * inside).sum()
            whole = not (any_told & ~inside).any()
            if (ours * inside).sum() < smallest or rest < smallest or whole or key in met:
                continue
            met.add(key)
            found.append((parts, inside, int(((ours + theirs) * inside).sum())))
        kept = found
        if len(found) > MOST:
            least = sorted((one for one in found if len(one[0]) == 2), key=lambda one: one[2])
            gone = {id(one) for one in least[: len(found) - MOST]}
            kept = [one for one in found if id(one) not in gone]
        names = [Where(tuple((self.called(k), self.codes[k][1][level]) for k, level in parts)) for parts, _, _ in kept]
        members = np.stack([inside for _, inside, _ in kept], axis=1) if kept else np.zeros((count, 0), bool)
        return names, members, len(found) - len(kept)


def _coded(frame: pl.DataFrame, key: str) -> tuple[Any, list[str]]:
    import polars as pl

    ours, total = pl.col(FIRST).sum(), pl.col(VALUE).sort().sum().round(9)
    facts = (ours.alias("__a__"), pl.len().alias("__b__"), total.alias("__c__"))
    order = frame.group_by(key).agg(*facts).sort("__a__", "__b__", "__c__", key)
    levels = order[key].to_list()
    codes = frame[key].replace_strict(levels, list(range(len(levels))), return_dtype=pl.Int64)
    return codes.to_numpy(), levels


@dataclass(frozen=True, eq=False)
class Looked:
    """Slices with their tests.

    Attributes:
        names: The slices.
        sizes: Rollouts of both in each.
        sums: Successes or sums of scores of both.
        estimates: The gain in each.
        tests: The adjusted p-values.
        members: Which cells are in each: cells by slices.
        how: What was shuffled, or which p-values were adjusted.
        interval: The interval of a slice, at the error that holds together.
        noticed: Drops that would have been found.
        notes: What a reader must know besides.
    """

    names: list[Where]
    sizes: list[tuple[int, int]]
    sums: list[tuple[float, float]]
    estimates: list[float]
    tests: SliceTests
    members: Any
    how: str
    interval: Callable[[int], Interval]
    noticed: tuple[tuple[int, int, float | None], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def order(self) -> list[int]:
        """Slices by their p-values, the surest and then the finest first."""
        p_values = [min(pair) for pair in zip(self.tests.worse, self.tests.better, strict=True)]
        return sorted(range(len(self.names)), key=lambda one: (p_values[one], sum(self.sizes[one]), one))

    def within(self, inner: int, outer: int) -> bool:
        """Whether the cells of one slice are all in another."""
        return bool((self.members[:, inner] <= self.members[:, outer]).all())


# Which columns


def slice_table(asked: Asked, by: Sequence[str], *, dealt: bool = False) -> SliceTable:
    """The rows of two policies, or of one, with the columns that are looked at."""
    rollouts = asked.rollouts
    design, notes = rollouts.design, []
    factors, numbers = _factors(rollouts, by)
    shown = (*design.of("unit"), *design.of("setting"), *design.of("watched"))
    results = [column.name for column in shown if _caused(rollouts, column) and column.key not in factors]
    if results:
        notes.append(Note("results not sliced", {"columns": tuple(results)}))
    units = design.keys("unit")
    many = bool(units) and units[0] not in factors and design.units >= MANY and rollouts.collected != "independent"
    within = (*(key for key in units if key in factors or design.units < MANY), *design.keys("setting"))
    strata = tuple(dict.fromkeys(within))
    clusters = [column for column in design.of("cluster") if column.key not in factors]
    unit = clusters[-1].key if clusters else units[0] if many else None
    runs = sorted((column for column in design.of("run") if column.key not in factors), key=lambda one: one.levels)
    own = bool(runs) and (unit is None or _runs(asked))
    unit = runs[0].key if own else unit  # the widest: rollouts of one run share more than chance
    inner = tuple(key for key in (*units, *design.keys("setting")) if unit is not None and not own)
    dealt = dealt or not asked.second or unit is not None  # partners share what was set beforehand
    guards = () if dealt else tuple(one.key for one in uneven_columns(asked) if one.key not in factors)
    wanted = tuple(dict.fromkeys((*strata, *factors, *guards, *inner, *((unit,) if unit else ()))))
    frame = _frame(asked, wanted, numbers)
    made = SliceTable(asked, frame, factors, strata, unit, inner, own, guards, tuple(notes))
    if unit is not None and not own and asked.second:
        made = _set_beforehand(made, by)
    if not made.factors:
        raise DataError(
            "some column must have levels to look at; none has but the units, repeats and results.",
            source=rollouts.source,
            cure=f"Name columns: `{_arguments.named('by')}`.",
        )
    return made


def _runs(asked: Asked) -> bool:
    from surefoot.analysis.targets import runs_of

    return bool(runs_of(asked, asked.rollouts.design)) if asked.second else False


def _factors(rollouts: Rollouts, by: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns whose levels are looked at, and those of them that are numbers to cut in thirds."""
    design = rollouts.design
    if by:
        return _named(rollouts, by)
    unit = design.unit_column
    few = [unit] if unit is not None and 1 < unit.levels < MANY else []
    met = [*few, *design.of("setting"), *design.of("watched")]
    numbers = [column for column in design.of("nothing") if _measured(rollouts, column)]
    columns = [*(column for column in met if not _caused(rollouts, column)), *numbers]
    return tuple(one.key for one in columns), tuple(one.key for one in numbers)


def _caused(rollouts: Rollouts, column: Column) -> bool:
    """Whether a column sounds like a result of the rollout, and nobody said otherwise."""
    return column.result and column.key not in rollouts.declared


def _measured(rollouts: Rollouts, column: Column) -> bool:
    """Whether a column without a role holds measured numbers of many values, which are cut in thirds."""
    if column.result or column.levels <= MANY or rollouts.declared.get(column.key) == "ignore":
        return False
    cells = _column(rollouts, column.key).drop_nulls()
    values = [as_number(str(value)) for value in cells.unique().to_list()]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return False
    return any(not value.is_integer() for value in numbers) or len(cells) >= RECURS * len(numbers)


def _column(rollouts: Rollouts, key: str) -> pl.Series:
    return home(rollouts.counted().select(key))[key]


def _named(rollouts: Rollouts, by: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from surefoot.analysis.comparisons import columns_of

    option, design = _arguments.named("by"), rollouts.design
    keys, numbers = columns_of(rollouts, by), []
    for word, key in zip(by, keys, strict=True):
        column = next((one for one in design.columns if one.key == key), None)
        if key in NO_LABELS or _said_again(rollouts, key):
            raise DataError(
                f"`{option}` must name a column that was set or met; {word!r} is a result of the rollout.",
                source=rollouts.source,
            )
        if column is not None and _measured(rollouts, column):
            numbers.append(key)
        elif column is not None and column.levels > MOST_LEVELS:
            raise DataError(
                f"`{option}` must name columns of at most {MOST_LEVELS} levels; {word!r} has {column.levels:,}.",
                source=rollouts.source,
            )
    levels = {one.key: one.levels for one in design.columns}
    kept = tuple(key for key in dict.fromkeys(keys) if levels.get(key, 2) > 1)
    if not kept:
        raise DataError(f"`{option}` must name a column of two levels or more.", source=rollouts.source)
    return kept, tuple(numbers)


def _said_again(rollouts: Rollouts, key: str) -> bool:
    """Whether every level of a column holds one outcome only, and there are several."""
    import polars as pl

    value = pl.col("success" if "success" in rollouts.columns else "score").cast(pl.Float64)
    seen = rollouts.polars().group_by(key).agg(value.min().alias("__low__"), value.max().alias("__high__"))
    return seen.height > 1 and bool((seen["__low__"] == seen["__high__"]).all()) and seen["__low__"].n_unique() > 1


def _frame(asked: Asked, keys: Sequence[str], numbers: Sequence[str]) -> pl.DataFrame:
    """The rollouts of the policies with a known outcome, by outcome: text in every key, numbers cut in thirds.

    Sorted, so that sums and draws are the same in whatever order the rows came.
    """
    import narwhals as nw
    import polars as pl

    names = [name for name in (asked.first, asked.second) if name]
    known = asked.rollouts.counted().filter(nw.col("policy").is_in(names) & ~nw.col(asked.measure).is_null())
    frame = home(known.select("policy", nw.col(asked.measure).cast(nw.Float64).alias("__value__"), *keys))
    columns: list[Any] = [(pl.col("policy") == asked.first).alias(FIRST), pl.col("__value__").alias(VALUE)]
    for key in keys:
        columns.append(
            _thirds(frame[key]) if key in numbers else pl.col(key).cast(pl.String).fill_null(NONE).alias(key)
        )
    return frame.select(*columns).sort(VALUE, FIRST, *keys)


def _thirds(column: pl.Series) -> pl.Series:
    """Numbers as the third of all of them that they lie in."""
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    low, high = (float(numbers.quantile(share, "nearest") or 0.0) for share in (1.0 / 3.0, 2.0 / 3.0))
    names = (f"up to {low:g}", f"{low:g} to {high:g}", f"above {high:g}")
    third = (numbers > low).cast(pl.Int64) + (numbers > high).cast(pl.Int64)
    return third.replace_strict([0, 1, 2], list(names), default=NONE, return_dtype=pl.String).alias(column.name)


def _set_beforehand(table: SliceTable, by: Sequence[str]) -> SliceTable:
    """The table without columns in which partners differ: what was set beforehand cannot."""
    whole = matched(table, table.inner)
    gone = []
    for key in table.factors:
        if key not in table.inner and whole and matched(table, (*table.inner, key)) < (1.0 - APART) * whole:
            gone.append(key)
    if not gone:
        return table
    names = tuple(table.called(key) for key in gone)
    if by:
        raise DataError(
            f"`{_arguments.named('by')}` must name what partners share; they differ in {names[0]!r}, so that the "
            "rollout may have caused it.",
            source=table.asked.rollouts.source,
        )
    note = Note("partners differ", {"columns": names})
    left = tuple(key for key in table.factors if key not in gone)
    return replace(table, factors=left, notes=(*table.notes, note))


def matched(table: SliceTable, keys: Sequence[str]) -> int:
    """How many rollouts have a partner of the other policy in the same unit and levels."""
    return int(pairs_of(table, keys)["__least__"].sum())


def pairs_of(table: SliceTable, keys: Sequence[str]) -> pl.DataFrame:
    """Both policies' rollouts and sums in every unit and level that both met."""
    import polars as pl

    on = list(dict.fromkeys((*((table.unit,) if table.unit else ()), *keys)))
    ours, value = pl.col(FIRST), pl.col(VALUE)
    found = table.frame.group_by(on).agg(
        ours.sum().cast(pl.Float64).alias("__n__"), (~ours).sum().cast(pl.Float64).alias("__m__"),
        value.filter(ours).sort().sum().alias("__x__"), value.filter(~ours).sort().sum().alias("__y__"),
    )  # fmt: skip
    found = found.filter((pl.col("__n__") > 0) & (pl.col("__m__") > 0))
    return found.with_columns(pl.min_horizontal("__n__", "__m__").alias("__least__"))


MOST_CELLS = 200_000
"""Tables of a slice and its rest up to which Boschloo's test is used; above, Fisher's, which differs little there."""
Parts = dict[str, tuple[Any, Any]]
"""Of every stratum of a slice, what the two have: tallies or scores."""


def shuffled_drop(variance: float, weight: float, squares: float, error: float) -> float | None:
    """The drop `d` found in 8 of 10 tables by shuffled labels, whose variance is `variance` and `squares` times d²."""
    from scipy import special

    edge, power = -float(special.ndtri(error)), float(special.ndtri(POWER))
    room = weight**2 - edge**2 * squares
    if room <= 0.0 or math.isnan(variance):
        return None
    half = weight * power * math.sqrt(variance)
    return (half + math.sqrt(half**2 + room * (edge**2 - power**2) * variance)) / room


def drop_of(half: float, error: float) -> float:
    """The same from half the width of an interval whose ends have this error each."""
    from scipy import special

    return half * (1.0 - float(special.ndtri(POWER)) / float(special.ndtri(error)))


def sides_of(make: Any, error: float, least: float) -> Sides:
    """The one-sided p-values of a slice; where the work is dear and they are above `least`, lower bounds of them."""
    if make is None:
        return Sides(1.0, 1.0, 1.0, 1.0)
    if isinstance(make, Combined):  # every way must say it
        each = [sides_of(way, error, least) for way in make.ways]
        return Sides(*(max(getattr(one, name) for one in each) for name in Sides.__slots__))
    if isinstance(make, partial) and make.func is stats.exact_gain:
        first, second = make.args
        few = (first.trials + second.trials) * max(first.trials, second.trials) <= MOST_CELLS
        found = (stats.boschloo if few else stats.fisher)(first, second)
        return Sides(*(found.first_better, found.second_better) * 2)
    if isinstance(make, partial) and make.func is stats.stratified_rate_gain:
        (parts,), weights = make.args, make.keywords["weights"]
        low, estimate = least_p(parts, weights=weights, error=error), _weighted(parts, weights)
        if low > 2.0 * least:
            return Sides.of(low, estimate)
        return Sides.of(make(confidence=1.0 - error, margin=0.0).p_value, estimate)
    return Sides(*sides_at(make, 0.0, error) * 2)


def _weighted(parts: Parts, weights: dict[str, float]) -> float:
    return float(sum(share * (parts[one][0].rate - parts[one][1].rate) for one, share in weights.items()))


def met_alike(strata: Any, inside: Any) -> bool:
    """Whether a slice and its rest met strata in shares so alike that no comparison within them is needed (21a)."""
    import numpy as np

    here, both = np.bincount(strata[inside], minlength=int(strata.max(initial=0)) + 1), np.bincount(strata)
    share = len(strata[inside]) / max(1, len(strata))
    expected, rest = both * share, both * (1.0 - share)
    met = (expected > 0.0) & (rest > 0.0)
    return float((((here - expected) ** 2)[met] * (1.0 / expected[met] + 1.0 / rest[met])).sum()) <= UNEVEN
