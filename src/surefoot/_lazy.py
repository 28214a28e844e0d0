"""How does a package offer all its names while importing only those that are used?"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any


def sources(package: str) -> Iterator[tuple[str, str]]:
    """The modules of a package and their text, without importing them: what registers itself is found by it."""
    for folder in importlib.import_module(package).__path__:
        for file in sorted(Path(folder).glob("*.py")):
            if file.stem != "__init__":
                yield f"{package}.{file.stem}", file.read_text(encoding="utf-8")


def attach(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose names live in other modules.

    Args:
        package: The package's own name.
        homes: The module of each public name; a name that is its own module's last part is that module.
    """

    def __getattr__(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            inside = [f"{package}.{known}" for known in sorted(homes) if homes[known].startswith(f"{package}.{name}.")]
            cure = f"; what is public of it is {', '.join(inside)}" if inside else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{cure}")
        module = importlib.import_module(home)
        return module if home == f"{package}.{name}" else getattr(module, name)

    def __dir__() -> list[str]:
        return sorted(homes)

    return __getattr__, __dir__
