"""`surefoot items`: which items of a benchmark are saturated, flaky or suspicious?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import surefoot as sf
from surefoot._files import write_whole
from surefoot.cli import files, modes, terminal
from surefoot.core.formatting import csv_text
from surefoot.core.interval import Interval


@modes.of("items")
@files.reads
def items(
    paths: files.Paths,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write a row for each item, as CSV.")
    ] = None,
    draw: Annotated[
        int | None,
        typer.Option("--draw", metavar="N", help="Draw N items to run every night; -o is the file that --drawn reads."),
    ] = None,
    drawn: Annotated[
        Path | None,
        typer.Option("--drawn", metavar="FILE", help="The mean of the whole list, from the items of this draw."),
    ] = None,
    seed: terminal.Seed = None,
    *,
    reading: files.Reading,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Which items are saturated, flaky or suspicious?

    An item that all pass or all fail tells no two policies apart. A flaky one disagrees with itself more than the
    others do; a suspicious one is passed less often by stronger policies. One error covers all items.

    Examples:

        surefoot items results.csv

        surefoot items logs/ -o items.csv

        surefoot items results.csv --draw 200 --seed 7 -o nightly.csv

        surefoot items tonight.csv --drawn nightly.csv
    """
    table = files.table(paths, reading)
    if draw is not None and output is not None:
        from surefoot.analysis.items import draw_items

        made = draw_items(table, draw, rng=seed, confidence=confidence)
        table_of = made.table()
        write_whole(output, csv_text([table_of.columns, *table_of.iter_rows()]))
        terminal.show(made, as_json=as_json)
        typer.echo(f"Wrote {output}", err=as_json)
        return
    if drawn is not None:
        from surefoot.analysis.items import whole_list

        _whole(whole_list(table, drawn, confidence=confidence), as_json)
        return
    found = sf.items(table, confidence=confidence)
    if output is not None:
        table_of = found.table()
        write_whole(output, csv_text([table_of.columns, *table_of.iter_rows()]))
    terminal.show(found, as_json=as_json)
    if output is not None:
        typer.echo(f"Wrote {output}", err=as_json)


def _whole(found: dict[str, Interval], as_json: bool) -> None:
    """The mean of the whole list, for each policy."""
    if as_json:
        terminal.show_json({policy: one.to_dict() for policy, one in found.items()})
        return
    for policy, one in found.items():
        typer.echo(f"{policy}, all items of the list: {one}")
    for line in dict.fromkeys(str(note) for one in found.values() for note in one.notes):
        typer.echo(f"  {line}")
