"""Published intervals of the mean of bounded scores.

The default for a number of rollouts fixed beforehand is `score_mean`, which no order of the rollouts can move. The
betting intervals here bet in recorded order: they are for sequential use, where that order is the order of time. For
successes and failures use the intervals of a rate; to look at any time use `betting_sequence`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import (
    ANY_SCORES,
    ANYTIME,
    IN_ORDER,
    IN_ORDER_OF_FIXED_SIZE,
    NO_HEAVY_TAIL,
    RANGE_FIXED,
    SAME_MEAN,
    SCORES_ALIKE,
    Assumed,
)
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Note, Noted
from surefoot.core.record import Record
from surefoot.core.scores import Moments, Scores

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


WRITE = "Write Scores(values, low=0.0, high=1.0) with the range fixed beforehand."
_BETS = (RANGE_FIXED, SAME_MEAN, IN_ORDER_OF_FIXED_SIZE, ANY_SCORES)


def betting_mean(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean score, by bets in recorded order for a fixed number of scores.

    For sequential use only: the answer depends on the order of the scores, and on a file that is sorted or has its
    tasks end to end it is wrong. For a file of rollouts use `score_mean`. Every candidate mean is bet against in both
    directions, at half the error each; the candidates against which no stake grows by a factor of 2 / error are the
    interval. Where the bets leave out the observed mean, the interval is widened to it and a note says so.

    Assumptions:
        The range and the number of rollouts were fixed beforehand; every score has the same mean given the
        earlier ones. Nothing else: ties, atoms and heavy tails inside the range are covered.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_mean
        >>> print(betting_mean(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.808, 0.943] n=40 (95% betting interval).

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting"; bets aimed
        anew at the target after every score, in the manner of Voracek and Orabona (2025), "STaR-Bets".
    """
    from surefoot.numerics.betting import mean_bets

    z, each = unit(scores), _each(confidence)
    low, high = mean_bets.aimed_ends(z, each)
    return interval_of(scores, low, high, confidence, "betting", _BETS, in_order=True)


def betting_mean_lower(scores: Scores, *, confidence: float = 0.95) -> Bound:
    """Above what is the mean score, by bets in recorded order? For sequential use; else `score_mean_lower`.

    Assumptions:
        As for `betting_mean`; all the error is spent on this side.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_mean_lower
        >>> print(betting_mean_lower(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        at least 0.822 n=40 (95% betting bound).

    Reference:
        As for `betting_mean`.
    """
    from surefoot.numerics.betting import mean_bets

    share = mean_bets.aimed_low(unit(scores), 1.0 - _check.confidence(confidence))
    return bound_of(scores, "lower", share, confidence, "betting", _BETS)


def betting_mean_upper(scores: Scores, *, confidence: float = 0.95) -> Bound:
    """Below what is the mean score, by bets in recorded order? For sequential use; else `score_mean_upper`.

    Assumptions:
        As for `betting_mean`; all the error is spent on this side.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_mean_upper
        >>> print(betting_mean_upper(Scores([0.0, 0.2, 0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0] * 4)))
        at most 0.178 n=40 (95% betting bound).

    Reference:
        As for `betting_mean`.
    """
    from surefoot.numerics.betting import mean_bets

    share = 1.0 - mean_bets.aimed_low(1.0 - unit(scores), 1.0 - _check.confidence(confidence))
    return bound_of(scores, "upper", share, confidence, "betting", _BETS)


def wsr_mean(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean score, by the hedged bets of Waudby-Smith and Ramdas.

    Assumptions:
        As for `betting_mean`, which is narrower.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import wsr_mean
        >>> print(wsr_mean(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.804, 0.960] n=40 (95% hedged WSR interval).

    Reference:
        Waudby-Smith and Ramdas (2024), section 4: hedged capital with the fixed-time plug-in bets
        sqrt(2 ln(2 / error) / (n variance)), truncated at 0.95 / m and 0.95 / (1 - m).
    """
    from surefoot.numerics.betting import mean_bets

    z, each = unit(scores), _each(confidence)
    bets = mean_bets.wsr_bets(z, each, horizon=z.size)
    low, high = mean_bets.low_end(z, bets, each), 1.0 - mean_bets.low_end(1.0 - z, bets, each)
    return interval_of(scores, low, high, confidence, "hedged WSR", _BETS, in_order=True)


def empirical_bernstein(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean score, by the empirical Bernstein inequality.

    Assumptions:
        Independent scores with one distribution inside the stated range. One score says nothing: the interval
        is the range.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import empirical_bernstein
        >>> print(empirical_bernstein(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.570, 1.000] n=40 (95% empirical Bernstein interval).

    Reference:
        Maurer and Pontil (2009), "Empirical Bernstein bounds and sample variance penalization", theorem 4, at
        half the error on each side.
    """
    z, each = unit(scores), _each(confidence)
    half = bernstein_half(z.size, float(z.var(ddof=1)) if z.size > 1 else 0.0, each)
    return _around(scores, half, confidence, "empirical Bernstein", (RANGE_FIXED, SCORES_ALIKE, ANY_SCORES))


def moments_mean(moments: Moments, *, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean score, from the number of scores, their mean and variance.

    `empirical_bernstein` on the same scores, without the scores.

    Assumptions:
        Independent scores with one distribution inside the stated range.

    Example:
        >>> from surefoot import Moments
        >>> from surefoot.stats.means import moments_mean
        >>> print(moments_mean(Moments(40, 0.9, 0.02)))
        0.900 [0.571, 1.000] n=40 (95% empirical Bernstein interval).

    Reference:
        Maurer and Pontil (2009), "Empirical Bernstein bounds and sample variance penalization", theorem 4, at
        half the error on each side.
    """
    each = (1.0 - _check.confidence(confidence)) / 2.0
    n, width = _check.instance(moments, "moments", Moments).trials, moments.high - moments.low
    half = width * bernstein_half(n, moments.variance / width**2, each)
    return Interval(
        low=max(moments.low, moments.mean - half),
        high=min(moments.high, moments.mean + half),
        estimate=moments.mean,
        confidence=float(confidence),
        method="empirical Bernstein",
        trials=n,
        scale="score",
        assumptions=(RANGE_FIXED, SCORES_ALIKE, ANY_SCORES),
        data=(moments,),
    )


def hoeffding(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """Confidence interval of the mean score, by Hoeffding's inequality.

    Assumptions:
        As for `score_mean`, and none about their order; the observed spread is not used, so it is wide.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import hoeffding
        >>> print(hoeffding(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.685, 1.000] n=40 (95% Hoeffding interval).

    Reference:
        Hoeffding (1963), "Probability inequalities for sums of bounded random variables", theorem 1.
    """
    half = math.sqrt(math.log(1.0 / _each(confidence)) / (2.0 * unit(scores).size))
    return _around(scores, half, confidence, "Hoeffding", (RANGE_FIXED, SAME_MEAN, ANY_SCORES))


def student_t(scores: Scores, *, confidence: float = 0.95) -> Interval:
    """Where does the mean score lie, if it is nearly normal? Approximate.

    Assumptions:
        Independent scores and a mean that is nearly normal: many scores, no heavy tail. Clipped to the range.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import student_t
        >>> print(student_t(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)))
        0.900 [0.854, 0.946] n=40 (95% Student t (approximate) interval).

    Reference:
        Student (1908), "The probable error of a mean".
    """
    from scipy.special import stdtrit

    z, each = unit(scores), _each(confidence)
    refuse_no_spread(z, "Student t")
    half = -float(stdtrit(z.size - 1, each)) * math.sqrt(float(z.var(ddof=1)) / z.size)
    return _around(scores, half, confidence, "Student t (approximate)", (SCORES_ALIKE, NO_HEAVY_TAIL))


def bernstein_half(size: int, variance: float, each: float) -> float:
    """How far the mean of scores in [0, 1] can be from the observed one, with so much error on each side."""
    if size == 1:
        return 1.0
    logs = math.log(2.0 / each)
    return math.sqrt(2.0 * variance * logs / size) + 7.0 * logs / (3.0 * (size - 1))


def _each(confidence: float) -> float:
    return (1.0 - _check.confidence(confidence)) / 2.0


def unit(scores: Scores) -> Floats:
    """The scores as shares of their range, in recorded order."""
    import numpy as np

    scores = _check.instance(scores, "scores", Scores, WRITE)
    shares: Floats = (np.asarray(scores.values, float) - scores.low) / (scores.high - scores.low)
    return np.clip(shares, 0.0, 1.0)


def refuse_no_spread(z: Floats, who: str) -> None:
    """Refuse scores that show no spread, for a method that needs one."""
    if z.size < 2:
        raise _check.wrong("scores", f"hold at least two scores for {who}; got one. One score shows no spread.")
    if float(z.max()) == float(z.min()):
        raise _check.wrong(
            "scores",
            f"differ for {who}; got {z.size} equal scores. It would give an interval of no width; "
            "`score_mean` is valid here.",
        )


def _around(scores: Scores, half: float, confidence: float, method: str, assumptions: tuple[Assumed, ...]) -> Interval:
    middle = float(unit(scores).mean())
    return interval_of(scores, max(0.0, middle - half), min(1.0, middle + half), confidence, method, assumptions)


def interval_of(
    scores: Scores,
    low: float,
    high: float,
    confidence: float,
    method: str,
    assumptions: tuple[Assumed, ...],
    notes: tuple[Noted, ...] = (),
    seed: int | None = None,
    *,
    in_order: bool = False,
) -> Interval:
    """The interval from shares of the range, never without the observed mean; of bets `in_order` it says so."""
    ends, drift = span(scores, scored(scores, low), scored(scores, high))
    return Interval(
        low=ends[0],
        high=ends[1],
        estimate=scores.mean,
        confidence=float(confidence),
        method=method,
        trials=len(scores),
        scale="score",
        assumptions=assumptions,
        notes=notes + drift if in_order else notes,
        data=(scores,),
        seed=seed,
    )


def span(scores: Scores, low: float, high: float) -> tuple[tuple[float, float], tuple[Note, ...]]:
    """The ends that bets in recorded order leave, widened to the observed mean where they leave that out."""
    mean = scores.mean
    if low <= mean <= high:
        return (low, high), ()
    return (min(low, high, mean), max(low, high, mean)), (Note("scores drift"),)


def bound_of(
    scores: Scores, side: Side, share: float, confidence: float, method: str, assumptions: tuple[Assumed, ...]
) -> Bound:
    """The bound from a share of the range."""
    return Bound(
        side=side,
        value=scored(scores, share),
        estimate=scores.mean,
        confidence=float(confidence),
        method=method,
        trials=len(scores),
        scale="score",
        assumptions=assumptions,
        data=(scores,),
    )


def scored(scores: Scores, share: float) -> float:
    """A share of the range back as a score, both ends of the range exactly."""
    if share >= 1.0:
        return scores.high
    return min(scores.high, scores.low + float(share) * (scores.high - scores.low))


@dataclass(frozen=True, slots=True)
class MeanSequence(Record):
    """The interval of the mean after each score; all of them hold at once.

    Attributes:
        scores: The scores, in recorded order.
        lows: The lower end after each score; it never falls.
        highs: The upper end after each score; it never rises.
        confidence: How often all the intervals hold the mean together, at least.
        method: The rule that made it.
        assumptions: What must hold for the confidence to be true.
    """

    scores: Scores
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    confidence: float
    method: str
    assumptions: tuple[Assumed, ...] = ()

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def latest(self) -> Interval:
        """The interval after the last score."""
        return self.after(len(self))

    def after(self, count: int) -> Interval:
        """The interval after the first `count` scores."""
        count = _check.whole(count, "count", least=1)
        if count > len(self):
            raise _check.refused("count", f"be at most {len(self)}, the number of scores", count)
        seen = Scores(self.scores.values[:count], self.scores.low, self.scores.high)
        (low, high), notes = span(seen, self.lows[count - 1], self.highs[count - 1])
        return Interval(
            low=low,
            high=high,
            estimate=seen.mean,
            confidence=self.confidence,
            method=self.method,
            trials=count,
            scale="score",
            assumptions=self.assumptions,
            notes=notes,
            data=(seen,),
        )

    def __str__(self) -> str:
        return f"After each of {formatting.rollouts(len(self))}; the latest: {self.latest}"


@dataclass(frozen=True, slots=True)
class MeanEvidence(Record):
    """The evidence against one candidate mean, gathered in both directions.

    Attributes:
        mean: The candidate.
        above: Capital of the bets that the mean is larger, starting at 1.
        below: Capital of the bets that the mean is smaller, starting at 1.
        confidence: The confidence the bets were chosen for.
        scores: The scores, in recorded order.
        assumptions: What must hold for 1 / evidence to bound an error.
    """

    mean: float
    above: float
    below: float
    confidence: float
    scores: Scores
    assumptions: tuple[Assumed, ...] = ()

    @property
    def evidence(self) -> float:
        """Half of the larger capital. If the candidate is the mean, it ever reaches 1 / p with chance p at most."""
        return max(self.above, self.below) / 2.0

    def __str__(self) -> str:
        return f"Evidence {self.evidence:.4g} against a mean of {self.mean:g} n={len(self.scores):,} (hedged WSR)."


def betting_sequence(scores: Scores, *, confidence: float = 0.95) -> MeanSequence:
    """Where does the mean score lie, whenever you look? An interval after every score, all valid together.

    Assumptions:
        The range was fixed beforehand; each score has the same mean given the earlier ones. The number of
        scores need not be fixed: stop when the answer is good enough. For a fixed number `score_mean` is
        narrower.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import betting_sequence
        >>> print(betting_sequence(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4)).latest)
        0.900 [0.805, 0.962] n=40 (95% anytime betting interval).

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", theorem 3,
        truncated at 0.95, intersected over time.
    """
    from surefoot.numerics.betting import mean_bets

    each = (1.0 - _check.confidence(confidence)) / 2.0
    z = unit(scores)
    bets = mean_bets.wsr_bets(z, each)
    lows, highs = mean_bets.low_ends(z, bets, each), 1.0 - mean_bets.low_ends(1.0 - z, bets, each)
    return MeanSequence(
        scores=scores,
        lows=tuple(scored(scores, float(end)) for end in lows),
        highs=tuple(scored(scores, float(end)) for end in highs),
        confidence=float(confidence),
        method="anytime betting",
        assumptions=(RANGE_FIXED, SAME_MEAN, IN_ORDER, ANYTIME),
    )


def wsr_evidence(scores: Scores, mean: float, *, confidence: float = 0.95) -> MeanEvidence:
    """How much do the scores speak against one candidate mean? The capital of the published hedged bets.

    Assumptions:
        As for `betting_sequence`: the evidence may be looked at after every score.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import wsr_evidence
        >>> print(wsr_evidence(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0]), 0.5))
        Evidence 124.7 against a mean of 0.5 n=10 (hedged WSR).

    Reference:
        Waudby-Smith and Ramdas (2024), theorem 3, with each score's distance from the mean of its own time.
    """
    from surefoot.numerics.betting import mean_bets

    each = (1.0 - _check.confidence(confidence)) / 2.0
    z = unit(scores)
    candidate = (_check.real(mean, "mean") - scores.low) / (scores.high - scores.low)
    if not 0.0 <= candidate <= 1.0:
        raise _check.refused("mean", f"lie in the range [{scores.low:g}, {scores.high:g}]", mean)
    bets = mean_bets.wsr_bets(z, each)
    above = float(mean_bets.log_capital(z, bets, candidate)[-1])
    below = float(mean_bets.log_capital(1.0 - z, bets, 1.0 - candidate)[-1])
    return MeanEvidence(
        mean=float(mean),
        above=math.exp(min(above, 700.0)),
        below=math.exp(min(below, 700.0)),
        confidence=float(confidence),
        scores=scores,
        assumptions=(RANGE_FIXED, SAME_MEAN, IN_ORDER),
    )
