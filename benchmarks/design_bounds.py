"""How few pairs can any rule of an error and a power need? A bound for the exact designs to be measured against."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.designs import exact_designs
from surefoot.numerics.designs.design_search import Ascent, dual_bound
from surefoot.numerics.designs.exact_designs import Programme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def binary_bound(horizon: int, error: float, power: float, *, mirrored: bool, rounds: int = 100) -> float:
    """Mean pairs over the thirty-five alternatives that no rule of this error and mean power is below."""
    cost, points = exact_designs.binary_cost(horizon), exact_designs.thirty_five()
    programme = exact_designs.binary_programme(horizon, error, points, cost, mirrored=mirrored, bounding=True)
    return least_pairs(programme, error, power, exact_designs.BINARY_ASCENT._replace(rounds=rounds))


def paired_bound(horizon: int, error: float, power: float, *, mirrored: bool, rounds: int = 200) -> float:
    """The same over the twelve settings, for rules whose error holds for every number of pairs that differ."""
    programme = exact_designs.paired_programme(
        horizon, error, points=exact_designs.twelve(), mirrored=mirrored, bounding=True
    )
    start = exact_designs.paired_start(horizon, error, mirrored=mirrored)
    return least_pairs(programme, error, power, exact_designs.PAIRED_ASCENT._replace(rounds=rounds), start)


def least_pairs(
    programme: Programme, error: float, power: float, ascent: Ascent, weights: Floats | None = None
) -> float:
    """Expected pairs over the programme's alternatives that no rule of this error and mean power is below.

    An undecided run counts the horizon. By weak duality any weights, of the errors and of the power, give a bound; the
    ascent makes it tight.
    """
    if weights is None:
        weights = np.full(len(programme.nulls), 2.5 * programme.walk.horizon / len(programme.nulls))
    best = -math.inf
    for turn in range(ascent.rounds):
        value, limits = dual_bound(programme, weights, error)
        best = max(best, value - programme.cost * (1.0 - power))
        made = programme.assess(limits)
        step = ascent.step / (1.0 + turn / ascent.ease)
        excess = programme.nulls @ made.coefficients / error - 1.0
        weights = np.maximum(weights * np.exp(step * np.clip(excess, -1.0, 1.0)), 1e-12)
        programme.cost *= math.exp(step * min(max((power - made.power) / (1.0 - power), -1.0), 1.0))
    return best
