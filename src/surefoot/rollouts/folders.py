"""Which files does a path stand for?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import DataError

MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """One file to read: its path, how messages call it, and whether it was named by the user or met in a folder."""

    path: Path
    name: str
    met: bool


def walk(path: Path) -> list[Found]:
    """The file itself, or every file in a folder that is not hidden, sorted."""
    if not path.is_dir():
        return [Found(path, path.name, met=False)]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path)))
    if len(files) > MOST_FILES:
        raise DataError(f"a folder must hold at most {MOST_FILES:,} files; got {len(files):,}.", source=str(path))
    if not files:
        raise DataError("the folder must hold files of rollouts; it is empty.", source=str(path))
    return [Found(file, (Path(path.name) / file.relative_to(path)).as_posix(), met=True) for file in files]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
