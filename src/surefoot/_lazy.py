"""Names of a package, imported when they are used."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

PROVIDED: dict[str, Callable[..., Any]] = {}
"""What the package provides to its lowest rooms, which know nothing of those above them; `surefoot` fills it."""


class MissingNameError(AttributeError):
    """A name that a package does not have; where to look instead is found out when somebody reads it."""

    def __init__(self, package: str, name: str) -> None:
        super().__init__(package, name)
        self.package, self.missing = package, name

    def __str__(self) -> str:
        return f"module {self.package!r} has no attribute {self.missing!r}{_cure(self.package, self.missing)}"


def _cure(package: str, name: str) -> str:
    """What may have been meant: the public names of a room, the same name elsewhere, or one written nearly so."""
    from difflib import get_close_matches

    root = package.partition(".")[0]
    tables = {root: importlib.import_module(root)._HOMES}
    tables |= {
        home: importlib.import_module(home)._HOMES for key, home in tables[root].items() if home == f"{root}.{key}"
    }
    inside = [known for known, home in tables[root].items() if home.startswith(f"{package}.{name}.")]
    if package == root and inside:
        return f"; what is public of it is {', '.join(f'{root}.{known}' for known in inside)}"
    places: dict[str, list[str]] = {}
    for place in sorted(tables, key=lambda place: place != package):
        for known in tables[place]:
            places.setdefault(known.casefold(), []).append(f"{place}.{known}")
    near = [name.casefold()] if name.casefold() in places else get_close_matches(name.casefold(), places, cutoff=0.8)
    meant = " or ".join(places[one][0] for one in near)
    return (
        f"; did you mean {meant}?" if meant else f"; dir({package if package in tables else root}) lists what is public"
    )


def elsewhere(package: str) -> Callable[[str], Any]:
    """`__getattr__` of a room that is not public: it says where what is meant can be found."""

    def __getattr__(name: str) -> Any:
        raise MissingNameError(package, name)

    return __getattr__


def homes(package: str, file: str) -> dict[str, str]:
    """The module of each public name of a package, by name; a name that is a module of the package is that module.

    They are the imports that `__init__.py` makes for type checkers only, so that a name is listed once. The package
    need not be a folder of sources: in a zip file its loader reads them, and where it was compiled the code tells them.

    Args:
        package: The package's own name.
        file: Its `__init__.py`, whose public names are the lines ``from module import name as name``.
    """
    loader: Any = sys.modules[package].__loader__
    if file.endswith(".pyc"):
        listed = _imported(loader.get_code(package))
    else:
        rows = (line.split() for line in loader.get_data(file).decode().splitlines())
        listed = {words[3]: words[1] for words in rows if words[::2] == ["from", "import", "as"]}
    return {name: f"{package}.{name}" if listed[name] == package else listed[name] for name in sorted(listed)}


def _imported(code: CodeType) -> dict[str, str]:
    """The module that each public name is imported from, as compiled code says it."""
    import dis

    found, home = {}, ""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            home = str(step.argval)
        elif step.opname == "IMPORT_FROM" and home not in ("__future__", "typing"):
            found[str(step.argval)] = home
    return {name: home for name, home in found.items() if not name.startswith("_")}


def attach(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names live in other modules.

    A name of the version before answers too, with a warning that says where it is now (`_moved`).

    Args:
        package: The package's own name.
        homes: The module of each public name; a name that is its own module's last part is that module.
    """

    def __getattr__(name: str) -> Any:
        home = homes.get(name)
        if home is not None:
            module = importlib.import_module(home)
            return module if home == f"{package}.{name}" else getattr(module, name)
        moved = {} if name.startswith("_") else importlib.import_module("surefoot._moved").moved()
        now = moved.get(f"{package}.{name}")
        if now is None:
            raise MissingNameError(package, name)
        warnings.warn(f"{package}.{name} is {now} now; the old name goes in 0.4.", DeprecationWarning, stacklevel=2)
        place, _, last = now.rpartition(".")
        return getattr(importlib.import_module(place), last) if place else importlib.import_module(now)

    def __dir__() -> list[str]:
        return sorted(homes)

    return __getattr__, __dir__
