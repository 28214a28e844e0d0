"""How often the policies of a table met its units: all of them, several, one of them several times."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.core.record import Record
from surefoot.table.crosstab import crosstab
from surefoot.table.rollouts import Measure, Rollouts
from surefoot.table.unit_counts import gathered


@dataclass(frozen=True, slots=True)
class Coverage(Record):
    """How the policies met what they were run on.

    Attributes:
        keys: The table's columns that tell apart what was met; empty where nothing tells.
        called: What the file calls them.
        environments: How many there are.
        shared: How many all policies met.
        several: How many at least two policies met.
        recurring: How many one policy met more than once.
    """

    keys: tuple[str, ...] = ()
    called: str = ""
    environments: int = 0
    shared: int = 0
    several: int = 0
    recurring: int = 0

    @property
    def once(self) -> bool:
        """Whether no policy met anything twice: then what policies share may make their outcomes alike."""
        return not self.recurring


def coverage(rollouts: Rollouts) -> Coverage:
    """How the policies met the units, in their settings, of a table."""
    import numpy as np

    rollouts = gathered(rollouts)
    keys = rollouts.design.keys("unit", "setting")
    if not rollouts.design.keys("unit"):
        return Coverage()
    measure: Measure = "success" if "success" in rollouts.columns else "score"
    table = crosstab(rollouts, measure, keys, rollouts.policies)
    counts = [table.of(name)[0] for name in rollouts.policies]
    met = np.sum([count > 0 for count in counts], axis=0)
    return Coverage(
        keys,
        " and ".join(rollouts.called(key) for key in keys),
        int((met > 0).sum()),
        int((met == len(counts)).sum()),
        int((met > 1).sum()),
        int(np.any([count > 1 for count in counts], axis=0).sum()),
    )
