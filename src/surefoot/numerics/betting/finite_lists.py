"""Bets on a list of items in random order: what the items left must give, stakes that keep pace, and ends.

An item's outcome d is bet on against the mean that the items left would have if the list's mean were some candidate:
(N x candidate - sum seen) / items left. That mean moves the faster the fewer items are left, and so do the stakes.
Arrays run over games in their last axis where there are many.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics import roots

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


CERTAIN = 700.0
"""Log-wealth that stands for certainty: the items left cannot make the claim false."""
SLACK = 1e-9
"""By how much of an item a sum must pass a limit, so that rounding never makes a tie certain."""
_MOST = 0.99
_EARLY = 0.8  # the share of the horizon that the smallest stake is made for


class Paces(NamedTuple):
    """How stakes grow along a list.

    Attributes:
        pace: Before each item, how much faster the mean of the rest moves than at the start.
        room: What all squared paces from each item to the horizon add up to.
        early: The same over the first part of the horizon.
    """

    pace: Floats
    room: Floats
    early: float


@lru_cache(maxsize=16)
def paces(horizon: int, population: int) -> Paces:
    """The paces of a list of `population` items of which at most `horizon` are run."""
    pace = population / (population - np.arange(horizon, dtype=np.float64))
    squares = pace * pace
    room = np.cumsum(squares[::-1])[::-1].copy()
    early = float(squares[: max(1, math.floor(_EARLY * horizon))].sum())
    for array in (pace, room):
        array.flags.writeable = False
    return Paces(pace, room, early)


def means_left(candidate: float, outcomes: Floats, population: int) -> Floats:
    """Before each outcome, the mean that the items left have if the list's mean is the candidate."""
    seen = np.cumsum(outcomes) - outcomes
    return (population * candidate - seen) / (population - np.arange(len(outcomes)))


def log_wealth(candidate: float, outcomes: Floats, stakes: Floats, population: int) -> float:
    """Log of the product of 1 + stake x (outcome - mean left); it falls in `candidate`.

    At most .99 of the wealth is at risk. Infinite where the items left cannot give what the candidate asks of them;
    outcomes are in [-1, 1].
    """
    left = means_left(candidate, outcomes, population)
    if (left < -1.0 - SLACK).any():
        return math.inf
    room = np.maximum(1.0 + left, 1e-15)
    return float(np.sum(np.log1p(np.minimum(stakes, _MOST / room) * (outcomes - left))))


def excluded_below(
    outcomes: Floats, stakes: Floats, target: float, bracket: tuple[float, float], population: int
) -> float:
    """The largest candidate found in the bracket with log-wealth at least `target`; its low end if there is none."""
    return roots.last(lambda mean: log_wealth(mean, outcomes, stakes, population) >= target, *bracket)


def certain(outcomes: Floats, population: int) -> tuple[float, float]:
    """The least and the largest mean that the list can still have; outcomes are in [-1, 1]."""
    seen, left = math.fsum(outcomes.tolist()), population - len(outcomes)
    return (seen - left) / population, (seen + left) / population


def mean_by_stakes(outcomes: Floats, stakes: Floats, population: int) -> float:
    """The candidate mean at which the staked outcomes balance: above every one that the wealth speaks against."""
    left = population - np.arange(len(outcomes))
    seen = np.cumsum(outcomes) - outcomes
    return float(np.sum(stakes * (outcomes + seen / left)) / np.sum(stakes * (population / left)))
