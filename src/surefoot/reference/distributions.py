"""Comparison of two score distributions: means, quantiles and tails.

Each policy gets a two-sided band at half the error, so everything said about both holds together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import BANDS_TOGETHER, TWO_DISTRIBUTIONS, Assumed
from surefoot.core.bands import Band
from surefoot.core.gain import decide
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.stats import score_gains
from surefoot.stats.bands import Heights, ks, two_sided_band

NEVER = (
    "Full dominance cannot be shown unless the weaker one has scores at the low end of the range and the stronger "
    "at the high end: beyond the observed scores the bands always overlap."
)

Reader = Callable[[Band], float]


@dataclass(frozen=True, slots=True)
class JointGain(Record):
    """One gain among several that hold together.

    Attributes:
        what: What is compared: the mean, a quantile, the average of the worst rollouts.
        share: The quantile's or the worst fraction's share; 1 for the mean.
        interval: The gain, first minus second.
        verdict: What the interval says about the first policy.
    """

    what: str
    share: float
    interval: Interval
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.what}: {self.interval}"


@dataclass(frozen=True, slots=True)
class DistributionComparison(Record):
    """Two policies by the whole distribution of their scores; everything in it holds together.

    Attributes:
        first: The first policy's band, both sides, at half the error.
        second: The second policy's band.
        mean: The gain in the mean.
        quantiles: The gain in each quantile asked for.
        tails: The gain in the average of each worst fraction asked for.
        better: Score ranges [from, to) on which the first is surely less likely to end at or below the score.
        worse: Score ranges on which the second is.
        dominance: Whether one policy is at least as good at every score: about the first.
        confidence: The joint confidence.
        assumptions: What must hold.
        notes: What a reader must know besides.
    """

    first: Band
    second: Band
    mean: JointGain
    quantiles: tuple[JointGain, ...]
    tails: tuple[JointGain, ...]
    better: tuple[tuple[float, float], ...]
    worse: tuple[tuple[float, float], ...]
    dominance: Verdict
    confidence: float
    assumptions: tuple[Assumed, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.dominance is Verdict.BETTER:
            where = "the first is at least as good at every score"
        elif self.dominance is Verdict.WORSE:
            where = "the second is at least as good at every score"
        else:
            parts = [
                f"{who} on {_ranges(found)}" for who, found in (("first", self.better), ("second", self.worse)) if found
            ]
            where = (
                f"the bands separate in favour of the {' and of the '.join(parts)}" if parts else "the bands overlap"
            )
        return f"Mean {self.mean.interval} Over the scores: {where}."


def compare_distributions(
    first: Scores,
    second: Scores,
    *,
    confidence: float = 0.95,
    using: Heights = ks,
    quantiles: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 0.9),
    tails: Sequence[float] = (0.25,),
) -> DistributionComparison:
    """Differences of two score distributions in mean, quantiles and tails, holding together.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy, in the same range.
        confidence: The joint confidence of everything in the result.
        using: The band: `ks`, `tail_tight` or `dkw`.
        quantiles: The quantiles to compare.
        tails: The worst fractions whose averages to compare.

    Assumptions:
        Independent rollouts, independent policies, one stated range. Full dominance can be shown only where
        scores pile up at both ends of the range, as partial credit does; never for continuous scores.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import compare_distributions
        >>> found = compare_distributions(Scores([0.8, 0.9, 1.0, 1.0] * 20), Scores([0.0, 0.2, 0.5, 0.9] * 20))
        >>> print(found.mean)
        mean: +0.525 [+0.198, +0.705] n=160 (95% KS bands interval).
        >>> found.better
        ((0.2, 1.0),)

    Reference:
        Vincent et al. (2024), section VI-C: bounds at 1 - error / 2 each.
    """
    confidence = _check.confidence(confidence)
    score_gains.check_ranges(first, second)
    each = 1.0 - (1.0 - confidence) / 2.0
    one, two = two_sided_band(first, confidence=each, using=using), two_sided_band(second, confidence=each, using=using)
    better, worse = _separated(one, two), _separated(two, one)
    dominance = Verdict.BETTER if _dominates(one, two) else Verdict.WORSE if _dominates(two, one) else Verdict.UNDECIDED
    return DistributionComparison(
        first=one,
        second=two,
        mean=_gain("mean", 1.0, one, two, Band.mean_bound, Band.mean_ceiling, first.mean - second.mean, confidence),
        quantiles=tuple(_quantile_gain(tau, one, two, confidence) for tau in quantiles),
        tails=tuple(_tail_gain(tau, one, two, confidence) for tau in tails),
        better=better,
        worse=worse,
        dominance=dominance,
        confidence=float(confidence),
        assumptions=(TWO_DISTRIBUTIONS, BANDS_TOGETHER),
        notes=(NEVER,) if dominance is Verdict.UNDECIDED else (),
    )


def _quantile_gain(tau: float, one: Band, two: Band, confidence: float) -> JointGain:
    tau = _check.fraction(tau, "quantiles")
    observed = one.observed_quantile(tau) - two.observed_quantile(tau)
    what = "median" if tau == 0.5 else f"{formatting.percent(tau)} quantile"
    worst, best = (lambda band: band.quantile_bound(tau)), (lambda band: band.quantile_ceiling(tau))
    return _gain(what, tau, one, two, worst, best, observed, confidence)


def _tail_gain(tau: float, one: Band, two: Band, confidence: float) -> JointGain:
    tau = _check.fraction(tau, "tails")
    observed = one.observed_cvar(tau) - two.observed_cvar(tau)
    worst, best = (lambda band: band.cvar_bound(tau)), (lambda band: band.cvar_ceiling(tau))
    return _gain(f"average of the worst {formatting.percent(tau)}", tau, one, two, worst, best, observed, confidence)


def _gain(
    what: str, share: float, one: Band, two: Band, worst: Reader, best: Reader, observed: float, confidence: float
) -> JointGain:
    low, high = worst(one) - best(two), best(one) - worst(two)
    interval = Interval(
        low=min(low, observed),
        high=max(high, observed),
        estimate=observed,
        confidence=float(confidence),
        method=f"{one.method} bands",
        trials=one.trials + two.trials,
        scale="score gain",
        assumptions=(TWO_DISTRIBUTIONS, BANDS_TOGETHER),
    )
    return JointGain(what, share, interval, decide(low, high))


def _edges(one: Band, two: Band) -> list[float]:
    """Where either band can step, from the low end of the range to its high end."""
    return sorted({one.scores.low, *one.points, *two.points, one.scores.high})


def _separated(one: Band, two: Band) -> tuple[tuple[float, float], ...]:
    """The ranges on which the first is surely less likely to be at or below a score than the second."""
    found: list[tuple[float, float]] = []
    for start, stop in pairwise(_edges(one, two)):
        if one.upper_cdf(start) < two.lower_cdf(start):
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], stop)
            else:
                found.append((start, stop))
    return tuple(found)


def _dominates(one: Band, two: Band) -> bool:
    """Whether the first is surely at least as good at every score of the range."""
    return all(one.upper_cdf(edge) <= two.lower_cdf(edge) for edge in _edges(one, two))


def _ranges(found: tuple[tuple[float, float], ...]) -> str:
    return ", ".join(f"{start:g} to {stop:g}" for start, stop in found)
