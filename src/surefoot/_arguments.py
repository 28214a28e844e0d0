"""How does a message name an argument: as Python has it, or by the option that does the same on the command line?

Whoever runs the code says which, once, before any sentence is made; nothing that was said is ever rewritten, so the
names of users stay as they are.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

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
