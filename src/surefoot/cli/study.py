"""`surefoot study`: create, run and read a live study."""

from __future__ import annotations

import typer

from surefoot.cli.serve import serve
from surefoot.cli.study_create import create
from surefoot.cli.study_log import amend, export, report, restore, status, unblind, verify
from surefoot.cli.study_run import release, run

app = typer.Typer(
    help="A live study: blind, randomised, and it says when to stop.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """A live study: blind, randomised, and it says when to stop.

    Nothing that was recorded is lost when a machine fails.

    Examples:

        surefoot study create plan.toml --policies new,old

        surefoot study serve study.db

        surefoot study unblind study.db --reason decided

        surefoot study report study.db -o report.html
    """


for command in (create, serve, run, status, release, unblind, report, verify, export, restore, amend):
    app.command()(command)
