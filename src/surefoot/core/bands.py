"""Confidence band of a distribution, and the bounds on means and quantiles that follow from it.

Between two neighbouring scores a band is constant. The height after i of the n sorted scores is `uppers[i]` in
the worst case (as much probability on low scores as the data allow) and `lowers[i]` in the best.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import Assumed
from surefoot.core.record import Record
from surefoot.core.scores import Scores


@dataclass(frozen=True, slots=True)
class Band(Record):
    """A confidence band on the whole distribution of a score; everything it answers holds at once.

    `..._bound` is the worst case the band allows: the truth is at least that. `..._ceiling` is the best case:
    the truth is at most that. A side the band does not claim answers with the end of the range, which is
    always true.

    Attributes:
        scores: The scores, as recorded.
        points: The same, sorted.
        uppers: Largest value of the distribution function after 0, 1, ..., n scores; none if not claimed.
        lowers: Smallest value of it after 0, 1, ..., n scores; none if not claimed.
        offset: The largest distance between the band and the observed distribution function.
        confidence: How often such bands hold the whole distribution, at least.
        method: The function that made it.
        assumptions: What must hold for the confidence to be true.
        notes: What a reader must know besides.
    """

    scores: Scores
    points: tuple[float, ...]
    uppers: tuple[float, ...]
    lowers: tuple[float, ...]
    offset: float
    confidence: float
    method: str
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check.confidence(self.confidence)
        if not self.uppers and not self.lowers:
            raise _check.wrong("uppers", "be given, or `lowers`; got neither.")
        for name, heights in (("uppers", self.uppers), ("lowers", self.lowers)):
            if heights and len(heights) != len(self.points) + 1:
                must = f"hold {len(self.points) + 1} heights, one more than there are scores"
                raise _check.refused(name, must, len(heights))

    @property
    def trials(self) -> int:
        """Rollouts behind the band."""
        return len(self.points)

    @property
    def claims_worst(self) -> bool:
        """Whether the band says anything about the worst case."""
        return bool(self.uppers)

    @property
    def claims_best(self) -> bool:
        """Whether the band says anything about the best case."""
        return bool(self.lowers)

    def observed_cdf(self, x: float) -> float:
        """Share of the observed scores that are at most x."""
        return bisect_right(self.points, _check.real(x, "x")) / len(self.points)

    def observed_quantile(self, tau: float) -> float:
        """The smallest observed score that a share tau of the scores do not exceed."""
        return self._quantile(_check.fraction(tau, "tau"), self._observed)

    def observed_cvar(self, tau: float) -> float:
        """The average of the worst share tau of the observed scores."""
        return self._lowest_mean(_check.fraction(tau, "tau"), self._observed)

    def upper_cdf(self, x: float) -> float:
        """At most this is the chance of a score of x or less."""
        return self._at_most(x, self._worst)

    def lower_cdf(self, x: float) -> float:
        """At least this is the chance of a score of x or less."""
        return self._at_most(x, self._best)

    def chance_at_least(self, x: float) -> float:
        """At least this is the chance of a score of x or more."""
        return self._at_least(x, self._worst)

    def chance_ceiling(self, x: float) -> float:
        """At most this is the chance of a score of x or more."""
        return self._at_least(x, self._best)

    def quantile_bound(self, tau: float) -> float:
        """At least this is the tau-quantile: a share tau of the scores may be below it, no more."""
        return self._quantile(_check.fraction(tau, "tau"), self._worst)

    def quantile_ceiling(self, tau: float) -> float:
        """At most this is the tau-quantile."""
        return self._quantile(_check.fraction(tau, "tau"), self._best)

    def mean_bound(self) -> float:
        """At least this is the mean score."""
        return self._lowest_mean(1.0, self._worst)

    def mean_ceiling(self) -> float:
        """At most this is the mean score."""
        return self._lowest_mean(1.0, self._best)

    def cvar_bound(self, tau: float) -> float:
        """At least this is the average score of the worst share tau of rollouts."""
        return self._lowest_mean(_check.fraction(tau, "tau"), self._worst)

    def cvar_ceiling(self, tau: float) -> float:
        """At most this is the average score of the worst share tau of rollouts."""
        return self._lowest_mean(_check.fraction(tau, "tau"), self._best)

    @property
    def _observed(self) -> tuple[float, ...]:
        return tuple(i / len(self.points) for i in range(len(self.points) + 1))

    @property
    def _worst(self) -> tuple[float, ...]:
        return self.uppers or (1.0,) * (len(self.points) + 1)

    @property
    def _best(self) -> tuple[float, ...]:
        return self.lowers or (0.0,) * (len(self.points) + 1)

    def _at_most(self, x: float, heights: tuple[float, ...]) -> float:
        """The chance of a score of x or less under the distribution function with these heights."""
        x = _check.real(x, "x")
        if x < self.scores.low or x >= self.scores.high:
            return float(x >= self.scores.high)
        return heights[bisect_right(self.points, x)]

    def _at_least(self, x: float, heights: tuple[float, ...]) -> float:
        """The chance of a score of x or more under the distribution function with these heights."""
        x = _check.real(x, "x")
        if x <= self.scores.low or x > self.scores.high:
            return float(x <= self.scores.low)
        return 1.0 - heights[bisect_left(self.points, x)]

    def _quantile(self, tau: float, heights: tuple[float, ...]) -> float:
        """The smallest score at which the distribution function with these heights has reached tau."""
        return (self.scores.low, *self.points, self.scores.high)[bisect_left(heights, tau)]

    def _lowest_mean(self, tau: float, heights: tuple[float, ...]) -> float:
        """The mean of the lowest share tau under the distribution function with these heights."""
        places = (self.scores.low, *self.points, self.scores.high)
        terms, below = [], 0.0
        for place, height in zip(places, (*heights, 1.0), strict=True):
            reached = min(height, tau)
            terms.append(place * (reached - below))
            below = reached
        return min(max(math.fsum(terms) / tau, self.scores.low), self.scores.high)

    def __str__(self) -> str:
        said = []
        if self.uppers:
            said.append(
                f"mean at least {_low(self.mean_bound())}, median at least {_low(self.quantile_bound(0.5))}, "
                f"worst quarter averages at least {_low(self.cvar_bound(0.25))}"
            )
        if self.lowers:
            said.append(
                f"mean at most {_high(self.mean_ceiling())}, median at most {_high(self.quantile_ceiling(0.5))}, "
                f"worst quarter averages at most {_high(self.cvar_ceiling(0.25))}"
            )
        return f"{'; '.join(said)} n={self.trials:,} ({formatting.percent(self.confidence)} {self.method} band)."


def _low(value: float) -> str:
    return formatting.number(value, "score", "down")


def _high(value: float) -> str:
    return formatting.number(value, "score", "up")
