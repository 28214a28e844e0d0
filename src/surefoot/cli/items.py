"""`surefoot items`: which items of a benchmark are saturated, flaky or suspicious?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import surefoot as sf
from surefoot._files import write_whole
from surefoot.cli import files, terminal
from surefoot.core.formatting import csv_text


@files.reads
def items(
    paths: files.Paths,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write a row for each item, as CSV.")
    ] = None,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = 0.95,
    as_json: terminal.AsJson = False,
) -> None:
    """Which items are saturated, flaky or suspicious?

    An item that all pass or all fail tells no two policies apart. A flaky one disagrees with itself more than the
    others do; a suspicious one is passed less often by stronger policies. One error covers all items.

    Examples:

        surefoot items results.csv

        surefoot items logs/ -o items.csv
    """
    table = files.table(paths, reading)
    found = sf.items(table, confidence=confidence)
    if output is not None:
        made = found.table()
        write_whole(output, csv_text([made.columns, *made.iter_rows()]))
    terminal.show(found, as_json=as_json)
