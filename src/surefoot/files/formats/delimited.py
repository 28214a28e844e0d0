"""CSV and TSV: any table of rollouts with a header."""

from __future__ import annotations

import polars as pl

from surefoot.core.notes import Noted
from surefoot.files.importers import About, Sheet
from surefoot.files.recognising import Head
from surefoot.files.text_files import HELD_IN_MEMORY, refuse_repeated, text_frame
from surefoot.table.columns import KNOWN, OUTCOMES, TEXT, match, plain

ABOUT = About(
    name="CSV, TSV",
    file="results.csv",
    becomes="a row per rollout; column names matched, guesses noted",
    example="surefoot compare results.csv --first new --second old",
)

DECIMAL_COMMA = r"^(\s*-?\d+),(\d+\s*)$"


def recognises(head: Head) -> bool:
    """A header that names an outcome."""
    return not head.is_json and bool(OUTCOMES & head.plain_header)


def load(head: Head) -> Sheet:
    """Cells as text, outcomes as numbers where all are; columns are matched and cells parsed afterwards."""
    refuse_repeated([name for name in head.header if plain(name) in KNOWN], head.name)
    frame, left = text_frame(head, numbers=True)
    commas = _commas(frame) if head.separator == ";" else []
    notes: list[Noted] = [*left.notes]
    if commas:
        frame = frame.with_columns(pl.col(commas).str.replace(DECIMAL_COMMA, "$1.$2"))
        notes.append(f"Commas in {', '.join(map(repr, commas[:4]))} are decimal commas: semicolons separate the cells.")
    kind = "TSV" if head.separator == "\t" else "CSV"
    return Sheet(frame, kind, tuple(notes), hold=head.size <= HELD_IN_MEMORY, left_out=left)


def _commas(frame: pl.LazyFrame) -> list[str]:
    """The columns with numbers such as 0,75, which semicolons allow; names stay as they are."""
    header = list(frame.collect_schema())
    named = match(header, {})[0]
    texts = {named[column] for column in TEXT if column in named}
    numbers = [name for name, kind in frame.collect_schema().items() if name not in texts and kind == pl.String]
    if not numbers:
        return []
    found = frame.select(pl.col(numbers).str.contains(DECIMAL_COMMA).any()).collect(engine="streaming")
    return [name for name in numbers if found[name].item()]
