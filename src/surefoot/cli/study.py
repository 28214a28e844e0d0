"""`surefoot study`: create, run and read a live study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli import modes
from surefoot.cli.open import console_extra, serve_here
from surefoot.cli.study_create import create
from surefoot.cli.study_log import (
    Author,
    Clips,
    Kept,
    Notify,
    amend,
    anchor,
    backup,
    export,
    opened,
    override,
    report,
    restore,
    status,
    unblind,
    verify,
    withdraw,
)
from surefoot.cli.study_run import record, release, run, undo, void

TokensFile = Annotated[Path | None, typer.Option("--tokens", help="The tokens' file, made if there is none.")]


def beside(store: str, study: str) -> Path:
    """Where a study's tokens are kept, unless told otherwise."""
    return Path(f"surefoot-{study}.tokens.json" if "://" in store else f"{store}.tokens.json")


def plan(
    path: Annotated[Path, typer.Argument(metavar="[PLAN]", help="The plan's file, or where to write it.")] = Path(
        "plan.toml"
    ),
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in your browser.")] = True,
) -> None:
    """Write a plan in the browser, and see what it will take.

    The page answers this machine only, and there only who has its address, until you press Ctrl+C. Nothing is fixed:
    `surefoot study create` does that.

    Examples:

        surefoot study plan plan.toml
    """
    with console_extra("study plan"):
        from surefoot.console.plan_page import PlanPage

    serve_here(PlanPage(path), port, browser=browser)


@modes.of("study serve")
def serve(
    store: Kept,
    lan: Annotated[
        bool, typer.Option("--lan", help="Also answer phones on this network; everyone needs a token.")
    ] = False,
    host: Annotated[str | None, typer.Option(help="The address to listen at, instead of the one --lan finds.")] = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8765,
    name: Annotated[list[str] | None, typer.Option(help="A further host name it answers to, behind a proxy.")] = None,
    tokens: TokensFile = None,
    certificate: Annotated[Path | None, typer.Option(help="A TLS certificate, to serve over HTTPS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's private key.")] = None,
    clips: Clips = None,
    notify: Notify = None,
) -> None:
    """Run a study from a phone, a browser or a script.

    It is served until you press Ctrl+C.

    Examples:

        surefoot study serve study.db

        surefoot study serve study.db --lan

        surefoot study serve 'postgresql://lab/evals?study=grasping' --lan --port 9000
    """
    from surefoot.console.authentication import Tokens
    from surefoot.console.serving import Place, lan_address
    from surefoot.console.serving import serve as start

    if not 0 <= port <= 65_535:
        raise ValueError(f"`--port` must be a whole number from 0 to 65535; got {port}.")
    study = opened(store, clips=clips)
    known = study.status().study
    kept = tokens or beside(store, known)
    place = Place(host or (lan_address() if lan else "127.0.0.1"), port, tuple(name or ()), certificate, key)
    start(study, Tokens.kept(kept, known), place, say=typer.echo, notify=notify)


@modes.of("study invite")
def invite(
    name: Annotated[str, typer.Argument(help="The person or robot.")],
    store: Kept = "study.db",
    role: Annotated[str, typer.Option(help="What they may do: operator, runner or owner.")] = "operator",
    address: Annotated[str, typer.Option(help="Where the study is served, for a whole link.")] = "",
    tokens: TokensFile = None,
    author: Author = "",
    end: Annotated[bool, typer.Option("--end", help="Let their token in no more.")] = False,
) -> None:
    """Give a person or a robot a token of their own.

    It proves their name in the log: from then on nobody can use that name without it. A server that runs takes it in at
    once. Asked again, the earlier token is replaced.

    Examples:

        surefoot study invite anna

        surefoot study invite arm-1 study.db --role runner --address http://192.168.1.20:8765
    """
    from surefoot.console.authentication import ROLES, Tokens

    wanted = next((one for one in ROLES if one == role), None)
    if wanted is None:
        raise ValueError(f"`--role` must be one of {', '.join(ROLES)}; got {role!r}.")
    study = opened(store, author)
    known = study.status().study
    kept = Tokens.kept(tokens or beside(store, known), known)
    if end and all(one.name != name for one in kept.invited):
        raise ValueError(f"{name!r} was not invited: {', '.join(one.name for one in kept.invited) or 'nobody'} was.")
    study.invite(name, None if end else wanted)
    changed = kept.inviting(name, None if end else wanted).written(known)
    if end:
        typer.echo(f"The token of {name} lets nobody in any more.")
        return
    link = f"{address.rstrip('/')}/join#" if address else ""
    typer.echo(f"{name}, {role}: {link}{changed.invited[-1].token.reveal()}")
    typer.echo("Only this token proves the name. Give it to nobody else.")


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


RUNNING = (plan, create, serve, invite, run, status, record, undo, void, release)
READING = (unblind, report, verify, anchor, backup, export, restore, amend, override, withdraw)
for command in (*RUNNING, *READING):
    app.command()(command)
