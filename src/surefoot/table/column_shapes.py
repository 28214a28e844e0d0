"""Shape facts of label columns: shared, even, alike, nested, counting (methods, section 20).

All facts are functions of labels and of which policy a row belongs to, never of outcomes or of column names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.numerics.arrays import numbered
from surefoot.numerics.normal_quantiles import chi_squared_below

if TYPE_CHECKING:
    Ints = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]

EVEN = 0.01
"""A chance this small that shares are as alike as they are: the levels were set, not measured."""
ALIKE = 0.6
"""The least chance-corrected overlap of two policies' shares inside another column's levels."""
MOSTLY = 0.9
"""The share of cells in which the numbers of a counter are distinct."""
SPAN = 1.25
"""The longest stretch of numbers, as a multiple of how many the largest cell holds."""
AVERAGE = 5
"""From this many rows of a policy in a level, on average, a level that only one side met was left out on purpose."""


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """The labels of one column.

    Attributes:
        name: The column.
        codes: The level of every row, numbered in the order of the sorted levels.
        levels: The levels as text, sorted; None for an empty cell.
        numbers: The levels as whole numbers, starting at 0 or 1; None where they are not.
    """

    name: str
    codes: Ints
    levels: tuple[str | None, ...]
    numbers: Ints | None

    def __len__(self) -> int:
        return len(self.levels)


@dataclass(frozen=True, eq=False)
class Labels:
    """Rows that are alike in policy and in every label, and how many there are of each.

    Attributes:
        policy: The policy of each kind of row.
        policies: How many policies there are.
        rows: How many rows there are of each kind.
        columns: The label columns by name.
    """

    policy: Ints
    policies: int
    rows: Floats
    columns: dict[str, LabelColumn]
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    # Cells: combinations of columns

    def cells(self, *names: str) -> tuple[Ints, int]:
        """The cell of every row by some columns, and how many cells there are; a cell's number does not depend on the
        order in which the columns are named."""
        key = ("cells", *sorted(names))
        if key not in self.kept:
            codes, count = np.zeros(len(self.rows), dtype=np.int64), 1
            for name in sorted(names):
                own = self.policy if name == POLICY else self.columns[name].codes
                size = self.policies if name == POLICY else len(self.columns[name])
                codes, count = numbered(codes * size + own, count * size)
            self.kept[key] = codes, count
        found: tuple[Ints, int] = self.kept[key]
        return found

    def counts(self, *names: str) -> Floats:
        """Rows of every policy in every cell: policies x cells."""
        key = ("counts", *sorted(names))
        if key not in self.kept:
            codes, count = self.cells(*names)
            flat = np.bincount(self.policy * count + codes, self.rows, minlength=self.policies * count)
            self.kept[key] = flat.astype(np.float64).reshape(self.policies, count)
        found: Floats = self.kept[key]
        return found

    def inside(self, name: str, other: str) -> bool:
        """Whether every level of one column lies in one level of another."""
        return self.cells(name, other)[1] == self.cells(name)[1]

    def same(self, name: str, other: str) -> bool:
        """Whether two columns divide the rows alike."""
        return self.inside(name, other) and self.inside(other, name)

    # Facts

    def of_one_policy(self, name: str) -> bool:
        """Whether every level belongs to one policy."""
        return self.policies > 1 and int((self.counts(name) > 0).sum(axis=0).max()) == 1

    def constant_in_policy(self, name: str) -> bool:
        """Whether all rows of each policy have the same level."""
        return int((self.counts(name) > 0).sum(axis=1).max()) == 1

    def shared(self, name: str) -> bool:
        """Whether, for half of the policies, half of their rows lie in levels that another policy met."""
        if self.policies < 2:
            return True
        counts = self.counts(name)
        several = (counts > 0).sum(axis=0) > 1
        share = counts[:, several].sum(axis=1) / counts.sum(axis=1)
        return 2 * int((share >= 0.5).sum()) >= self.policies

    def evenness(self, name: str) -> float:
        """The chance that a policy's shares of the levels are as close to the others' as they are; the middle policy's.

        With one policy: as close to equal shares of all levels.
        """
        key = ("even", name)
        if key not in self.kept:
            counts = self.counts(name)
            if self.policies < 2:
                self.kept[key] = _chance_of_equal(counts[0])
            else:
                total = counts.sum(axis=0)
                self.kept[key] = _middle([_chance_even(own, total) for own in counts])
        found: float = self.kept[key]
        return found

    def even_inside(self, name: str, other: str) -> float:
        """As `evenness`, with the policies' shares taken within every level of another column."""
        codes, count = self.cells(name, other)
        home = np.zeros(count, dtype=np.int64)
        home[codes] = self.columns[other].codes
        counts = self.counts(name, other)
        if self.policies < 2:
            return _chance_of_equal_inside(counts[0], home)
        total = counts.sum(axis=0)
        return _middle([_chance_even_inside(own, total, home) for own in counts])

    def alike_inside(self, name: str, other: str) -> bool:
        """Whether the policies' shares of the levels overlap far beyond chance within every level of another column."""
        if self.policies < 2:
            return True
        codes, count = self.cells(name, other)
        home = np.zeros(count, dtype=np.int64)
        home[codes] = self.columns[other].codes
        counts, levels = self.counts(name, other), len(self.columns[other])
        total = counts.sum(axis=0)
        overlap, weight = 0.0, 0.0
        for own in counts:
            rest = total - own
            own_home, rest_home = (np.bincount(home, side, minlength=levels) for side in (own, rest))
            both = (own_home > 0) & (rest_home > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.minimum(own / own_home[home], rest / rest_home[home])
            met = both[home]
            by_home = np.bincount(home[met], least[met], minlength=levels)
            overlap += float((by_home * own_home)[both].sum())
            weight += float(own_home[both].sum())
        if weight == 0.0:
            return False
        shares = self.counts(name).sum(axis=0) / self.rows.sum()
        chance = float((shares**2).sum())
        return chance < 1.0 and (overlap / weight - chance) / (1.0 - chance) >= ALIKE

    def counting(self, name: str, within: Sequence[str]) -> bool:
        """Whether whole numbers from 0 or 1 count the rows of the cells that policy and other columns make.

        They are distinct in the cells, and all of them together span little more than the largest cell holds: rows that
        were lost leave gaps in some cells, and a yes or no does not count cells of one row.
        """
        numbers = self.columns[name].numbers
        if numbers is None:
            return False
        key = ("counting", name, *sorted(within))
        if key not in self.kept:
            cells, count = self.cells(POLICY, *within)
            fine, many = self.cells(POLICY, name, *within)
            first = np.zeros(many, dtype=np.int64)
            first[fine] = np.arange(len(fine))
            home = cells[first]
            rows = np.bincount(cells, self.rows, minlength=count)
            distinct = np.bincount(home, minlength=count)
            told = float((rows == distinct).mean()) >= MOSTLY
            longest = int(numbers.max()) - int(numbers.min()) + 1
            self.kept[key] = told and longest <= SPAN * int(distinct.max())
        found: bool = self.kept[key]
        return found


POLICY = "\0policy"
"""The name of the policy among the columns of a cell; no column of a file is called that."""


def _middle(chances: list[float]) -> float:
    return sorted(chances)[ceil(len(chances) / 2) - 1]


def _chance_even(own: Floats, total: Floats) -> float:
    """The chance of shares as even as one policy's against all others', or more so."""
    met = own > 0
    kept = total > 0
    if met.any() and own[met].mean() >= AVERAGE:
        kept = met & (total > own)
    if kept.sum() < 2 or not own[kept].sum() or own[kept].sum() == total[kept].sum():
        return 1.0
    share = own[kept].sum() / total[kept].sum()
    distance = ((own[kept] - share * total[kept]) ** 2 / (total[kept] * share * (1.0 - share))).sum()
    return chi_squared_below(float(distance), int(kept.sum()) - 1)


def _chance_even_inside(own: Floats, total: Floats, home: Ints) -> float:
    levels = int(home.max()) + 1
    met = own > 0
    counted = total > 0
    if met.any() and own[met].mean() >= AVERAGE:
        counted = met & (total > own)
    mine, all_of = (np.bincount(home[counted], side[counted], minlength=levels) for side in (own, total))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (mine / all_of)[home]
        kept = counted & (share > 0.0) & (share < 1.0)
    if not kept.any():
        return 1.0
    degrees = int(kept.sum()) - int(np.count_nonzero(np.bincount(home[kept])))
    if degrees < 1:
        return 0.0
    part, whole, expected = own[kept], total[kept], share[kept]
    return chi_squared_below(
        float(((part - expected * whole) ** 2 / (whole * expected * (1.0 - expected))).sum()), degrees
    )


def _chance_of_equal(own: Floats) -> float:
    """The chance that equal shares of all levels look as equal as they do, or more so; for a table of one policy."""
    if len(own) < 2:
        return 1.0
    return chi_squared_below(float(((own - own.mean()) ** 2 / own.mean()).sum()), len(own) - 1)


def _chance_of_equal_inside(own: Floats, home: Ints) -> float:
    levels = int(home.max()) + 1
    mean = (np.bincount(home, own, minlength=levels) / np.bincount(home, minlength=levels))[home]
    degrees = len(own) - int(np.count_nonzero(np.bincount(home)))
    return 0.0 if degrees < 1 else chi_squared_below(float(((own - mean) ** 2 / mean).sum()), degrees)
