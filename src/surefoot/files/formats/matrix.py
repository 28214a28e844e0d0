"""A row per model: a matrix with a column per item, or a leaderboard, whose totals are refused."""

from __future__ import annotations

import csv
import itertools
import re
from typing import NamedTuple

import polars as pl

from surefoot._arguments import write
from surefoot.core.formatting import some_names
from surefoot.core.notes import Note, Noted
from surefoot.errors import DataError
from surefoot.files.importers import About, NoOutcomesError, Sheet
from surefoot.files.recognising import LONGEST_LINE, Head
from surefoot.files.stray_rows import TOTALS
from surefoot.files.text_files import refuse_repeated, text_frame
from surefoot.table.cells import NO, YES
from surefoot.table.columns import OTHER_NAMES, match, plain

ABOUT = About(
    name="models by items",
    file="a matrix with a row per model and a column per item; also the other way round",
    becomes="a row per model and item; a leaderboard of totals is refused",
    example="surefoot rank matrix.csv",
)

MODELS = frozenset(("policy", *OTHER_NAMES["policy"], "subject", "subject_id"))
"""What the column of the models' names is called where it can be nothing else."""
PERHAPS = frozenset(("", "unnamed_0", "name", "run"))
"""What it may be called; the names below may be those of items too."""
ROLLOUTS = frozenset(("success", "score", "reward", "condition", "seed", "order", "repeat", "stage", "human"))
NUMBERED = re.compile(r"[a-z]*[\s_#.:-]*\d+", re.IGNORECASE)
"""A name that only counts, as of a run or an episode."""
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*%?(?:\s*(?:±|\+/-|\+-)\s*[\d.,]+\s*%?)?")
MANY = 10
"""A matrix has at least as many items; the columns of fewer may be sub-tasks."""
MANY_SHARES, FEW_VALUES = 20, 11
"""Shares of trials have many items and few different values; totals have many different ones."""
LOOKED_AT = 1000


class _Shape(NamedTuple):
    """Where the models' names stand, the columns that hold a value of each, and what the values are."""

    named: str
    columns: list[str]
    models: list[str]
    kind: str


def recognises(head: Head) -> bool:
    """A first column of different names, and beside it nothing but numbers that are no rollout's."""
    return _shape(head) is not None


def load(head: Head) -> Sheet:
    """A row per model and item; an empty cell was not run."""
    shape = _shape(head)
    if shape is None or shape.kind == "totals":
        raise _leaderboard(shape, head)
    refuse_repeated([name for name in head.header if name.strip()], head.name)
    frame, left = text_frame(head)
    own = dict(zip(head.header, frame.collect_schema(), strict=True))  # polars names a column that has no name
    items = [own[name] for name in shape.columns]
    table = frame.select(pl.col(own[shape.named]).alias("policy"), *items).collect()
    long = table.unpivot(index="policy", variable_name="condition", value_name=shape.kind)
    filled = long.filter(pl.col(shape.kind).str.strip_chars() != "")
    known = pl.col(shape.kind).str.strip_chars().str.to_lowercase().is_in([*YES, *NO])
    if shape.kind == "success" and (odd := filled.filter(~known).head(1).rows()):
        raise DataError(
            "the cell of {!r} and {!r} must be a success or a failure; got {!r}.".format(*odd[0]), source=head.name
        )
    values = {"column": shape.named, "items": len(items), "kind": shape.kind, "empty": long.height - filled.height}
    unused = [name for name in head.header if name not in (shape.named, *shape.columns)]
    notes: list[Noted] = [*left.notes, Note("models by items", values)]
    notes += [Note("unused columns", {"columns": tuple(unused)})] if unused else []
    named = {"policy": shape.named if plain(shape.named) in MODELS else "model", "condition": "item"}
    return Sheet(filled.lazy(), "models by items", tuple(notes), named=named, ordered=False)


def _shape(head: Head) -> _Shape | None:
    header = list(head.header)
    if len(header) < 2 or ROLLOUTS & set(match(header, {})[0]):
        return None
    rows = _first_rows(head)
    called = [plain(name) for name in header[:2]]
    able = (at for at, name in enumerate(called) if name in MODELS | PERHAPS)
    named = next((at for at in able if _are_names(rows, at, sure=called[at] in MODELS)), None)
    if named is None or len(set(header)) < len(header):
        return None
    rest = [at for at in range(len(header)) if at != named and not TOTALS.fullmatch(plain(header[at]))]
    cells = {at: [row[at].casefold() for row in rows if row[at]] for at in rest}
    told = {cell for column in cells.values() for cell in column}
    models, columns = [row[named] for row in rows], [header[at] for at in rest]
    sure = plain(header[named]) in MODELS
    if told and told <= {*YES, *NO}:
        whose = sure or len(rest) > len(rows)
        return _Shape(header[named], columns, models, "success") if whose and len(rest) >= MANY else None
    marks = [at for at in rest if {*cells[at]} & {*YES, *NO}]
    whole = [at for at in marks if {*cells[at]} <= {*YES, *NO}]
    if len(whole) >= MANY and 2 * len(whole) > len(rest) and (sure or len(rest) > len(rows)):
        return _Shape(header[named], [header[at] for at in marks], models, "success")
    numeric = [at for at in rest if cells[at] and all(map(NUMBER.fullmatch, cells[at]))]
    if len(numeric) == len(rest) >= MANY_SHARES and len(told) <= FEW_VALUES and all(map(_is_share, told)):
        return _Shape(header[named], columns, models, "score") if sure or len(rest) > len(rows) else None
    if len(rows) < 2 or 2 * len(numeric) < len(rest) or not numeric:
        return None
    return _Shape(header[named], [header[at] for at in numeric], models, "totals")


def _first_rows(head: Head) -> list[list[str]]:
    """The first rows that may be models, without spaces around their cells; none when one has another width."""
    with head.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = iter(lambda: file.readline(LONGEST_LINE), "")
        try:
            table = csv.reader(lines, delimiter=head.separator)
            found = [[cell.strip() for cell in row] for row in itertools.islice(table, 1, LOOKED_AT) if any(row)]
        except csv.Error:
            return []
    again = [name.strip() for name in head.header]
    found = [row for row in found if row != again and not any(TOTALS.fullmatch(plain(cell)) for cell in row[:2])]
    return found if all(len(row) == len(head.header) for row in found) else []


def _are_names(rows: list[list[str]], at: int, *, sure: bool) -> bool:
    """Whether a column's cells are names, each once, and not numbers of rows; `gpt4` is one below `model`."""
    names = [row[at] for row in rows]

    def tells(name: str) -> bool:
        stem = plain(name).rstrip("0123456789_")
        return not NUMBERED.fullmatch(name) or stem in MODELS or (sure and stem != "")

    return bool(names) and all(names) and len(set(names)) == len(names) and 2 * sum(map(tells, names)) > len(names)


def _is_share(cell: str) -> bool:
    try:
        return 0.0 <= float(cell) <= 1.0
    except ValueError:
        return False


def _leaderboard(shape: _Shape | None, head: Head) -> NoOutcomesError:
    """The refusal of a table of totals."""
    models, columns = (shape.models, shape.columns) if shape else ([], [])
    return NoOutcomesError(
        "a table must hold rollouts or counts; this is a leaderboard, with a row a model "
        f"({some_names([repr(name) for name in models], 3)}) and a column a benchmark or metric "
        f"({some_names([repr(name) for name in columns], 3)}): totals, which do not say of how many rollouts.",
        source=head.name,
        cure="Give the number of rollouts beside each rate: the columns model, task, rate and n, or successes and "
        f"trials. If a row is one rollout, say which column is its score, {write('columns', {'score': None})}; if the "
        f"columns are policies and a cell is one rollout, {write('policies_in', columns[:3])}.",
    )
