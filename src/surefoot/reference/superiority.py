"""Probability of superiority: that a rollout of the first policy scores higher."""

from __future__ import annotations

import math

from surefoot import _check
from surefoot.core.assumptions import MANY_ROLLOUTS, STREAMS
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.reference.welch_intervals import satterthwaite
from surefoot.stats import score_gains


def chance_first_higher(first: Scores, second: Scores, *, confidence: float = 0.95) -> Interval:
    """How often would the first beat the second on one rollout each? A tie counts half.

    The Brunner-Munzel interval, made on the log-odds scale so that it stays inside [0, 1]. Where the samples do
    not overlap, or hold one value only, that method sees no spread; Newcombe's interval is given then.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy, from separate rollouts.
        confidence: How often such intervals hold the chance, nearly.

    Assumptions:
        Independent rollouts; nothing about the shape of the scores.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import chance_first_higher
        >>> print(chance_first_higher(Scores([0.9, 0.7, 0.8, 0.4]), Scores([0.5, 0.3, 0.6, 0.4])))
        84.4% [13.1%, 99.5%] n=8 (95% Brunner-Munzel interval).

    Reference:
        Brunner and Munzel (2000), "The nonparametric Behrens-Fisher problem"; Newcombe (2006), "Confidence
        intervals for an effect size measure based on the Mann-Whitney statistic, part 2", method 5.
    """
    import numpy as np
    from scipy import special

    score_gains.check_ranges(first, second)
    confidence = _check.confidence(confidence)
    x, y = np.sort(first.values), np.sort(second.values)
    # for each score, the share of the other policy's scores below it, a tie counting half
    above = (np.searchsorted(y, x, "left") + np.searchsorted(y, x, "right")) / (2.0 * y.size)
    below = (np.searchsorted(x, y, "left") + np.searchsorted(x, y, "right")) / (2.0 * x.size)
    chance = float(above.mean())
    one = float(above.var(ddof=1)) / x.size if x.size > 1 else 0.0
    other = float(below.var(ddof=1)) / y.size if y.size > 1 else 0.0
    variance = one + other
    if variance > 1e-24 and min(x.size, y.size) > 1 and 0.0 < chance < 1.0:
        freedom = satterthwaite(one, x.size - 1, other, y.size - 1)
        reach = float(special.stdtrit(freedom, (1.0 + confidence) / 2.0)) * math.sqrt(variance)
        centre, half = special.logit(chance), reach / (chance * (1.0 - chance))
        low, high, method = float(special.expit(centre - half)), float(special.expit(centre + half)), "Brunner-Munzel"
    else:
        z = float(special.ndtri((1.0 + confidence) / 2.0))
        low, high = (_newcombe(chance, x.size, y.size, z, edge) for edge in (0.0, 1.0))
        method = "Newcombe"
    return Interval(
        low=min(low, chance),
        high=max(high, chance),
        estimate=chance,
        confidence=confidence,
        method=method,
        trials=len(first) + len(second),
        assumptions=(STREAMS, MANY_ROLLOUTS),
        notes=("A tie counts half.",),
        data=(first, second),
    )


def _newcombe(chance: float, one: int, other: int, z: float, edge: float) -> float:
    """The chance t between the estimate and the edge with (t - estimate)² = z² times its Hanley-McNeil variance."""
    from scipy import optimize

    middle = (one + other) / 2.0 - 1.0

    def excess(t: float) -> float:
        spread = t * (1.0 - t) * (1.0 + middle * ((1.0 - t) / (2.0 - t) + t / (1.0 + t))) / (one * other)
        return (t - chance) ** 2 - z * z * spread

    # at 0 or 1 the estimate itself solves the equation: the search starts a hair away from it
    start = chance + (edge - chance) * min(1e-9, z * z / (2.0 * one * other))
    if start == edge or excess(start) >= 0.0:  # nothing lies between, or nothing that a number can tell apart
        return chance
    return float(optimize.brentq(excess, start, edge, xtol=1e-14))
