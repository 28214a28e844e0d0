"""One-sided p-values of a slice by itself, for Holm's step-down, and the drop that would have been found."""

from __future__ import annotations

from functools import partial
from typing import Any

from surefoot import stats
from surefoot.analysis.comparison_data import Combined
from surefoot.analysis.need_evidence import sides_at
from surefoot.stats.slices import POWER
from surefoot.stats.step_down_tests import Sides
from surefoot.stats.strata import least_p

MOST_CELLS = 200_000
"""Tables of a slice and its rest up to which Boschloo's test is used; above, Fisher's, which differs little there."""
Parts = dict[str, tuple[Any, Any]]
"""Of every stratum of a slice, what the two have: tallies or scores."""


def normal_drop(spread: float, information: float, error: float) -> float | None:
    """The drop that is found in 8 of 10 tables, by the normal."""
    from scipy import special

    if not information or spread != spread:
        return None
    return float((special.ndtri(POWER) - special.ndtri(error)) * spread / information)


def drop_of(half: float, error: float) -> float:
    """The same from half the width of an interval whose ends have this error each."""
    from scipy import special

    return half * (1.0 - float(special.ndtri(POWER)) / float(special.ndtri(error)))


def sides_of(make: Any, error: float, least: float) -> Sides:
    """The one-sided p-values of a slice; where the work is dear and they are above `least`, lower bounds of them."""
    if make is None:
        return Sides(1.0, 1.0, 1.0, 1.0)
    if isinstance(make, Combined):  # every way must say it
        each = [sides_of(way, error, least) for way in make.ways]
        return Sides(*(max(getattr(one, name) for one in each) for name in Sides.__slots__))
    if isinstance(make, partial) and make.func is stats.exact_gain:
        first, second = make.args
        few = (first.trials + second.trials) * max(first.trials, second.trials) <= MOST_CELLS
        found = (stats.boschloo if few else stats.fisher)(first, second)
        return Sides(*(found.first_better, found.second_better) * 2)
    if isinstance(make, partial) and make.func is stats.stratified_rate_gain:
        (parts,), weights = make.args, make.keywords["weights"]
        low, estimate = least_p(parts, weights=weights, error=error), _weighted(parts, weights)
        if low > 2.0 * least:
            return Sides.of(low, estimate)
        return Sides.of(make(confidence=1.0 - error, margin=0.0).p_value, estimate)
    return Sides(*sides_at(make, 0.0, error) * 2)


def _weighted(parts: Parts, weights: dict[str, float]) -> float:
    return float(sum(share * (parts[one][0].rate - parts[one][1].rate) for one, share in weights.items()))
