"""`surefoot formats`: which files can be read, and how?"""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli import terminal
from surefoot.errors import DataError


def formats(
    word: Annotated[
        str | None, typer.Argument(metavar="WORD", help="Only formats whose description contains this word.")
    ] = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Which files can be read?

    Every format with the file it is, what of it becomes what, and a command. A file is recognised by its content.

    Examples:

        surefoot formats

        surefoot formats promptfoo
    """
    from surefoot.files import preferences, workbooks
    from surefoot.files.formats import importers

    known = [*(importer.ABOUT for importer in importers()), workbooks.ABOUT, *preferences.ABOUT]
    known.sort(key=lambda one: one.name.casefold())
    wanted = (word or "").casefold()
    found = [one for one in known if wanted in " ".join((one.name, one.file, one.becomes, one.example)).casefold()]
    if not found:
        raise DataError(f"A format must be one of {', '.join(one.name for one in known)}; got {word!r}.")
    if as_json:
        terminal.show_json([one.to_dict() for one in found])
        return
    for one in found:
        typer.echo(f"{one.name}: {one.file}")
        typer.echo(f"  {one.becomes}")
        typer.echo(f"  {one.example}")
