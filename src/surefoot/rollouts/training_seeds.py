"""Is a column called seed the seed of a training, and not of an environment?"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.rollouts.canon import small
from surefoot.rollouts.table import Rollouts, a_table

MOST_SEEDS = 10
"""A policy is trained from few seeds; environments are drawn from many."""
MANY = 10
"""So many environments under one seed are no repeats of one start."""


@dataclass(frozen=True, slots=True)
class TrainingSeed(Record):
    """A column of seeds that looks like that of trainings.

    Attributes:
        column: What the user calls the column.
        seeds: The most seeds that one policy has.
        environments: The fewest environments that one seed of a policy meets.
    """

    column: str
    seeds: int
    environments: int

    @property
    def note(self) -> Note:
        """The suggestion, as a note."""
        values = {"column": self.column, "seeds": self.seeds, "environments": self.environments}
        return Note("training seed", values)

    def __str__(self) -> str:
        return str(self.note)


def training_seed_suspected(rollouts: Rollouts) -> TrainingSeed | None:
    """Whether `seed` may be a training's: it takes few values, and each meets many environments.

    Environments are told apart by task and condition; without conditions, by task and order; without either, every
    rollout of a seed counts as one. Nothing is suspected when a `run` column is declared.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> from surefoot.rollouts.training_seeds import training_seed_suspected
        >>> rows = [
        ...     {"policy": "new", "seed": seed, "scene": scene, "success": 1}
        ...     for seed in range(3)
        ...     for scene in range(20)
        ... ]
        >>> found = training_seed_suspected(sf.read(pl.DataFrame(rows)))
        >>> found.seeds, found.environments
        (3, 20)
    """
    import narwhals as nw

    there = a_table(rollouts).columns
    if "seed" not in there or "run" in there:
        return None
    told = next((name for name in ("condition", "order") if name in there), None)
    keys = [*(("task",) if "task" in there else ()), *((told,) if told else ())]
    rows = rollouts.counted().filter(~nw.col("seed").is_null())
    each = rows.select("policy", "seed", *keys).unique() if told else rows.select("policy", "seed")
    met = each.group_by("policy", "seed").agg(nw.len().alias("environments"))
    least = met.group_by("policy").agg(nw.len().alias("seeds"), nw.col("environments").min())
    home = small(least)
    seeds, environments = max(home["seeds"], default=0), min(home["environments"], default=0)
    if not 2 <= seeds <= MOST_SEEDS or environments < max(MANY, 2 * seeds):
        return None
    return TrainingSeed(rollouts.called("seed"), int(seeds), int(environments))
