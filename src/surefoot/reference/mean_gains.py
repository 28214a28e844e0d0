"""Published comparisons of two means of scores: Welch's, over tasks, by bets in recorded order, by superiority."""

from __future__ import annotations

import math
from collections.abc import Mapping

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import MANY_ROLLOUTS, STREAMS, Assumption
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.notes import Noted
from surefoot.core.scores import Moments, Scores
from surefoot.stats import score_gains
from surefoot.stats.means import betting_mean
from surefoot.stats.score_gains import Ranged
from surefoot.stats.strata import Weights, task_weights


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


def stratified_t_gain(
    strata: Mapping[str, tuple[Ranged, Ranged]],
    *,
    weights: Weights = "rollouts",
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better does the first score, task by task, by Student's t? Approximate: for many tasks.

    The variances of all cells, a policy on a task, are added, and so are their degrees of freedom (Satterthwaite). A
    cell whose scores are all alike shows no spread; it is given that of as many alike successes, a quarter of an unlike
    one added at either end, on the whole range of the scores.

    Args:
        strata: Scores (or their moments) of the first and of the second policy on every task; at least 2 in each cell.
        weights: How tasks weigh: by the rollouts of both policies, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent rollouts, and a mean gain that is nearly normal: some 20 cells of 10 scores or more. Below that the
        guaranteed test of groups is the better choice.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import stratified_t_gain
        >>> pick = Scores([0.9, 0.8, 1.0, 0.7]), Scores([0.6, 0.7, 0.8, 0.5])
        >>> place = Scores([0.4, 0.5, 0.3, 0.6]), Scores([0.3, 0.4, 0.2, 0.3])
        >>> print(stratified_t_gain({"pick": pick, "place": place}))
        +0.175 [+0.043, +0.307] n=16 (95% stratified t (approximate) interval), p = 0.0135: the first is better.

    Reference:
        Satterthwaite (1946), "An approximate distribution of estimates of variance components"; Cochran (1977),
        "Sampling techniques", section 5.4, for the strata.
    """
    import numpy as np

    from surefoot.numerics.scores import cluster_tests

    _check.filled(strata, "strata", "hold at least one stratum")
    one = next(iter(strata.values()))[0]
    width = one.high - one.low
    variances, freedoms, gaps = [], [], []
    shares = task_weights({task: len(first) + len(second) for task, (first, second) in strata.items()}, weights)
    for task, pair in strata.items():
        kind = type(pair[0]) if isinstance(pair[0], Moments) else Scores
        score_gains.check_ranges(*pair, kind=kind)
        if (pair[0].low, pair[0].high) != (one.low, one.high):
            raise _check.wrong("strata", f"hold scores of one range; got another on {task!r}.", strata)
        for name, side in zip(("first", "second"), pair, strict=True):
            refuse_one(len(side), f"{name} on {task!r}")
            seen = variance(side) / len(side) or width**2 * unseen(len(side))
            variances.append(shares[task] ** 2 * seen)
            freedoms.append(len(side) - 1.0)
        gaps.append(shares[task] * (pair[0].mean - pair[1].mean))
    data = tuple(side for pair in strata.values() for side in pair)
    return student_gain(
        data,
        float(np.sum(gaps)),
        float(np.sum(variances)),
        cluster_tests.satterthwaite(variances, freedoms),
        confidence=confidence,
        margin=margin,
        method="stratified t (approximate)",
        trials=sum(len(side) for side in data),
        independent=STREAMS,
    )


def unseen(size: float) -> float:
    """The variance of a rate that so many rollouts, all alike, leave possible; see `numerics.rates.strata_rule`."""
    rate = (size + 0.25) / (size + 0.5)
    return rate * (1.0 - rate) / size / (1.0 - size / (size + 0.5) ** 2)


def betting_paired_gain(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first on the same conditions, by bets in recorded order? For sequential use only.

    Args:
        first: Scores of the first policy, one per pair, in recorded order.
        second: Scores of the second policy, in the same order.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range and the number of pairs were fixed beforehand, the pairs are in recorded order, and each pair
        has the same mean gain given the earlier ones. The two scores of a pair may depend on each other.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_paired_gain
        >>> first, second = Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6, 0.5] * 10)
        >>> print(betting_paired_gain(first, second).verdict)
        better

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", on the
        differences.
    """
    gap = score_gains.paired(first, second)
    return _betting(first, second, gap.tolist(), "paired betting", confidence, margin, ())


def betting_gain(first: Scores, second: Scores, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """How much better is the first, from separate rollouts, by bets in recorded order? For sequential use only.

    The two streams are paired in recorded order. Rollouts of the longer stream beyond the shorter are left out
    and counted in the notes.

    Args:
        first: Scores of the first policy, in recorded order.
        second: Scores of the second policy, in recorded order.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range and the number of rollouts were fixed beforehand, scores are in recorded order, and the mean
        gain does not change as the rollouts go on.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import betting_gain
        >>> found = betting_gain(Scores([1, 0.8, 0.9, 0.7] * 10), Scores([0.4, 0.5, 0.6] * 14))
        >>> print(found.verdict, found.notes)
        better ('2 rollouts of the second had no counterpart and were left out.',)

    Reference:
        Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", on the
        differences.
    """
    score_gains.check_ranges(first, second)
    size = min(len(first), len(second))
    gap = [one - other for one, other in zip(first.values, second.values, strict=False)]
    spare = max(len(first), len(second)) - size
    notes: tuple[Noted, ...] = ()
    if spare:
        longer = "first" if len(first) > size else "second"
        was = "was" if spare == 1 else "were"
        notes = (f"{formatting.rollouts(spare)} of the {longer} had no counterpart and {was} left out.",)
    return _betting(first, second, gap, "betting", confidence, margin, notes)


def _betting(
    first: Scores,
    second: Scores,
    gap: list[float],
    method: str,
    confidence: float,
    margin: float,
    notes: tuple[Noted, ...],
) -> Gain:
    most = first.high - first.low
    # rounding may carry a difference a hair beyond what two scores can differ by
    within = Scores([min(most, max(-most, value)) for value in gap], -most, most)
    found = betting_mean(within, confidence=confidence)
    return score_gains.gain_of(
        (first, second),
        (found.low, found.high),
        estimate=found.estimate,
        confidence=_check.confidence(confidence),
        method=method,
        margin=margin,
        trials=len(within),
        assumptions=found.assumptions,
        notes=(*found.notes, *notes),
    )
