"""Runners that other packages add: what carries out the turns of a study, by name.

A package adds one by an entry point of `surefoot.runners`: whatever `run_study` takes, or a class of it that is made
without arguments.
"""

from __future__ import annotations

from typing import Any

from surefoot import _plugins
from surefoot.runners.outcomes import Rollout


def runner_names() -> tuple[str, ...]:
    """The names of the runners that other packages add."""
    return tuple(_plugins.added("runners", _plugins.callable_only))


def runner_of(name: str) -> Rollout:
    """The runner of that name, made anew where it is a class.

    Raises:
        ValueError: No package adds one of that name, or the class cannot be called by a turn.
    """
    known = _plugins.added("runners", _plugins.callable_only)
    if name not in known:
        raise ValueError(f"A runner must be one of {', '.join(known) or 'none'}; got {name!r}.")
    made: Any = known[name]() if isinstance(known[name], type) else known[name]
    if not callable(made):
        raise ValueError(f"A runner must take a turn; {name!r} of {_plugins.packages('runners')[name]} takes none.")
    runner: Rollout = made
    return runner
