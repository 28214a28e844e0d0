"""Do two files hold two runs of the same policies, and which rows came from which?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from surefoot.table.rollouts import Rollouts


def two_runs(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[Rollouts, Rollouts] | None:
    """The two runs that two files or folders hold: the same policies on the same tasks; None where they do not."""
    if len(paths) != 2 or "source" not in rollouts.columns:
        return None
    held = [sources(rollouts, Path(path)) for path in paths]
    if not all(held) or set(held[0]) & set(held[1]):  # a file and the folder that it is in are one run
        return None
    now, before = (
        replace(rollouts.where(source=each), source=str(path)) for each, path in zip(held, paths, strict=True)
    )
    if not set(now.policies) & set(before.policies):
        return None
    for key in rollouts.design.keys("unit", "setting"):
        if not set(now.names(key)) & set(before.names(key)):  # parts of one run, a task each
            return None
    return now, before


def sources(rollouts: Rollouts, path: Path) -> list[str]:
    """What rows of this file, or of the files in this folder, say that they come from."""
    known, found = set(rollouts.names("source")), []
    for file in map(Path, rollouts.files):
        if path.parts and file.is_relative_to(path):
            long, short = file.as_posix(), (Path(path.name) / file.relative_to(path)).as_posix()
            found += [long] if long in known else [short] if short in known else []
    return found
