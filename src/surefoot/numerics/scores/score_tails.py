"""Tail bound for the mean of scores in [0, 1], whatever their order and distribution.

Against "the mean is at most m" the p-value is P(sum E_i (z_i - m) <= m E_0) with standard exponential E: a theorem
for independent scores that share a mean. It rises in m, so an end of an interval is one root. Upper ends are lower
ends of 1 - z. A candidate is refused when its p-value, raised by the rounding allowed for, is at most the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores.exponential_sums import STEP, CellColumns, Sums, log_chance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
SAFE = 1e-9
"""By how much of itself a p-value is raised before it is judged: more than its rounding."""
LEAST = 1e-50
"""The smallest candidate, as a share of the largest score."""
TINY = 1e-200
"""Scores up to this are 0: nothing is told apart below."""


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


def log_tails(samples: Sequence[Pooled], scales: Floats, means: Floats, spare: Floats, step: float = STEP) -> Floats:
    """Log P(sum over groups of scale times sum E_i (z_i - mean) <= spare E_0), a row for each candidate.

    Args:
        samples: The groups.
        scales: The weight of one score of each group, below 0 to turn it round; one row per candidate, one column per
            group.
        means: The candidate means, likewise.
        spare: The coefficient of the extra exponential, 0 or more; one per candidate.
        step: How far apart the nodes of the integral are.
    """
    found = log_chance(weighted_sums(samples, scales, means, spare), step)
    short = np.flatnonzero(np.isnan(found))
    while short.size and any(
        one.cells is not None for one in samples
    ):  # candidates far out, or scores far from all others
        samples = [sample.finer for sample in samples]
        found[short] = log_chance(weighted_sums(samples, scales[short], means[short], spare[short]), step)
        short = short[np.isnan(found[short])]
    return found


def weighted_sums(samples: Sequence[Pooled], scales: Floats, means: Floats, spare: Floats) -> Sums:
    """The sums behind `log_tails`; the extra exponential is the last column that stands for itself."""
    low, high = (np.array([getattr(one, end) for one in samples]) for end in ("least", "most"))
    ends = scales * (low - means), scales * (high - means)
    least = np.minimum(-spare, np.minimum(*ends).min(axis=1))
    most = np.maximum(0.0, np.maximum(*ends).max(axis=1))
    coefficients, counts = columns(samples, scales, means, spare, [one.cells is None for one in samples])
    owners, cells = [], []
    for place, one in enumerate(samples):
        if one.cells is not None:
            cells.append(one.cells)
            owners += [place] * one.cells.sizes.size
    if not cells:
        return Sums(coefficients, counts, least, most)
    sizes, mids, halves, moments = (
        np.concatenate([getattr(cell, name) for cell in cells]) for name in ("sizes", "mids", "halves", "moments")
    )
    scale = scales[:, owners]
    wide = CellColumns(scale, scale * (mids - means[:, owners]), sizes, halves, moments)
    return Sums(coefficients, counts, least, most, wide)


def columns(
    samples: Sequence[Pooled], scales: Floats, means: Floats, spare: Floats, kept: Sequence[bool]
) -> tuple[Floats, Floats]:
    """The coefficients of the values of the samples that are kept and of the extra exponential, and their counts."""
    used = [place for place, keep in enumerate(kept) if keep]
    owners = np.repeat(np.array(used, np.int64), [samples[place].values.size for place in used])
    values = np.concatenate([*(samples[place].values for place in used), np.zeros(0)])
    counts = np.concatenate([*(samples[place].counts for place in used), np.ones(1)])
    return np.concatenate((scales[:, owners] * (values - means[:, owners]), -spare[:, None]), axis=1), counts


def error_of(sample: Pooled) -> float:
    """A standard error that is never 0: as if a quarter of a squared range had been seen besides."""
    return math.sqrt((sample.spread + 0.25) / sample.size / (sample.size + 1.0))


def log_above(sample: Pooled, means: Floats) -> Floats:
    """The logarithm of the p-value against "the mean is at most m", for each m; it rises in m."""
    candidates = np.atleast_1d(np.asarray(means, float))
    # below this nothing is told apart: a larger candidate stands for it, with a larger p-value
    candidates = np.where(candidates > 0.0, np.maximum(candidates, LEAST * sample.most), candidates)
    return log_tails([sample], np.ones((candidates.size, 1)), candidates[:, None], candidates)


@dataclass(frozen=True, slots=True)
class OneSample:
    """The test of one sample's mean, in the direction "is it larger?".

    Attributes:
        sample: The scores.
    """

    sample: Pooled

    @property
    def estimate(self) -> float:
        """The observed mean."""
        return self.sample.mean

    @property
    def mirrored(self) -> OneSample:
        """The same test of 1 - z."""
        return OneSample(mirror(self.sample))

    def log_p(self, mean: float) -> float:
        """The logarithm of the p-value against "the mean is at most so much", raised by the rounding allowed for."""
        return min(0.0, float(log_above(self.sample, np.array([mean]))[0]) + math.log1p(SAFE))

    def low_end(self, tail: float) -> float:
        """The largest mean that is refused as too low with this error; 0 when none is."""
        sample = self.sample
        if sample.most <= TINY:
            return 0.0
        about = error_of(sample)
        guess = sample.mean + float(special.ndtri(tail)) * about
        return root(lambda m: float(log_above(sample, np.array([m]))[0]), tail, sample.most, guess, about)


def root(
    log_p: Callable[[float], float],
    tail: float,
    most: float,
    guess: float,
    about: float,
    *,
    slack: float = SAFE,
    near: float = 0.0,
) -> float:
    """The largest candidate in (0, most), to the slack, whose p-value is refused at this error; `log_p` rises.

    Secant steps on the normal quantile of the p-value, which is nearly straight, inside a bracket.

    Args:
        log_p: The logarithm of the p-value of a candidate.
        tail: The error.
        most: A candidate that is not refused.
        guess: Where to look first.
        about: How far a candidate moves for one unit of the normal quantile.
        slack: How far below the error, in logarithms, the p-value of the answer may be; at least its rounding.
        near: How far from the kept side the answer may be.
    """
    goal = math.log(tail) - 1.5 * slack
    aim = float(special.ndtri_exp(goal))
    low, high = 0.0, most  # refused, kept
    x = guess if low < guess < high else 0.5 * min(most, about + most / 2.0)
    before: tuple[float, float] | None = None
    for _ in range(200):
        value = log_p(x)
        if abs(value - goal) <= 0.4 * slack:
            return x
        low, high = (x, high) if value <= goal else (low, x)
        if high - low <= max(near, 1e-15 * high) or high <= 1e-40 * most:
            break
        height = float(special.ndtri_exp(min(value, -1e-16))) - aim
        slope = 1.0 / about if before is None else (height - before[1]) / (x - before[0])
        before = (x, height)
        step = x - height / slope if slope > 0.0 and math.isfinite(height) else math.nan
        if not low < step < high:
            step = math.sqrt(low * high) if low > 0.0 and high > 4.0 * low else 0.5 * (low + high)
            step = high * 0.125 if low == 0.0 else step
        x = step
    return low
