"""What do scores in [0, 1] say against a candidate mean, whatever their order and their distribution?

Against "the mean is at most m" the p-value is P(sum E_i (z_i - m) <= m E_0) with standard exponential E: a theorem
for independent scores that share a mean. It rises in m, so an end of an interval is one root. Upper ends are lower
ends of 1 - z. A candidate is refused when its p-value, raised by the rounding allowed for, is at most the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.exponential_sums import STEP, Cells, Pooled, Sums, TooFarError, log_chance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from surefoot.numerics.arrays import Floats


SAFE = 1e-9
"""By how much of itself a p-value is raised before it is judged: more than its rounding."""


LEAST = 1e-50
"""The smallest candidate, as a share of the largest score."""


TINY = 1e-200
"""Scores up to this are 0: nothing is told apart below."""


def mirror(sample: Pooled) -> Pooled:
    """The sample of 1 - z."""
    sums = sample.sums
    if sums is not None:
        sums = (sums * np.where(np.arange(sums.shape[1]) % 2, 1.0, -1.0))[::-1]  # odd powers change their sign
    return replace(
        sample,
        values=1.0 - sample.values[::-1],
        counts=sample.counts[::-1],
        sums=sums,
        reach=None if sample.reach is None else sample.reach[::-1],
        least=1.0 - sample.most,
        most=1.0 - sample.least,
        mean=1.0 - sample.mean,
        raw=(1.0 - sample.raw[0][::-1], sample.raw[1][::-1]),
    )


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
    while True:
        try:
            return log_chance(weighted_sums(samples, scales, means, spare), step)
        except TooFarError:  # a candidate far out
            samples = [sample.finer for sample in samples]


def weighted_sums(samples: Sequence[Pooled], scales: Floats, means: Floats, spare: Floats) -> Sums:
    """The sums behind `log_tails`; the extra exponential is the last column."""
    columns, least, most = [], -spare, np.zeros_like(spare)
    for g, sample in enumerate(samples):
        scale, mean = scales[:, g], means[:, g]
        columns.append(scale[:, None] * (sample.values - mean[:, None]))
        one, other = scale * (sample.least - mean), scale * (sample.most - mean)
        least = np.minimum(least, np.minimum(one, other))
        most = np.maximum(most, np.maximum(one, other))
    coefficients = np.concatenate([*columns, -spare[:, None]], axis=1)
    counts = np.concatenate([*(sample.counts for sample in samples), np.ones(1)])
    if all(sample.sums is None for sample in samples):
        return Sums(coefficients, counts, least, most)
    sizes = [sample.values.size for sample in samples]
    powers = next(sample.sums.shape[1] for sample in samples if sample.sums is not None)
    sums = [np.zeros((size, powers)) if s.sums is None else s.sums for s, size in zip(samples, sizes, strict=True)]
    reach = [np.zeros(size) if s.reach is None else s.reach for s, size in zip(samples, sizes, strict=True)]
    wide = np.concatenate((np.repeat(scales, sizes, axis=1), np.zeros((spare.size, 1))), axis=1)
    cells = Cells(wide, np.concatenate([*sums, np.zeros((1, powers))]), np.concatenate([*reach, np.zeros(1)]))
    return Sums(coefficients, counts, least, most, cells)


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
        n, spread = sample.size, sample.counts @ (sample.values - sample.mean) ** 2
        about = math.sqrt((spread + 0.25) / n / (n + 1.0))
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
