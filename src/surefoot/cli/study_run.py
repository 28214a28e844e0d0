"""`surefoot study run`: a command for every turn, until the rule has decided."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli import words
from surefoot.cli.study_log import Author, Kept, held_up, holders, opened
from surefoot.errors import StudyError
from surefoot.study.stores import StoreError

if TYPE_CHECKING:
    from surefoot.console.client import Client
    from surefoot.study.schedules import Turn
    from surefoot.study.studies import Study

WORDS = {"true": True, "success": True, "false": False, "failure": False}
TOKEN = "SUREFOOT_TOKEN"
PATIENCE, PAUSE = 300.0, 2.0
"""Seconds to keep trying while the store is away, and between tries."""


def run(
    store: Kept = "study.db",
    command: Annotated[str, typer.Option(help="The command to run for each turn, through the shell.")] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit code 0 is a success and 1 a failure; standard output is not read.")
    ] = False,
    turns: Annotated[int | None, typer.Option(help="Stop after this many turns.")] = None,
    holder: Annotated[str, typer.Option(help="This robot's name, when several run the study.")] = "",
    as_json: words.AsJson = False,
) -> None:
    """Run a command for every turn and record what it says.

    It goes on until the study needs no more. The command learns its turn from the environment (SUREFOOT_POLICY,
    SUREFOOT_TASK, SUREFOOT_CONDITION, SUREFOOT_TURN, SUREFOOT_CODE) and from one line of JSON on standard input. The
    last line that it prints is the result: true, false, success, failure, a score, or JSON such as {"result": 0.5,
    "failure": "dropped it", "note": "..."}. When it fails or prints none, nothing is recorded, the turn is handed back,
    and the study waits.

    A study that is being served is given by its address, with the runner's token in SUREFOOT_TOKEN.

    Examples:

        surefoot study run study.db --command 'python rollout.py --policy "$SUREFOOT_POLICY"'

        surefoot study run study.db --command './simulate.sh' --exit-code --turns 20

        SUREFOOT_TOKEN=... surefoot study run http://lab:8765 --command 'python rollout.py' --holder "arm 1"
    """
    if not command.strip():
        raise ValueError("`--command` must be given, such as --command 'python rollout.py'.")
    if turns is not None and turns < 1:
        raise ValueError(f"`--turns` must be at least 1; got {turns}.")
    study = _opened(store, holder=holder)
    done = 0
    while turns is None or done < turns:
        turn = _next(study, store, holder)
        if turn is None:
            break
        _once(study, turn, command, exit_code=exit_code)
        done += 1
        if not as_json:
            typer.echo(f"turn {turn.number} ({turn.code}) recorded")
    known: dict[str, Any] = study.status() if callable(study.status) else study.status
    if as_json:
        words.show_json({**known, "turns": done})
        return
    typer.echo(known["decision"])


def release(
    store: Kept = "study.db",
    holder: Annotated[str, typer.Option(help="Whose turns, as `surefoot study status` names them.")] = "",
    author: Author = "",
    as_json: words.AsJson = False,
) -> None:
    """Hand back the turns of a robot or a device that has left.

    Whoever asks next gets them, the oldest first. A result that comes for one of them later, when another has taken it,
    is refused, and the report says so.

    A study that is being served is given by its address, with the runner's token in SUREFOOT_TOKEN.

    Examples:

        surefoot study release study.db --holder "arm 1"
    """
    from surefoot.study.studies import Study

    if not holder:
        raise ValueError("`--holder` must be given, such as --holder 'arm 1'; `surefoot study status` names them.")
    study = _opened(store, author)
    if isinstance(study, Study):
        back, known = len(study.release_all(holder)), study.status
    else:
        known = study.release(holder=holder)
        back = known.pop("released")
    if not back:
        raise StudyError(f"{holder!r} holds no turn; nothing was handed back.")
    if as_json:
        words.show_json(known)
    else:
        turns = "1 turn: whoever asks next gets it" if back == 1 else f"{back} turns: whoever asks next gets them"
        typer.echo(f"Handed back {turns}.")


def _opened(store: str, author: str = "", holder: str = "") -> Study | Client:
    """The study, here or served elsewhere."""
    if not store.startswith(("http://", "https://")):
        return opened(store, author)
    from surefoot.console.client import Client

    token = os.environ.get(TOKEN, "")
    if not token:
        raise ValueError(f"`{TOKEN}` must hold the runner's token, which `surefoot study serve` printed.")
    return Client(store, token, holder=holder)


def _next(study: Study | Client, store: str, holder: str) -> Turn | None:
    """The next turn, once there is one; None when the study needs no more. What it waits for is said."""
    from surefoot.study.studies import Study

    if not isinstance(study, Study):
        return study.next_turn()
    told = None
    while (turn := study.next_turn(holder=holder)) is None and not study.finished:
        wait = study.status["waits"]
        if wait is None or not wait["holder"]:
            why = ", ".join(holders(study))
            said = f"waiting: every turn that is left is held by {why}. If one has left: surefoot study release"
        else:
            why, said = f"{wait['turn']} {wait['holder']}", f"waiting. {held_up(wait, store)}"
        if why != told:
            typer.echo(said, err=True)
            told = why
        time.sleep(PAUSE)
    return turn


def _once(study: Study | Client, turn: Turn, command: str, *, exit_code: bool) -> None:
    """Run the command for one turn and record its result.

    Raises:
        StudyError: It gave none; the turn was handed back.
    """
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            shell=True,
            check=False,
            text=True,
            input=json.dumps({name: value for name, value in turn.to_dict().items() if name not in ("type", "schema")}),
            stdout=None if exit_code else subprocess.PIPE,
            env={**os.environ, **_environment(turn)},
        )
        given = _by_code(done.returncode) if exit_code else _said(done)
        _kept(study, turn, {"duration": round(time.monotonic() - began, 3), **given})
    except (StudyError, TypeError) as error:
        back = f" Turn {turn.number} was handed back: mend the command and run it again."
        raise StudyError(f"{error}{back if _hand_back(study, turn) else ''}") from None
    except KeyboardInterrupt:
        _hand_back(study, turn)
        typer.echo(f"stopped: turn {turn.number} was handed back; the same command goes on from there.", err=True)
        raise


def _kept(study: Study | Client, turn: Turn, given: dict[str, Any]) -> None:
    """Record the result, once, however long the store is away: the rollout was run, and must not be lost."""
    word, until = secrets.token_hex(16), time.monotonic() + PATIENCE
    while True:
        try:
            study.record(turn, request=word, **given)
        except StoreError as error:
            if time.monotonic() > until:
                raise
            typer.echo(f"{error} Trying again.", err=True)
            time.sleep(PAUSE)
        else:
            return


def _hand_back(study: Study | Client, turn: Turn) -> bool:
    from surefoot.study.studies import Study

    with contextlib.suppress(StudyError):  # it comes free by itself when its time runs out
        return study.release(turn) if isinstance(study, Study) else bool(study.release()["released"])
    return False


def _environment(turn: Turn) -> dict[str, str]:
    names = {"turn": "number"}
    fields = ("turn", "block", "policy", "code", "task", "condition")
    return {f"SUREFOOT_{name.upper()}": str(getattr(turn, names.get(name, name))) for name in fields}


def _by_code(code: int) -> dict[str, Any]:
    if code not in (0, 1):
        raise StudyError(
            f"The command ended with exit code {code}; 0 is a success and 1 a failure. Nothing was recorded."
        )
    return {"result": code == 0}


def _said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    if done.returncode:
        raise StudyError(f"The command ended with exit code {done.returncode}. Nothing was recorded.")
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    given: Any = WORDS.get(last.lower())
    if given is None:
        try:
            given = json.loads(last)
        except ValueError:
            given = None
    if isinstance(given, bool | int | float):
        return {"result": given}
    if isinstance(given, dict) and "result" in given and set(given) <= {"result", "note", "failure"}:
        return {**given, "result": WORDS.get(str(given["result"]).lower(), given["result"])}
    raise StudyError(
        f'The command\'s last line must be its result, such as true, 0.5 or {{"result": true}}; got {last[:200]!r}. '
        "Nothing was recorded."
    )
