"""Exact probabilities of staircase sets of two binomial counts, and the tail behind an unconditional p-value.

The nuisance t runs over [0, 1]: with difference d >= 0 the rates are p1 = d + (1 - d)t and p2 = (1 - d)t, and
mirrored for d < 0. At fixed t, p1 rises and p2 falls with d.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from surefoot.numerics import chebyshev, gain_scores, log_factorials
from surefoot.numerics.staircase_sets import Design

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints

    Masses = tuple[Ints, Floats]
    Rates = tuple[Floats, Floats, Floats, Floats]


def rates(difference: float, t: Floats) -> Rates:
    """p1, 1 - p1, p2, 1 - p2 along the nuisance."""
    free = (1.0 - abs(difference)) * t
    left = (1.0 - abs(difference)) * (1.0 - t)
    if difference >= 0.0:
        return difference + free, left, free, difference + left
    return free, left - difference, free - difference, left


def above(n1: int, n2: int, p: Rates, first: Ints, error: float) -> Floats:
    """P(X1 >= first[X2]) for each entry of the rates, low by at most `error`.

    Only counts within a Hoeffding distance of their means are summed; the rest has at most `error` in all.
    """
    return _above(_mass(n1, p[0], p[1], error / 2.0), _mass(n2, p[2], p[3], error / 2.0), first)


def _above(one: Masses, other: Masses, first: Ints) -> Floats:
    start1, mass1 = one
    start2, mass2 = other
    width1, width2 = mass1.shape[1], mass2.shape[1]
    tails = np.zeros((len(mass1), width1 + 1))
    np.cumsum(mass1[:, ::-1], axis=1, out=tails[:, 1:])
    # tails[:, j] holds the last j counts of the window; those from `first` on number window end - first.
    if width2 == len(first) and not start1.any():  # one window for all, and no need to move it
        return np.asarray(np.einsum("ij,ij->i", mass2, tails.take(np.maximum(width1 - first, 0), axis=1)))
    past = sliding_window_view(width1 - first, width2)[start2] + start1[:, None]
    np.clip(past, 0, width1, out=past)
    past += (np.arange(len(mass1)) * (width1 + 1))[:, None]
    return np.asarray(np.einsum("ij,ij->i", mass2, tails.take(past)))


def _mass(n: int, p: Floats, q: Floats, error: float) -> Masses:
    """First counts of the windows and the chances in them."""
    half = math.ceil(math.sqrt(n * math.log(2.0 / error) / 2.0)) + 1
    width = min(n + 1, 2 * half + 1)
    log_p, log_q = log_factorials.log_chances(p, q)
    odds = log_p - log_q
    if width == n + 1:
        start = np.zeros(len(p), np.int64)
        exponent = np.multiply.outer(odds, np.arange(width))
        exponent += log_factorials.log_choose(n)
        exponent += (n * log_q)[:, None]
        return start, np.exp(exponent, out=exponent)
    start = np.clip(np.rint(n * p).astype(np.int64) - half, 0, n + 1 - width)
    exponent = sliding_window_view(log_factorials.log_choose(n), width)[start]
    exponent += np.multiply.outer(odds, np.arange(width))
    exponent += (n * log_q + start * odds)[:, None]
    return start, np.exp(exponent, out=exponent)


class TwoCounts(Design):
    """Independent counts out of n1 and n2; the factor N/(N-1) of the variance shrinks their asymptotic statistic."""

    def __init__(self, n1: int, n2: int) -> None:
        self.n1, self.n2, self.draws, self.largest = n1, n2, n1 + n2, max(n1, n2)
        self.shrink = math.sqrt(1.0 - 1.0 / (n1 + n2))

    def swapped(self) -> TwoCounts:
        """The same with first and second swapped."""
        return TwoCounts(self.n2, self.n1)

    def values(self, difference: ArrayLike, first: ArrayLike, second: ArrayLike) -> Floats:
        """The z of some tables."""
        return gain_scores.statistic(first, self.n1, second, self.n2, difference)

    def every(self, difference: float) -> Floats:
        """The z of all tables."""
        return self.values(difference, np.arange(self.n1 + 1)[:, None], np.arange(self.n2 + 1)).ravel()

    def differences(self, first: Any, second: Any) -> Any:
        """The observed differences of some tables."""
        return (first * self.n2 - second * self.n1) / (self.n1 * self.n2)

    def most(self) -> Ints:
        """The largest first count for each second one."""
        return np.full(self.n2 + 1, self.n1)

    def staircase(self, difference: float, level: float) -> Ints:
        """The smallest first counts with z >= level, ties included."""
        return gain_scores.staircase(self.n1, self.n2, difference, level)

    def beyond(self, left: float, right: float, both: tuple[Ints, Ints], need: chebyshev.Need) -> chebyshev.Peak:
        """See `Design.beyond`."""
        t = chebyshev.points(self.draws, need.error)
        up, down = both
        kept: dict[float, tuple[Masses, Masses]] = {}

        def masses(difference: float) -> tuple[Masses, Masses]:
            if difference not in kept:
                p1, q1, p2, q2 = rates(difference, t)
                error = need.error / 128.0
                kept[difference] = _mass(self.n1, p1, q1, error), _mass(self.n2, p2, q2, error)
            return kept[difference]

        def rising(difference: float) -> Floats:
            one, other = masses(difference)
            return _above(one, other, up)

        def falling(difference: float) -> Floats:
            one, other = masses(difference)
            return _above(other, one, down)

        return chebyshev.between(rising, falling if len(down) else None, left, right, self.largest, need)

    def cornered(self, estimate: float, width: float, error: float) -> float:
        """See `Design.cornered`.

        With s = 1 + d every restricted variance lies between s(1-s)/max(n) and s/min(n). So a table as extreme as the
        observed one, upward, has a difference of at least d + (estimate - d) k with k^2 = (1-width) min(n)/max(n), and
        that is least at d = -1; downward there is none unless s >= (estimate - d) k.
        """
        n1, n2 = self.n1, self.n2
        k = math.sqrt((1.0 - width) * min(n1, n2) / max(n1, n2))
        if width >= (estimate + 1.0 - width) * k:
            return 1.0
        least = (estimate + 1.0) * k - 1.0
        first = np.clip(np.ceil(n1 * (least + np.arange(n2 + 1) / n2) - 1e-9), 0, n1 + 1).astype(np.int64)

        def chance(t: Floats, slack: float) -> Floats:
            return above(n1, n2, rates(width - 1.0, t), first, slack / 64.0)

        return chebyshev.bound(chance, self.draws, error).high
