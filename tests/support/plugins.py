"""Packages that add to surefoot, installed for one test: a module and its metadata in a folder that is searched."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from surefoot import _plugins
from surefoot.core.record import Record
from surefoot.sequential import registry

TOY = Path(__file__).parents[1] / "toy_plugin"

Points = Mapping[str, Mapping[str, str]]
"""The entry points of a package: by group, without `surefoot.`, and by name."""


def put(folder: Path, name: str, points: Points, modules: Mapping[str, str]) -> Path:
    """Write a package into a folder as pip would: its modules, and its metadata beside them."""
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = (f"[surefoot.{group}]\n" + "".join(f"{k} = {v}\n" for k, v in of.items()) for group, of in points.items())
    (about / "entry_points.txt").write_text("\n".join(groups))
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    return folder


def put_toy(folder: Path) -> Path:
    """Write the toy package of tests/toy_plugin into a folder, with the entry points that its pyproject.toml says."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    points = {group.removeprefix("surefoot."): of for group, of in project["entry-points"].items()}
    return put(folder, project["name"], points, {"surefoot_toy": (TOY / "surefoot_toy.py").read_text()})


@contextmanager
def installed(*folders: Path) -> Iterator[None]:
    """The packages in these folders are installed; afterwards they are not, and nothing of them is known."""
    paths, modules, records = list(sys.path), set(sys.modules), dict(Record._known)
    rules = {name: list(kinds) for name, kinds in registry.REGISTRY.items()}
    sys.path[:0] = map(str, folders)
    importlib.invalidate_caches()
    _forget()
    try:
        yield
    finally:
        sys.path[:] = paths
        for name in set(sys.modules) - modules:
            if getattr(sys.modules[name], "__file__", None) and any(
                Path(str(sys.modules[name].__file__)).is_relative_to(folder) for folder in folders
            ):
                del sys.modules[name]
        for name in set(registry.REGISTRY) - set(registry.HOMES) - set(rules):
            del registry.REGISTRY[name]
        added = [name for name in Record._known if name not in records and not _own(Record._known[name])]
        for name in added:
            del Record._known[name]
        _forget()


def _own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "surefoot"


def _forget() -> None:
    _plugins._found.clear()
    _plugins._packages.clear()
