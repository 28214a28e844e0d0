"""Exact probabilities of staircase sets of two binomial counts, and the tail behind an unconditional p-value.

The nuisance t runs over [0, 1]: with difference d >= 0 the rates are p1 = d + (1 - d)t and p2 = (1 - d)t, and
mirrored for d < 0. At fixed t, p1 rises and p2 falls with d.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from surefoot.numerics import chebyshev, logs, score_gain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
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
    start1, mass1 = _mass(n1, p[0], p[1], error / 2.0)
    start2, mass2 = _mass(n2, p[2], p[3], error / 2.0)
    width1, width2 = mass1.shape[1], mass2.shape[1]
    tails = np.zeros((len(mass1), width1 + 1))
    np.cumsum(mass1[:, ::-1], axis=1, out=tails[:, 1:])
    # tails[:, j] holds the last j counts of the window; those from `first` on number window end - first.
    past = sliding_window_view(width1 - first, width2)[start2] + start1[:, None]
    np.clip(past, 0, width1, out=past)
    past += (np.arange(len(mass1)) * (width1 + 1))[:, None]
    return np.asarray(np.einsum("ij,ij->i", mass2, tails.take(past)))


def _mass(n: int, p: Floats, q: Floats, error: float) -> tuple[Ints, Floats]:
    """First counts of the windows and the chances in them."""
    half = math.ceil(math.sqrt(n * math.log(2.0 / error) / 2.0)) + 1
    width = min(n + 1, 2 * half + 1)
    start = np.clip(np.rint(n * p).astype(np.int64) - half, 0, n + 1 - width)
    log_p, log_q = logs.log_chances(p, q)
    odds = log_p - log_q
    exponent = sliding_window_view(logs.log_choose(n), width)[start]
    exponent += np.multiply.outer(odds, np.arange(width))
    exponent += (n * log_q + start * odds)[:, None]
    return start, np.exp(exponent, out=exponent)


def beyond(n1: int, n2: int, left: float, right: float, level: float, error: float) -> chebyshev.Peak:
    """The largest P_right(Z_left >= level) + P_left(Z_right <= -level) over the nuisance, proved."""
    up = score_gain.staircase(n1, n2, left, level)
    down = score_gain.staircase(n2, n1, -right, level)

    def chance(t: Floats, slack: float) -> Floats:
        upper = above(n1, n2, rates(right, t), up, slack / 64.0)
        p1, q1, p2, q2 = rates(left, t)
        return upper + above(n2, n1, (p2, q2, p1, q1), down, slack / 64.0)

    return chebyshev.bound(chance, n1 + n2, error)


def cornered(n1: int, n2: int, estimate: float, width: float, error: float) -> float:
    """Above P_d(|Z_d| >= z_d) for all d in [-1, -1 + width] and all nuisances, for tables from `estimate` on.

    With s = 1 + d every restricted variance lies between s(1-s)/max(n) and s/min(n). So a table as extreme as the
    observed one, upward, has a difference of at least d + (estimate - d) k with k^2 = (1-width) min(n)/max(n), and
    that is least at d = -1; downward there is none unless s >= (estimate - d) k.
    """
    k = math.sqrt((1.0 - width) * min(n1, n2) / max(n1, n2))
    if width >= (estimate + 1.0 - width) * k:
        return 1.0
    least = (estimate + 1.0) * k - 1.0
    first = np.clip(np.ceil(n1 * (least + np.arange(n2 + 1) / n2) - 1e-9), 0, n1 + 1).astype(np.int64)

    def chance(t: Floats, slack: float) -> Floats:
        return above(n1, n2, rates(width - 1.0, t), first, slack / 64.0)

    return chebyshev.bound(chance, n1 + n2, error).high


class TwoRates:
    """Two counts: how extreme they are under each difference of the rates.

    Attributes:
        estimate: The observed difference.
        draws: All draws, of which every probability here is a polynomial.
    """

    def __init__(self, x1: int, n1: int, x2: int, n2: int) -> None:
        self.x1, self.n1, self.x2, self.n2 = x1, n1, x2, n2
        self.estimate = (x1 * n2 - x2 * n1) / (n1 * n2)
        self.draws = n1 + n2
        self._last = (math.nan, 0.0)

    def mirrored(self) -> TwoRates:
        """The same counts with the two swapped."""
        return TwoRates(self.x2, self.n2, self.x1, self.n1)

    def statistic(self, difference: float) -> float:
        """The observed score statistic."""
        if difference != self._last[0]:  # asked for twice in a row, to look and to bound
            z = float(score_gain.statistic(self.x1, self.n1, self.x2, self.n2, difference))
            self._last = (difference, z)
        return self._last[1]

    def peak(self, left: float, right: float, error: float) -> chebyshev.Peak:
        """A proved upper end of sup P_d(|Z_d| >= z_d) over d in [left, right] and over all nuisances; z_d > 0 there.

        Exact when left = right. Otherwise, since Z_d falls in d for every table, every such set lies inside
        {Z_left >= z_right} or {Z_right <= -z_right}; at fixed nuisance the first is likeliest at `right` and the
        second at `left`.
        """
        return beyond(self.n1, self.n2, left, right, self.statistic(right), error)

    def corner(self, width: float, error: float) -> float:
        """Above p(d) for all d in [-1, -1 + width]."""
        return cornered(self.n1, self.n2, self.estimate, width, error)
