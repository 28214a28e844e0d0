"""How sure is each group, by its own scores, that its mean is not this one? From tables, for many means at once.

The normal quantile of a group's own p-value is nearly straight in its mean. It is tabled once on both sides of the
observed mean and read by cubic pieces: good to some four digits, to be climbed with and never to be the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores import score_samples, score_tails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats
    from surefoot.numerics.scores.score_samples import Pooled


PIECES = 20


@dataclass(frozen=True, slots=True)
class Side:
    """The tables of all groups on the lower side of their observed means.

    Attributes:
        start: Where each table begins.
        span: How long it is, up to the observed mean; 0 where there is no such side.
        values: The quantiles at places even in the square root of the way.
        slopes: Their slopes in that root.
    """

    start: Floats
    span: Floats
    values: Floats
    slopes: Floats

    @classmethod
    def of(cls, samples: Sequence[Pooled], reach: float) -> Side:
        """The tables of samples, as far down as their quantile is `reach`."""
        rows = [_row(sample, reach) for sample in samples]
        start, span = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        values = np.array([row[2] for row in rows])
        slopes = np.gradient(values, 1.0 / PIECES, axis=1, edge_order=2)
        return cls(start, span, values, slopes)

    def at(self, means: Floats) -> tuple[Floats, Floats]:
        """The quantile at means, one column per group, and its slope."""
        span = np.maximum(self.span, 1e-300)
        way = np.clip((means - self.start) / span, 1e-6, 1.0)
        root = np.sqrt(way)
        piece = np.minimum((root * PIECES).astype(np.int64), PIECES - 1)
        groups = np.broadcast_to(np.arange(self.start.size), means.shape)
        share, width = root * PIECES - piece, 1.0 / PIECES
        left, right = self.values[groups, piece], self.values[groups, piece + 1]
        rise, fall = width * self.slopes[groups, piece], width * self.slopes[groups, piece + 1]
        # the cubic with these values and slopes at the ends of its piece
        bend, turn = 3.0 * (right - left) - 2.0 * rise - fall, 2.0 * (left - right) + rise + fall
        found = left + share * (rise + share * (bend + share * turn))
        slope = (rise + share * (2.0 * bend + 3.0 * share * turn)) * PIECES / (2.0 * span * root)
        # straight on beyond the table: no group may go there for nothing
        beyond = np.minimum(means - self.start, 0.0) / span
        known = self.span > 0.0
        return np.where(known, found - 50.0 * beyond, 0.0), np.where(
            known, np.where(beyond < 0.0, -50.0 / span, slope), 0.0
        )


def _row(sample: Pooled, reach: float) -> tuple[float, float, Floats]:
    about = score_tails.error_of(sample)
    low = 0.0
    if sample.most > score_tails.TINY:
        low = score_tails.root(
            lambda m: float(score_tails.log_above(sample, np.array([m]))[0]),
            float(special.ndtr(-reach)),
            sample.most,
            sample.mean - reach * about,
            about,
            slack=0.05,
        )
    low = min(max(low, 1e-6 * sample.mean), sample.mean)
    span = sample.mean - low
    if span <= 1e-12:
        return low, 0.0, np.zeros(PIECES + 1)
    places = low + span * np.linspace(0.0, 1.0, PIECES + 1) ** 2
    return low, span, -special.ndtri_exp(np.minimum(score_tails.log_above(sample, places), -1e-12))


@dataclass(frozen=True, slots=True)
class Curves:
    """The tables of all groups on both sides of their observed means.

    Attributes:
        means: The observed means.
        below: The side below them.
        above: The side above them, mirrored.
    """

    means: Floats
    below: Side
    above: Side

    @classmethod
    def of(cls, samples: Sequence[Pooled], reach: float) -> Curves:
        """The tables of samples, on each side as far as their quantile is `reach`."""
        means = np.array([sample.mean for sample in samples])
        mirrored = [score_samples.mirror(sample) for sample in samples]
        return cls(means, Side.of(samples, reach), Side.of(mirrored, reach))

    @property
    def lows(self) -> Floats:
        """Where the tables begin."""
        return self.below.start

    @property
    def highs(self) -> Floats:
        """Where they end."""
        return 1.0 - self.above.start

    def at(self, points: Floats) -> tuple[Floats, Floats]:
        """The quantile at points, one column per group, 0 or more, and its slope."""
        (left, rise), (right, fall) = self.below.at(points), self.above.at(1.0 - points)
        lower = points <= self.means
        found, slope = np.where(lower, left, right), np.where(lower, rise, -fall)
        return np.maximum(found, 0.0), np.where(found > 0.0, slope, 0.0)

    def inverse(self, quantiles: Floats) -> Floats:
        """About the means at which the quantiles are so large, below the observed ones; above them where negative."""
        return np.stack(
            [
                np.where(q >= 0.0, _inverse(self.below, g, q), 1.0 - _inverse(self.above, g, -q))
                for g, q in enumerate(quantiles.T)
            ],
            axis=1,
        )


def _inverse(side: Side, group: int, quantiles: Floats) -> Floats:
    values = np.maximum(side.values[group], 0.0)
    way = np.interp(-quantiles, -values, np.linspace(0.0, 1.0, PIECES + 1))
    return np.asarray(side.start[group] + side.span[group] * way**2, float)
