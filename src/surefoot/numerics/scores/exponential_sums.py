"""The chance that a weighted sum of exponential variables is at most 0.

With coefficients c_u and multiplicities k_u the sum is W = sum c_u Gamma(k_u). Its moment generating function is
M(s) = prod (1 - s c_u)^(-k_u), and P(W <= 0) = -(1 / 2 pi i) times the integral of M(s) / s along a line left of 0.
The line is bent through the saddle point of M(s) / |s| so that the integrand falls fast and hardly turns; the
trapezoid rule then has nearly all digits from a few dozen nodes. Everything is kept in logarithms. Many scores enter as
cells, by their Chebyshev sums; a row is answered only where what the series leave out changes its integral by at most
1e-10 of itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Complexes = NDArray[np.complex128]


STEP = 0.125
"""Between nodes: eleven digits or more."""

COARSE = 0.2
"""The same where seven digits do, for the searches over many null points."""

REACH = 3.0
"""How far the nodes go that are looked at together; the integrand has died away there but for the smallest samples."""

REST = 1e-10
"""By how much of itself a chance may change by what the series leave out."""

TINIEST = -700.0
"""The logarithm of a chance that needs no more than a bound."""

FEW = 16
"""Up to so many equal factors are multiplied one by one; of more a logarithm is taken."""

CHUNK = 64
"""How many fours of factors are multiplied before a logarithm is taken: their product cannot overflow."""

ELEMENTS = 1 << 17
"""How many complex numbers are held at once: more than a cache holds take longer."""
ROUNDING = 1e-12
"""A remainder that need not be smaller: a hundredth of what a chance may change."""

SEARCHED = 1e-4
"""The same for a saddle point, of which two digits do."""

NEAR = 0.88
"""The largest |r| at which a bound is looked for: |u| is 0.6 there."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Rows of weighted exponential sums.

    Attributes:
        coefficients: Of every column that stands for itself, one row per sum.
        counts: How often each of these occurs.
        least: The smallest coefficient of each row, at most 0.
        most: The largest, at least 0.
        cells: The columns that are cells of scores.
    """

    coefficients: Floats
    counts: Floats
    least: Floats
    most: Floats
    cells: CellColumns | None = None

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.counts.size + (0 if self.cells is None else self.cells.sizes.size)

    def rows(self, kept: slice | Flags | Ints) -> Sums:
        """Some of the rows."""
        cells = None if self.cells is None else self.cells.rows(kept)
        return Sums(self.coefficients[kept], self.counts, self.least[kept], self.most[kept], cells)

    def even(self) -> Sums:
        """Every row divided by its largest coefficient: the chance stays, and squares keep inside the numbers."""
        return self.times(1.0 / np.maximum(self.most, -self.least))

    def times(self, numbers: Floats) -> Sums:
        """Every row times its number."""
        ends = np.sort(np.stack((self.least * numbers, self.most * numbers)), axis=0)
        cells = None if self.cells is None else self.cells.times(numbers)
        return Sums(self.coefficients * numbers[:, None], self.counts, ends[0], ends[1], cells)

    def means(self) -> tuple[Floats, Floats]:
        """The mean of each row, and the sum of its squared coefficients."""
        mean, square = self.coefficients @ self.counts, (self.coefficients * self.coefficients) @ self.counts
        if self.cells is None:
            return mean, square
        more = self.cells.sums()
        return mean + more[0], square + more[1]

    def powers(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """The sums of (t c / (1 + t c))^p over the coefficients of each row, for p = 1, 2, 3."""
        d = t[:, None] * self.coefficients
        d = d / (1.0 + d)
        d2 = d * d
        one, two, three = d @ self.counts, d2 @ self.counts, (d2 * d) @ self.counts
        if self.cells is None:
            return one, two, three
        more = self.cells.powers(t)
        return one + more[0], two + more[1], three + more[2]


def log_chance(sums: Sums, step: float = STEP) -> Floats:
    """The logarithm of P(W <= 0) of every row; NaN where the series of the cells do not reach far enough.

    Of a chance below e^-700 among cells an upper bound may be given.
    """
    found = np.zeros(sums.least.size)  # nothing above 0: the sum is at most 0 for sure
    found[sums.least >= 0.0] = -np.inf
    found[sums.most <= 0.0] = 0.0
    real = (sums.least < 0.0) & (sums.most > 0.0)
    if not real.any():
        return found
    left = (sums if real.all() else sums.rows(real)).even()
    up = left.means()[0] > 0.0
    logs = _log_left(left.times(np.where(up, 1.0, -1.0)), step)
    found[real] = np.where(up, np.minimum(logs, 0.0), np.log1p(-np.exp(np.minimum(logs, -1e-300))))
    return found


def _log_left(sums: Sums, step: float) -> Floats:
    """Log P(W <= 0) of rows whose mean is 0 or more."""
    held = ELEMENTS if sums.cells is None else ELEMENTS // 8  # a cell needs some ten numbers besides
    rows = max(1, held // (_nodes(step) * sums.width))
    parts = [_log_integral(sums.rows(slice(i, i + rows)), step) for i in range(0, sums.least.size, rows)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _nodes(step: float) -> int:
    return round(REACH / step) + 1


def _saddle(sums: Sums) -> tuple[Floats, Floats, Floats]:
    """Minus the saddle point, the width and the bend of the contour, of every row.

    A contour through any point left of 0 gives the same integral, so the point needs no more than two digits.
    """
    far = -1.0 / sums.least
    mean, square = sums.means()
    t = np.minimum((mean + np.sqrt(mean * mean + 4.0 * square)) / (2.0 * square), 0.9 * far)
    low, high = np.zeros_like(t), far * (1.0 - 1e-12)  # the last factor must not round to 0
    for _ in range(200):
        one, two, three = sums.powers(t)
        slope, bend = -(one + 1.0), np.maximum(two, 0.0) + 1.0  # times t and its square
        if (np.abs(slope) <= 0.01 * np.sqrt(bend)).all():
            break
        low, high = np.where(slope < 0.0, t, low), np.where(slope < 0.0, high, t)
        further = t - t * slope / bend
        t = np.where((further > low) & (further < high), further, 0.5 * (low + high))
    width = t / np.sqrt(bend)
    third = 2.0 * (three + 1.0)  # in s = -t
    return t, width, np.clip(third / bend**1.5 / 3.0, -2.0 / 3.0, 2.0 / 3.0)


def _log_integral(sums: Sums, step: float) -> Floats:
    """Log P(W <= 0) of rows whose mean is 0 or more; NaN where the series of the cells do not reach far enough."""
    t, width, bend = _saddle(sums)
    found, short, wild = _along(sums, (t, width, bend), step)
    if wild.any():  # off a straight line the integrand grows again; on it, it never does
        found[wild], short[wild], _ = _along(sums.rows(wild), (t[wild], width[wild], 0.0 * bend[wild]), step)
    if short.any():
        found[short] = _bounded(sums.rows(short), t[short])
    return found


def _along(sums: Sums, contour: tuple[Floats, Floats, Floats], step: float) -> tuple[Floats, Flags, Flags]:
    """The integral of every row along its contour: its logarithm, whether series fell short, whether it grew again."""
    (t, width, bend), k, nodes = contour, sums.counts, _nodes(step)
    gone = 1e-15 if step < COARSE else 1e-10
    a = 1.0 + t[:, None] * sums.coefficients
    start = -(np.log(a) @ k) - np.log(t)
    inside, off = np.zeros((t.size, 1), complex), np.zeros(t.size)
    if sums.cells is not None:
        inside, rest = sums.cells.logs(-t[:, None].astype(complex), np.ones(1))
        start, off = start + inside[:, 0].real, off + rest[:, 0]
    left = np.flatnonzero(off <= REST)  # rows whose integrand has not died away yet
    d, total, lost = sums.coefficients / a, np.zeros(t.size), np.zeros(t.size)
    lowest, wild = np.full(t.size, np.inf), np.zeros(t.size, bool)
    for first in range(0, 100 * nodes, nodes):
        if not left.size:
            break
        u = step * np.arange(first, first + nodes)
        at, wide, bent = t[left, None], width[left, None], bend[left, None]
        away = wide * (np.sinh(u) * 1j + bent * (np.cosh(u) - 1.0))  # s - s0
        turn = wide * (np.cosh(u) * 1j + bent * np.sinh(u))
        logs, rest = _log_ratio(away, d[left], k), np.zeros((left.size, 1))
        if sums.cells is not None:
            more, rest = sums.cells.rows(left).logs(away - at, np.exp(-np.minimum(0.4 * np.sinh(u) ** 2, 30.0)))
            logs += more - inside[left]
        heights = np.exp(logs) * (turn / (1.0 - away / at))
        sizes = np.abs(heights)
        so_far = np.minimum.accumulate(np.concatenate((lowest[left, None], sizes), axis=1), axis=1)
        fallen = so_far[:, :-1] < 0.5 * wide
        wild[left] |= (fallen & (sizes > 1.05 * so_far[:, :-1]) & (sizes > 1e-14 * wide)).any(axis=1)
        lowest[left] = so_far[:, -1]
        if first == 0:
            heights[:, 0] *= 0.5
        total[left] += heights.imag.sum(axis=1)
        lost[left] += (sizes * np.expm1(np.minimum(rest + off[left, None], 700.0))).sum(axis=1)
        left = left[(sizes[:, -1] > gone * np.abs(total[left])) & ~wild[left]]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = start + np.log(total * (step / math.pi))
    return found, (off > REST) | ~(lost <= REST * total), wild


def _bounded(sums: Sums, t: Floats) -> Floats:
    """An upper bound of log P(W <= 0), which is at most log M(-x) for every x > 0, where it is tiny; else NaN."""
    if sums.cells is None:
        return np.full(t.size, np.nan)
    x = np.minimum(0.9 * t, sums.cells.reach())
    logs, rest = sums.cells.logs(-x[:, None].astype(complex), np.ones(1))
    bound = logs[:, 0].real + rest[:, 0] - np.log1p(x[:, None] * sums.coefficients) @ sums.counts
    return np.where(bound < TINIEST, bound, np.nan)


def log_chance_and_slopes(sums: Sums, starts: Ints) -> tuple[Floats, Floats]:
    """Log P(W <= 0) of every row, and how it moves when all coefficients of a block of columns move together.

    To be climbed with: every column stands for itself.

    Args:
        sums: Rows with coefficients on both sides of 0.
        starts: The first column of every block; the last block ends with the columns.
    """
    rows = max(1, ELEMENTS // (2 * _nodes(COARSE) * sums.counts.size))
    if sums.least.size > rows:
        parts = [log_chance_and_slopes(sums.rows(slice(i, i + rows)), starts) for i in range(0, sums.least.size, rows)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    scale = 1.0 / np.maximum(sums.most, -sums.least)
    row = sums.even()
    up = row.coefficients @ row.counts > 0.0
    row = row.times(np.where(up, 1.0, -1.0))
    c, k = row.coefficients, row.counts
    t, width, bend = (part[:, None] for part in _saddle(row))
    d, total, slopes = c / (1.0 + t * c), np.zeros(t.shape[0]), np.zeros((t.shape[0], starts.size))
    left = np.arange(t.shape[0])
    block = _nodes(COARSE)
    for first in range(0, 20 * block, block):
        u = COARSE * np.arange(first, first + block)
        away = width[left] * (np.sinh(u) * 1j + bend[left] * (np.cosh(u) - 1.0))
        turn = width[left] * (np.cosh(u) * 1j + bend[left] * np.sinh(u))
        heights = np.exp(_log_ratio(away, d[left], k)) * (turn / (1.0 - away / t[left]))
        if first == 0:
            heights[:, 0] *= 0.5
        s = away - t[left]
        total[left] += heights.imag.sum(axis=1)
        pieces = np.matmul((heights * s)[:, None, :], 1.0 / (1.0 - s[:, :, None] * c[left][:, None, :]))[:, 0].imag * k
        slopes[left] += np.add.reduceat(pieces, starts, axis=1)
        left = left[np.abs(heights[:, -1]) > 1e-9 * np.abs(total[left])]
        if not left.size:
            break
    logs = np.minimum(-(np.log1p(t * c) @ k) - np.log(t[:, 0]) + np.log(total * (COARSE / math.pi)), -1e-300)
    slopes *= (scale / total)[:, None]
    chance = np.exp(logs)  # where a row was turned, that of the other side
    with np.errstate(divide="ignore"):
        turned = np.log1p(-chance)
    return np.where(up, logs, turned), np.where(up[:, None], slopes, slopes * (chance / (1.0 - chance))[:, None])


def _log_ratio(away: Complexes, d: Floats, k: Floats) -> Complexes:
    """Log M(s) - log M(s0), up to whole turns, at s - s0 = `away`; d = c / (1 - s0 c)."""
    few = k <= FEW
    logs = np.zeros(away.shape, complex)
    if not few.all():
        w = -away[:, :, None] * d[:, None, ~few]
        size = np.log1p(2.0 * w.real + w.real**2 + w.imag**2) @ (0.5 * k[~few])
        logs -= size + 1j * (np.arctan2(w.imag, 1.0 + w.real) @ k[~few])
    if few.any():
        # Factors are multiplied by fours into polynomials with real coefficients, which cost one product each.
        ones = np.repeat(d[:, few], k[few].astype(np.int64), axis=1)
        ones = np.concatenate((ones, np.zeros((ones.shape[0], -ones.shape[1] % 4))), axis=1)
        p, q, r, s = ones[:, 0::4], ones[:, 1::4], ones[:, 2::4], ones[:, 3::4]
        sums, products = (p + q, r + s), (p * q, r * s)
        coefficients = np.stack(
            (
                -(sums[0] + sums[1]),
                products[0] + products[1] + sums[0] * sums[1],
                -(sums[0] * products[1] + sums[1] * products[0]),
                products[0] * products[1],
            ),
            axis=2,
        )
        square = away * away
        powers = np.stack((away, square, square * away, square * square), axis=1)
        for first in range(0, coefficients.shape[1], CHUNK):
            parts = np.matmul(coefficients[:, first : first + CHUNK], powers)
            parts += 1.0
            # Where the integrand has long died away a factor may be 1e36: products of more than eight would overflow.
            eights = np.multiply.reduceat(parts, np.arange(0, parts.shape[1], 8), axis=1)
            logs -= np.log(eights).sum(axis=1)
    return logs


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
