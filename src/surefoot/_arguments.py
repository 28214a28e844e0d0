"""Names of arguments in messages: Python's, or the options of a command.

A message holds each argument between two marks until it is shown. An error shows itself with Python's names; the
command line shows it with its options. What users wrote is never rewritten: no mark can come from there.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MARKED = re.compile("\ue000([^\ue001]*)\ue001")


def named(argument: str) -> str:
    """An argument by its name: ``rng``, or ``--seed``."""
    return _marked("named", argument)


def write(argument: str, value: Any = None) -> str:
    """What to write to give an argument: ``rng=7``, or ``--seed 7``; a value of None stands for one's own."""
    return _marked("write", argument, value)


def in_python(words: str, otherwise: str = "") -> str:
    """Words for who writes Python, and what stands there for who uses the command line."""
    return _marked("either", words, otherwise)


def shown(text: str, options: Mapping[str, str] | None = None) -> str:
    """A text with its arguments written as in Python, or as these options of a command."""

    def say(found: re.Match[str]) -> str:
        kind, argument, *more = json.loads(found[1])
        if kind == "either":
            return shown(more[0] if options else argument, options)
        option = (options or {}).get(argument)
        if kind == "named":
            return option or argument
        return f"{argument}={_python(more[0])}" if option is None else _option(option, more[0])

    return _MARKED.sub(say, text)


def unshown(error: Exception) -> str:
    """The message of an error to be part of another, its arguments still to be written."""
    return str(getattr(error, "template", error))


def _marked(*parts: Any) -> str:
    return f"\ue000{json.dumps(parts, default=str)}\ue001"


def _option(option: str, value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{key}={shlex.quote(str(one)) if one is not None else 'YOURS'}" for key, one in value.items())
        return " ".join(f"{option} {pair}" for pair in pairs)
    if isinstance(value, list):
        return f"{option} {shlex.quote(','.join(map(str, value))) if value else 'A,B'}"
    return option if value is None else f"{option} {shlex.quote(str(value))}"


def _python(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = (f'"{key}": {"..." if one is None else repr(one)}' for key, one in value.items())
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_python, value)) or '...'}]"
    return "" if value is None else f'"{value}"' if isinstance(value, str) else str(value)


def renamed(old: str, new: str, values: Mapping[str, str]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function take an argument by its name of the version before, with a warning that says the new one.

    Args:
        old: The name before.
        new: The name now.
        values: What values are called now, by what they were called.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def renaming(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if old in kwargs:
                value: Any = kwargs.pop(old)
                value = values.get(value, value) if isinstance(value, str) else value
                said = f"`{old}` is called `{new}` now, and goes in the next release: say {new}={value!r}."
                warnings.warn(said, DeprecationWarning, stacklevel=2)
                kwargs.setdefault(new, value)
            return function(*args, **kwargs)

        return renaming

    return decorate


weights_once_weigh = renamed("weigh", "weights", {"tasks": "units"})
"""For functions that weigh units: `weigh` was the name, and "tasks" was what "units" is."""
