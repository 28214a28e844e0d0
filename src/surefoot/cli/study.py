"""`surefoot study`: create, run and read a live study."""

from __future__ import annotations

import typer

from surefoot.cli.serve import serve
from surefoot.cli.study_create import create
from surefoot.cli.study_log import amend, anchor, backup, export, report, restore, status, unblind, verify
from surefoot.cli.study_record import record, undo, void
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


RUNNING = (create, serve, run, status, record, undo, void, release)
READING = (unblind, report, verify, anchor, backup, export, restore, amend)
for command in (*RUNNING, *READING):
    app.command()(command)
