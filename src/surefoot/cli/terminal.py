"""How does a word on the command line become a value, and a result become output?"""

from __future__ import annotations

import contextlib
import logging
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer

from surefoot._arguments import shown, unshown
from surefoot.core.formatting import json_text, visible
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.errors import DataError

Confidence = Annotated[float, typer.Option("--confidence", "-c", help="Confidence, strictly between 0 and 1.")]
CONFIDENCE = 0.95
"""Of every command that is not told another; a function of the package says its own in its signature."""
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the draw, where chance enters; kept in the result.")]

SAME = (
    "unit repeat setting cluster run ignore target policy policies_in prior low high collected measure weights where "
    "sheet first_only second_only"
)
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in SAME.split()} | {
    "columns": "--column",
    "rng": "--seed",
    "attempts": "--pass-at",
    "first_rate": "--first",
    "second_rate": "--second",
}
"""The option that gives an argument, beside the options of the command itself; messages name it, not the argument."""


def said(error: Exception) -> str:
    """The message of an error, its arguments as the options that every command has."""
    return shown(unshown(error), OPTIONS)


def tally(word: str) -> Tally:
    """``38/50`` as a tally."""
    match = re.fullmatch(r"\s*(-?\d[\d_,]*)\s*/\s*(-?\d[\d_,]*)\s*", word)
    if match is None:
        if re.search(r"\.[A-Za-z]\w*$", word):
            raise ValueError(f"There is no file {shlex.quote(word)}. A tally is SUCCESSES/ROLLOUTS, such as 38/50.")
        how = " Say of how many rollouts." if word.endswith("%") or is_number(word) else ""
        raise ValueError(f"A tally must be SUCCESSES/ROLLOUTS, such as 38/50; got {word!r}.{how}")
    successes, trials = (int(part.replace(",", "").replace("_", "")) for part in match.groups())
    try:
        return Tally(successes, trials)
    except ValueError as error:
        raise DataError(f"{word}: {unshown(error)}") from None


def show(result: Record | Iterable[Record], *, as_json: bool) -> None:
    """Print a result, or several, as sentences or as JSON."""
    results = [result] if isinstance(result, Record) else list(result)
    if as_json:
        bodies = [item.to_dict() for item in results]
        show_json(bodies[0] if isinstance(result, Record) else bodies)
        return
    for item in results:
        typer.echo(str(item))


class _Printable:
    """A stream that shows control characters as escapes, whoever writes: names in files are not to move the cursor."""

    def __init__(self, stream: TextIO) -> None:
        """Everything but writing is done by the stream itself."""
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(text if text == "\r" else visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # what is written there would not pass through here
            raise AttributeError(name)
        return getattr(self._stream, name)


@contextlib.contextmanager
def printable() -> Iterator[None]:
    """Let nothing that is printed meanwhile control the terminal."""
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast("TextIO", _Printable(out)), cast("TextIO", _Printable(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def over(text: str, *, end: str = "") -> None:
    """Write a line of progress over the one before, on standard error."""
    for part in ("\r", text, end):
        sys.stderr.write(part)
    sys.stderr.flush()


NUMBER = r"[-+<[(]?\s*[\d.(]|$|at least|at most|not run"
"""How a cell begins that is a number, an interval or a bound, or stands in for one."""


def show_json(data: Any) -> None:
    """Print JSON-ready data; NaN cannot occur in it."""
    typer.echo(json_text(data))


def table(header: list[str], rows: list[list[str]]) -> None:
    """Print a plain table: names to the left, numbers to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = [i > 0 and all(re.match(NUMBER, row[i]) for row in rows) for i in range(len(header))]
    for name, right in zip(header, numeric, strict=True):
        grid.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    wide = None if sys.stdout.isatty() else 140  # a pipe has no width of its own
    Console(highlight=False, markup=False, emoji=False, color_system=None, width=wide).print(grid)


def is_number(word: str) -> bool:
    """Whether a word or a cell reads as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def in_folder(path: Path, option: str) -> None:
    """Refuse a file that could not be written, before anything is computed."""
    if not path.absolute().parent.is_dir():
        raise ValueError(f"`{option}` must be in a folder that exists; there is no {str(path.parent)!r}.")


class _Aloud(logging.Handler):
    """Says on standard error what the code has to say."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(self.format(record), err=True)


@contextlib.contextmanager
def told_aloud() -> Iterator[None]:
    """Say on standard error what the code has to say meanwhile."""
    log, aloud = logging.getLogger("surefoot"), _Aloud()
    log.addHandler(aloud)
    try:
        yield
    finally:
        log.removeHandler(aloud)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A sign of life on standard error while work goes on, shown only to a person and wiped out after."""
    shown = f"{what} ..." if sys.stderr.isatty() else ""
    if shown:
        over(shown)
    yield
    if shown:
        over(" " * len(shown))
        over("")
