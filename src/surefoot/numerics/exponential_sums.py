"""How likely is a weighted sum of exponential variables at most 0?

With coefficients c_u and multiplicities k_u the sum is W = sum c_u Gamma(k_u). Its moment generating function is
M(s) = prod (1 - s c_u)^(-k_u), and P(W <= 0) = -(1 / 2 pi i) times the integral of M(s) / s along a line left of 0.
The line is bent through the saddle point of M(s) / |s| so that the integrand falls fast and hardly turns; the
trapezoid rule then has nearly all digits from a few dozen nodes. Everything is kept in logarithms.
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

BLOCK = 32
"""Nodes looked at together; one block is enough but for the smallest samples."""

LARGE = 1_000
"""From so many different values on, a sample is kept as cells with power sums."""

POWERS = 20
"""How many power sums a cell keeps."""

REST = 1e-12
"""What the powers left out may add to a logarithm."""

FEW = 16
"""Up to so many equal factors are multiplied one by one; of more a logarithm is taken."""

CHUNK = 64
"""How many fours of factors are multiplied before a logarithm is taken: their product cannot overflow."""

ELEMENTS = 1 << 17
"""How many complex numbers are held at once: more than a cache holds take longer."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A sample as values with multiplicities; of a large one, cells with the power sums inside each.

    Attributes:
        values: Different values, rising; or the means of cells.
        counts: How often each occurs.
        sums: Power sums of the distances from the cell's mean, one row per cell, from the second power on; none
            where every value stands for itself.
        reach: The largest distance from the mean in each cell.
        least: The smallest value.
        most: The largest value.
        mean: The mean of the sample.
        size: How many scores.
        raw: The values and multiplicities themselves.
    """

    values: Floats
    counts: Floats
    sums: Floats | None
    reach: Floats | None
    least: float
    most: float
    mean: float
    size: int
    raw: tuple[Floats, Floats]

    @property
    def finer(self) -> Pooled:
        """The same sample in more cells; with every value standing for itself when that would be no more work."""
        cells = 8 * self.values.size
        if self.sums is None or cells * POWERS > self.raw[0].size:
            return Pooled(*self.raw, None, None, self.least, self.most, self.mean, self.size, self.raw)
        return _celled(self, cells)


def pool(z: Floats) -> Pooled:
    """A sample of scores in [0, 1] made ready; the order of the scores is gone."""
    values, repeats = np.unique(z, return_counts=True)
    counts = repeats.astype(float)
    mean = min(max(float((values * counts).sum()) / z.size, float(values[0])), float(values[-1]))
    least, most, raw = float(values[0]), float(values[-1]), (values, counts)
    whole = Pooled(values, counts, None, None, least, most, mean, int(z.size), raw)
    if values.size <= LARGE:
        return whole
    # an end of an interval needs s up to some 15 standard errors: so far the powers must reach
    far = 15.0 / math.sqrt(float(counts @ (values - mean) ** 2))
    return _celled(whole, max(1, math.ceil(2.0 * far * (most - least))))


def _celled(sample: Pooled, cells: int) -> Pooled:
    """The sample in equal cells, the largest value in one of its own, with their power sums."""
    values, counts = sample.raw
    cell = ((values - values[0]) * (cells / (values[-1] - values[0]))).astype(np.int64)
    starts = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))
    sizes = np.add.reduceat(counts, starts)
    centres = np.add.reduceat(values * counts, starts) / sizes
    away = values - np.repeat(centres, np.diff(np.append(starts, values.size)))
    reach = np.maximum.reduceat(np.abs(away), starts)
    power, sums = counts * away, []
    for _ in range(POWERS):  # the first sum is 0 but for rounding, and is kept for that
        sums.append(np.add.reduceat(power, starts))
        power *= away
    return replace(sample, values=centres, counts=sizes, sums=np.stack(sums, axis=1), reach=reach)


@dataclass(frozen=True, slots=True)
class Cells:
    """What the columns that are cells hold besides their means.

    Attributes:
        scales: By what a distance inside a column's cell is multiplied; one row per sum.
        sums: The power sums of these distances; 0 where a column stands for itself.
        reach: The largest distance in each.
    """

    scales: Floats
    sums: Floats
    reach: Floats


@dataclass(frozen=True, slots=True)
class Sums:
    """Rows of weighted exponential sums.

    Attributes:
        coefficients: Of every column (value, or cell mean), one row per sum.
        counts: How often each column occurs.
        least: The smallest coefficient of each row, at most 0.
        most: The largest, at least 0.
        cells: What the cells hold, where columns are cells.
    """

    coefficients: Floats
    counts: Floats
    least: Floats
    most: Floats
    cells: Cells | None = None

    def rows(self, kept: slice | Flags) -> Sums:
        """Some of the rows."""
        cells = None if self.cells is None else replace(self.cells, scales=self.cells.scales[kept])
        return Sums(self.coefficients[kept], self.counts, self.least[kept], self.most[kept], cells)

    def even(self) -> Sums:
        """Every row divided by its largest coefficient: the chance stays, and squares keep inside the numbers."""
        return self.times(1.0 / np.maximum(self.most, -self.least))

    def times(self, numbers: Floats) -> Sums:
        """Every row times its number."""
        ends = np.sort(np.stack((self.least * numbers, self.most * numbers)), axis=0)
        cells = None if self.cells is None else replace(self.cells, scales=self.cells.scales * numbers[:, None])
        return Sums(self.coefficients * numbers[:, None], self.counts, ends[0], ends[1], cells)


class TooFarError(ArithmeticError):
    """The power sums of the cells do not reach as far as the contour goes."""


def log_chance(sums: Sums, step: float = STEP) -> Floats:
    """The logarithm of P(W <= 0) of every row."""
    found = np.zeros(sums.least.size)  # nothing above 0: the sum is at most 0 for sure
    found[sums.least >= 0.0] = -np.inf
    found[sums.most <= 0.0] = 0.0
    real = (sums.least < 0.0) & (sums.most > 0.0)
    if not real.any():
        return found
    left = (sums if real.all() else sums.rows(real)).even()
    means = left.coefficients @ left.counts
    up = means > 0.0
    logs = _log_left(left.times(np.where(up, 1.0, -1.0)), step)
    found[real] = np.where(up, np.minimum(logs, 0.0), np.log1p(-np.exp(np.minimum(logs, -1e-300))))
    return found


def _log_left(sums: Sums, step: float) -> Floats:
    """Log P(W <= 0) of rows whose mean is 0 or more."""
    rows = max(1, ELEMENTS // (BLOCK * sums.counts.size))
    parts = [_log_integral(sums.rows(slice(i, i + rows)), step) for i in range(0, sums.least.size, rows)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _saddle(sums: Sums) -> tuple[Floats, Floats, Floats]:
    """Minus the saddle point, the width and the bend of the contour, of every row.

    A contour through any point left of 0 gives the same integral, so the point needs no more than two digits.
    """
    c, k = sums.coefficients, sums.counts
    far = -1.0 / sums.least
    mean, square = c @ k, (c * c) @ k
    t = np.minimum((mean + np.sqrt(mean * mean + 4.0 * square)) / (2.0 * square), 0.9 * far)
    low, high = np.zeros_like(t), far * (1.0 - 1e-12)  # the last factor must not round to 0
    for _ in range(200):
        d = c / (1.0 + t[:, None] * c)
        slope, bend = -(d @ k) - 1.0 / t, (d * d) @ k + 1.0 / (t * t)
        low, high = np.where(slope < 0.0, t, low), np.where(slope < 0.0, high, t)
        step = slope / bend
        if (np.abs(slope) <= 0.01 * np.sqrt(bend)).all():
            break
        further = t - step
        t = np.where((further > low) & (further < high), further, 0.5 * (low + high))
    d = c / (1.0 + t[:, None] * c)
    d2 = d * d
    width = 1.0 / np.sqrt(d2 @ k + 1.0 / (t * t))
    third = 2.0 * ((d2 * d) @ k) + 2.0 / (t * t * t)  # in s = -t
    return t, width, np.clip(third * width**3 / 3.0, -2.0 / 3.0, 2.0 / 3.0)


def _log_integral(sums: Sums, step: float) -> Floats:
    """Log P(W <= 0) of rows whose mean is 0 or more."""
    c, k = sums.coefficients, sums.counts
    t, width, bend = _saddle(sums)
    a = 1.0 + t[:, None] * c
    start = -(np.log(a) @ k) - np.log(t)
    inside = np.zeros((t.size, 1), complex)
    if sums.cells is not None:
        inside = _series((-t[:, None] / a)[:, None, :].astype(complex), sums.cells)
        start = start + inside[:, 0].real
    d, total = c / a, np.zeros(t.size)
    left = np.arange(t.size)  # rows whose integrand has not died away yet
    block = round(BLOCK * STEP / step)
    for first in range(0, 100 * block, block):
        u = step * np.arange(first, first + block)
        at, wide, bent = t[left, None], width[left, None], bend[left, None]
        away = wide * (np.sinh(u) * 1j + bent * (np.cosh(u) - 1.0))  # s - s0
        turn = wide * (np.cosh(u) * 1j + bent * np.sinh(u))
        logs = _log_ratio(away, d[left], k)
        if sums.cells is not None:
            s = (away - at)[:, :, None]
            cells = replace(sums.cells, scales=sums.cells.scales[left])
            logs += _series(s / (1.0 - s * c[left][:, None, :]), cells) - inside[left]
        heights = np.exp(logs) * (turn / (1.0 - away / at))
        if first == 0:
            heights[:, 0] *= 0.5
        total[left] += heights.imag.sum(axis=1)
        left = left[np.abs(heights[:, -1]) > 1e-15 * np.abs(total[left])]
        if not left.size:
            break
    return start + np.log(total * (step / math.pi))


def log_chance_and_slopes(sums: Sums, starts: Ints) -> tuple[Floats, Floats]:
    """Log P(W <= 0) of every row, and how it moves when all coefficients of a block of columns move together.

    To be climbed with: cells count as their means.

    Args:
        sums: Rows with coefficients on both sides of 0.
        starts: The first column of every block; the last block ends with the columns.
    """
    rows = max(1, ELEMENTS // (2 * BLOCK * sums.counts.size))
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
    block = round(BLOCK * STEP / COARSE)
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


def _series(w: Complexes, cells: Cells) -> Complexes:
    """What the distances inside the cells add to log M: sum over cells and powers of (w scale)^j S_j / j."""
    w = w * cells.scales[:, None, :]
    size = np.abs(w) * cells.reach
    if size.max() >= 0.9:
        raise TooFarError
    rest = (np.abs(w) ** POWERS * np.abs(cells.sums[:, -1]) * size / (1.0 - size)).sum(axis=2) / (POWERS + 1)
    if rest.max() > REST:
        raise TooFarError
    total = np.zeros(w.shape, complex)
    for j in range(POWERS, 0, -1):
        total = (total + cells.sums[:, j - 1] / j) * w
    added: Complexes = total.sum(axis=2)
    return added
