"""Tail bound for the mean of scores in [0, 1], whatever their order and distribution.

Against "the mean is at most m" the p-value is P(sum E_i (z_i - m) <= m E_0) with standard exponential E: a theorem
for independent scores that share a mean. It rises in m, so an end of an interval is one root. Upper ends are lower
ends of 1 - z. A candidate is refused when its p-value, raised by the rounding allowed for, is at most the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores.chebyshev_sums import CellColumns
from surefoot.numerics.scores.exponential_sums import STEP, Sums, log_chance
from surefoot.numerics.scores.score_samples import mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.scores.score_samples import Pooled


SAFE = 1e-9
"""By how much of itself a p-value is raised before it is judged: more than its rounding."""


LEAST = 1e-50
"""The smallest candidate, as a share of the largest score."""


TINY = 1e-200
"""Scores up to this are 0: nothing is told apart below."""


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
