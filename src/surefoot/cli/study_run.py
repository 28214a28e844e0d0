"""`surefoot study run`: a command for every turn, until the rule has decided."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli import words
from surefoot.cli.study_log import Kept, opened
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
    study, next_turn = _study(store, holder)
    done = 0
    while turns is None or done < turns:
        turn = next_turn()
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
    waits = known["decision"] == "continue" and (turns is None or done < turns)
    typer.echo(f"{known['decision']}{' (others hold every turn that is left)' if waits else ''}")


def _study(store: str, holder: str) -> tuple[Study | Client, Callable[[], Turn | None]]:
    """The study, here or served elsewhere, and how it is asked for a turn."""
    if not store.startswith(("http://", "https://")):
        study = opened(store)
        return study, functools.partial(study.next_turn, holder=holder)
    from surefoot.console.client import Client

    token = os.environ.get(TOKEN, "")
    if not token:
        raise ValueError(f"`{TOKEN}` must hold the runner's token, which `surefoot study serve` printed.")
    client = Client(store, token, holder=holder)
    return client, client.next_turn


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
    except (StudyError, TypeError):
        _hand_back(study, turn)
        raise
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


def _hand_back(study: Study | Client, turn: Turn) -> None:
    from surefoot.study.studies import Study

    with contextlib.suppress(StudyError):  # it comes free by itself when its time runs out
        if isinstance(study, Study):
            study.release(turn)
        else:
            study.release()


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
        raise StudyError(
            f"The command ended with exit code {done.returncode}. Nothing was recorded, and the turn was handed back: "
            "mend it and run again."
        )
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
        "Nothing was recorded, and the turn was handed back."
    )
