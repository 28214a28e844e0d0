"""The levels of columns as numbers: what designs and crosstabs are counted from, without grouping rows by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from surefoot.table.normalising import home
from surefoot.table.rollouts import Rollouts

if TYPE_CHECKING:
    import polars as pl

    from surefoot.numerics.arrays import Ints


class Coded(NamedTuple):
    """A column as numbers.

    Attributes:
        codes: The place of every row's level among the sorted levels; one beyond the last for an empty cell.
        levels: The levels, sorted, without that of empty cells.
        empty: Whether there are empty cells.
    """

    codes: Ints
    levels: pl.Series
    empty: bool

    @property
    def size(self) -> int:
        """How many levels there are, with that of empty cells."""
        return len(self.levels) + self.empty

    @property
    def nothing_first(self) -> Ints:
        """The codes with that of empty cells before all others."""
        return (self.codes + 1) % self.size if self.empty else self.codes


def coded(column: pl.Series) -> Coded:
    """The levels of a column in order, and the place of every row's."""
    import polars as pl

    levels = column.drop_nulls().unique().sort()
    text = column.dtype == pl.String
    places = column.cast(pl.Enum(levels)).to_physical() if text else column.rank("dense") - 1
    return Coded(places.cast(pl.Int64).fill_null(len(levels)).to_numpy(), levels, column.null_count() > 0)


def codes_of(rollouts: Rollouts, names: Sequence[str]) -> dict[str, Coded]:
    """Columns of the rows that count, as numbers; worked out once for a table."""
    kept = rollouts.once(("codes",), dict[str, Coded])
    if missing := [name for name in dict.fromkeys(names) if name not in kept]:
        frame = home(rollouts.counted().select(*missing))
        kept.update((name, coded(frame[name])) for name in missing)
    return {name: kept[name] for name in names}
