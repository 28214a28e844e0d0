"""Counts behind a reported rate, and rows from counts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import DataError
from surefoot.files.importers import frame_of
from surefoot.table.cells import WORDS
from surefoot.table.columns import OUTCOMES, match, plain
from surefoot.table.findings import Finding

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 20_000_000
UNORDERED = "Rows are rebuilt from counts: the number of successes is known; the order and the pairs are not."


@dataclass(frozen=True, slots=True)
class Rate:
    """A reported rate, as a share, with half a unit of its last printed decimal."""

    value: float
    half_unit: float

    def successes(self, trials: int) -> tuple[int, bool]:
        """The nearest count, and whether it gives the rate as printed."""
        count = min(trials, max(0, round(self.value * trials)))
        return count, abs(count / trials - self.value) <= self.half_unit * (1 + 1e-9) + 1e-12

    def sizes(self, trials: int) -> list[int]:
        """The numbers of rollouts nearest to `trials` that could give the rate."""
        near = sorted(range(2, min(2 * trials, trials + 500) + 1), key=lambda size: (abs(size - trials), size))
        return [size for size in near if self.successes(size)[1]][:3]


def impossible(who: str, rate: Rate, trials: int) -> Finding:
    """A rate that this number of rollouts cannot give."""
    sizes = rate.sizes(trials)
    instead = f"; {', '.join(map(str, sizes))} rollouts could give it" if sizes else ""
    count = rate.successes(trials)[0]
    return Finding(
        about="a rate that n cannot give",
        values={"who": who, "successes": count, "rollouts": trials, "rate": rate.value},
        says=f"{who}: no count of {trials:,} rollouts gives {100 * rate.value:.6g}%{instead}. "
        f"The nearest count, {count:,} of {trials:,}, is used.",
        threatens="The number of rollouts or the rate is wrong. Intervals and tests computed from it are wrong too.",
        remedy="Find the true number of rollouts, or the result of each rollout.",
    )


def names_outcome(document: object) -> bool:
    """Whether a JSON document is one object with an outcome among its keys."""
    return isinstance(document, dict) and any(plain(str(key)) in OUTCOMES for key in document)


def is_rollout(record: Mapping[str, Any]) -> bool:
    """Whether an object that stands alone is a rollout: it says which one it is, or how it went in a word.

    A number by itself, such as ``{"score": 0.71}``, may be a mean over any number of rollouts.
    """
    found = match(map(str, record), {})[0]
    if {"order", "condition"} & set(found):
        return True
    value = record.get(found.get("success", ""))
    return isinstance(value, bool) or (isinstance(value, str) and value.strip().casefold() in WORDS)


def no_table(record: Mapping[str, Any], source: str) -> DataError:
    """The refusal of an object that stands alone and may be a total."""
    shown = json.dumps(record, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return DataError(
        f"a single object must be one rollout; {shown} may be a total over many, and it does not say over how many. "
        "Write a list with an object per rollout, or the counts: successes and trials.",
        source=source,
    )


class Share(NamedTuple):
    """A share of successes that a file gives in full: by which name, of what, of how many, and the cells beside it."""

    value: float | None
    name: str
    who: str
    trials: int
    cells: dict[str, Any]


def rebuilt(shares: Sequence[Share], source: str) -> tuple[pl.LazyFrame, tuple[Finding, ...]]:
    """A row per rollout from shares of successes, and a finding for each share that no count gives."""
    successes, findings = [], []
    for share in shares:
        if share.value is None or not 0.0 <= share.value <= 1.0:
            raise DataError(f"`{share.name}` must be between 0 and 1; got {share.value!r}.", source=source)
        rate = Rate(share.value, 1e-6)
        count, fits = rate.successes(share.trials)
        successes.append(count)
        findings += [] if fits else [impossible(share.who, rate, share.trials)]
    table = frame_of((share.cells for share in shares), source).collect()
    return expand(table, successes, [share.trials for share in shares], source), tuple(findings)


def expand(table: pl.DataFrame, successes: Sequence[int], trials: Sequence[int], source: str) -> pl.LazyFrame:
    """A row per rollout from a row per group; within a group the order means nothing."""
    import numpy as np
    import polars as pl

    if sum(trials) > MOST_ROWS:
        raise DataError(
            f"counts must add up to at most {MOST_ROWS:,} rollouts; got {sum(trials):,}. "
            "Use the tallies themselves: surefoot.Tally(successes, trials).",
            source=source,
        )
    sizes = np.asarray(trials, dtype=np.int64)
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    success = place < np.asarray(successes, dtype=np.int64)[group]
    return table[group].with_columns(pl.Series("success", success)).lazy()


def whole(value: Any, column: str, source: str, row: int, *, least: int) -> int:
    """A count in a cell."""
    try:
        known = float(value)
    except (TypeError, ValueError):
        known = math.nan
    if not known.is_integer() or known < least or known > 2**53:
        raise DataError(f"`{column}` must be a whole number, {least} or more; got {value!r}.", source=source, row=row)
    return int(known)
