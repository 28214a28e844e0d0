"""A column per policy and a row per session, as RoboArena's researchers keep them; an empty cell was not run."""

from __future__ import annotations

import csv
import io

import polars as pl

from surefoot.errors import DataError
from surefoot.rollouts.columns import COLUMNS, OTHER_NAMES
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet

KNOWN = frozenset(COLUMNS).union(*OTHER_NAMES.values())


def recognises(head: Head) -> bool:
    """Two or more columns, none of them known by name, and nothing but numbers from 0 to 1 in the first rows."""
    if len(head.header) < 2 or KNOWN & head.plain_header or len(set(head.header)) < len(head.header):
        return False
    if not all(name.strip() for name in head.header) or any(_share(name) for name in head.header):
        return False
    lines = head.text.split("\n")[1:][:50]
    try:
        rows = [row for row in csv.reader(io.StringIO("\n".join(lines[:-1] or lines)), delimiter=head.separator) if row]
    except csv.Error:
        return False
    cells = [cell.strip() for row in rows for cell in row]
    return any(cells) and all(len(row) == len(head.header) for row in rows) and all(_share(c) for c in cells if c)


def load(head: Head) -> Sheet:
    """One row per filled cell; the row's number is the session, shared by every policy run in it."""
    table = pl.read_csv(head.path, separator=head.separator, infer_schema=False, glob=False)
    numbers = table.select(pl.all().str.strip_chars().replace("", None))
    for name in numbers.columns:
        value = numbers[name].cast(pl.Float64, strict=False)
        bad = (numbers[name].is_not_null() & ~value.is_finite().fill_null(value=False)).arg_true()
        if len(bad):
            row = int(bad[0])
            message = f"column {name!r} must hold numbers or nothing; got {numbers[name][row][:40]!r}."
            raise DataError(message, source=head.name, row=row + 1)
    long = (
        numbers.with_row_index("condition", offset=1)
        .unpivot(index="condition", variable_name="policy", value_name="value")
        .with_columns(pl.col("value").cast(pl.Float64))
        .drop_nulls("value")
    )
    binary = bool(long["value"].is_in([0.0, 1.0]).all())
    column = "success" if binary else "score"
    frame = (
        long.rename({"value": column}).with_columns(pl.col("condition").alias("session")).sort("condition", "policy")
    )
    empty = numbers.height * numbers.width - long.height
    notes = (
        f"Each column is taken as a policy and each row as a session they share; the cells are {column}.",
        *((f"{empty:,} empty cells were not run and are no rollouts.",) if empty else ()),
    )
    return Sheet(frame.lazy(), "one column per policy", notes)


def _share(cell: str) -> bool:
    try:
        return 0.0 <= float(cell) <= 1.0
    except ValueError:
        return False
