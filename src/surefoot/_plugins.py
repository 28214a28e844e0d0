"""Objects that installed packages add by entry points: rules, formats, stores, figures and runners.

A package adds one by a line in its metadata, such as ``third = "my_package:Third"`` under ``surefoot.rules``. The
entry points of a group are read when something is asked of that group which surefoot does not have by itself. One that
cannot be used is named in a warning and left out; it never ends what the user asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
Group = Literal["rules", "formats", "stores", "figures", "runners"]

_LOCK = threading.RLock()
_found: dict[str, dict[str, Any]] = {}  # the usable objects of each group that was asked for, by name
_packages: dict[str, dict[str, str]] = {}  # the package, with its version, that each was added by


def added(group: Group, admit: Callable[[str, Any], T]) -> Mapping[str, T]:
    """The usable objects that other packages offer in a group, by name, each loaded once.

    Args:
        group: What they are.
        admit: Gives the object to keep, from the name and what was loaded; raises where it cannot be used.
    """
    with _LOCK:
        if group not in _found:
            _found[group], _packages[group] = {}, {}  # from here on known, also to a package that asks meanwhile
            for entry in offered(group):
                package = "a package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
                with _LeavingOut(group, entry.name, package):
                    if entry.name in _found[group]:
                        raise ValueError(f"{_packages[group][entry.name]} has that name already")
                    _found[group][entry.name] = admit(entry.name, entry.load())
                    _packages[group][entry.name] = package
        return dict(_found[group])


def offered(group: Group) -> list[EntryPoint]:
    """The entry points of a group, none of them loaded."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=f"surefoot.{group}"), key=lambda one: (one.name, one.value))


def packages(group: Group) -> Mapping[str, str]:
    """The package, with its version, of each usable object in a group that was loaded, by name."""
    return {name: _packages[group][name] for name in _found.get(group, {})}


def used(group: Group, name: str, use: Callable[[], T]) -> T | None:
    """What an added object gives; where it fails it is left out from then on, and nothing is given."""
    with _LeavingOut(group, name, _packages[group][name]) as leaving:
        return use()
    if leaving.failed:
        with _LOCK:
            _found[group].pop(name, None)
    return None


class _LeavingOut:
    """Names in one warning line an added object that fails, in whatever way, and goes on."""

    def __init__(self, group: Group, name: str, package: str) -> None:
        self.group, self.name, self.package, self.failed = group, name, package, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.failed = isinstance(error, Exception | SystemExit)
        if self.failed:
            import logging

            why = " ".join(f"{type(error).__name__}: {error}".split())
            said = "surefoot: %s is left out: %s (%s) fails. %s"
            logging.getLogger(__name__).warning(said, self.name, self.package, self.group, why)
        return self.failed


def lacking(thing: Any, names: tuple[str, ...]) -> None:
    """Refuse an object that lacks an attribute."""
    missing = [name for name in names if not hasattr(thing, name)]
    if missing:
        raise TypeError(f"it must have {', '.join(names)}; it lacks {', '.join(missing)}")


def callable_only(name: str, thing: Any) -> Callable[..., Any]:  # noqa: ARG001
    """The object, if it can be called."""
    if not callable(thing):
        raise TypeError(f"it must be callable; it is of type {type(thing).__name__}")
    function: Callable[..., Any] = thing
    return function
