"""Which commands are there, and how do they end?

A command's module is imported only when it is asked for, so that a short answer comes at once.
Exit codes: 0 done, 64 the command was used wrongly, 65 the data cannot be used; `compare --gate` has its own.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import typer

from surefoot import __version__, _plugins
from surefoot._arguments import shown, unshown
from surefoot.cli.terminal import OPTIONS, printable
from surefoot.errors import SurefootError

USAGE, DATA, STOPPED = 64, 65, 130

COMMANDS = {
    "rate": ("rate:rate", "Where does one success rate lie? A rate with its interval and n."),
    "compare": ("compare:compare", "Is the first policy better, and by how much?"),
    "rank": ("rank:rank", "Which policies are better than which?"),
    "best": ("best:best", "Which policies may be the best, and how good is the highest?"),
    "gate": ("gate:gate", "May it be released? Several needs at once, on any measure."),
    "slices": ("slices:slices", "Where is a policy better, where worse, where does it fail?"),
    "items": ("items:items", "Which items are saturated, flaky or suspicious?"),
    "columns": ("columns:columns", "What was every column taken for, and why?"),
    "band": ("band:band", "What is the worst that the scores can be?"),
    "audit": ("audit:audit", "What can these data not support?"),
    "report": ("report:report", "What do these data support?"),
    "plan": ("plan:app", "How many rollouts, before the first one?"),
    "replay": ("replay:replay", "When would a sequential test have stopped?"),
    "watch": ("watch:watch", "Has this growing file decided yet?"),
    "study": ("study:app", "A live study: blind, randomised, and it says when to stop."),
    "labels": ("labels:app", "Human labels beside a judge: draw the items to label."),
    "open": ("open:open_page", "Drop a file, read its report: a page in place of a terminal."),
    "formats": ("formats:formats", "Which files can be read?"),
    "demo": ("demo:demo", "Run an example analysis on bundled data."),
}
"""The home of each command in this room, a function or an app with commands of its own; and what it answers."""

OF_WORDS = ("rate", "compare")
"""The commands that take any number of words, tallies or files: without an option there is nothing to parse."""

_UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])
_HELP: Any = tuple(one for one in _UsageError.__subclasses__() if one.__name__ == "NoArgsIsHelpError")


def application(only: str | None = None) -> typer.Typer:
    """The command-line app, with all commands or only the one asked for."""
    app = _app()
    for name in COMMANDS if only not in COMMANDS else (only,):
        command = _command(name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def _app(*, options: bool = True) -> typer.Typer:
    """The app without its commands; its own options (help, completion) where there may be any to parse."""
    app = typer.Typer(
        name="surefoot",
        help="Know where your policy stands, in the fewest rollouts.",
        no_args_is_help=True,
        add_completion=options,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"] if options else []},
    )
    app.callback(invoke_without_command=True)(_root)
    return app


def _command(name: str) -> Any:
    module, attribute = COMMANDS[name][0].split(":")
    return getattr(importlib.import_module(f"surefoot.cli.{module}"), attribute)


def _outline() -> typer.Typer:
    """The app for its own help: every command by what it answers, none of them imported."""
    app = _app()
    for name, (_, answers) in COMMANDS.items():
        app.command(name, help=answers)(_nothing)
    return app


def _nothing() -> None:
    """Stands for a command that is not run."""


def _of_words(name: str, words: list[str]) -> typer.Typer:
    """An app whose one command has its words already.

    The parser of options imports pydantic: that alone takes longer than the answer to a tally.
    """
    app, command = _app(options=False), _command(name)

    def call() -> None:
        command(words)

    app.command(name)(call)
    return app


def _root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; what goes wrong is one line on standard error and an exit code."""
    with printable():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    left = words
    if words == ["--version"]:
        app = _app(options=False)
    elif words in ([], ["-h"], ["--help"]) and "_SUREFOOT_COMPLETE" not in os.environ:
        app = _outline()
    elif words[1:] and words[0] in OF_WORDS and not any(word.startswith("-") for word in words):
        app, left = _of_words(words[0], words[1:]), words[:1]
    else:
        app = application(words[0] if words else None)
    command, names = typer.main.get_command(app), OPTIONS.copy()
    try:
        called = _called(command, left)
        options = {name: one for one in called.params if one.param_type_name == "option" for name in one.opts}
        if {"-h", "--help"} & set(left):
            called.epilog = added_by_packages(one.name for one in called.params)
        written = [(one.name, max(one.opts, key=len)) for one in options.values()]
        names |= dict(written) | {option.strip("-").replace("-", "_"): option for _, option in written}
        _check_values(options, left)
        code = command.main(args=left, prog_name="surefoot", standalone_mode=False)
        if code == STOPPED:  # Ctrl+C, which typer takes for an answer of its own
            return _stopped()
        return code if isinstance(code, int) else 0
    except _UsageError as error:
        return _misused(error)
    except SurefootError as error:
        return _fail(shown(unshown(error), names), DATA)
    except (ValueError, TypeError) as error:
        return _fail(shown(unshown(error), names), USAGE)
    except FileNotFoundError as error:
        return _fail(f"{error.filename}: there is no such file or folder.", DATA)
    except OSError as error:
        if error.filename is None:
            raise
        return _fail(f"{error.filename}: it cannot be read or written: {error.strerror}.", DATA)
    except (typer.Abort, KeyboardInterrupt):
        return _stopped()


def _called(command: Any, words: list[str]) -> Any:
    """The command that is called."""
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    return command


def _check_values(options: dict[str, Any], words: list[str]) -> None:
    """Refuse an option whose value was forgotten, or that takes one value and was given two: one would go unseen."""
    for name, value in pairwise(words):
        if name in options and value in options and not options[name].is_flag:
            raise ValueError(f"`{name}` must be followed by its value; got the option {value}.")
    given = [word.partition("=")[0] for word in (words[: words.index("--")] if "--" in words else words)]
    for one in {id(options[name]): options[name] for name in given if name in options}.values():
        if not (one.is_flag or one.multiple or one.count) and sum(given.count(name) for name in one.opts) > 1:
            several = " Write several with commas between them." if ",..." in (one.metavar or "") else ""
            raise ValueError(f"`{max(one.opts, key=len)}` must be given once.{several}")


def _misused(error: Any) -> int:
    if isinstance(error, _HELP):
        typer.echo(error.format_message())
        return 0
    faults: list[Any] = getattr(
        error.__cause__, "errors", list
    )()  # what pydantic says of a value that is of another type
    kind = NUMBERS.get(faults[0]["type"]) if faults else None
    if kind is not None:
        return _fail(_no_number(max(error.param.opts, key=len), kind, str(faults[0]["input"])), USAGE)
    if error.ctx is None:
        return _fail(error.format_message(), USAGE)
    unknown_word = error.__class__ is _UsageError  # of its subclasses each says what is amiss
    hint = _files_by_option(error.ctx.command) if unknown_word else ""
    return _fail(f"{error.format_message()}{hint} (See `{error.ctx.command_path} --help`.)", USAGE)


def _files_by_option(command: Any) -> str:
    """How a command is told of a file that is no argument of it: a word too many is mostly one."""
    if command.callback is None:
        return ""
    hints = get_type_hints(command.callback)
    names = [
        f"`{max(one.opts, key=len)}`"
        for one in command.params
        if one.param_type_name == "option" and Path in (hints.get(one.name), *get_args(hints.get(one.name)))
    ]
    return f". A file is named by {' or '.join(names)}." if names else ""


NUMBERS = {"float_parsing": "number", "int_parsing": "whole number"}


def _no_number(option: str, kind: str, given: str) -> str:
    """The refusal of a word where a number must be, with the word itself."""
    share = given.strip().removesuffix("%")
    hint = f" Write {float(share) / 100:g} for {share}%." if re.fullmatch(r"\d+(\.\d+)?", share) else ""
    return f"`{option}` must be a {kind}; got {given!r}.{hint if share != given.strip() else ''}"


def _stopped() -> int:
    if sys.stderr.isatty():
        typer.echo("", err=True)  # the terminal has shown ^C, after whatever was shown last
    return _fail("stopped.", STOPPED)


def _fail(message: str, code: int) -> int:
    typer.echo(f"surefoot: {message}", err=True)
    return code


def main() -> None:
    """The program: run and exit."""
    sys.exit(run())


OF: dict[str, _plugins.Group] = {
    "rule": "rules",
    "rules": "rules",
    "store": "stores",
    "figures": "figures",
    "runner": "runners",
}
"""What packages can add to the values of a parameter; formats are listed by `surefoot formats`."""


def added_by_packages(parameters: Iterable[str]) -> str:
    """What packages add to the values of these parameters, each with its package; empty where they add nothing."""
    groups = dict.fromkeys(OF[name] for name in parameters if name in OF)
    lines = []
    for group in groups:
        if _plugins.offered(group):
            _load(group)
            names = [f"{name} ({package})" for name, package in _plugins.packages(group).items()]
            lines += [f"{group}: {', '.join(names)}"] if names else []
    return f"Added by installed packages: {'; '.join(lines)}." if lines else ""


def _load(group: _plugins.Group) -> None:
    """Load what packages add to a group, as far as it can be used."""
    if group == "rules":
        from surefoot.sequential import registry

        registry.names()
    elif group == "stores":
        from surefoot.study import stores

        stores.schemes()
    elif group == "figures":
        from surefoot.reporting import figures

        figures.figure_names()
    else:
        from surefoot.runners import outcomes

        outcomes.runner_names()
