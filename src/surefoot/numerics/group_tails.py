"""What do several groups of scores say against a candidate for the weighted sum of their means?

At a null point m, one mean per group, two p-values: the joint one, P(sum_g (v_g / n_g) sum_i E_gi (z_gi - m_g) <=
E_0 max_g v_g m_g / n_g), and that of the groups one by one, the chi-square tail of the sum of squared normal quantiles
of each group's own two-sided p-value. Of the error, 95% goes to the first and 5% to the second; the second keeps null
points away that no group's own scores allow. The p-value of a candidate is the supremum over its null points.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from surefoot.numerics import score_tails
from surefoot.numerics.exponential_sums import COARSE, Pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats


JOINT, ALONE = 0.95, 0.05
"""The shares of the error."""

FAR = 1e6
"""A squared quantile beyond which a null point is out of the question."""


@dataclass(frozen=True, slots=True)
class Groups(ABC):
    """The test of the weighted mean of groups, in the direction "is it larger?".

    Attributes:
        samples: The groups.
        weights: Above 0, with sum 1.
    """

    samples: tuple[Pooled, ...]
    weights: tuple[float, ...]

    @property
    def estimate(self) -> float:
        """The observed target."""
        return math.fsum(v * sample.mean for v, sample in zip(self.weights, self.samples, strict=True))

    @property
    def mirrored(self) -> Self:
        """The same test of 1 - z."""
        return type(self)(tuple(score_tails.mirror(sample) for sample in self.samples), self.weights)

    def log_p(self, target: float) -> float:
        """The logarithm of the p-value against "the target is at most so much"."""
        if target >= self.estimate or target >= 1.0:
            return 0.0
        if target <= 0.0 and min(sample.most for sample in self.samples) > 0.0:
            return -math.inf
        return min(0.0, self.raised(target))

    @abstractmethod
    def raised(self, target: float) -> float:
        """The largest log p-value over the null points of a target below the estimate, raised by what may be missed."""


def log_joint(samples: Sequence[Pooled], weights: Floats, means: Floats) -> Floats:
    """The logarithm of the joint p-value over its share of the error, one for each row of means."""
    scales = weights / np.array([sample.size for sample in samples])
    spare = (scales * means).max(axis=1)
    rows = np.broadcast_to(scales, means.shape)
    least = score_tails.LEAST * max(float(s) * one.most for s, one in zip(scales, samples, strict=True))
    return score_tails.log_tails(samples, rows, means, np.maximum(spare, least), COARSE) - math.log(JOINT)


def distances(sample: Pooled, means: Floats) -> Floats:
    """The squared normal quantile of the two-sided p-value of each candidate mean; it falls towards the estimate."""
    found = np.zeros(means.shape)
    other = means != sample.mean
    if other.any():
        at = means[other]
        # 1 - z above the estimate: the same sums turned round, so one integral does for both sides
        above = at > sample.mean
        side = np.where(above, -1.0, 1.0)[:, None]
        spare = np.where(above, 1.0 - at, np.where(at > 0.0, np.maximum(at, score_tails.LEAST * sample.most), at))
        logs = score_tails.log_tails([sample], side, at[:, None], spare, COARSE)
        found[other] = np.maximum(-special.ndtri_exp(logs), 0.0) ** 2
    return np.minimum(found, FAR)


def log_alone(distance: Floats, groups: int) -> Floats:
    """The logarithm of the chi-square tail of a sum of squared quantiles, over its share of the error."""
    half, x = 0.5 * groups, 0.5 * distance
    with np.errstate(divide="ignore"):
        tail = np.log(special.gammaincc(half, x))
        # the leading term of the tail, made an upper bound, where the tail is too small for a number
        far = np.maximum(x, 300.0)
        beyond = (half - 1.0) * np.log(far) - far - special.gammaln(half) - np.log1p(-max(half - 1.0, 0.0) / far)
    found: Floats = np.where(np.isfinite(tail), tail, beyond) - math.log(ALONE)
    return found


def projected(samples: Sequence[Pooled], weights: Floats, target: float) -> Floats:
    """A null point of a target below the estimate: every mean moves down, the farther the less sure it is.

    No mean reaches 0, which its group's own scores would rule out.
    """
    means = np.array([sample.mean for sample in samples])
    steps = weights * np.array([error_of(sample) ** 2 for sample in samples]) / np.maximum(means, score_tails.TINY)

    def at(size: float) -> Floats:
        point: Floats = means / (1.0 + size * steps)
        return point

    low, high = 0.0, 1.0 / float(steps.max())
    while float(weights @ at(high)) > target and high < 1e280:
        high *= 4.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(weights @ at(middle)) > target else (low, middle)
        if high - low <= 1e-14 * high:
            break
    return at(high)


def error_of(sample: Pooled) -> float:
    """A standard error that is never 0: as if a quarter of a squared range had been seen besides."""
    n, spread = sample.size, float(sample.counts @ (sample.values - sample.mean) ** 2)
    return math.sqrt((spread + 0.25) / n / (n + 1.0))
