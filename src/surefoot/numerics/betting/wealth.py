"""Wealth, best fixed stakes and roots of wealth, for games of bounded outcomes.

Arrays run over games in their last axis. Sums are taken so that a game's numbers do not depend on how many games are
computed together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import roots

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


_TOLERANCE = 1e-13
_MOST = 0.99
"""Share of the wealth that a stake against a candidate gain may risk."""


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
    rows = np.ascontiguousarray(weights.T)  # a row's sum is the same alone as among others
    mean = np.sum(rows * values, axis=1)
    square = np.sum(rows * (values * values), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_most = _slope(rows, values, np.full(len(rows), most))[0]
    out = np.where((mean > 0.0) & (at_most >= 0.0), most, 0.0)
    open_ = np.flatnonzero((mean > 0.0) & ~(at_most >= 0.0))
    left, right = np.zeros(len(open_)), np.full(len(open_), most)
    stake = np.minimum(mean[open_] / square[open_], most / 2.0)
    rows = rows[open_]
    for round_ in range(200):
        if not len(open_):
            break
        slope, bend = _slope(rows, values, stake)
        rising = slope > 0.0
        left, right = np.where(rising, stake, left), np.where(rising, right, stake)
        guess = stake + slope / bend
        newton = (guess > left) & (guess < right) & (round_ < 50)  # halving alone is sure to end
        guess = np.where(newton, guess, (left + right) / 2.0)
        settled = (np.abs(guess - stake) <= _TOLERANCE) | (right - left <= _TOLERANCE)
        if settled.any():
            out[open_[settled]] = guess[settled]
            going = ~settled
            open_, rows, left, right, guess = open_[going], rows[going], left[going], right[going], guess[going]
        stake = guess
    return out


def _slope(rows: Floats, values: Floats, stake: Floats) -> tuple[Floats, Floats]:
    """Slope, and minus its derivative, of the sum of weights * log(1 + stake * values)."""
    share = values / (1.0 + stake[:, None] * values)
    part = rows * share
    return np.sum(part, axis=1), np.sum(part * share, axis=1)


def chance_left(sums: Floats, squares: Floats, need: Floats, seen: int, left: int) -> Floats:
    """About how likely log-wealth still rises by `need` in the `left` pairs to come, after `seen` with these gains.

    The sum to come is taken as normal, its mean known only from the pairs seen; the best fixed stake gains `need` when
    that sum reaches sqrt(2 x need x left x variance). Doubled, so as to err on the side of going on.
    """
    from scipy.special import ndtr

    mean = sums / (seen + 2)
    variance = np.maximum((0.2 + squares) / (seen + 1) - mean * mean, 1e-4)
    short = left * mean - np.sqrt(2.0 * np.maximum(need, 0.0) * left * variance)
    chance: Floats = np.minimum(1.0, 2.0 * ndtr(short / np.sqrt(variance * left * (1.0 + left / seen))))
    return np.where(need == -np.inf, 1.0, chance)


def log_wealth(gain: float, outcomes: Floats, stakes: Floats) -> float:
    """Log of the product of 1 + min(stake, .99/(1 + gain)) * (outcome - gain): it falls in `gain` > -1."""
    return float(np.sum(np.log1p(np.minimum(stakes, _MOST / (1.0 + gain)) * (outcomes - gain))))


def excluded_below(outcomes: Floats, stakes: Floats, target: float, bracket: tuple[float, float]) -> float:
    """The largest gain found in the bracket with log-wealth at least `target`; its low end if there is none.

    Bisection to the last bit, and the answer is on the excluded side: a lower end that is never too high.
    """
    return roots.last(lambda gain: log_wealth(gain, outcomes, stakes) >= target, *bracket)
