"""`surefoot study`: create, run and read a live study."""

from __future__ import annotations

import typer

from surefoot.cli.serve import serve

app = typer.Typer(help="A live study: blind, randomised, crash-safe.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """A live study: blind, randomised, crash-safe."""


app.command()(serve)
