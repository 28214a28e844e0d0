"""Sums of logarithms over many scores at once, from their Chebyshev sums, with a proved remainder.

A cell of n scores z = mid + half x, |x| <= 1, with coefficients a (z - m) and Chebyshev sums tau_j = sum T_j(x_i): with
A = 1 - s a (mid - m), r = s a half / A, q = sqrt(1 - r^2) and u = r / (1 + q), |u| < 1,

    sum log(1 - s a (z - m)) = n log(A (1 + q) / 2) - 2 sum_{j <= J} tau_j u^j / j + R,
    |R| <= 2 n |u|^(J + 1) / ((J + 1) (1 - |u|)),

because 1 - r x = (1 + q) / 2 (1 - 2 u x + u^2), log(1 - 2 u x + u^2) = -2 sum T_j(x) u^j / j, and |T_j| <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Complexes = NDArray[np.complex128]

ROUNDING = 1e-12
"""A remainder that need not be smaller: a hundredth of what a chance may change."""

SEARCHED = 1e-4
"""The same for a saddle point, of which two digits do."""

NEAR = 0.88
"""The largest |r| at which a bound is looked for: |u| is 0.6 there."""


@dataclass(frozen=True, slots=True)
class CellColumns:
    """Columns of weighted exponential sums that are cells of scores.

    Attributes:
        scales: The weight a of one score of each cell, one row per sum.
        shifts: a (mid - m), likewise.
        sizes: How many scores each cell holds.
        halves: Half of the width of each.
        moments: The Chebyshev sums of each from the first on, one row per cell.
    """

    scales: Floats
    shifts: Floats
    sizes: Floats
    halves: Floats
    moments: Floats

    def rows(self, kept: slice | Flags | Ints) -> CellColumns:
        """Some of the rows."""
        return replace(self, scales=self.scales[kept], shifts=self.shifts[kept])

    def times(self, numbers: Floats) -> CellColumns:
        """Every row times its number."""
        return replace(self, scales=self.scales * numbers[:, None], shifts=self.shifts * numbers[:, None])

    def sums(self) -> tuple[Floats, Floats]:
        """The sum of the coefficients of each row, and that of their squares."""
        wide = self.scales * self.halves
        first, second = wide * self.moments[:, 0], wide * wide * 0.5 * (self.sizes + self.moments[:, 1])
        square = self.sizes * self.shifts**2 + 2.0 * self.shifts * first + second
        return (self.sizes * self.shifts + first).sum(axis=1), square.sum(axis=1)

    def powers(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """The sums of (t c / (1 + t c))^p over the coefficients c of each row, for p = 1, 2, 3.

        From the sums of 1 / (1 + t c), which are (n + 2 sum tau_j u^j) / (A q), and their derivatives in A. To be
        searched with: the remainder is not looked at.
        """
        a = 1.0 + t[:, None] * self.shifts
        r = -t[:, None] * self.scales * self.halves / a
        q = np.sqrt(np.maximum(1.0 - r * r, 1e-20))
        u, d = r / (1.0 + q), a * q
        terms = self._needed(np.abs(u).max(keepdims=True), np.full(1, SEARCHED))
        j = np.arange(1.0, terms + 1.0)
        each = np.cumprod(np.broadcast_to(u[:, :, None], (*u.shape, terms)), axis=2) * self.moments[:, :terms]
        p0, p1, p2 = self.sizes + 2.0 * each.sum(axis=2), 2.0 * (each @ j), 2.0 * (each @ (j * j))
        one, two = p0 / d, p0 * a / d**3 + p1 / d**2
        three = 0.5 * (3.0 * p1 * a / d**4 - p0 / d**3 + 3.0 * p0 * a * a / d**5 + p2 / d**3)
        n = self.sizes
        return (
            (n - one).sum(axis=1),
            (n - 2.0 * one + two).sum(axis=1),
            (n - 3.0 * one + 3.0 * two - three).sum(axis=1),
        )

    def logs(self, s: Complexes, weights: Floats) -> tuple[Complexes, Floats]:
        """Log M(s) = -sum log(1 - s c) of each row, up to whole turns, and how far off it may be.

        Args:
            s: Where, one row per sum and one column per node.
            weights: About how much each node counts: a node that counts little needs few terms.
        """
        delta = -s[:, :, None] * self.shifts[:, None, :]
        a = 1.0 + delta
        r = s[:, :, None] * (self.scales * self.halves)[:, None, :] / a
        u = r / (1.0 + np.sqrt(1.0 - r * r))
        away = np.minimum(np.abs(u), 1.0 - 1e-16)
        largest = away.max(axis=(0, 2), initial=0.0)
        terms = self._needed(largest, ROUNDING / weights)
        series = np.zeros(u.shape, complex)
        for j in range(terms, 0, -1):
            series += self.moments[:, j - 1] / j
            series *= u
        rest = (_power(away, terms + 1) / (1.0 - away)) @ (self.sizes * (2.0 / (terms + 1)))
        w = delta - 0.5 * r * u * a  # A (1 + q) / 2 = 1 + w
        size = 0.5 * np.log1p(2.0 * w.real + w.real**2 + w.imag**2)
        whole = (size + 1j * np.arctan2(w.imag, 1.0 + w.real)) @ self.sizes
        return 2.0 * series.sum(axis=2) - whole, rest

    def reach(self) -> Floats:
        """How far left of 0 each row may go for all |r| to be moderate; at least a tiny way."""
        wide = np.abs(self.scales) * self.halves - NEAR * self.shifts
        return np.asarray((NEAR / np.maximum(wide, 1e-300)).min(axis=1), float)

    def _needed(self, u: Floats, rest: Floats) -> int:
        """How many terms leave remainders below `rest` at |u|, as far as there are so many."""
        u = np.clip(u, 1e-8, 1.0 - 1e-12)
        wanted = np.log(rest * (1.0 - u) / (2.0 * self.sizes.sum())) / np.log(u)
        return int(min(max(float(wanted.max()), 2.0), self.moments.shape[1]))


def _power(x: Floats, exponent: int) -> Floats:
    """A whole power by squaring, which is many times faster than that of a real exponent."""
    found = np.ones_like(x)
    while exponent:
        if exponent % 2:
            found = found * x
        x, exponent = x * x, exponent // 2
    return found
