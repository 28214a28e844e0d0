"""Whether two files hold two runs of the same policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from surefoot.core.notes import Note
from surefoot.table.columns import plain
from surefoot.table.design import MEETS, Column
from surefoot.table.rollouts import Rollouts


def two_runs(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[Rollouts, Rollouts] | None:
    """The two runs that two files or folders hold: the same policies on the same tasks; None where they do not."""
    runs = _with_policies_in_common(rollouts, paths)
    return None if runs is None or any(several or named for _, several, named in _apart(rollouts, *runs)) else runs


def told_by_name(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[Note, ...]:
    """That the name of a column of one level in each file decides whether these are two runs."""
    runs = _with_policies_in_common(rollouts, paths)
    apart = [] if runs is None else _apart(rollouts, *runs)
    if any(several for _, several, _ in apart):
        return ()
    by_name = [column for column, _, named in apart if named]
    kind = "parts by name" if by_name else "runs unless met"
    return tuple(Note(kind, {"column": column.name}) for column in by_name or [column for column, _, _ in apart])


def _with_policies_in_common(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[Rollouts, Rollouts] | None:
    if len(paths) != 2 or "source" not in rollouts.columns:
        return None
    held = [sources(rollouts, Path(path)) for path in paths]
    if not all(held) or set(held[0]) & set(held[1]):  # a file and the folder that it is in are one run
        return None
    now, before = (
        replace(rollouts.where(source=each), source=str(path)) for each, path in zip(held, paths, strict=True)
    )
    return (now, before) if set(now.policies) & set(before.policies) else None


def _apart(rollouts: Rollouts, now: Rollouts, before: Rollouts) -> list[tuple[Column, bool, bool]]:
    """The units and settings of which the files share no level: parts of one run, where one has several levels or is
    declared. A column of one level in each file may as well tell the runs apart; its name says whether it was met."""
    found = []
    for column in (*rollouts.design.of("unit"), *rollouts.design.of("setting")):
        levels = [set(table.names(column.key)) for table in (now, before)]
        if all(levels) and not levels[0] & levels[1]:
            told = max(map(len, levels)) > 1 or column.key in rollouts.declared
            found.append((column, told, plain(column.name) in MEETS))
    return found


def sources(rollouts: Rollouts, path: Path) -> list[str]:
    """What rows of this file, or of the files in this folder, say that they come from."""
    known, found = set(rollouts.names("source")), []
    for file in map(Path, rollouts.files):
        if path.parts and file.is_relative_to(path):
            long, short = file.as_posix(), (Path(path.name) / file.relative_to(path)).as_posix()
            found += [long] if long in known else [short] if short in known else []
    return found
