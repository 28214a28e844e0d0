"""What two policies did in the cells that both met: units, in settings and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from surefoot.analysis.comparison_data import Asked
from surefoot.table.crosstab import crosstab

if TYPE_CHECKING:
    import polars as pl


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
    kept: dict[tuple[str, ...], Any] = field(default_factory=dict, init=False, repr=False)  # of this very frame

    def codes(self, *columns: str) -> Any:
        """A number for each cell, the same where these columns are."""
        import numpy as np
        import polars as pl

        if not columns:
            return np.zeros(self.frame.height, dtype=np.int64)
        if columns not in self.kept:
            keys = [f"key_{self.keys.index(column)}" for column in columns]
            rank = self.frame.select(pl.struct(keys).rank("dense").cast(pl.Int64) - 1)
            self.kept[columns] = rank.to_series().to_numpy()
        return self.kept[columns]

    def levels(self, column: str) -> int:
        """How many levels of a column there are."""
        import numpy as np

        return len(np.unique(self.codes(column)))

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
        """Both policies' mean outcome in every unit, its cells weighing alike."""
        import numpy as np

        size = np.bincount(self.unit)
        first, second = (np.bincount(self.unit, side) / size for side in self.means)
        return first, second

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

        size = np.bincount(self.unit)
        share = self.unit_weights()[self.unit] / size[self.unit]
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
    import polars as pl

    frame = met_cells(asked, keys)
    named = pl.col("key_0").is_not_null() if keys else pl.lit(value=True)
    total = pl.col("first_n") + pl.col("second_n")
    nameless = int(frame.filter(~named).select(total.sum()).item() or 0)
    frame = frame.filter(named)
    both = (pl.col("first_n") > 0) & (pl.col("second_n") > 0)
    spare = int(frame.filter(~both).select(total.sum()).item() or 0)
    return Cells(asked, keys, frame.filter(both), spare, nameless)


def met_cells(asked: Asked, keys: Sequence[str]) -> pl.DataFrame:
    """What either policy did in the cells that one of the two met at least."""
    import polars as pl

    rollouts = asked.rollouts
    table = crosstab(rollouts, asked.measure, keys, rollouts.policies)
    columns: dict[str, pl.Series] = {}
    for who, name in (("first", asked.first), ("second", asked.second)):
        counts, sums = table.of(name)
        columns |= {f"{who}_n": pl.Series(counts), f"{who}_sum": pl.Series(sums)}
    frame = table.frame.select(*(f"key_{place}" for place in range(len(keys)))).with_columns(**columns)
    return frame.filter((pl.col("first_n") > 0) | (pl.col("second_n") > 0))
