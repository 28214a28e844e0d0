"""Where do means and gains lie when there are so many scores that only their moments are kept?"""

from __future__ import annotations

from surefoot import _check
from surefoot.core.assumptions import ANY_SCORES, RANGE_FIXED, SCORE_PAIRS_APART, SCORES_ALIKE
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.moments import Moments
from surefoot.stats import welch_intervals
from surefoot.stats.differences import check_ranges
from surefoot.stats.means import bernstein_half


def moments_mean(moments: Moments, *, confidence: float = 0.95) -> Interval:
    """Where does the mean score lie, guaranteed, from how many, their mean and their variance?

    `empirical_bernstein` on the same scores, without the scores.

    Assumptions:
        Independent scores with one distribution inside the stated range.

    Example:
        >>> from surefoot import Moments
        >>> from surefoot.stats import moments_mean
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


def moments_gain(first: Moments, second: Moments, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, from two sets of moments? Welch's t; approximate, and good for very many scores.

    Assumptions:
        Independent rollouts and means that are nearly normal.

    Example:
        >>> from surefoot import Moments
        >>> from surefoot.stats import moments_gain
        >>> print(moments_gain(Moments(50_000, 0.62, 0.08), Moments(50_000, 0.61, 0.09)))
        +0.010 [+0.006, +0.014] n=100,000 (95% Welch (approximate) interval), p < 0.0001: the first is better.

    Reference:
        Welch (1947), "The generalization of Student's problem when several different population variances are
        involved".
    """
    check_ranges(first, second, kind=Moments)
    return welch_intervals.welch_gain(first, second, (first.variance, second.variance), confidence, margin)


def moments_paired_gain(differences: Moments, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first on the same conditions, from the moments of the differences? Student's t.

    Args:
        differences: Of first minus second, pair by pair; their range is twice as wide as that of the scores.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent pairs and a mean difference that is nearly normal: very many pairs.

    Example:
        >>> from surefoot import Moments
        >>> from surefoot.stats import moments_paired_gain
        >>> print(moments_paired_gain(Moments(50_000, 0.01, 0.1, -1.0, 1.0)))
        +0.010 [+0.007, +0.013] n=50,000 (95% paired t (approximate) interval), p < 0.0001: the first is better.

    Reference:
        Student (1908), "The probable error of a mean".
    """
    n = _check.instance(differences, "differences", Moments).trials
    welch_intervals.refuse_one(n, "differences")
    if differences.variance == 0.0:
        raise _check.wrong(
            "differences",
            "vary; got equal ones, which show no spread.",
            differences,
            "Use `paired_score_gain`, which needs none.",
        )
    return welch_intervals.student_gain(
        (differences,),
        differences.mean,
        differences.variance / n,
        n - 1.0,
        confidence=confidence,
        margin=margin,
        method="paired t (approximate)",
        trials=n,
        independent=SCORE_PAIRS_APART,
    )
