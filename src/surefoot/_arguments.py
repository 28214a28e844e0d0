"""Names of arguments in messages: Python's, or the options of a command.

Whoever runs the code says which, once, before any sentence is made; nothing that was said is ever rewritten, so the
names of users stay as they are.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OPTIONS: ContextVar[Mapping[str, str]] = ContextVar("options", default=MappingProxyType({}))


@contextlib.contextmanager
def as_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let messages name arguments by these options."""
    before = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(before)


def named(argument: str) -> str:
    """An argument by its name: ``rng``, or ``--seed``."""
    return _OPTIONS.get().get(argument, argument)


def write(argument: str, value: Any = None) -> str:
    """What to write to give an argument: ``rng=7``, or ``--seed 7``; a value of None stands for one's own."""
    option = _OPTIONS.get().get(argument)
    if option is None:
        return f"{argument}={_python(value)}"
    if isinstance(value, Mapping):
        pairs = (f"{key}={shlex.quote(str(one)) if one is not None else 'YOURS'}" for key, one in value.items())
        return " ".join(f"{option} {pair}" for pair in pairs)
    if isinstance(value, list | tuple):
        return f"{option} {shlex.quote(','.join(map(str, value))) if value else 'A,B'}"
    return option if value is None else f"{option} {shlex.quote(str(value))}"


def in_python(words: str) -> str:
    """Words that only help who writes Python; nothing on the command line."""
    return "" if _OPTIONS.get() else words


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
