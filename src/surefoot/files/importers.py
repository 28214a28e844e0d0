"""What an importer says of its format, and what it hands over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.core.notes import Noted
from surefoot.core.record import Record
from surefoot.errors import DataError
from surefoot.files.stray_rows import LeftOut
from surefoot.table.findings import Finding
from surefoot.table.given_letters import GivenLetters

if TYPE_CHECKING:
    import polars as pl

    from surefoot.table.rollouts import Collected


@dataclass(frozen=True, slots=True)
class About(Record):
    """What a user must know of a format.

    Attributes:
        name: What it is called.
        file: Which file it is, and what writes it.
        becomes: What of it becomes what.
        example: A command on such a file.
    """

    name: str
    file: str
    becomes: str
    example: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """One file's rows, before columns are matched and cells parsed.

    Attributes:
        frame: The rows; column names are canonical where the format fixes their meaning.
        format: The format's name, for notes.
        notes: What was decided.
        findings: What an audit must repeat.
        ordered: Whether the rows are in the order they were run.
        hold: Whether to read it once into memory; a file too big for that is read again for every question.
        aggregate: Whether rows were rebuilt from counts, so that they repeat what per-rollout files may also hold.
        low: The least score the format allows, when it says so.
        high: The greatest score the format allows, when it says so.
        letters: The letters that the file carries, from its authors' own test.
        after_path: How policies are called after the path, and nowhere in the file: '{name} @ 100'.
        unnamed: The policies' names when the file has none, in the order of its columns: 'policy 0', 'policy 1'.
        policies_in: The columns that are policies, where each has one and a row is what they share.
        named: What the format calls a canonical column, where `frame` no longer says it: condition is 'scene'.
        records: The objects that the rows were made of, one each in order, for fields that are asked for by path.
        roles: What the format says its columns are, by column: the unit, its repeats, a setting.
        repeats: The name of a file that, where it lies in the same folder, holds the same rollouts and more.
        left_out: The rows of the file that are not in `frame`, so that refusals can say where a row stands.
        unfinished: Why the run that the file tells of is not whole; such a file of a folder is left out.
        run: What tells the run from all others, where the format says it; the same run is read once.
        collected: How environments were met, where the format says it.
    """

    frame: pl.LazyFrame
    format: str
    notes: tuple[Noted, ...] = ()
    findings: tuple[Finding, ...] = ()
    ordered: bool = True
    hold: bool = True
    aggregate: bool = False
    low: float | None = None
    high: float | None = None
    letters: tuple[GivenLetters, ...] = ()
    after_path: str = ""
    unnamed: tuple[str, ...] = ()
    policies_in: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    records: Sequence[Any] = field(default=(), repr=False)
    roles: Mapping[str, str] = field(default_factory=dict)
    repeats: str = ""
    left_out: LeftOut = field(default_factory=LeftOut)
    unfinished: str = ""
    run: str = ""
    collected: Collected | None = None


ITEMS = {"condition": "unit", "repeat": "repeat", "run": "repeat", "task": "setting"} | dict.fromkeys(
    ("tokens", "cost"), "ignore"
)
"""The roles of a log of items: every policy meets an item, an epoch or a rerun meets it again, a price is measured."""


def told_apart(table: pl.LazyFrame, *, several: bool | None = None) -> pl.LazyFrame:
    """Items that every task numbers anew, with the task before the number: item 7 of one is no item of another.

    Args:
        table: Rows with a task and a condition, as a format of logs with items gives them.
        several: Whether there are several tasks; found in the table when not said.
    """
    import polars as pl

    if several is None:
        several = table.select(pl.col("task").n_unique()).collect().item() > 1
    if not several:
        return table
    numbered = pl.col("condition").str.contains(r"^\d+$") & pl.col("task").is_not_null()
    apart = pl.concat_str(pl.col("task"), pl.lit(" "), pl.col("condition"))
    return table.with_columns(pl.when(numbered).then(apart).otherwise(pl.col("condition")).alias("condition"))


class NoOutcomesError(DataError):
    """A file of a known format whose rows have no outcome by themselves, such as perplexities; others may be read."""


def frame_of(rows: Iterable[Mapping[str, Any]], source: str) -> pl.LazyFrame:
    """Rows as a frame: one type per column, text where types are mixed, so that every cell can be shown."""
    import polars as pl

    rows = list(rows)
    header = list(rows[0]) if rows else []
    if 0 < len(header) <= MOST_COLUMNS and all(list(row) == header for row in rows):
        columns = zip(*[row.values() for row in rows], strict=True)
        return pl.LazyFrame([series(name, list(column), source) for name, column in zip(header, columns, strict=True)])
    table: dict[str, list[Any]] = {}
    count = 0
    for count, row in enumerate(rows, 1):
        for name, value in row.items():
            column = table.get(name)
            if column is None:
                if len(table) >= MOST_COLUMNS:
                    raise too_wide(len(table) + 1, source)
                column = table[name] = [None] * (count - 1)
            elif len(column) < count - 1:
                column.extend([None] * (count - 1 - len(column)))
            column.append(value)
    for column in table.values():
        column.extend([None] * (count - len(column)))
    return pl.LazyFrame([series(name, values, source) for name, values in table.items()])


MOST_COLUMNS = 10_000


def too_wide(columns: int, source: str) -> DataError:
    """The refusal of a table with absurdly many columns."""
    return DataError(
        f"a row must have at most {MOST_COLUMNS:,} columns; got {columns:,}. Are rows and columns swapped?",
        source=source,
    )


def series(name: str, values: list[Any], source: str) -> pl.Series:
    """Values as a column: of one type, or text where types are mixed."""
    import polars as pl

    kinds = {*map(type, values)} - {type(None)}
    _encodable(name, None, source)
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds <= {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(name, values, dtype=pl.Float64)
    if kinds == {str}:
        try:
            return pl.Series(name, values, dtype=pl.String)
        except UnicodeEncodeError:  # said below, with the row
            pass
    return pl.Series(name, [_text(value, row, source) for row, value in enumerate(values, 1)], dtype=pl.String)


def _text(value: Any, row: int, source: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return _encodable(value, row, source)
    return _encodable(json.dumps(value, ensure_ascii=False), row, source)


def _encodable(text: str, row: int | None, source: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(f"text must be valid Unicode; got {text[:40]!r}.", source=source, row=row) from None
    return text
