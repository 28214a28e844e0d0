"""A column per policy and a row per session, as RoboArena's researchers keep them; an empty cell was not run."""

from __future__ import annotations

import csv
import io

import polars as pl

from surefoot.errors import DataError
from surefoot.rollouts.columns import KNOWN, OTHER_NAMES, plain
from surefoot.rollouts.heads import Head
from surefoot.rollouts.sheets import Sheet
from surefoot.rollouts.texts import checked_rows

KEYS = frozenset(
    ("", "unnamed_0", "id", "uuid", "row", "index", "seed", "condition", "episode", "trial", "session")
).union(OTHER_NAMES["session"])
"""What the first column may be called when it does not belong to a policy but tells the rows apart."""

ROW = "__row__"


def recognises(head: Head) -> bool:
    """Two or more columns, none of them known by name, and nothing but numbers from 0 to 1 in the first rows."""
    policies = head.header[_keyed(head) :]
    if len(policies) < 2 or KNOWN & {plain(name) for name in policies} or len(set(policies)) < len(policies):
        return False
    if not all(name.strip() for name in policies) or any(_share(name) for name in policies):
        return False
    lines = head.text.split("\n")[1:][:50]
    try:
        rows = [row for row in csv.reader(io.StringIO("\n".join(lines[:-1] or lines)), delimiter=head.separator) if row]
    except csv.Error:
        return False
    cells = [cell.strip() for row in rows for cell in row[_keyed(head) :]]
    return any(cells) and all(len(row) == len(head.header) for row in rows) and all(_share(c) for c in cells if c)


def load(head: Head) -> Sheet:
    """One row per filled cell; the row's number is the session, shared by every policy run in it."""
    checked_rows(head)
    table = pl.read_csv(head.path, separator=head.separator, infer_schema=False, glob=False)
    keyed = _keyed(head)
    numbers = table.select(pl.all().str.strip_chars().replace("", None))[:, keyed:]
    for name in numbers.columns:
        value = numbers[name].cast(pl.Float64, strict=False)
        bad = (numbers[name].is_not_null() & ~value.is_finite().fill_null(value=False)).arg_true()
        if len(bad):
            row = int(bad[0])
            message = f"column {name!r} must hold numbers or nothing; got {numbers[name][row][:40]!r}."
            raise DataError(message, source=head.name, row=row + 1)
    long = (
        numbers.with_row_index(ROW, offset=1)
        .unpivot(index=ROW, variable_name="policy", value_name="value")
        .with_columns(pl.col("value").cast(pl.Float64))
        .drop_nulls("value")
        .sort(ROW, "policy")
    )
    binary = bool(long["value"].is_in([0.0, 1.0]).all())
    column = "success" if binary else "score"
    session = _sessions(table[:, 0], head)[long[ROW] - 1] if keyed else long[ROW]
    frame = long.drop(ROW).rename({"value": column}).with_columns(session.alias("condition"), session.alias("session"))
    empty = numbers.height * numbers.width - long.height
    notes = (
        f"Each column is taken as a policy and each row as a session they share; the cells are {column}.",
        *((f"{empty:,} empty cells were not run and are no rollouts.",) if empty else ()),
    )
    return Sheet(frame.lazy(), "one column per policy", notes)


def _keyed(head: Head) -> int:
    """1 when the first column is a key, 0 when it belongs to a policy like the others."""
    return int(bool(head.header) and plain(head.header[0]) in KEYS)


def _sessions(keys: pl.Series, head: Head) -> pl.Series:
    names = keys.str.strip_chars()
    if names.null_count() or names.n_unique() < len(names):
        raise DataError(
            f"the first column, {head.header[0]!r}, must tell the rows apart; a value is missing or repeats.",
            source=head.name,
        )
    return names


def _share(cell: str) -> bool:
    try:
        return 0.0 <= float(cell) <= 1.0
    except ValueError:
        return False
