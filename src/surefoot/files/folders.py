"""The files of a folder, or the one file that was named."""

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
    met = (file for file in path.rglob("*") if file.is_file())
    files = sorted(file for file in met if not any(part.startswith(".") for part in file.relative_to(path).parts))
    if len(files) > MOST_FILES:
        raise DataError(f"a folder must hold at most {MOST_FILES:,} files; got {len(files):,}.", source=str(path))
    if not files:
        raise DataError("the folder must hold files of rollouts; it is empty.", source=str(path))
    return [Found(file, (Path(path.name) / file.relative_to(path)).as_posix(), met=True) for file in files]
