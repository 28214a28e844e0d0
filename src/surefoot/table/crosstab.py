"""How often did each policy meet each environment, and what came of it? Environments by policies, counts and sums.

Every analysis of a fixed size is made from these numbers. They do not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from surefoot.core.record import Record
from surefoot.table.column_shapes import numbered
from surefoot.table.normalising import home
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.unit_counts import gathered

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Numbers = np.ndarray[Any, np.dtype[np.float64]]

WIDE = 8
"""Up to this many policies the engine makes a column for each in one pass; above, a row for each is scattered here."""

TWO = 2
"""Numbers: up to so many have the same sum in whatever order they are added."""

Counted = Literal["success", "score", "policy"]
"""What is counted: the rollouts whose success or score is known, or all of them, for all have a policy."""


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Environments by policies: how many outcomes are known in each, and their sum.

    Attributes:
        on: The columns that tell environments apart.
        policies: The policies that were looked at.
        frame: A row for each environment, sorted: key_0, key_1, ... as in `on`, then n0, s0, n1, s1, ... by policy.
    """

    on: tuple[str, ...]
    policies: tuple[str, ...]
    frame: pl.DataFrame
    kept: dict[tuple[str, ...], Any] = field(default_factory=dict, repr=False)

    def of(self, policy: str) -> tuple[Counts, Numbers]:
        """How many outcomes of a policy are known in each environment, and their sum."""
        place = self.policies.index(policy)
        return self.frame[f"n{place}"].to_numpy(), self.frame[f"s{place}"].to_numpy()

    def codes(self, *columns: str) -> Counts:
        """A number for each environment, the same where these columns are the same; numbered in sorted order."""
        if columns not in self.kept:
            keys = [self.frame[f"key_{self.on.index(column)}"] for column in columns]
            self.kept[columns] = _codes(keys, self.frame.height)
        found: Counts = self.kept[columns]
        return found

    def labels(self, column: str) -> list[Any]:
        """A column of the environments."""
        return self.frame[f"key_{self.on.index(column)}"].to_list()


def crosstab(rollouts: Rollouts, measure: Counted, on: Sequence[str], policies: Sequence[str]) -> Crosstab:
    """The environments of some policies by some columns; made once for a table and kept."""
    columns, names = tuple(on), tuple(policies)
    kept = rollouts.environments
    key = ("crosstab", measure, *columns)
    if key not in kept or not set(names) <= set(kept[key].policies):
        wide = rollouts.frame.implementation.is_polars() and len(names) <= WIDE
        found = _in_one_pass(rollouts, measure, columns, names) if wide else None
        kept[key] = found if found is not None else _scattered(rollouts, measure, columns, names)
    table: Crosstab = kept[key]
    return table


def _in_one_pass(rollouts: Rollouts, measure: str, on: tuple[str, ...], names: tuple[str, ...]) -> Crosstab | None:
    """One grouping by environment; none where the order of the rows might leave a trace in a sum of scores.

    Sums of whole numbers do not depend on it, nor does the sum of two scores.
    """
    import polars as pl

    scores = measure == "score"
    known = rollouts.counted().to_native().filter(pl.col(measure).is_not_null() & pl.col("policy").is_in(names))
    value = pl.lit(1, pl.Int8) if measure == "policy" else pl.col(measure).cast(pl.Float64 if scores else pl.Int8)
    columns, wanted = [], []
    for place, name in enumerate(names):
        own = pl.col("policy") == name
        columns += [
            own.cast(pl.Int8).alias(f"n{place}"),
            pl.when(own).then(value).otherwise(0).alias(f"s{place}"),
        ]
        total = pl.Float64 if scores else pl.Int32
        wanted += [pl.col(f"n{place}").cast(pl.Int32).sum(), pl.col(f"s{place}").cast(total).sum()]
    keys = {f"key_{place}": name for place, name in enumerate(on)}
    grouped = known.select(*(pl.col(name).alias(key) for key, name in keys.items()), *columns)
    frame = (grouped.group_by(*keys).agg(*wanted) if keys else grouped.select(*wanted)).collect(engine="streaming")
    if scores and any((frame[f"n{place}"] > TWO).any() for place in range(len(names))):
        return None
    return Crosstab(on, names, frame.sort(*keys) if keys else frame)


def _scattered(rollouts: Rollouts, measure: str, on: tuple[str, ...], names: tuple[str, ...]) -> Crosstab:
    """A row for each environment and policy, spread over columns; scores are sorted first, so that the order of the
    rows leaves no trace in their sum."""
    import narwhals as nw
    import numpy as np
    import polars as pl

    keys = [f"key_{place}" for place in range(len(on))]
    picked = [nw.col(name).alias(key) for name, key in zip(on, keys, strict=True)]
    rows = rollouts.counted().filter(~nw.col(measure).is_null() & nw.col("policy").is_in(list(names)))
    value = nw.lit(1.0) if measure == "policy" else nw.col(measure).cast(nw.Float64)
    rows = rows.select(*picked, nw.col("policy").alias("who"), value.alias("value"))
    if measure == "score":
        each = home(rows).group_by(*keys, "who").agg(pl.len().alias("n"), pl.col("value").sort().sum().alias("s"))
    else:
        each = home(rows.group_by(*keys, "who").agg(nw.len().alias("n"), nw.col("value").sum().alias("s")))
    rows_of, columns_of = _codes([each[key] for key in keys], each.height), pl.Series(names)
    total = int(rows_of.max()) + 1 if each.height else 0
    named = pl.col("who").cast(pl.String)  # where nothing is known, an engine may tell no type
    who = each.select(named.replace_strict(columns_of, list(range(len(names))), return_dtype=pl.Int64))
    at = rows_of, who.to_series().to_numpy()
    counts, sums = np.zeros((total, len(names)), dtype=np.int64), np.zeros((total, len(names)))
    counts[at], sums[at] = each["n"].to_numpy(), each["s"].to_numpy()
    spread = {
        f"{letter}{place}": of[:, place] for place in range(len(names)) for letter, of in (("n", counts), ("s", sums))
    }
    frame = each.select(keys).unique().sort(keys) if keys else pl.DataFrame()
    return Crosstab(on, names, frame.with_columns(**{name: pl.Series(column) for name, column in spread.items()}))


@dataclass(frozen=True, slots=True)
class Coverage(Record):
    """How the policies met what they were run on.

    Attributes:
        keys: The table's columns that tell apart what was met; empty where nothing tells.
        called: What the file calls them.
        environments: How many there are.
        shared: How many all policies met.
        several: How many at least two policies met.
        recurring: How many one policy met more than once.
    """

    keys: tuple[str, ...] = ()
    called: str = ""
    environments: int = 0
    shared: int = 0
    several: int = 0
    recurring: int = 0

    @property
    def once(self) -> bool:
        """Whether no policy met anything twice: then what policies share may make their outcomes alike."""
        return not self.recurring


def coverage(rollouts: Rollouts) -> Coverage:
    """How the policies met the units, in their settings, of a table."""
    import numpy as np

    rollouts = gathered(rollouts)
    keys = rollouts.design.keys("unit", "setting")
    if not rollouts.design.keys("unit"):
        return Coverage()
    measure: Measure = "success" if "success" in rollouts.columns else "score"
    table = crosstab(rollouts, measure, keys, rollouts.policies)
    counts = [table.of(name)[0] for name in rollouts.policies]
    met = np.sum([count > 0 for count in counts], axis=0)
    return Coverage(
        keys,
        " and ".join(rollouts.called(key) for key in keys),
        int((met > 0).sum()),
        int((met == len(counts)).sum()),
        int((met > 1).sum()),
        int(np.any([count > 1 for count in counts], axis=0).sum()),
    )


def _codes(columns: Sequence[pl.Series], height: int) -> Counts:
    """A number for each row, the same where these columns are the same, numbered in sorted order; nothing is first."""
    import numpy as np
    import polars as pl

    codes, count = np.zeros(height, dtype=np.int64), 1
    for column in columns:
        empty = column.null_count() > 0
        if column.dtype == pl.String:
            names = column.drop_nulls().unique().sort()
            own = column.cast(pl.Enum(names)).to_physical().cast(pl.Int64)
        else:
            own = column.rank("dense").cast(pl.Int64) - 1
        mine: Counts = (own + empty).fill_null(0).to_numpy()
        size = int(mine.max(initial=-1)) + 1
        codes, count = numbered(codes * size + mine, count * size)
    return codes
