"""Welch's interval of a difference of two means."""

from __future__ import annotations

import math

from surefoot import _check
from surefoot.core.assumptions import MANY_ROLLOUTS, STREAMS, Assumption
from surefoot.core.gain import Gain
from surefoot.core.scores import Moments, Scores
from surefoot.stats import score_gains
from surefoot.stats.score_gains import Ranged


def welch(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, by Welch's t? Approximate: use `score_gain` for a guarantee.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy, from separate rollouts.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts and means that are nearly normal, which few or skewed scores do not have.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import welch
        >>> first, second = Scores([0.62, 0.71, 0.55, 0.9, 0.43, 0.81]), Scores([0.4, 0.52, 0.61, 0.35, 0.48])
        >>> print(welch(first, second))
        +0.198 [+0.005, +0.391] n=11 (95% Welch (approximate) interval), p = 0.0449: the first is better.

    Reference:
        Welch (1947), "The generalization of Student's problem when several different population variances are
        involved".
    """
    score_gains.check_ranges(first, second)
    return welch_gain(first, second, (variance(first), variance(second)), confidence, margin)


def welch_gain(first: Ranged, second: Ranged, variances: tuple[float, float], confidence: float, margin: float) -> Gain:
    """Welch's t from the sizes, the means and the variances of the two policies' scores."""
    for name, scores in (("first", first), ("second", second)):
        refuse_one(len(scores), name)
    one, other = variances[0] / len(first), variances[1] / len(second)
    if one + other == 0.0:
        raise _check.wrong(
            ("first", "second"),
            "vary; got equal scores on both sides, which show no spread.",
            (first, second),
            "Use `score_gain`, which needs none.",
        )
    return student_gain(
        (first, second),
        first.mean - second.mean,
        one + other,
        satterthwaite(one, len(first) - 1, other, len(second) - 1),
        confidence=confidence,
        margin=margin,
        method="Welch (approximate)",
        trials=len(first) + len(second),
        independent=STREAMS,
    )


def student_gain(
    data: tuple[Ranged, ...],
    gap: float,
    squared: float,
    freedom: float,
    *,
    confidence: float,
    margin: float,
    method: str,
    trials: int,
    independent: Assumption,
) -> Gain:
    """A mean gain by Student's t, from its squared standard error and the degrees of freedom of that."""
    from scipy import special

    confidence, error = _check.confidence(confidence), math.sqrt(squared)
    half = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    return score_gains.gain_of(
        data,
        (gap - half, gap + half),
        estimate=gap,
        confidence=confidence,
        method=method,
        margin=margin,
        trials=trials,
        p_value=2.0 * float(special.stdtr(freedom, -abs(gap / error))),
        assumptions=(independent, MANY_ROLLOUTS),
        notes=(f"t = {gap / error:.4g} on {freedom:.4g} degrees of freedom.",),
    )


def satterthwaite(one: float, one_freedom: float, other: float, other_freedom: float) -> float:
    """The degrees of freedom of a sum of two estimated variances."""
    share = one / (one + other)
    return 1.0 / (share**2 / one_freedom + (1.0 - share) ** 2 / other_freedom)


def refuse_one(size: int, name: str) -> None:
    """Refuse a single score: it has no variance."""
    if size < 2:
        raise _check.wrong(name, "hold at least 2 scores; got 1. One score shows no spread.")


def variance(scores: Ranged) -> float:
    """The variance of scores, exactly 0 where only rounding keeps them apart."""
    if isinstance(scores, Moments):
        return scores.variance
    mean = scores.mean
    spread = math.fsum((value - mean) ** 2 for value in scores.values)
    rounding = len(scores) * (1e-15 * mean) ** 2
    return 0.0 if spread <= rounding else spread / (len(scores) - 1)
