"""`surefoot study status`, `unblind`, `report`, `verify`, `export`, `restore`, `amend`: read a study and its log."""

from __future__ import annotations

import shlex
import sys
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli import words
from surefoot.core.words import counted, rollouts
from surefoot.errors import StudyError

if TYPE_CHECKING:
    from surefoot.study.studies import Study

Kept = Annotated[str, typer.Argument(help="The study: a file, or postgresql://host/database?study=NAME.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the log and shown in the report.")]
Author = Annotated[str, typer.Option(help="Who does it; kept in the log.")]
UNSOUND = 65


def opened(store: str, author: str = "") -> Study:
    """The study that is kept there.

    Raises:
        StudyError: There is none, or its log was changed by hand.
    """
    from surefoot.study.studies import Study

    return Study.open(_there(store), author=author)


def _there(store: str) -> str:
    if not store.startswith(("postgresql://", "postgres://")) and not Path(store).is_file():
        raise StudyError(f"{store}: there is no study here. Make one with `surefoot study create`.")
    return store


def status(store: Kept = "study.db", as_json: words.AsJson = False) -> None:
    """How far is the study, and should it go on?

    Nothing here gives a policy away while it is blinded.

    Examples:

        surefoot study status study.db

        surefoot study status study.db --json
    """
    study = opened(store)
    known: dict[str, Any] = dict(study.status)
    if not known["blinded"]:
        known["verdict"] = study.verdict.value
    if as_json:
        words.show_json(known)
        return
    unit = "pair" if len(study.plan.policies) == 2 else "round"
    typer.echo(f"{known['title']}: {known['decision']}.")
    typer.echo(
        f"{rollouts(known['recorded'])} recorded; {known['blocks']:,} of at most {counted(known['horizon'], unit)} "
        f"{'counts' if known['blocks'] == 1 else 'count'}."
    )
    if known["waits"]:
        typer.echo(held_up(known["waits"], store))
    elif held := holders(study):
        typer.echo(f"Turns are held by {', '.join(held)}.")
    if known["voided"]:
        typer.echo(f"{counted(known['voided'], unit)} voided.")
    if known["exploratory"]:
        typer.echo("The verdict is exploratory: something that binds was amended after the first result.")
    if known["blinded"]:
        typer.echo("Blinded; `surefoot study unblind` reveals what was found.")
    else:
        typer.echo(f"Verdict on {study.plan.policies[0]}: {known['verdict']}.")


def holders(study: Study) -> list[str]:
    """Who holds turns now, while any are needed."""
    fold = study.fold
    turns = [] if fold.finished else fold.held(datetime.now(UTC).isoformat())
    return list(dict.fromkeys(fold.leases[turn.number].holder for turn in turns))


def held_up(wait: Mapping[str, Any], store: str) -> str:
    """What the rule waits for, and what to do about it."""
    if not wait["holder"]:
        return str(wait["sentence"])
    finish = "Finish it there (started again under its name, it has it again), or hand it back:"
    hand_back = f"surefoot study release {shlex.quote(store)} --holder {shlex.quote(wait['holder'])}"
    return f"{wait['sentence']}\n{finish}\n  {hand_back}"


def unblind(
    store: Kept = "study.db",
    reason: Reason = "",
    author: Author = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even before the rule has decided.")] = False,
    as_json: words.AsJson = False,
) -> None:
    """Reveal which policy each code meant. Before the study is decided this is a deviation, and the report says so.

    Examples:

        surefoot study unblind study.db --reason "the rule has decided"
    """
    study = opened(store, author)
    early = not study.finished
    if early and not as_json:
        typer.echo("The study is not decided yet: this will stand in the report as a deviation.", err=True)
        if reason and not yes and sys.stdin.isatty():
            typer.confirm("Unblind it all the same? It cannot be undone.", default=False, abort=True)
    study.unblind(reason=reason)
    status(store, as_json)


def report(
    store: Kept = "study.db",
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write: .html, .md or .json.")] = Path(
        "report.html"
    ),
    as_json: words.AsJson = False,
) -> None:
    """What did the study find?

    Its rule's verdict, every deviation, and its rollouts; while it is blinded, its progress.

    Examples:

        surefoot study report study.db -o report.html
    """
    from surefoot.reporting.reports import study_report
    from surefoot.study.events import seeded
    from surefoot.study.stores import open_store
    from surefoot.study.verification import taken, verified

    lines = seeded(open_store(_there(store)).read())
    if not lines:
        raise StudyError(f"{store}: there is no study here. Make one with `surefoot study create`.")
    checked, (fold, _) = verified(lines), taken(lines)
    if fold.last is None:
        raise StudyError(f"{store}: no report can be made. {checked}")
    made = study_report(fold, checked, command=f"surefoot study report {store} -o {output}")
    made.save(output)
    if as_json:
        words.show_json(made.data())
        return
    typer.echo(str(made).replace(". ", ".\n"))
    for line in made.study.deviations if made.study is not None else ():
        typer.echo(f"  ! {line}")
    typer.echo(f"Wrote {output}")


def verify(store: Kept = "study.db", as_json: words.AsJson = False) -> None:
    """Is the log what was written, and does the verdict follow?

    The exit code is 65 when it is not, or does not.

    Examples:

        surefoot study verify study.db
    """
    from surefoot.study.verification import verify as checked

    found = checked(_there(store))
    words.show(found, as_json=as_json)
    if not found.sound:
        raise typer.Exit(UNSOUND)


def export(
    store: Kept = "study.db",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; standard output if left out.")
    ] = None,
) -> None:
    """Write the whole log as JSON lines.

    To keep, or to check elsewhere; not while the study is blinded.

    Examples:

        surefoot study export study.db -o study.jsonl
    """
    text = opened(store).export()
    if output is None:
        sys.stdout.write(text)
        return
    output.write_text(text, encoding="utf-8", newline="\n")
    typer.echo(f"Wrote {output}")


def restore(
    log: Annotated[Path, typer.Argument(help="An exported log.")],
    store: Annotated[
        str, typer.Argument(help="Where to put it: a new file, or postgresql://host/database?study=NAME.")
    ],
    as_json: words.AsJson = False,
) -> None:
    """Put an exported log into an empty place, all of it or nothing.

    Examples:

        surefoot study restore study.jsonl copy.db
    """
    from surefoot.study.studies import Study

    try:
        text = log.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise StudyError(f"{log}: the file is not an exported log.") from None
    Study.restore(text, store)
    status(store, as_json)


def amend(
    store: Kept,
    changes: Annotated[
        list[str], typer.Argument(metavar="FIELD=VALUE...", help="Such as horizon=80 or 'reset=\"Home it\"'.")
    ],
    reason: Reason = "",
    author: Author = "",
    as_json: words.AsJson = False,
) -> None:
    """Change the plan, with the reason. After the first result some changes make the verdict exploratory.

    Examples:

        surefoot study amend study.db time_limit=120 --reason "the new task takes longer"
    """
    try:
        fields = tomllib.loads("\n".join(changes))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"A change must be FIELD=VALUE as in the plan, such as horizon=80; {error}.") from None
    opened(store, author).amend(fields, reason=reason)
    status(store, as_json)
