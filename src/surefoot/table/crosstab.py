"""How often did each policy meet each environment, and what came of it? Environments by policies, counts and sums.

Every analysis of a fixed size is made from these numbers. They do not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from surefoot.core.record import Record
from surefoot.numerics.arrays import numbered
from surefoot.table.level_codes import coded, codes_of
from surefoot.table.normalising import home
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.unit_counts import gathered

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Numbers = np.ndarray[Any, np.dtype[np.float64]]

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
            self.kept[columns] = combined(keys, self.frame.height)
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
        here = rollouts.frame.implementation.is_polars() and columns
        found = _in_one_pass(rollouts, measure, columns, names) if here else None
        kept[key] = found if found is not None else _scattered(rollouts, measure, columns, names)
    table: Crosstab = kept[key]
    return table


def _in_one_pass(rollouts: Rollouts, measure: str, on: tuple[str, ...], names: tuple[str, ...]) -> Crosstab | None:
    """Counted by the numbers of environments; none where the order of the rows might leave a trace in a sum of scores.

    Sums of whole numbers do not depend on it, nor does the sum of two scores.
    """
    import numpy as np
    import polars as pl

    of_rows, keys = rollouts.once(("environments", *on), lambda: _environments(rollouts, on))
    policy = codes_of(rollouts, ["policy"])["policy"]
    places = {name: place for place, name in enumerate(names)}
    who = np.array([*(places.get(level, -1) for level in policy.levels), -1])[policy.codes]
    value = home(rollouts.counted().select(measure))[measure]
    known = (who >= 0) & value.is_not_null().to_numpy()
    sums_of = np.ones(len(value)) if measure == "policy" else value.cast(pl.Float64).to_numpy()
    at, cells = (of_rows + keys.height * who)[known], keys.height * len(names)
    counts = np.bincount(at, minlength=cells).reshape(len(names), -1)
    if measure == "score" and counts.max(initial=0) > TWO:
        return None
    sums = np.bincount(at, sums_of[known], minlength=cells).astype(float).reshape(len(names), -1)
    return Crosstab(on, names, _spread(keys, counts, sums).filter(counts.max(axis=0) > 0))


def _spread(keys: pl.DataFrame, counts: Counts, sums: Numbers) -> pl.DataFrame:
    """Environments with the counts and the sums of each policy beside them."""
    import polars as pl

    columns = [
        (f"{letter}{at}", row) for at in range(len(counts)) for letter, row in (("n", counts[at]), ("s", sums[at]))
    ]
    return keys.with_columns(pl.Series(name, row) for name, row in columns)


def _environments(rollouts: Rollouts, on: tuple[str, ...]) -> tuple[Counts, pl.DataFrame]:
    """The environment of every row, numbered in sorted order, nothing first; and what each is called by its columns."""
    import numpy as np
    import polars as pl

    columns = [codes_of(rollouts, on)[name] for name in on]
    codes, count = np.zeros(len(columns[0].codes), dtype=np.int64), 1
    for column in columns:
        codes, count = numbered(codes * column.size + column.nothing_first, count * column.size)
    first = np.zeros(count, dtype=np.int64)
    first[codes] = np.arange(len(codes))
    levels = [column.levels.extend_constant(None, 1) if column.empty else column.levels for column in columns]
    named = (level.gather(column.codes[first]) for level, column in zip(levels, columns, strict=True))
    return codes, pl.DataFrame([column.alias(f"key_{place}") for place, column in enumerate(named)])


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
    rows_of, columns_of = combined([each[key] for key in keys], each.height), pl.Series(names)
    total = int(rows_of.max()) + 1 if each.height else 0
    named = pl.col("who").cast(pl.String)  # where nothing is known, an engine may tell no type
    who = each.select(named.replace_strict(columns_of, list(range(len(names))), return_dtype=pl.Int64))
    at = who.to_series().to_numpy(), rows_of
    counts, sums = np.zeros((len(names), total), dtype=np.int64), np.zeros((len(names), total))
    counts[at], sums[at] = each["n"].to_numpy(), each["s"].to_numpy()
    return Crosstab(on, names, _spread(each.select(keys).unique().sort(keys) if keys else pl.DataFrame(), counts, sums))


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


def combined(columns: Sequence[pl.Series], height: int) -> Counts:
    """A number for each row, the same where these columns are the same, numbered in sorted order; nothing is first."""
    import numpy as np

    codes, count = np.zeros(height, dtype=np.int64), 1
    for column in map(coded, columns):
        codes, count = numbered(codes * column.size + column.nothing_first, count * column.size)
    return codes
