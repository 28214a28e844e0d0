"""What do means of clusters of any sizes say against a candidate mean, guaranteed?

With weights w_g = m_g / max m the p-value against "the mean is at most t" is P(sum E_g w_g (z_g - t) <= t E_0) with
standard exponential E: 1 + w_g (z_g / t - 1) is 0 or more with a mean of at most 1 where all clusters have one mean,
and where clusters are drawn alike with their sizes (then of the ratio of what they hold).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores.score_samples import Pooled, mirror, pool
from surefoot.numerics.scores.score_tails import LEAST, SAFE, TINY, log_tails, root

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


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
