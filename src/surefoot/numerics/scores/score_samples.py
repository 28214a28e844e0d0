"""Samples of scores in [0, 1], kept as values with multiplicities or as sums of Chebyshev polynomials.

For scores in [lo, hi] with middle mid, half width half and x = (z - mid) / half, the numbers tau_j = sum_i T_j(x_i)
tell sum_i log(1 - s (z_i - m)) for all s and m at once: see `chebyshev_sums`. Up to 64 different values, and
those of up to 200 scores, stand for themselves, which costs less.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints

TERMS = 40
"""How many Chebyshev sums are kept of each cell."""

FEW = 64
"""Up to so many different values stand for themselves."""

SMALL = 200
"""So do those of up to so many scores."""

CHUNK = 8_192
"""Scores looked at together: what a cache holds."""

GRADES = (2.0, 1.5)
"""The ratios of neighbouring cells of a sample that is cut towards both ends."""

HALVINGS = 30
"""How often the cells are halved towards the ends: the last is a billionth of the range."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Stretches of a sample with their Chebyshev sums.

    Attributes:
        sizes: How many scores in each.
        mids: The middle between the least and the largest score of each.
        halves: Half of the distance between them.
        moments: sum T_j(x) for j from 1 on, one row per cell.
    """

    sizes: Floats
    mids: Floats
    halves: Floats
    moments: Floats

    @property
    def mirrored(self) -> Cells:
        """The cells of 1 - z: odd polynomials change their sign."""
        signs = np.where(np.arange(self.moments.shape[1]) % 2, 1.0, -1.0)
        return replace(self, mids=1.0 - self.mids, moments=self.moments * signs)


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """A sample of scores in [0, 1], made ready; the order of the scores is gone.

    Attributes:
        values: Different values, rising; the means of cells where there are more than a few.
        counts: How often each occurs.
        least: The smallest score.
        most: The largest score.
        mean: Their mean.
        spread: The sum of squared distances from it.
        size: How many scores.
        cells: Chebyshev sums, where values are means of cells; none where every value stands for itself.
        scores: The scores themselves.
        grade: How finely the cells are cut.
        cut: The next finer cut, once it was asked for.
    """

    values: Floats
    counts: Floats
    least: float
    most: float
    mean: float
    spread: float
    size: int
    cells: Cells | None
    scores: Floats
    grade: int = 0
    cut: dict[int, Pooled] = field(default_factory=dict)

    @property
    def finer(self) -> Pooled:
        """The same sample cut towards both ends, and at last with every value standing for itself."""
        if self.cells is None:
            return self
        if self.grade not in self.cut:
            if self.grade < len(GRADES):
                finer = replace(self, cells=_graded(self.scores, GRADES[self.grade]), grade=self.grade + 1, cut={})
            else:
                finer = exact(self)
            self.cut[self.grade] = finer
        return self.cut[self.grade]


def pool(z: Floats) -> Pooled:
    """A sample of scores in [0, 1] made ready."""
    values, repeats = np.unique(z, return_counts=True)
    counts = repeats.astype(float)
    least, most = float(values[0]), float(values[-1])
    mean = min(max(float((values * counts).sum()) / z.size, least), most)
    spread = float(counts @ (values - mean) ** 2)
    if values.size <= FEW or z.size <= SMALL:
        return Pooled(values, counts, least, most, mean, spread, int(z.size), None, z)
    scores = np.repeat(values, repeats)  # rising: sums do not depend on the order of the rows
    where = np.minimum(((values - least) * (FEW / (most - least))).astype(np.int64), FEW - 1)
    held: Floats = np.bincount(where, counts, FEW).astype(float)
    means = np.bincount(where, values * counts, FEW)[held > 0.0] / held[held > 0.0]
    cells = _whole(scores, least, most)
    return Pooled(means, held[held > 0.0], least, most, mean, spread, int(z.size), cells, scores)


def exact(sample: Pooled) -> Pooled:
    """The sample with every value standing for itself."""
    if sample.cells is None:
        return sample
    values, repeats = np.unique(sample.scores, return_counts=True)
    return replace(sample, values=values, counts=repeats.astype(float), cells=None, cut={})


def mirror(sample: Pooled) -> Pooled:
    """The sample of 1 - z."""
    return replace(
        sample,
        values=1.0 - sample.values[::-1],
        counts=sample.counts[::-1],
        least=1.0 - sample.most,
        most=1.0 - sample.least,
        mean=1.0 - sample.mean,
        cells=None if sample.cells is None else sample.cells.mirrored,
        scores=1.0 - sample.scores,
        cut={},
    )


def _whole(scores: Floats, least: float, most: float) -> Cells:
    """All scores as one cell."""
    mid, half = 0.5 * (least + most), 0.5 * (most - least)
    moments = np.zeros(TERMS)
    for first in range(0, scores.size, CHUNK):
        x = np.clip((scores[first : first + CHUNK] - mid) / half, -1.0, 1.0)
        before, now, twice = np.ones_like(x), x, 2.0 * x
        for j in range(TERMS):
            moments[j] += now.sum()
            before, now = now, twice * now - before
    return Cells(np.array([float(scores.size)]), np.array([mid]), np.array([half]), moments[None])


def _graded(scores: Floats, ratio: float) -> Cells:
    """Cells that shrink towards both ends by a ratio, with the sums of each."""
    least, most = float(scores.min()), float(scores.max())
    x = (scores - 0.5 * (least + most)) / (0.5 * (most - least))
    room = np.maximum(1.0 - np.abs(x), 0.5**HALVINGS)  # 1 in the middle, 0 at the ends
    level = 1 + np.floor(-np.log(room) / np.log(ratio)).astype(np.int64)
    cell = np.where(x < 0.0, -level, level)
    order = np.argsort(cell, kind="stable")
    z, cell = scores[order], cell[order]
    starts: Ints = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))
    sizes = np.diff(np.append(starts, z.size))
    low, high = np.minimum.reduceat(z, starts), np.maximum.reduceat(z, starts)
    mids, halves = 0.5 * (low + high), 0.5 * (high - low)
    x = (z - np.repeat(mids, sizes)) / np.repeat(np.where(halves > 0.0, halves, 1.0), sizes)
    x = np.clip(x, -1.0, 1.0)
    moments = np.zeros((starts.size, TERMS))
    before, now, twice = np.ones_like(x), x, 2.0 * x
    for j in range(TERMS):
        moments[:, j] = np.add.reduceat(now, starts)
        before, now = now, twice * now - before
    return Cells(sizes.astype(float), mids, halves, moments)
