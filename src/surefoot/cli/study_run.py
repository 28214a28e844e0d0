"""`surefoot study run`, `release`, `record`, `undo`, `void`: turns carried out by a program, or entered by hand."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli import modes, terminal
from surefoot.cli.study_log import Author, Clips, Kept, Notify, Reason, taking_part
from surefoot.cli.terminal import told_aloud
from surefoot.core.formatting import counted
from surefoot.errors import StudyError

if TYPE_CHECKING:
    from surefoot.study.schedules import Turn
    from surefoot.study.status import Receipt


@modes.of("study run")
def run(
    store: Kept = "study.db",
    command: Annotated[str, typer.Option(help="The command to run for each turn, through the shell.")] = "",
    runner: Annotated[
        str,
        typer.Option(
            help="A Python function to call for each turn, in place of a command: module:function, or the name of a "
            "runner that an installed package adds."
        ),
    ] = "",
    gym: Annotated[
        str, typer.Option(help="A Gymnasium environment to run the policies in, in place of a command: its id.")
    ] = "",
    policy: Annotated[
        list[str] | None,
        typer.Option(help="A policy of the study and what acts for it: name=module:thing."),
    ] = None,
    success: Annotated[
        str, typer.Option(help="A function of an episode's end: module:function; info's own when left out.")
    ] = "",
    max_steps: Annotated[
        int | None, typer.Option(help="The most steps of an episode; the environment's when left out.")
    ] = None,
    video: Annotated[str, typer.Option(help="A folder for a clip of each rollout, named by its turn alone.")] = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit code 0 is a success and 1 a failure; standard output is not read.")
    ] = False,
    workers: Annotated[int, typer.Option(help="How many turns to run at the same moment.")] = 1,
    batch: Annotated[int, typer.Option(help="The most turns that one call of the command or the function gets.")] = 1,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which a rollout is given up; the plan's when left out.")
    ] = None,
    turns: Annotated[int | None, typer.Option(help="Stop after this many turns.")] = None,
    holder: Annotated[str, typer.Option(help="This robot's name, when several run the study.")] = "",
    rig: Annotated[
        str, typer.Option(help="The rig of this robot, as the plan names it: only its turns are run. Left out, all.")
    ] = "",
    clips: Clips = None,
    clips_from: Annotated[
        Path | None,
        typer.Option(help="A folder that a camera writes to: the newest clip of a turn goes with its result."),
    ] = None,
    notify: Notify = None,
    as_json: terminal.AsJson = False,
) -> None:
    """Run every turn by a command, a function or an environment.

    It goes on until the study needs no more. A command learns its turn from the environment (SUREFOOT_POLICY,
    SUREFOOT_TASK, SUREFOOT_CONDITION, SUREFOOT_ITEM, SUREFOOT_TURN, SUREFOOT_CODE) and from one line of JSON on
    standard input. The last line that it prints is the result: true, false, success, failure, a score, or JSON such as
    {"result": 0.5, "failure": "dropped it", "note": "...", "clip": "videos/7.mp4"}. A function gets the turn and
    returns a success, a score or an Outcome; a GymnasiumRunner is one.

    With --gym each rollout is an episode of a Gymnasium environment. Its policies are functions of the observation, or
    classes with reset and act; the same condition begins with the same seed.

    With --batch a command gets several turns, a line of JSON for each, and prints a line for each, in any order, with
    the turn's number: {"turn": 7, "result": true}. A function gets a list of turns and returns a list of outcomes.

    A rollout that crashes, runs out of time or says what cannot be read is an outcome too: the plan's on_crash says
    what it counts as, the report lists it, and the run goes on.

    A study that is being served is given by its address, with the runner's token in SUREFOOT_TOKEN.

    Examples:

        surefoot study run study.db --command 'python rollout.py --policy "$SUREFOOT_POLICY"'

        surefoot study run study.db --runner my_lab:rollout --workers 4

        surefoot study run study.db --gym CartPole-v1 --policy new=my_lab:new --policy old=my_lab:old --video clips

        surefoot study run study.db --command 'python batch.py' --batch 20 --workers 2

        surefoot study run study.db --runner my_lab:rollouts --batch 64 --notify https://hooks.example.org/lab

        SUREFOOT_TOKEN=... surefoot study run http://lab:8765 --command 'python rollout.py' --holder "arm 1" --rig left
    """
    from surefoot.runners.commands import Command
    from surefoot.runners.functions import run_study

    if turns is not None and turns < 1:
        raise ValueError(f"`--turns` must be at least 1; got {turns}.")
    rollout: Callable[[Turn], Any] | None = _runner(runner) if runner else None
    if gym:
        rollout = _environment(gym, policy or [], success=success, max_steps=max_steps, video=video)
    study = taking_part(store, holder=holder, clips=clips)
    done: list[int] = []

    def told(turn: Turn, receipt: Receipt) -> None:
        done.append(turn.number)
        if not as_json:
            known = receipt.status
            typer.echo(f"turn {turn.number} ({turn.code}) done; {known.blocks} of at most {known.horizon} count")

    with _ending_well(), terminal.told_aloud():
        known = run_study(
            study,
            rollout or Command(command, study.plan, exit_code=exit_code),
            workers=workers,
            batch=batch,
            turns=turns,
            time_limit=time_limit,
            holder=holder,
            rig=rig,
            progress=told,
            clips_from=clips_from,
            notify=notify,
        )
    if as_json:
        terminal.show_json({**known.to_dict(), "turns": len(done)})
        return
    typer.echo(known.decision)


@contextlib.contextmanager
def _ending_well() -> Iterator[None]:
    """End on SIGTERM as on Ctrl+C: the turn is handed back before the program goes."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    here = threading.current_thread() is threading.main_thread()  # only there can it be heard
    before = signal.signal(signal.SIGTERM, stop) if here else None
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped: the turn was handed back; the same command goes on from there.", err=True)
        raise
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)


def _environment(
    env: str, policies: list[str], *, success: str, max_steps: int | None, video: str
) -> Callable[[Turn], Any]:
    """The runner of a Gymnasium environment, with the policies that ``name=module:thing`` names."""
    from surefoot.runners.gymnasium import GymnasiumRunner

    named = {}
    for word in policies:
        name, equals, thing = word.partition("=")
        if not (name and equals):
            raise ValueError(f"`--policy` must be name=module:thing, such as new=my_lab:new; got {word!r}.")
        named[name] = _found(thing, "--policy")
    if not named:
        raise ValueError("`--policy` must be given for each policy of the study, such as --policy new=my_lab:new.")
    judged = _function(success, "--success") if success else None
    return GymnasiumRunner(env, named, success=judged, max_steps=max_steps, video=video or None)


def _runner(word: str) -> Callable[..., Any]:
    """The function that ``module:function`` names, or the runner that an installed package adds by that name."""
    from surefoot.runners.outcomes import runner_names, runner_of

    return runner_of(word) if ":" not in word and word in runner_names() else _function(word)


def _function(word: str, option: str = "--runner") -> Callable[..., Any]:
    """The function that ``module:function`` names."""
    found = _found(word, option)
    if not callable(found):
        raise ValueError(f"`{option}` must name a function; {word} is not one.")
    function: Callable[..., Any] = found
    return function


def _found(word: str, option: str) -> Any:
    """What ``module:name`` names, from here or from where packages are."""
    module, _, name = word.partition(":")
    if not (module and name):
        raise ValueError(f"`{option}` must name module:function, such as my_lab:rollout; got {word!r}.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"`{option}` {word} cannot be used: {error}.") from None
    return found


def release(
    store: Kept = "study.db",
    holder: Annotated[str, typer.Option(help="Whose turns, as `surefoot study status` names them.")] = "",
    author: Author = "",
    as_json: terminal.AsJson = False,
) -> None:
    """Hand back the turns of a robot or a device that has left.

    Whoever asks next gets them, the oldest first. A result that comes for one of them later, when another has taken it,
    is refused, and the report says so.

    A study that is being served is given by its address, with the owner's token in SUREFOOT_TOKEN.

    Examples:

        surefoot study release study.db --holder "arm 1"
    """
    if not holder:
        raise ValueError("`--holder` must be given, such as --holder 'arm 1'; `surefoot study status` names them.")
    receipt = taking_part(store, author).release(holder=holder)
    back = len(receipt.turns)
    if not back:
        raise StudyError(f"{holder!r} holds no turn; nothing was handed back.")
    if as_json:
        terminal.show(receipt.status, as_json=True)
    else:
        turns = "1 turn: whoever asks next gets it" if back == 1 else f"{back} turns: whoever asks next gets them"
        typer.echo(f"Handed back {turns}.")


TurnNumber = Annotated[int, typer.Argument(help="The turn's number.")]
RESULTS = {"success": True, "true": True, "failure": False, "false": False}


@modes.of("study record")
def record(
    store: Kept,
    turn: TurnNumber,
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


def undo(
    store: Kept, turn: TurnNumber, reason: Reason = "", author: Author = "", as_json: terminal.AsJson = False
) -> None:
    """Take back a turn's result; both stay in the log.

    Examples:

        surefoot study undo study.db 12 --reason "wrong key"
    """
    _told(taking_part(store, author).undo(turn, reason=reason), f"The result of turn {turn} is undone", as_json=as_json)


def void(
    store: Kept,
    turn: TurnNumber,
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
