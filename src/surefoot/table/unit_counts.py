"""Counts of units of a table that lies on another engine.

Kinds of rows and how many there are of each, never the rows. Where one column tells thousands of units apart, a unit is
what every policy did in it: units that are alike are counted where the data are, and come home as one row. The table is
then laid out again here, with made-up names for the units, and every answer is made from that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.table.normalising import home, small
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

MANY = 1_000
"""Levels from which a column may name units that are counted by what was done in them."""
MOST_KINDS = 64
"""Kinds of rows that may be met in one unit: the engine makes columns for each."""
LEFT_OUT = ("human", "judge", "forecast", "clip")
"""Columns that an answer needs row by row: a table that has one is not gathered."""
TIMES = "__times__"


@dataclass(frozen=True, slots=True)
class _Parts:
    """The columns of a table by what becomes of them: the unit's, those that it lies in, those it is met in."""

    unit: str
    nested: tuple[str, ...]
    crossing: tuple[str, ...]
    outcomes: tuple[str, ...]


def gathered(rollouts: Rollouts) -> Rollouts:
    """The table itself where it is at hand; otherwise its kinds of rows, laid out here as often as there are any.

    Names of units and the order of rows are lost, so answers that need them ask the table itself. Where a unit was met
    several times with scores, or several columns have thousands of levels, nothing is gathered.
    """
    whole = rollouts.whole_table
    found = laid_out(whole)
    if found is whole:
        return rollouts
    found.__dict__.setdefault("design", whole.design)
    return found if whole is rollouts else found.where(policy=rollouts.policies)


def laid_out(rollouts: Rollouts) -> Rollouts:
    """As `gathered`, before anything is known of what its columns are."""
    if rollouts.frame.implementation.is_polars() or set(LEFT_OUT) & set(rollouts.columns):
        return rollouts
    return rollouts.once(("laid out",), lambda: _laid_out(rollouts))


def _laid_out(rollouts: Rollouts) -> Rollouts:
    import narwhals as nw

    from surefoot.table.design_of import telling

    _, facts, _, left = telling(rollouts)
    outcomes = tuple(name for name in ("success", "score") if name in rollouts.columns)
    beside = tuple(name for name in left if facts[name][0] < MANY)
    beside += ("valid",) if "valid" in rollouts.columns else ()
    big = [name for name in left if facts[name][0] >= MANY]
    if len(big) > 1 or (big and facts[big[0]][1]):
        return rollouts
    keys = ["policy", *beside, *outcomes]
    if big:
        frame = _by_unit(rollouts, big[0], beside, outcomes)
    else:
        each = home(rollouts.frame.select(*keys).group_by(*keys).agg(nw.len().alias(TIMES)))
        frame = _repeated(each.sort(*keys))
    return rollouts if frame is None else replace(rollouts, frame=nw.from_native(frame.lazy()), ordered=False)


def _repeated(each: pl.DataFrame) -> pl.DataFrame:
    """Every kind of row as often as there are rows of it."""
    import numpy as np

    return each.drop(TIMES)[np.repeat(np.arange(each.height), each[TIMES].to_numpy())]


def _by_unit(rollouts: Rollouts, unit: str, beside: Sequence[str], outcomes: Sequence[str]) -> pl.DataFrame | None:
    """The table by what was done in its units; none where that does not tell its rows."""
    import narwhals as nw
    import polars as pl

    parts = _parts(rollouts, unit, beside, outcomes)
    kinds = home(rollouts.frame.select("policy", *parts.crossing).unique()).sort("policy", *parts.crossing)
    if kinds.height > MOST_KINDS or kinds["policy"].null_count():
        return None
    columns = [column for place, kind in enumerate(kinds.rows()) for column in _columns(place, kind, parts)]
    names = [column.name for column in columns]
    wide = rollouts.frame.select(unit, *parts.nested, *(column.cell.alias(column.name) for column in columns))
    units = wide.group_by(unit, *parts.nested).agg(*(nw.col(name).sum() for name in names))
    found = home(units.group_by(*parts.nested, *names).agg(nw.len().alias(TIMES)))
    found = found.with_columns(pl.col(r"^[nk]\d+.*$").cast(pl.Int64), pl.col(r"^s\d+.*$").cast(pl.Float64))
    met = [name for name in names if name.startswith("n")]
    if "score" in outcomes and found.select(pl.max_horizontal(pl.col(met).max())).item() > 1:
        return None  # of several scores in one unit only the sum came home
    rows = _rows(found.sort(*parts.nested, *names), kinds, parts)
    return rows.with_columns(_named(rollouts, unit, int(found[TIMES].sum())).alias(unit))


class _Column(NamedTuple):
    name: str
    cell: nw.Expr


def _parts(rollouts: Rollouts, unit: str, beside: Sequence[str], outcomes: Sequence[str]) -> _Parts:
    """Which columns have one level in each unit."""
    import narwhals as nw

    def combined(*names: str) -> int:
        return int(small(rollouts.frame.select(*names).unique().select(nw.len().alias("cells")))["cells"][0])

    units = combined(unit) if beside else 0
    nested = tuple(name for name in beside if combined(unit, name) == units)
    return _Parts(unit, nested, tuple(name for name in beside if name not in nested), tuple(outcomes))


def _columns(place: int, kind: tuple[Any, ...], parts: _Parts) -> list[_Column]:
    """Of a kind of row whether a row is of it, and of each outcome whether it is known, and which it is."""
    import narwhals as nw

    own = nw.col("policy") == kind[0]
    for name, level in zip(parts.crossing, kind[1:], strict=True):
        own = own & (nw.col(name).is_null() if level is None else (nw.col(name) == level))
    found = [_Column(f"n{place}", nw.when(own).then(nw.lit(1)).otherwise(nw.lit(0)))]
    for outcome in parts.outcomes:
        known, value = own & ~nw.col(outcome).is_null(), nw.col(outcome).cast(nw.Float64)
        found.append(_Column(f"k{place}{outcome}", nw.when(known).then(nw.lit(1)).otherwise(nw.lit(0))))
        found.append(_Column(f"s{place}{outcome}", nw.when(known).then(value).otherwise(nw.lit(0.0))))
    return found


def _rows(found: pl.DataFrame, kinds: pl.DataFrame, parts: _Parts) -> pl.DataFrame:
    """The rows of units that were counted, each unit with a number for its name."""
    import polars as pl

    last = pl.col(TIMES).cast(pl.Int64).cum_sum()
    found = found.with_columns(pl.int_ranges(last - pl.col(TIMES).cast(pl.Int64), last).alias(parts.unit))
    pieces = []
    for place, kind in enumerate(kinds.rows()):
        times = found.filter(pl.col(f"n{place}") > 0)
        labels = [
            pl.lit(level, kinds.schema[name]).alias(name) for name, level in zip(kinds.columns, kind, strict=True)
        ]
        for at in range(max(times[f"n{place}"].to_list(), default=0)):
            own = times.filter(pl.col(f"n{place}") > at)
            values = [_outcome(outcome, place, at).alias(outcome) for outcome in parts.outcomes]
            pieces.append(own.select(*labels, *parts.nested, *values, parts.unit).explode(parts.unit))
    return pl.concat(pieces)


def _outcome(outcome: str, place: int, at: int) -> pl.Expr:
    """The outcome of one of several rows of a kind: first the successes, then the failures, then what is not known."""
    import polars as pl

    known, total = pl.col(f"k{place}{outcome}"), pl.col(f"s{place}{outcome}")
    if outcome == "score":
        return pl.when(known > at).then(total)
    return pl.when(known > at).then((total > at).cast(pl.Int8))


def _named(rollouts: Rollouts, unit: str, count: int) -> pl.Expr:
    """Names for units that tell what the true ones tell: whether they are whole numbers, and which these can be."""
    import narwhals as nw
    import polars as pl

    schema = rollouts.frame.collect_schema()
    column, code = nw.col(unit), pl.col(unit)
    if not schema[unit].is_numeric():
        digits = column.str.contains(r"^[0-9]{1,15}$")
        if small(rollouts.frame.select((~digits).cast(nw.Int64).sum().alias("others")))["others"][0]:
            return pl.format("unit {}", code + 1)
        column = column.cast(nw.Int64)
    ends = small(rollouts.frame.select(column.min().alias("low"), column.max().alias("high")))
    low, high = float(ends["low"][0]), float(ends["high"][0])
    step = (high - low) / max(1, count - 1)
    number = (low + code * step).floor().cast(pl.Int64)
    if schema[unit].is_numeric():
        return number.cast(pl.Float64) if schema[unit].is_float() else number
    return number.cast(pl.String)
