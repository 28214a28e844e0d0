"""How far apart are two means, by the t distribution?"""

from __future__ import annotations

import math

from surefoot import _check
from surefoot.core.gain import Gain
from surefoot.core.scores import Scores
from surefoot.stats import differences


def welch(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, by Welch's t? Approximate: use `betting_gain` for a guarantee.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy, from separate rollouts.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts and means that are nearly normal, which few or skewed scores do not have.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import welch
        >>> first, second = Scores([0.62, 0.71, 0.55, 0.9, 0.43, 0.81]), Scores([0.4, 0.52, 0.61, 0.35, 0.48])
        >>> print(welch(first, second))
        +0.198 [+0.005, +0.391] n=11 (95% Welch (approximate) interval), p = 0.0449: the first is better.

    Reference:
        Welch (1947), "The generalization of Student's problem when several different population variances are
        involved".
    """
    from scipy import special

    differences.check_ranges(first, second)
    confidence = _check.confidence(confidence)
    for name, scores in (("first", first), ("second", second)):
        if len(scores) < 2:
            raise ValueError(f"`{name}` must hold at least 2 scores; got 1. One score shows no spread.")
    one, other = _mean_variance(first), _mean_variance(second)
    variance = one + other
    if variance == 0.0:
        raise ValueError(
            "`first` and `second` must vary; got equal scores on both sides, which show no spread. "
            "Use `betting_gain`, which needs none."
        )
    freedom = variance**2 / (one**2 / (len(first) - 1) + other**2 / (len(second) - 1))
    error = math.sqrt(variance)
    gap = first.mean - second.mean
    half = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * error
    ratio = gap / error
    return differences.gain_of(
        first,
        second,
        (gap - half, gap + half),
        estimate=gap,
        confidence=confidence,
        method="Welch (approximate)",
        margin=margin,
        trials=len(first) + len(second),
        p_value=2.0 * float(special.stdtr(freedom, -abs(ratio))),
        assumptions=(differences.STREAMS, differences.APPROXIMATE),
        notes=(f"t = {ratio:.4g} on {freedom:.4g} degrees of freedom.",),
    )


def _mean_variance(scores: Scores) -> float:
    mean = scores.mean
    spread = math.fsum((value - mean) ** 2 for value in scores.values)
    tiny = len(scores) * (1e-15 * max(1.0, abs(mean))) ** 2
    return 0.0 if spread <= tiny else spread / (len(scores) - 1) / len(scores)
