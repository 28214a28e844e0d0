"""Tail bounds for a weighted sum of the means of several groups of scores.

At a null point m, one mean per group, two p-values: the joint one, P(sum_g (v_g / n_g) sum_i E_gi (z_gi - m_g) <=
E_0 max_g v_g m_g / n_g), and that of the groups one by one, the chi-square tail of the sum of squared normal quantiles
of each group's own two-sided p-value. Of the error, 95% goes to the first and 5% to the second; the second keeps null
points away that no group's own scores allow. The p-value of a candidate is the supremum over its null points.

What do means of clusters of any sizes say against a candidate mean, guaranteed?

With weights w_g = m_g / max m the p-value against "the mean is at most t" is P(sum E_g w_g (z_g - t) <= t E_0) with
standard exponential E: 1 + w_g (z_g / t - 1) is 0 or more with a mean of at most 1 where all clusters have one mean,
and where clusters are drawn alike with their sizes (then of the ratio of what they hold).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import special

from surefoot.numerics.scores import score_tails
from surefoot.numerics.scores.exponential_sums import COARSE
from surefoot.numerics.scores.score_tails import LEAST, SAFE, TINY, Pooled, log_tails, mirror, pool, root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.scores.score_tails import Pooled


JOINT, ALONE = 0.95, 0.05
"""The shares of the error."""

ALIKE = 500
"""Up to so many values times groups, one long sum takes less time than a short one for each group."""

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


def log_joint(samples: Sequence[Pooled], weights: Floats, means: Floats, step: float = COARSE) -> Floats:
    """The logarithm of the joint p-value over its share of the error, one for each row of means."""
    return score_tails.log_tails(samples, *_joint_rows(samples, weights, means), step) - math.log(JOINT)


def _joint_rows(samples: Sequence[Pooled], weights: Floats, means: Floats) -> tuple[Floats, Floats, Floats]:
    """Scales, means and extra exponentials of the joint sums."""
    scales = weights / np.array([sample.size for sample in samples])
    least = score_tails.LEAST * max(float(s) * one.most for s, one in zip(scales, samples, strict=True))
    return np.broadcast_to(scales, means.shape), means, np.maximum((scales * means).max(axis=1), least)


def distances(sample: Pooled, means: Floats) -> Floats:
    """The squared normal quantile of the two-sided p-value of each candidate mean; it falls towards the estimate."""
    found = np.zeros(means.shape)
    other = means != sample.mean
    if other.any():
        side, spare = _own_rows(sample, means[other])
        logs = score_tails.log_tails([sample], side[:, None], means[other][:, None], spare, COARSE)
        found[other] = _squared(logs)
    return found


def _own_rows(sample: Pooled, means: Floats) -> tuple[Floats, Floats]:
    """Scales and extra exponentials of one group's own sums.

    1 - z above the estimate: the same sums turned round, so one integral does for both sides.
    """
    above = means > sample.mean
    low = np.where(means > 0.0, np.maximum(means, score_tails.LEAST * sample.most), means)
    return np.where(above, -1.0, 1.0), np.where(above, 1.0 - means, low)


def _squared(logs: Floats) -> Floats:
    """The squared normal quantiles of p-values, from their logarithms."""
    found: Floats = np.minimum(np.maximum(-special.ndtri_exp(logs), 0.0) ** 2, FAR)
    return found


def log_parts(samples: Sequence[Pooled], weights: Floats, means: Floats) -> tuple[Floats, Floats]:
    """The logarithm of the joint p-value of each row of means, and every group's squared quantile there.

    Groups kept as cells, or of few values, are looked at together: a group counts nothing where its scale is 0.
    """
    exact = [sample.values.size for sample in samples if sample.cells is None]
    if exact and len(samples) * sum(exact) > ALIKE:
        apart = [distances(sample, means[:, g]) for g, sample in enumerate(samples)]
        return log_joint(samples, weights, means), np.stack(apart, axis=1)
    scales, points, spare = ([part] for part in _joint_rows(samples, weights, means))
    for g, sample in enumerate(samples):
        side, extra = _own_rows(sample, means[:, g])
        own = np.zeros(means.shape)
        own[:, g] = side
        scales.append(own)
        points.append(means)
        spare.append(extra)
    rows = np.concatenate(scales), np.concatenate(points), np.concatenate(spare)
    logs = score_tails.log_tails(samples, *rows, COARSE).reshape(len(samples) + 1, means.shape[0])
    away = np.where(means == [sample.mean for sample in samples], 0.0, _squared(logs[1:]).T)
    return logs[0] - math.log(JOINT), away


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
    steps = (
        weights
        * np.array([score_tails.error_of(sample) ** 2 for sample in samples])
        / np.maximum(means, score_tails.TINY)
    )

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


@dataclass(frozen=True, slots=True)
class WeighedSample:
    """The test of one mean from clusters that weigh by their sizes, in the direction "is it larger?".

    Attributes:
        samples: The means of the clusters, those of one size together.
        weights: The weight of one cluster of each size, at most 1.
    """

    samples: tuple[Pooled, ...]
    weights: Floats

    @classmethod
    def of(cls, means: Floats, sizes: Floats) -> WeighedSample:
        """Cluster means in [0, 1], and the sizes of the clusters."""
        different = np.unique(sizes)
        return cls(tuple(pool(means[sizes == size]) for size in different), different / different.max())

    @property
    def estimate(self) -> float:
        """The mean of all values."""
        sizes = self.weights * [sample.size for sample in self.samples]
        return float(sizes @ [sample.mean for sample in self.samples] / sizes.sum())

    @property
    def mirrored(self) -> WeighedSample:
        """The same test of 1 - z."""
        return WeighedSample(tuple(mirror(sample) for sample in self.samples), self.weights)

    @property
    def most(self) -> float:
        """The largest mean of a cluster."""
        return max(sample.most for sample in self.samples)

    def log_p(self, mean: float) -> float:
        """The logarithm of the p-value against "the mean is at most so much", raised by the rounding allowed for."""
        return min(0.0, self._log_above(mean) + math.log1p(SAFE))

    def low_end(self, tail: float) -> float:
        """The largest mean that is refused as too low with this error; 0 when none is."""
        if self.most <= TINY:
            return 0.0
        sizes = self.weights * [sample.size for sample in self.samples]
        apart = [sample.counts @ (sample.values - self.estimate) ** 2 for sample in self.samples]
        about = math.sqrt(float(self.weights**2 @ apart) + 0.25) / float(sizes.sum())
        guess = self.estimate + float(special.ndtri(tail)) * about
        return root(self._log_above, tail, self.most, guess, about)

    def _log_above(self, mean: float) -> float:
        if mean <= 0.0:
            return 0.0 if self.most <= TINY else -math.inf
        at = np.array([max(mean, LEAST * self.most)])
        return float(log_tails(self.samples, self.weights[None, :], np.repeat(at, len(self.samples))[None, :], at)[0])
