"""Are the files on a command line two runs of the same policies?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from surefoot.cli import files
from surefoot.errors import DataError

if TYPE_CHECKING:
    from surefoot.table.findings import Finding
    from surefoot.table.rollouts import Rollouts

PoolRuns = Annotated[
    bool,
    typer.Option("--pool-runs", help="Treat files that hold the same policies as one run, not as two runs."),
]


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Two runs of the same policies.

    Attributes:
        now: The run that the verdict is about.
        before: The run it is compared with.
        names: What they are called.
    """

    now: Rollouts
    before: Rollouts
    names: tuple[str, str]

    @property
    def says(self) -> str:
        """What is compared with what."""
        shared = [name for name in self.now.policies if name in self.before.policies]
        alone = sorted({*self.now.policies, *self.before.policies} - set(shared))
        left = f" Only in one of them: {', '.join(alone[:6])}." if alone else ""
        whom = repr(shared[0]) if len(shared) == 1 else f"each {self.now.words.policy}"
        return f"{self.names[0]} and {self.names[1]} are two runs: {whom} is compared with itself.{left}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What can make a conclusion wrong, in either run."""
        return tuple(dict.fromkeys((*files.serious(self.now), *files.serious(self.before))))


def pair_of_runs(
    rollouts: Rollouts,
    paths: Sequence[str],
    asked: tuple[str | None, str | None],
    *,
    previous: tuple[Path | None, Rollouts | None],
    pool: bool,
) -> TwoRuns | None:
    """The two runs to compare: a run and the previous one, or two files that hold the same policies."""
    path, before = previous
    if before is not None:
        if any(asked):
            raise ValueError(
                f"`--previous` must come without `--first` and `--second`: each {rollouts.words.policy} is compared "
                "with itself."
            )
        return TwoRuns(rollouts, before, _apart([" ".join(paths), str(path)]))
    found = None if pool else runs_of(rollouts, paths)
    if found is not None and any(asked):
        _refuse(found, paths, f"Compare {rollouts.words.policies} of one file, or leave out --first and --second.")
    return None if found is None else TwoRuns(*found, _apart(paths))


def _apart(paths: Sequence[str]) -> tuple[str, str]:
    """Short names of two paths that tell them apart."""
    one, other = (Path(path).name for path in paths)
    return (one, other) if one != other else (str(paths[0]), str(paths[1]))


def runs_of(rollouts: Rollouts, paths: Sequence[str | Path]) -> tuple[Rollouts, Rollouts] | None:
    """The two runs that two files hold, if they do; a note where a name decided it."""
    from surefoot.table.two_runs import told_by_name, two_runs

    for note in told_by_name(rollouts, paths):
        typer.echo(f"note: {note}", err=True)
    return two_runs(rollouts, paths)


def refuse_two_runs(rollouts: Rollouts, paths: Sequence[str | Path], instead: str) -> None:
    """Refuse two runs where one is asked for."""
    runs = runs_of(rollouts, paths)
    if runs is not None:
        _refuse(runs, paths, instead)


def _refuse(runs: tuple[Rollouts, Rollouts], paths: Sequence[str | Path], instead: str) -> NoReturn:
    words = runs[0].words
    shared = sorted(set(runs[0].policies) & set(runs[1].policies))
    names = ", ".join(map(repr, shared[:4])) + (" and others" if len(shared) > 4 else "")
    raise DataError(
        f"{paths[0]} and {paths[1]} must hold different {words.policies}; both hold {names}, so they are two runs. "
        f"{instead} To treat them as one run: --pool-runs."
    )
