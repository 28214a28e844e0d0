"""What follows from a table, whatever the run: proved errors, where to give up, every state in which a run can end.

Each property is computed at its first use and kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from surefoot.sequential import designs

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Ints
    from surefoot.numerics.designs.stopped_intervals import Listed, Space
    from surefoot.numerics.designs.stopped_walks import Endings, Quits


_BOXES = 200  # of rates, over which a chance is bounded


@lru_cache(maxsize=16)
def closest(declared: designs.Declared) -> Ints:
    """How near each state is to a verdict at best."""
    from surefoot.numerics.designs import design_search

    return design_search.closest(designs.design(declared).limits)


@lru_cache(maxsize=16)
def quits(declared: designs.Declared, share: float) -> Quits:
    """Where a run is given up: no verdict can be reached any more, or its predictive chance is below `share`."""
    from surefoot.numerics.designs import design_search

    limits, both = designs.design(declared).limits, declared.both
    if not share:
        return design_search.unreachable(limits, mirrored=both)
    return design_search.unlikely(limits, share, mirrored=both, paired=declared.family == "paired")


@lru_cache(maxsize=4)
def endings(declared: designs.Declared, share: float) -> Endings:
    """Every state in which a run can end, given up as `quits` says."""
    from surefoot.numerics.designs import stopped_walks

    design = designs.design(declared)
    return stopped_walks.endings(design.walk(), design.limits, quits(declared, share))


@lru_cache(maxsize=4)
def space(declared: designs.Declared, share: float) -> Space:
    """The same, ready to be summed at any rates."""
    from surefoot.numerics.designs import stopped_intervals

    return stopped_intervals.space(endings(declared, share), paired=declared.family == "paired")


@lru_cache(maxsize=4)
def listed(declared: designs.Declared, share: float) -> Listed:
    """The same, for a list of environments as long as the horizon."""
    from surefoot.numerics.designs.stopped_intervals import Listed

    return Listed(endings(declared, share), declared.horizon)


@lru_cache(maxsize=64)
def certificate(declared: designs.Declared) -> tuple[float, float, float]:
    """Two numbers around the largest error in each direction, and where it is attained."""
    from surefoot.numerics import polynomials
    from surefoot.numerics.designs import stopped_walks

    design = designs.design(declared)
    total = stopped_walks.coefficients(design.walk(), design.limits)
    if declared.family == "paired":
        most = int(np.argmax(total))
        return float(total[most]), design.walk().worst(total), most / declared.horizon
    return polynomials.polynomial_maximum(total)


@lru_cache(maxsize=64)
def strays(declared: designs.Declared, near: float) -> float:
    """At most how likely BETTER is when the second policy is better by `near` or more, whatever the rates.

    The chance rises with the first policy's rate and falls with the second's, so between two rates that the second
    may have it is at most what it is for the first at the one and the second at the other.
    """
    from surefoot.numerics.designs.operating import characteristics

    design = designs.design(declared)
    most = 1.0 if declared.family == "binary" else (1.0 + near) / 2.0
    rates = np.linspace(near, most, _BOXES + 1)
    found = characteristics(design.walk(), design.limits, rates[:-1], rates[1:] - near)
    return float(found.first.sum(axis=1).max()) * (1.0 + 1e-9)


@lru_cache(maxsize=256)
def tail(declared: designs.Declared, pairs: int, row: int, other: int, decided: bool) -> float:
    """The largest chance, over equal policies, of ending at least as far as here.

    A verdict on pairs in shared environments is the further the larger its signed root is, as long as all endings are
    listed; an earlier one is further otherwise, and for independent streams. No verdict comes after all of them.
    """
    from surefoot.numerics.designs import operating, stopped_intervals

    design = designs.design(declared)
    if decided and declared.family == "paired" and declared.horizon <= designs.SEARCHED:
        every = endings(declared, 0.0)
        return stopped_intervals.rooted(every, every.at(pairs, other, row), design.walk())
    return operating.stage_wise(design.walk(until=pairs), design.limits, row, other, decided=decided)
