"""Whether two files hold two runs of the same policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from surefoot.table.columns import plain
from surefoot.table.design import MEETS
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
    return None if _parts(rollouts, now, before) else (now, before)


def _parts(rollouts: Rollouts, now: Rollouts, before: Rollouts) -> bool:
    """Whether the files are parts of one run: they share no unit, or no level of a setting.

    A column of one level in each file may as well tell the runs apart; its name says whether it is what is met.
    """
    for column in (*rollouts.design.of("unit"), *rollouts.design.of("setting")):
        levels = [set(table.names(column.key)) for table in (now, before)]
        several = max(map(len, levels)) > 1 or plain(column.name) in MEETS
        if several and all(levels) and not levels[0] & levels[1]:
            return True
    return False


def sources(rollouts: Rollouts, path: Path) -> list[str]:
    """What rows of this file, or of the files in this folder, say that they come from."""
    known, found = set(rollouts.names("source")), []
    for file in map(Path, rollouts.files):
        if path.parts and file.is_relative_to(path):
            long, short = file.as_posix(), (Path(path.name) / file.relative_to(path)).as_posix()
            found += [long] if long in known else [short] if short in known else []
    return found
