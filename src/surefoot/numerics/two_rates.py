"""Exact probabilities of staircase sets of two binomial counts, and the tail behind an unconditional p-value.

The nuisance t runs over [0, 1]: with difference d >= 0 the rates are p1 = d + (1 - d)t and p2 = (1 - d)t, and
mirrored for d < 0. At fixed t, p1 rises and p2 falls with d.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from surefoot.numerics import chebyshev, gain_scores, log_factorials, staircase_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Inside = NDArray[np.bool_]
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


def sets(n1: int, n2: int, cuts: Floats, levels: Floats, near: tuple[Ints, Ints] | None = None) -> tuple[Ints, Ints]:
    """Staircases around {Z_d >= level} and {Z_d <= -level} for all d from the first cut to the last.

    The level may fall in d: levels[i] belongs to the right end of the i-th piece. Since Z_d falls in d for every table,
    the sets of one piece lie inside {Z_left >= level} and {Z_right <= -level}; those of all pieces are joined. With
    one cut they are exact.
    """
    up, down = near or (None, None)
    return (
        gain_scores.union(n1, n2, cuts[: len(levels)], levels, up),
        gain_scores.union(n2, n1, -cuts[-len(levels) :], levels, down),
    )


def beyond(
    n1: int, n2: int, left: float, right: float, both: tuple[Ints, Ints], need: chebyshev.Need
) -> chebyshev.Peak:
    """Above the chance of two staircase sets together, for all d in [left, right] and all nuisances, proved.

    The second may be empty: no staircase at all.
    """
    t = chebyshev.points(n1 + n2, need.error)
    up, down = both
    kept: dict[float, tuple[Masses, Masses]] = {}

    def masses(difference: float) -> tuple[Masses, Masses]:
        if difference not in kept:
            p1, q1, p2, q2 = rates(difference, t)
            kept[difference] = _mass(n1, p1, q1, need.error / 128.0), _mass(n2, p2, q2, need.error / 128.0)
        return kept[difference]

    def rising(difference: float) -> Floats:
        one, other = masses(difference)
        return _above(one, other, up)

    def falling(difference: float) -> Floats:
        one, other = masses(difference)
        return _above(other, one, down)

    return chebyshev.between(rising, falling if len(down) else None, left, right, max(n1, n2), need)


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
        self.most = max(n1, n2)
        self.near: tuple[Ints, Ints] | None = None

    def mirrored(self) -> TwoRates:
        """The same counts with the two swapped."""
        return TwoRates(self.x2, self.n2, self.x1, self.n1)

    def statistic(self, differences: Floats) -> Floats:
        """The observed score statistic."""
        return gain_scores.statistic(self.x1, self.n1, self.x2, self.n2, differences)

    def peak(self, cuts: Floats, levels: Floats, need: chebyshev.Need) -> chebyshev.Peak:
        """A proved upper end of sup P_d(|Z_d| >= z_d) over d between the cuts and over all nuisances."""
        self.near = sets(self.n1, self.n2, cuts, levels, self.near)
        return beyond(self.n1, self.n2, float(cuts[0]), float(cuts[-1]), self.near, need)

    def jumps(self, left: float, right: float) -> Floats:
        """About where tables come into or leave the tail between left and right, as far as the two ends show it."""
        z = self.statistic(np.array([left, right]))
        found = []
        for n1, n2, sign in ((self.n1, self.n2, 1.0), (self.n2, self.n1, -1.0)):

            def inside(x1: Ints, x2: Ints, d: Floats, n1: int = n1, n2: int = n2, sign: float = sign) -> Inside:
                return np.asarray(gain_scores.statistic(x1, n1, x2, n2, sign * d) >= self.statistic(d))

            one, other = (
                gain_scores.staircase(n1, n2, sign * d, float(v)) for d, v in zip((left, right), z, strict=True)
            )
            found.append(staircase_sets.changes(one, other, left, right, inside))
        return np.concatenate(found)

    def corner(self, width: float, error: float) -> float:
        """Above p(d) for all d in [-1, -1 + width]."""
        return cornered(self.n1, self.n2, self.estimate, width, error)
