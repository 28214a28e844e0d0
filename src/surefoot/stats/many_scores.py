"""Where do means and gains lie when there are so many scores that only their moments are kept?"""

from __future__ import annotations

import math

from surefoot import _check
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Interval
from surefoot.core.moments import Moments
from surefoot.stats.differences import APPROXIMATE, PAIRED, STREAMS
from surefoot.stats.means import GUARANTEED, INDEPENDENT, RANGE


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
    n, width, half = moments.trials, moments.high - moments.low, moments.high - moments.low
    if n > 1:
        logs = math.log(2.0 / each)
        half = math.sqrt(2.0 * moments.variance * logs / n) + width * 7.0 * logs / (3.0 * (n - 1))
    return Interval(
        low=max(moments.low, moments.mean - half),
        high=min(moments.high, moments.mean + half),
        estimate=moments.mean,
        confidence=float(confidence),
        method="empirical Bernstein",
        trials=n,
        scale="score",
        assumptions=(RANGE, INDEPENDENT, GUARANTEED),
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
    if (first.low, first.high) != (second.low, second.high):
        raise ValueError("`second` must have the range of `first`; scores on two scales have no gain.")
    one, other = (_squared_error(side, name) for side, name in ((first, "first"), (second, "second")))
    _refuse_no_spread(one + other)
    freedom = (one + other) ** 2 / (one**2 / (first.trials - 1) + other**2 / (second.trials - 1))
    gap = first.mean - second.mean
    size = first.trials + second.trials
    return _student(
        gap, one + other, freedom, confidence, margin, "Welch (approximate)", size, STREAMS, (first, second)
    )


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
    squared = _squared_error(differences, "differences")
    _refuse_no_spread(squared)
    n = differences.trials
    return _student(
        differences.mean, squared, n - 1.0, confidence, margin, "paired t (approximate)", n, PAIRED, (differences,)
    )


def _squared_error(moments: Moments, name: str) -> float:
    if moments.trials < 2:
        raise ValueError(f"`{name}` must hold at least 2 scores; got 1. One score shows no spread.")
    return moments.variance / moments.trials


def _refuse_no_spread(squared: float) -> None:
    if squared == 0.0:
        raise ValueError("The scores must vary; got equal ones, which show no spread. Use `betting_gain`.")


def _student(
    gap: float,
    squared: float,
    freedom: float,
    confidence: float,
    margin: float,
    method: str,
    trials: int,
    independent: str,
    data: tuple[Moments, ...],
) -> Gain:
    from scipy import special

    confidence, error = _check.confidence(confidence), math.sqrt(squared)
    half = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    assumptions = (independent, APPROXIMATE)
    interval = Interval(
        low=gap - half,
        high=gap + half,
        estimate=gap,
        confidence=confidence,
        method=method,
        trials=trials,
        scale="score gain",
        assumptions=assumptions,
        data=data,
    )
    return Gain(
        interval=interval,
        p_value=min(1.0, 2.0 * float(special.stdtr(freedom, -abs(gap / error)))),
        verdict=decide(interval.low, interval.high, _check.margin(margin)),
        method=method,
        margin=float(margin),
        assumptions=assumptions,
        notes=(f"t = {gap / error:.4g} on {freedom:.4g} degrees of freedom.",),
        data=data,
    )
