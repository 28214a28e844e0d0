"""Sheets with a column for each policy, as a row for each rollout.

Every row of such a sheet is one environment that its policies share: the row's own columns (task, starting pose, trial)
say which, and an empty cell is a rollout that was not run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot._arguments import in_python, write
from surefoot.core import formatting
from surefoot.errors import DataError
from surefoot.files.importers import Sheet
from surefoot.files.recognising import Head
from surefoot.files.stray_rows import LeftOut
from surefoot.table.cells import NO, WORDS, YES, reading, wrong_cell
from surefoot.table.columns import KNOWN, OTHER_NAMES, match, plain

if TYPE_CHECKING:
    import polars as pl

ROW, CELL = "__row__", "__cell__"
LONGEST_LABEL = 60
"""A longer text is a note, and no name of a row."""


def unpivoted(sheet: Sheet, columns: Mapping[str, str], *, source: str, guessed: bool = False) -> Sheet:
    """The rollouts of a sheet whose `policies_in` are policies.

    Args:
        sheet: The sheet, a row per environment.
        columns: What the user said of the other columns, canonical name to the sheet's.
        source: The file's name, for messages.
        guessed: Whether nobody said that these columns are policies.
    """
    import polars as pl

    policies = list(sheet.policies_in)
    table = sheet.frame.collect()
    absent = next((name for name in policies if name not in table.columns), None)
    if absent is not None or len(set(policies)) < len(policies):
        got = f"there is no {absent!r}" if absent is not None else "one is named twice"
        there = formatting.some_names([repr(name) for name in table.columns], 12)
        raise DataError(f"`policies_in` must name columns, each once; {got}. There are {there}.", source=source)
    cells = table.select(pl.col(policies).cast(pl.String).str.strip_chars().replace("", None))
    kind = _outcomes(cells, source, guessed=guessed)
    others = [name for name in table.columns if name not in policies]
    if "policy" in others:
        raise DataError(
            "policies must be columns, or be named in one column; got both `policies_in` and a column 'policy'.",
            source=source,
        )
    others = [name for name in others if name != kind]
    rows, unit = _told_apart(table.with_row_index(ROW).select(ROW, *others))
    long = (
        cells.with_row_index(ROW)
        .unpivot(index=ROW, variable_name="policy", value_name=kind)
        .drop_nulls(kind)
        .sort(ROW, maintain_order=True)
        .join(rows, on=ROW, how="left", maintain_order="left")
        .drop(ROW)
    )
    if not long.height:
        raise DataError("at least one cell of a policy must be filled; all are empty.", source=source)
    empty = cells.height * cells.width - long.height
    shown = formatting.some_names([repr(name) for name in policies], 8)
    said = [f"The columns {shown} are compared, and each row is shared by them; the cells are {kind}."]
    said += [f"{formatting.counted(empty, 'empty cell')} counted as not run."] if empty else []
    known = [column for column, name in match(long.columns, columns)[0].items() if name == unit]
    return replace(
        sheet,
        frame=long.lazy(),
        notes=(*sheet.notes, *said),
        named={"policy": "", **sheet.named},
        roles=dict.fromkeys((*known, unit), "unit"),  # a column of other than whole numbers keeps the sheet's name
        policies_in=(),
        hold=True,
        left_out=LeftOut(),
    )


def _outcomes(cells: pl.DataFrame, source: str, *, guessed: bool) -> str:
    """Whether the cells are successes or scores; the first that is neither is refused with its row."""
    import polars as pl

    lower = cells.select(pl.all().str.to_lowercase())
    known, spoken = (lower.select(pl.all().is_in(one)) for one in ([*YES, *NO], [*WORDS]))
    if known.select(pl.all_horizontal(pl.all().fill_null(value=True).all())).item():
        return "success"
    worded = spoken.select(pl.any_horizontal(pl.all().fill_null(value=False).any())).item()
    number = pl.all().str.strip_suffix("%").cast(pl.Float64, strict=False).is_finite()
    fine = (known if worded else cells.select(number)).select(pl.all().fill_null(value=False))
    bad = {name: (cells[name].is_not_null() & ~fine[name]).arg_true() for name in cells.columns}
    wrong = [(int(places[0]), name) for name, places in bad.items() if len(places)]
    if wrong:
        row, name = min(wrong, key=lambda place: place[0])
        others = write("policies_in", [one for one in cells.columns if one != name])
        hint = f"If {name!r} is not a policy, say which columns are: {others}." if guessed else ""
        column = "success" if worded else "score"
        raise wrong_cell(column, name, cells[name][row], source=source, row=row + 1, cure=hint)
    return "score"


def _told_apart(rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The columns beside the policies, and the one that tells rows apart: words before numbers, else their number."""
    import polars as pl

    cells = rows.select(pl.exclude(ROW).cast(pl.String).str.strip_chars().replace("", None))
    told = [name for name in cells.columns if cells[name].drop_nulls().n_unique() == cells.height]
    told = [name for name in told if (cells[name].str.len_chars() <= LONGEST_LABEL).all()]
    if told:
        return rows, min(told, key=lambda name: cells[name].cast(pl.Float64, strict=False).is_not_null().any())
    unit = "row" if "row" not in cells else "row of the sheet"
    return rows.with_columns((pl.col(ROW) + 1).cast(pl.String).alias(unit)), unit


KEYS = frozenset(("", "unnamed_0", "id", "uuid", "row", "index", "episode", "trial", "no", "nr", "run"))
"""What a column that only numbers the rows may be called."""
PARTS = (
    *("grasp", "lift", "pick", "place", "reach", "open", "clos", "push", "pull", "pour", "insert", "release", "touch"),
    *("contact", "move", "approach", "align", "stage", "step", "phase", "milestone", "subtask", "sub_task", "part"),
    *("check", "criteri", "rubric", "item", "question", "q", "metric", "safe", "collision", "drop", "complete", "done"),
)
"""How the columns of a rubric's sub-tasks begin; they hold outcomes too, and are no policies."""


def is_key(name: str) -> bool:
    """Whether a column is called like one that only tells the rows apart."""
    return plain(name) in KEYS.union(("session", *OTHER_NAMES["session"]))


def perhaps_parts(names: Sequence[str]) -> bool:
    """Whether columns of outcomes may be the sub-tasks of a rubric and not policies."""
    return any(plain(name).rstrip("0123456789_").startswith(PARTS) for name in names)


def may_be_policies(head: Head) -> tuple[str, ...]:
    """The columns of a delimited file that may be policies: of unknown names, most filled cells of them outcomes.

    None when a column is known to name policies or to hold outcomes: then a row is a rollout.
    """
    header = head.header
    found = match(header, {})[0]
    if {"policy", "success", "score", "reward"} & set(found) or len(set(header)) < len(header):
        return ()
    lines = head.text.split("\n")[1:][:200]
    try:
        whole = "\n".join(lines[:-1] or lines)
        rows = [row for row in csv.reader(io.StringIO(whole), delimiter=head.separator) if len(row) == len(header)]
    except csv.Error:
        return ()
    free = [(at, name) for at, name in enumerate(header) if name.strip() and plain(name) not in KNOWN]
    return tuple(
        name
        for at, name in free
        if not (at == 0 and is_key(name)) and not _is_outcome(name) and _mostly([row[at].strip() for row in rows])
    )


def _mostly(cells: Sequence[str]) -> bool:
    """Whether most filled cells are outcomes: yes or no in some word, or a number from 0 to 1."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and 2 * sum(map(_is_outcome, filled)) > len(filled)


def _is_outcome(cell: str) -> bool:
    value = reading(cell.lstrip("'"))
    return value is not None and 0.0 <= value <= 1.0


def untold(policies: Sequence[str], source: str) -> DataError:
    """The refusal of a sheet whose columns of outcomes may be policies or something else."""
    shown = ", ".join(map(repr, policies[:8]))
    return DataError(
        f"the columns that are policies must be known; {shown} hold outcomes and may be policies or sub-tasks.",
        source=source,
        cure=f"Say which are policies: {write('policies_in', policies[:8])}; sub-tasks of one policy are a rubric"
        f"{in_python(', ' + write('rubric', []))}.",
    )
