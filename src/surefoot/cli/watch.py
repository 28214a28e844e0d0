"""`surefoot watch`: has this growing file decided yet?"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import surefoot as sf
from surefoot._files import write_whole
from surefoot.cli import files, modes, terminal
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.analysis.watching import Look, Watch

SETTLED = 1.0
"""Seconds after which a last line without an end is taken for whole."""
LINES = (".csv", ".tsv", ".jsonl", ".ndjson")
"""Formats of lines, whose last one may be half written."""


@modes.of("watch")
def watch(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Results that your own script appends to.")],
    first: Annotated[str, typer.Option("--first", help="The policy that the verdict is about.")],
    second: Annotated[str, typer.Option("--second", help="The policy it is compared with.")],
    horizon: Annotated[int, typer.Option("--horizon", help="The most pairs that will be run.")],
    rule: Annotated[
        str | None, typer.Option("--rule", help="The rule, as a plan names it; chosen if left out.")
    ] = None,
    claim: Annotated[str, typer.Option("--claim", help='What is asked: "either" or "first better".')] = "either",
    randomised: Annotated[
        bool, typer.Option("--randomised", help="The order of the environments is drawn at random.")
    ] = False,
    start_order: files.StartOrder = None,
    in_start_order: Annotated[
        bool,
        typer.Option(
            "--in-start-order",
            help="Rows are written in the order in which rollouts are started; one without an outcome still runs.",
        ),
    ] = False,
    first_start: Annotated[
        int | None,
        typer.Option("--first-start", help="The number of the first start; 0 where there is a 0, otherwise 1."),
    ] = None,
    parallel: Annotated[
        int | None,
        typer.Option(
            "--parallel", help="How many rollouts run at once; needed with start times, and durations if not 1."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once and end, instead of following the file.")] = False,
    every: Annotated[float, typer.Option("--every", help="Seconds between two looks.")] = 2.0,
    score: files.Score = None,
    low: files.Low = None,
    high: files.High = None,
    columns: files.Columns = None,
    confidence: terminal.Confidence = terminal.CONFIDENCE,
    as_json: terminal.AsJson = False,
) -> None:
    """Has this growing file decided yet?

    For those who keep their own scripts.

    The rule is declared at the first look and kept beside the file, in FILE.watch.json, with a hash of the rows seen.
    A later look with another declaration, or at a file whose past rows were changed, is refused. It ends when the rule
    says stop.

    Pairs enter in the order in which they were started, and wait for every rollout that was started before: failures
    end sooner or time out, so pairs taken as they end would favour one policy. Say what tells that order: a column of
    numbers or times (--start-order), or the rows themselves (--in-start-order). Without it there is no verdict.

    Examples:

        surefoot watch results.csv --first new --second old --horizon 200 --in-start-order

        surefoot watch results.csv --first new --second old --horizon 200 --start-order episode --once

        surefoot watch results.csv --first new --second old --horizon 200 --start-order started_at --parallel 8
    """
    if not every > 0:
        raise ValueError(f"`--every` must be greater than 0; got {every:g}.")
    if not path.exists():
        raise DataError(
            "there is no such file; start your script first, or make the file with its header.", source=str(path)
        )
    asked: dict[str, Any] = {
        "horizon": horizon, "rule": rule, "confidence": confidence, "claim": claim, "randomised": randomised,
        "measure": "score" if score else None, "start_order": start_order, "in_start_order": in_start_order or None,
        "first_start": first_start, "parallel": parallel,
    }  # fmt: skip
    if not (start_order or in_start_order or _kept(path).exists()):
        from surefoot.analysis.watching import unknown_order

        raise unknown_order(str(path))
    said, state = "", (-1, False)
    while True:
        now = path.stat()
        settled = time.time() - now.st_mtime > SETTLED
        if (now.st_size, settled) != state:
            state = (now.st_size, settled)
            reading = files.Reading(score=score, low=low, high=high, columns=columns)
            found = _look(path, (first, second), asked, reading, settled=settled)
            said = _told(found, said, as_json=as_json)
            if found is not None and found.finished:
                return
        if once:
            return
        time.sleep(every)


def _look(
    path: Path, policies: tuple[str, str], asked: dict[str, Any], reading: files.Reading, *, settled: bool
) -> Look | None:
    """What the file says now; None while it has no rows yet."""
    from surefoot.analysis.watching import declare, look

    kept = _kept(path)
    known = _declared(kept, policies, asked) if kept.exists() else None
    rollouts = _read(path, reading, settled=settled)
    if rollouts is None:
        return None
    if known is None:
        known = declare(rollouts, *policies, **{**asked, "in_start_order": bool(asked["in_start_order"])})
        for note in rollouts.notes:
            typer.echo(f"note: {note}", err=True)
    for name in policies:
        if name not in rollouts.policies:
            typer.echo(f"note: {name!r} is not in the file yet; there is {', '.join(rollouts.policies)}.", err=True)
    found = look(rollouts, known)
    marks = {"fingerprint": found.watch.fingerprint, "seal": found.watch.seal}
    write_whole(kept, json.dumps({**found.watch.to_dict(), **marks}, indent=1) + "\n")
    return found


def _kept(path: Path) -> Path:
    """Where the declaration is kept."""
    return path.with_name(f"{path.name}.watch.json")


def _read(path: Path, reading: files.Reading, *, settled: bool) -> sf.Rollouts | None:
    said: dict[str, Any] = {"columns": reading.names, "low": reading.low, "high": reading.high}
    if path.suffix.lower() not in LINES:
        return sf.read(path, **said)
    import tempfile

    text = path.read_bytes()
    whole = text if settled else text[: text.rfind(b"\n") + 1]
    if len(whole.splitlines()) < (2 if path.suffix.lower() in LINES[:2] else 1):
        return None
    with tempfile.TemporaryDirectory() as folder:  # a line that is being written is not read
        copy = Path(folder) / path.name
        write_whole(copy, whole)
        return sf.read(copy, **said)


def _declared(kept: Path, policies: tuple[str, str], asked: dict[str, Any]) -> Watch:
    """The declaration beside the file, which must be the one asked for."""
    from surefoot.analysis.watching import Watch

    try:
        data = json.loads(kept.read_text(encoding="utf-8"))
        marks = data.pop("fingerprint", ""), data.pop("seal", "")
        known = Watch.from_dict(data)
    except (ValueError, TypeError, AttributeError):
        raise DataError("the declaration must be as it was written; it cannot be read.", source=str(kept)) from None
    if marks != (known.fingerprint, known.seal):
        raise DataError("the declaration must be as it was written; it was changed.", source=str(kept))
    wanted = {**asked, "first": policies[0], "second": policies[1]}
    for name, value in wanted.items():
        if value is not None and getattr(known, name) != value:
            raise ValueError(
                f"`--{name.replace('_', '-')}` must be {getattr(known, name)}, as it was declared in {kept.name}; got "
                f"{value}. A rule is declared once, before the results."
            )
    return known


def _told(found: Look | None, before: str, *, as_json: bool) -> str:
    says = "Continue: no results yet." if found is None else str(found)
    if as_json:
        known = {"decision": "continue"} if found is None else {**found.to_dict(), "decision": found.decision}
        terminal.show_json({**known, "says": says})
    elif says != before:
        typer.echo(says)
    return says
