"""By which method are two policies compared? It follows from how their rollouts belong together."""

from __future__ import annotations

from dataclasses import replace

from surefoot.analysis.asked import Asked, Found, Weigh
from surefoot.analysis.pair_gains import gain_by_position, gain_of_runs, paired_gain
from surefoot.analysis.separate_gains import separate_gain
from surefoot.errors import DataError
from surefoot.rollouts.structure import Measure, described, in_range
from surefoot.rollouts.table import Rollouts


def found_between(
    rollouts: Rollouts,
    first: str,
    second: str,
    measure: Measure,
    *,
    paired: bool | None,
    weigh: Weigh,
    many: bool = False,
) -> Found:
    """How the first is compared with the second: by the method that the structure of their rollouts calls for.

    With `many`, one of very many comparisons: what takes seconds each is approximated.
    """
    if first == second:
        raise ValueError(f"`first` and `second` must be different policies; got {first!r} twice.")
    for name in (first, second):
        if name not in rollouts.policies:
            rollouts.where(policy=name)  # raises, naming the policies that are there
    if measure == "score":
        in_range(rollouts, (first, second))
    found, table = described(rollouts, measure, (first, second))
    asked = Asked(rollouts, first, second, measure, weigh, many)
    if paired is True and not found.shared:
        if table is not None or found.unpaired == "incomplete":  # what the table says must not be overruled
            raise DataError(f"{found} They cannot be compared as pairs.", source=rollouts.source or None)
        return gain_by_position(asked, found)
    if paired is not None:
        found = replace(found, unpaired=None if paired else "asked")
    if found.runs:
        return gain_of_runs(asked, found, table)
    if table is not None and found.paired:
        return paired_gain(asked, found, table)
    return separate_gain(asked, found)
