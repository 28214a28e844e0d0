"""Wealth, best fixed stakes and roots of wealth, for games of bounded outcomes.

Arrays run over games in their last axis. Sums over another axis are taken term by term, so that a game's numbers do not
depend on how many games are computed together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TOLERANCE = 1e-14


def total(terms: Floats) -> Floats:
    """The sum over the first axis, in order."""
    out: Floats = terms[0].copy()
    for term in terms[1:]:
        out += term
    return out


def best_stake(weights: Floats, values: Floats, most: float) -> Floats:
    """The stake x in [0, most] with the largest sum of weights * log(1 + x * values), per column of `weights`.

    `values` (in [-1, 1]) are the same for all columns: shape (K,) against weights (K, R). The sum is concave, so its
    slope has one root: Newton's steps, halving the bracket where a step would leave it. With most = 1 an outcome of -1
    of positive weight forbids the end.
    """
    column = values[:, None]
    mean = total(weights * column)
    square = total(weights * (column * column))
    with np.errstate(divide="ignore", invalid="ignore"):
        at_most = _slope(weights, column, np.full(weights.shape[1], most))[0]
    out = np.where(at_most >= 0.0, most, 0.0)
    out[mean <= 0.0] = 0.0
    open_ = np.flatnonzero((mean > 0.0) & ~(at_most >= 0.0))
    left, right = np.zeros(len(open_)), np.full(len(open_), most)
    stake = np.minimum(mean[open_] / square[open_], most / 2.0)
    live = weights[:, open_]
    for _ in range(200):
        if not len(open_):
            break
        slope, bend = _slope(live, column, stake)
        rising = slope > 0.0
        left, right = np.where(rising, stake, left), np.where(rising, right, stake)
        guess = stake + slope / bend
        guess = np.where((guess > left) & (guess < right), guess, (left + right) / 2.0)
        settled = (np.abs(guess - stake) <= _TOLERANCE) | (right - left <= _TOLERANCE)
        out[open_[settled]] = guess[settled]
        if settled.any():
            going = ~settled
            open_, live, left, right = open_[going], live[:, going], left[going], right[going]
            guess = guess[going]
        stake = guess
    return out


def _slope(weights: Floats, column: Floats, stake: Floats) -> tuple[Floats, Floats]:
    """Slope, and minus its derivative, of the sum of weights * log(1 + stake * values)."""
    share = column / (1.0 + stake * column)
    part = weights * share
    return total(part), total(part * share)


def log_wealth(gain: float, outcomes: Floats, stakes: Floats, most: float = 0.99) -> float:
    """Log of the product of 1 + min(stake, most/(1 + gain)) * (outcome - gain): it falls in `gain` > -1."""
    return float(np.sum(np.log1p(np.minimum(stakes, most / (1.0 + gain)) * (outcomes - gain))))


def excluded_below(outcomes: Floats, stakes: Floats, target: float, bracket: tuple[float, float]) -> float:
    """The largest gain found in the bracket with log-wealth at least `target`; its low end if there is none.

    Bisection to the last bit, and the answer is on the excluded side: a lower end that is never too high.
    """
    low, high = bracket
    while True:
        middle = (low + high) / 2.0
        if not low < middle < high or high - low < 1e-15:
            return low
        if log_wealth(middle, outcomes, stakes) >= target:
            low = middle
        else:
            high = middle
