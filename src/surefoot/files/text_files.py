"""How is a long text read line by line without trusting its lines?"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from surefoot.errors import DataError
from surefoot.files.json_files import parsed
from surefoot.files.recognising import LARGEST_TEXT, LONGEST_LINE, Head, utf8
from surefoot.files.row_checks import Rows, checked

LARGEST_LINES = 4 * LARGEST_TEXT


def json_lines(head: Head) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, each with its row."""
    if head.size > LARGEST_LINES:
        raise DataError(
            f"JSON Lines must be at most {LARGEST_LINES >> 20:,} MiB; got {head.size >> 20:,} MiB. "
            "Write the rollouts to Parquet or CSV, which are read piece by piece.",
            source=head.name,
        )
    row = 0
    with head.path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if not line.strip():
                continue
            row += 1
            if len(line) == LONGEST_LINE:
                raise DataError(f"a line must be shorter than {LONGEST_LINE >> 20} MiB.", source=head.name, row=row)
            text = utf8(line, head.name, row=row, encoding="utf-8-sig" if row == 1 else "utf-8")
            value = parsed(text, head.name, row=row)
            if not isinstance(value, dict):
                message = f"a rollout must be a JSON object; got {str(value)[:60]!r}."
                raise DataError(message, source=head.name, row=row)
            yield row, value


def json_records(head: Head) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, or the one object of a file that has no more."""
    if head.first_record is not None:
        yield from json_lines(head)
    else:
        yield 1, head.json_object


def first_record(head: Head) -> dict[str, Any]:
    """The first object of such a file; empty when it is none."""
    return head.json_object if head.first_record is None else head.first_record


def checked_rows(head: Head) -> Rows:
    """The rows of a delimited file, counted; refused when one is not what the header promises."""
    with head.path.open("rb") as file:
        return checked(file, header=head.header, separator=head.separator, source=head.name)


def csv_rows(head: Head) -> tuple[list[str], list[tuple[int, dict[str, str | None]]]]:
    """The header and rows of a small delimited file, each with its row; empty cells are none."""
    text = head.whole_text()
    checked_rows(head)
    rows: list[tuple[int, dict[str, str | None]]] = []
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=head.separator, strict=True)
        header = [name.strip() for name in next(lines)]
        refuse_repeated([name for name in header if name], head.name)
        for row, cells in enumerate((line for line in lines if any(map(str.strip, line))), 1):
            rows.append((row, {name: cell.strip() or None for name, cell in zip(header, cells, strict=True)}))
    except csv.Error as error:
        raise DataError(f"the file must be delimited text; {error}.", source=head.name) from None
    if not rows:
        raise DataError("there must be at least one row; got a header and no rows.", source=head.name)
    return header, rows


def refuse_repeated(names: Sequence[str], source: str) -> None:
    """Refuse a header that names a column twice: which of the two is meant cannot be told."""
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise DataError(f"a column must be named once in the header; got {twice!r} twice.", source=source)
