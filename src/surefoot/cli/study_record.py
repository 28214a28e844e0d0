"""`surefoot study record`, `void`, `undo`: what a person enters by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli import modes, terminal
from surefoot.cli.study_log import Author, Clips, Kept, Reason, taking_part
from surefoot.cli.terminal import told_aloud
from surefoot.core.formatting import counted

if TYPE_CHECKING:
    from surefoot.study.status import Receipt

Turn = Annotated[int, typer.Argument(help="The turn's number.")]
RESULTS = {"success": True, "true": True, "failure": False, "false": False}


@modes.of("study record")
def record(
    store: Kept,
    turn: Turn,
    result: Annotated[str, typer.Argument(help="success, failure, or a score.")],
    reason: Annotated[str, typer.Option(help="Why, when another holds the turn; kept in the log.")] = "",
    holder: Annotated[str, typer.Option(help="Who ran it, as `surefoot study status` names them.")] = "",
    duration: Annotated[float | None, typer.Option(help="Seconds that it took.")] = None,
    failure: Annotated[str, typer.Option(help="What went wrong.")] = "",
    note: Annotated[str, typer.Option(help="A remark, kept in the log.")] = "",
    clip: Annotated[str, typer.Option(help="Its video or picture: a file, of which a copy is kept, or a link.")] = "",
    clips: Clips = None,
    author: Author = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Enter a turn's result by hand.

    A turn belongs to whoever holds it: enter it under that name, or give the reason why you do.

    Examples:

        surefoot study record study.db 12 success --reason "the phone was lost; from the paper sheet"

        surefoot study record study.db 13 failure --holder "arm 1" --failure "dropped it"

        surefoot study record study.db 14 success --holder "arm 1" --clip videos/14.mp4
    """
    served = store.startswith(("http://", "https://"))
    modes.settled("study record", "a served study" if served else "a study here", modes.given(record, locals()))
    word = result.strip().lower()
    value = RESULTS[word] if word in RESULTS else _score(result)
    study = taking_part(store, author, clips=clips)
    given = {"duration": duration, "failure": failure, "note": note, "reason": reason, "holder": holder}
    given["clip"] = clip or None
    with told_aloud():
        receipt = study.record(turn, value, **given)  # type: ignore[arg-type]
    _told(receipt, f"Turn {turn} is recorded", as_json=as_json)


def undo(store: Kept, turn: Turn, reason: Reason = "", author: Author = "", as_json: terminal.AsJson = False) -> None:
    """Take back a turn's result; both stay in the log.

    Examples:

        surefoot study undo study.db 12 --reason "wrong key"
    """
    _told(taking_part(store, author).undo(turn, reason=reason), f"The result of turn {turn} is undone", as_json=as_json)


def void(
    store: Kept,
    turn: Turn,
    reason: Annotated[str, typer.Option(help="One of the plan's reasons.")] = "",
    note: Annotated[str, typer.Option(help="What happened.")] = "",
    author: Author = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Declare that a turn's pair does not count; another follows.

    Examples:

        surefoot study void study.db 12 --reason "hardware fault" --note "the gripper was stuck"
    """
    receipt = taking_part(store, author).void(turn, reason=reason, note=note)
    _told(receipt, f"Turn {turn} and the rest of its pair are void", as_json=as_json)


def _score(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"`RESULT` must be success, failure or a score; got {word!r}.") from None


def _told(receipt: Receipt, done: str, *, as_json: bool) -> None:
    if as_json:
        terminal.show(receipt, as_json=True)
        return
    again = " (it had been before)" if receipt.repeated else ""
    typer.echo(f"{done}{again}. {receipt.status.decision}.")
    typer.echo(
        f"Log: {counted(receipt.status.version, 'line')}, mark {receipt.status.version}:{receipt.status.head[:16]}."
    )
