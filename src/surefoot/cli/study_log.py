"""`surefoot study status`, `unblind`, `report`, `verify`, `anchor`, `backup`, `export`, `restore`, `amend`...."""

from __future__ import annotations

import io
import os
import secrets
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot._files import write_whole
from surefoot._secret import Secret, without_password
from surefoot.cli import modes, terminal
from surefoot.cli.report import Figures, Look, NoClips, Width, save_figures
from surefoot.core.formatting import counted, one_line, rollouts
from surefoot.errors import StudyError

if TYPE_CHECKING:
    from surefoot.study.leases import Wait
    from surefoot.study.protocol import StudyOperations
    from surefoot.study.studies import Study

Kept = Annotated[str, typer.Argument(help="The study: a file, or postgresql://host/database?study=NAME.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the log and shown in the report.")]
Author = Annotated[str, typer.Option(help="Who does it; kept in the log.")]
Clips = Annotated[
    Path | None,
    typer.Option(
        "--clips",
        help="The folder of the clips. If left out: study.clips beside study.db; for a "
        "database, in the current folder.",
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="The file; standard output if left out.")]
Notify = Annotated[
    str | None,
    typer.Option(
        metavar="COMMAND|URL",
        help="Tell a command (JSON on its input) or a URL (POST) when it is decided, stops, is held up or fails.",
    ),
]
UNSOUND = 65
TOKEN = "SUREFOOT_TOKEN"


def opened(store: str, author: str = "", clips: Path | None = None) -> Study:
    """The study that is kept there.

    Raises:
        StudyError: There is none, or its log was changed by hand.
    """
    from surefoot.study.studies import Study

    return Study.open(_there(store), author=author, clips=clips)


def taking_part(store: str, author: str = "", holder: str = "", clips: Path | None = None) -> StudyOperations:
    """The study, here or served elsewhere."""
    if not store.startswith(("http://", "https://")):
        return opened(store, author, clips)
    from surefoot.console.client import Client

    token = os.environ.get(TOKEN, "")
    if not token:
        raise ValueError(f"`{TOKEN}` must hold a token, which `surefoot study serve` printed.")
    return Client(store, token, holder=holder or author)


def _there(store: str) -> str:
    if "://" not in store and not Path(store).is_file():
        raise StudyError(f"{store}: there is no study here. Make one with `surefoot study create`.")
    return store


def status(store: Kept = "study.db", as_json: terminal.AsJson = False) -> None:
    """How far is the study, and should it go on?

    Nothing here gives a policy away while it is blinded.

    Examples:

        surefoot study status study.db

        surefoot study status study.db --json
    """
    study = opened(store)
    known = study.status()
    if as_json:
        terminal.show(known, as_json=True)
        return
    unit = study.plan.unit
    typer.echo(f"{known.title}: {known.decision}.")
    typer.echo(
        f"{rollouts(known.recorded)} recorded; {known.blocks:,} of at most {counted(known.horizon, unit)} "
        f"{'counts' if known.blocks == 1 else 'count'}."
    )
    if known.waits is not None:
        typer.echo(held_up(known.waits, store))
    elif held := holders(study):
        typer.echo(f"Turns are held by {', '.join(held)}.")
    if known.voided:
        typer.echo(f"{counted(known.voided, unit)} voided.")
    if known.exploratory:
        typer.echo("The verdict is exploratory: a binding part of the plan was amended after the first result.")
    if known.verdict is None:
        typer.echo("Blinded; `surefoot study unblind` reveals what was found.")
    elif known.claim:
        typer.echo(known.claim)
    else:
        typer.echo(f"Verdict on {study.plan.policies[0]}: {known.verdict.value}.")
    typer.echo(f"Log: {counted(known.version, 'line')}, mark {known.version}:{known.head[:16]}.")


def holders(study: Study) -> list[str]:
    """Who holds turns now, while any are needed."""
    return list(dict.fromkeys(one_line(study.recall().leases[turn.number].holder) for turn in study.held()))


def held_up(wait: Wait, store: str) -> str:
    """What the rule waits for, and what to do about it."""
    if not wait.holder:
        return wait.sentence
    finish = (
        "Finish the turn there: that program gets it again when it is started under the same name. Or hand it back:"
    )
    hand_back = (
        f"surefoot study release {shlex.quote(without_password(store))} --holder {shlex.quote(one_line(wait.holder))}"
    )
    return f"{wait.sentence}\n{finish}\n  {hand_back}"


def unblind(
    store: Kept = "study.db",
    reason: Reason = "",
    author: Author = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, even before the rule has decided.")] = False,
    as_json: terminal.AsJson = False,
) -> None:
    """Reveal which policy each code meant. Before the study is decided this is a deviation, and the report says so.

    Examples:

        surefoot study unblind study.db --reason "the rule has decided"
    """
    study = opened(store, author)
    early = not study.finished
    if early and not as_json:
        typer.echo("The study is not decided yet: the report will list this as a deviation.", err=True)
        if reason and not yes and sys.stdin.isatty():
            typer.confirm("Unblind it anyway? It cannot be undone.", default=False, abort=True)
    study.unblind(reason=reason)
    status(store, as_json)


@modes.of("study report")
def report(
    store: Kept = "study.db",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The page to write: .html, .pdf, .md or .json.")
    ] = Path("report.html"),
    figures: Figures = None,
    width: Width = None,
    look: Look = None,
    clips: Clips = None,
    no_clips: NoClips = False,
    as_json: terminal.AsJson = False,
) -> None:
    """What did the study find?

    Its rule's verdict, every deviation, and its rollouts; while it is blinded, its progress. Clips of rollouts are
    copied into a folder beside the page.

    Examples:

        surefoot study report study.db -o report.html

        surefoot study report study.db --figures figures/ --width 3.4in
    """
    from surefoot.reporting.reports import Report, study_report
    from surefoot.study.clips import ClipFolder
    from surefoot.study.events import seeded
    from surefoot.study.stores import open_store
    from surefoot.study.verification import verified_fold

    kept = open_store(_there(store))
    lines = seeded(kept.read())
    if not lines:
        raise StudyError(f"{without_password(store)}: there is no study here. Make one with `surefoot study create`.")
    checked, fold = verified_fold(lines)
    if fold.last is None:
        raise StudyError(f"{without_password(store)}: no report can be made. {checked}")
    command = f"surefoot study report {shlex.quote(without_password(store))} -o {output}"
    made = study_report(fold, checked, command=command, clips=ClipFolder(clips or kept.clips))
    if isinstance(made, Report):
        made.save(output, clips=not no_clips)
    else:
        made.save(output)
    if figures is not None:
        if not isinstance(made, Report):
            raise StudyError("There are no figures while a study is blinded: unblind it first.")
        save_figures(made, figures, width, look)
    if as_json:
        terminal.show_json(made.data())
        return
    typer.echo(str(made).replace(". ", ".\n"))
    for line in made.study.deviations if made.study is not None else ():
        typer.echo(f"  ! {line}")
    typer.echo(f"Wrote {output}")


def verify(
    store: Kept = "study.db",
    head: Annotated[
        list[str] | None,
        typer.Option(help="A mark that you wrote down: a line's number and 16 characters of its hash; repeatable."),
    ] = None,
    witness: Annotated[
        list[Path] | None, typer.Option(help="A file that knows the log: a report, an anchor, an export; repeatable.")
    ] = None,
    clips: Clips = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Is the log what was written, and does the verdict follow?

    Clips of rollouts are held against the hashes in the log. That the end of a log was cut off, or that all of it was
    rewritten, only a witness can show: a hash that was kept elsewhere. The exit code is 65 when the log does not
    verify.

    Examples:

        surefoot study verify study.db

        surefoot study verify study.db --head 12:9f2c51d0a7b3e466

        surefoot study verify study.db --witness anchor.txt --witness report.html
    """
    from surefoot.study.log_files import marks
    from surefoot.study.verification import verify as checked

    known = {str(path): marks(path.read_text(encoding="utf-8", errors="replace")) for path in witness or ()}
    found = checked(_there(store), heads=head or (), witnesses=known, clips=clips)
    terminal.show(found, as_json=as_json)
    if not found.sound:
        raise typer.Exit(UNSOUND)


def anchor(
    store: Kept = "study.db",
    output: Output = None,
) -> None:
    """Write down what proves the study later.

    Plan, decision, and the log's length and head, as one short text: for a lab book, a message or a git commit. It
    gives no policy away. `surefoot study verify --witness` holds the log against it.

    Examples:

        surefoot study anchor study.db -o anchor.txt
    """
    from surefoot.study.log_files import anchor_of
    from surefoot.study.verification import verify as checked

    found = checked(_there(store), clips=False)
    if not found.sound:
        typer.echo(str(found), err=True)
        raise typer.Exit(UNSOUND)
    _write(anchor_of(opened(store).status(), found.fingerprint), output)


def backup(
    store: Kept = "study.db",
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("study.backup"),
    key: Annotated[
        Path | None, typer.Option(help="The file of the backups' key; made if there is none. Keep it apart.")
    ] = None,
) -> None:
    """Copy the whole study, at any moment, blinded too.

    The copy is sealed: without its key it tells the log's length and head, and nothing else. The key is made once and
    opens every backup of the study; keep it apart from them. `surefoot study restore` reads a backup. Both need the
    `seal` extra.

    Examples:

        surefoot study backup study.db -o monday.backup

        surefoot study restore monday.backup again.db --key study.db.key
    """
    study = opened(store)
    place = key or Path(f"{study.status().study}.key" if "://" in store else f"{store}.key")
    new = not place.exists()
    secret = Secret(secrets.token_urlsafe(32)) if new else _key(place)
    text = study.backup(secret)
    if new:
        write_whole(place, secret.reveal() + "\n", private=True)
    write_whole(output, text)
    typer.echo(f"Wrote {output}: {counted(study.version, 'line')}, sealed.")
    typer.echo(
        f"{'Made its key' if new else 'Its key is'} {place}: keep a copy apart from the backup; without it, "
        "nobody can open the backup."
    )
    if any(one.clip is not None and one.clip.sha256 for one in study.fold.results.values()):
        typer.echo(f"The clips are not in it: copy the folder {study.clips.path} too.")


def _key(path: Path) -> Secret:
    """A backup's key."""
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(text) < 16:
        raise StudyError(f"{path}: it must hold a key of at least 16 characters.")
    return Secret(text)


def export(
    store: Kept = "study.db",
    output: Output = None,
    results: Annotated[
        Path | None,
        typer.Option("--rollouts", help="Write a row for each rollout in place of the log: .csv, .parquet."),
    ] = None,
) -> None:
    """Write the whole log as JSON lines, or its rollouts as a table.

    The log is to keep, or to check elsewhere; the table is for other programs, with a row for each recorded rollout, of
    which `valid` says whether it counts. Not while the study is blinded.

    Examples:

        surefoot study export study.db -o study.jsonl

        surefoot study export study.db --rollouts results.csv
    """
    study = opened(store)
    if results is None:
        _write(study.export(), output)
        return
    ending = results.suffix.lower()
    if ending not in (".csv", ".parquet"):
        raise ValueError(f"`--rollouts` must end in .csv or .parquet; got {results.name!r}.")
    terminal.in_folder(results, "--rollouts")
    frame, packed = study.rollouts().polars(), io.BytesIO()
    if ending == ".csv":
        frame.write_csv(packed)
    else:
        frame.write_parquet(packed)
    write_whole(results, packed.getvalue())
    if output is not None:
        _write(study.export(), output)
    typer.echo(f"Wrote {results}: {rollouts(frame.height)}. What they say of sizes fixed beforehand is exploratory:")
    typer.echo("the rule looked at them to decide when to stop. The study's verdict: `surefoot study report`.")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    write_whole(output, text)
    typer.echo(f"Wrote {output}")


def restore(
    log: Annotated[Path, typer.Argument(help="An exported log.")],
    store: Annotated[
        str, typer.Argument(help="Where to put it: a new file, or postgresql://host/database?study=NAME.")
    ],
    key: Annotated[Path | None, typer.Option(help="The file of a backup's key.")] = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Put an exported log or a backup into an empty place.

    Examples:

        surefoot study restore study.jsonl copy.db

        surefoot study restore monday.backup copy.db --key study.db.key
    """
    from surefoot.study.studies import Study

    try:
        text = log.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise StudyError(f"{log}: the file is not an exported log.") from None
    Study.restore(text, store, key=None if key is None else _key(key))
    status(store, as_json)


def amend(
    store: Kept,
    changes: Annotated[
        list[str], typer.Argument(metavar="FIELD=VALUE...", help="Such as horizon=80 or 'reset=\"Home it\"'.")
    ],
    reason: Reason = "",
    author: Author = "",
    as_json: terminal.AsJson = False,
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


def withdraw(
    store: Kept = "study.db",
    policy: Annotated[str, typer.Option(help="The policy that runs no more.")] = "",
    reason: Reason = "",
    author: Author = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Run a policy of a race no more, because it is broken or lost.

    Rounds that it has not finished are void. It may still be the best one: every later claim reads "unless it is" that
    one.

    Examples:

        surefoot study withdraw study.db --policy step-40k --reason "its checkpoint is damaged"
    """
    opened(store, author).withdraw(policy, reason=reason)
    status(store, as_json)


def override(
    store: Kept = "study.db",
    reason: Reason = "",
    author: Author = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Go on although the rule has stopped for futility.

    This is a deviation, and the report says so. The verdict holds as declared; the interval of the gain is then the
    wider one that holds at any moment.

    Examples:

        surefoot study override study.db --reason "the robot is free for another day"
    """
    opened(store, author).override(reason=reason)
    status(store, as_json)
