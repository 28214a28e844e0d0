"""`surefoot columns`: what every column of a file was taken for, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from surefoot._files import write_whole
from surefoot.cli import files, terminal

if TYPE_CHECKING:
    from surefoot.table.design import Design


@files.reads
def columns(
    paths: files.Paths,
    save: Annotated[
        bool, typer.Option("--save", help=f"Keep the roles in {files.KEPT} beside the files, for the next time.")
    ] = False,
    *,
    reading: files.Reading,
    as_json: terminal.AsJson = False,
) -> None:
    """What was every column taken for, and why?

    Every column is a unit, repeat, setting, cluster, run, watched or nothing. Roles follow from the shape of the table,
    not from names or outcomes. What is said with --unit, --repeat, --setting, --cluster, --run or --ignore wins.

    Examples:

        surefoot columns results.csv

        surefoot columns results.csv --unit scene --repeat trial --save
    """
    table = files.table(paths, reading)
    found = table.design
    if as_json:
        terminal.show_json({**found.to_dict(), "roles": found.roles})
    else:
        typer.echo(str(found))
        typer.echo(f"Read as: {found.reading()}.")
    if save:
        first = paths[0]
        path = (first if first.is_dir() else first.parent) / files.KEPT
        write_whole(path, written(found))
        typer.echo(f"Wrote {path}", err=as_json)


def written(design: Design) -> str:
    """The roles as TOML."""
    import json

    lines = ["# What the columns of the results beside this file are. Written by surefoot columns --save.", "[columns]"]
    for role in ("unit", "repeat", "setting", "cluster", "run"):
        names = [column.name for column in design.of(role)]
        if names:
            lines.append(f"{role} = {json.dumps(names[0] if role == 'unit' else names, ensure_ascii=False)}")
    ignored = [column.name for column in design.columns if design.declared.get(column.key) == "ignore"]
    if ignored:
        lines.append(f"ignore = {json.dumps(ignored, ensure_ascii=False)}")
    return "\n".join(lines) + "\n"
