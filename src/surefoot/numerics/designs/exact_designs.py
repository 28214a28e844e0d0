"""Boundaries for two streams of successes and for pairs in shared environments, with their proved errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri

from surefoot.numerics.designs import design_priors, stopped_walks
from surefoot.numerics.designs.design_search import Ascent, Report, ascend, search
from surefoot.numerics.designs.dynamic_programs import Programme

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


_MARGIN = 1e-5

_NULLS = 91
BINARY_ASCENT = Ascent(1.5, 15.0, 60)
PAIRED_ASCENT = Ascent(0.5, 40.0, 120)
_COARSEST = 40
"""A paired design of a longer horizon starts from the weights of half the horizon."""


class Design(NamedTuple):
    """A boundary and a number that its error is proved never to exceed."""

    limits: Ints
    proved: float


def binary_design(horizon: int, error: float, *, mirrored: bool, report: Report | None = None) -> Design:
    """The design for two independent streams; `mirrored` decides in both directions, `error` each."""
    programme = binary_programme(horizon, error, design_priors.for_binary(), binary_cost(horizon), mirrored=mirrored)
    checks = binomial_laws(2 * horizon, 4 * _NULLS + 3)
    tries = tries_for(horizon)
    limits = search(programme, aim(error), BINARY_ASCENT, checks=checks, tries=tries, report=report)
    return proved(programme.walk, limits)


def paired_design(horizon: int, error: float, *, mirrored: bool, report: Report | None = None) -> Design:
    """The design for shared environments in random order; `mirrored` decides in both directions, `error` each."""
    programme = paired_programme(horizon, error, mirrored=mirrored)
    weights = paired_start(horizon, error, mirrored=mirrored)
    checks, tries = np.eye(horizon + 1), tries_for(horizon)
    limits = search(programme, aim(error), PAIRED_ASCENT, checks=checks, weights=weights, tries=tries, report=report)
    return proved(programme.walk, limits)


def tries_for(horizon: int) -> int:
    """How many of the best weights are turned into boundaries: short horizons are cheap and gain most."""
    return min(8, max(2, 600 // horizon))


def aim(error: float) -> float:
    """The error to aim at: a little below what is allowed, so that no rounding can carry it above."""
    return error - min(_MARGIN, error / 1000.0)


def proved(walk: stopped_walks.BinaryWalk, limits: Ints) -> Design:
    """The boundary with its certificate.

    Two streams: the largest error over all common rates, from above. Shared environments: the largest error over all
    numbers of pairs that differ, in random order; it bounds the error for independent pairs too.
    """
    return Design(limits, walk.worst(stopped_walks.coefficients(walk, limits)))


def binary_programme(
    horizon: int,
    error: float,
    points: design_priors.Alternatives,
    cost: float,
    *,
    mirrored: bool,
    bounding: bool = False,
) -> Programme:
    """The programme for two streams; a `bounding` one has a value that no rule is below."""
    walk = stopped_walks.BinaryWalk(horizon, mirrored=mirrored, depth=deep(paired=False))
    reach = _roots((float(-ndtri(error)) + 2.3) / math.sqrt(2.0))
    chances = design_priors.binary_chances(points, horizon)
    return Programme(walk, chances, binomial_laws(2 * horizon, _NULLS), cost, reach, bounding=bounding)


def paired_programme(
    horizon: int,
    error: float,
    *,
    mirrored: bool,
    points: design_priors.Alternatives | None = None,
    bounding: bool = False,
) -> Programme:
    """The programme for shared environments: one null point for each number of pairs that differ."""
    walk = stopped_walks.PairedWalk(horizon, mirrored=mirrored, depth=deep(paired=True))
    chances = design_priors.paired_chances(design_priors.for_paired() if points is None else points, horizon)
    reach = _roots(float(-ndtri(error)) + 2.4)
    return Programme(walk, chances, np.eye(horizon + 1)[1:], paired_cost(horizon), reach, bounding=bounding)


def binary_cost(horizon: int) -> float:
    """What a run without a right decision costs, in pairs: chosen for the power of the published figures."""
    share = 5.5 + 1.42 * math.log(min(horizon, 200) / 50) + math.log(max(horizon, 200) / 200)
    return float(horizon**1.5 / max(4.0, share))


def paired_cost(horizon: int) -> float:
    """What a run without a right decision costs, in pairs."""
    return float(horizon**1.5 / (7.0 * max(1.0, horizon / 100) ** 0.2))


def binomial_laws(degree: int, count: int) -> Floats:
    """Binomial laws of a total of `degree`, one row for each of `count` rates spread evenly on the arcsine scale."""
    rates = (1.0 - np.cos(np.pi * np.arange(1, count + 1) / (count + 1))) / 2.0
    m, lf = np.arange(degree + 1), gammaln(np.arange(degree + 2) + 1.0)
    ways = lf[degree] - lf[m] - lf[degree - m]
    laws: Floats = np.exp(ways + m * np.log(rates)[:, None] + (degree - m) * np.log1p(-rates)[:, None])
    return laws


def paired_start(horizon: int, error: float, *, mirrored: bool) -> Floats | None:
    """Weights to begin with, stretched from the best of half the horizon."""
    if horizon <= _COARSEST:
        return None
    half = horizon // 2
    begin = paired_start(half, error, mirrored=mirrored)
    _, best = ascend(paired_programme(half, error, mirrored=mirrored), aim(error), PAIRED_ASCENT, begin)[0]
    share = np.arange(1, horizon + 1) / horizon
    stretched = np.exp(np.interp(share, np.arange(1, half + 1) / half, np.log(best)))
    return stretched * 2**0.75 * half / horizon


def deep(*, paired: bool) -> stopped_walks.Reach:
    """A band below the diagonal from whose edge a return to the boundary is out of the question."""
    return _roots(5.0 if paired else 5.0 / math.sqrt(2))


def _roots(scale: float) -> stopped_walks.Reach:
    """A band that widens with the square root of the pairs."""
    return lambda n: math.ceil(scale * math.sqrt(n)) + 8
