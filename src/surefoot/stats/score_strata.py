"""How much better is the first policy's mean score over several tasks, guaranteed, each task compared with itself?

Tasks (and policies within tasks) are groups with means of their own. Nothing is dropped and no order enters. With many
groups of few rollouts the interval is wide: ten rollouts of each policy on each task keep it near what bets would give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from surefoot import _check
from surefoot.core.assumptions import ANY_SCORES, MEAN_BY_TASK, PAIRS_GAIN_BY_TASK, RANGE_FIXED, SEARCHED, Assumption
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.scores import Scores
from surefoot.stats import differences, order_free
from surefoot.stats.cluster_shapes import Weights, task_weights
from surefoot.stats.means import WRITE, scored, unit
from surefoot.stats.order_free import ScoreTest
from surefoot.stats.score_gains import Compared, bound_from, gain_from, p_values_from

METHOD = "stratified Gaffke"
Strata = Mapping[str, tuple[Scores, Scores]]


def stratified_score_gain(
    strata: Strata,
    *,
    weights: Weights = "rollouts",
    paired: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first over these tasks, each compared with itself, guaranteed, whatever the order?

    Args:
        strata: First and second scores of every task.
        weights: How tasks weigh: by the rollouts of both policies, all alike ("tasks"), or a number for each.
        paired: Whether the scores of a task come in pairs, on the same conditions.
        confidence: How often such intervals hold the gain, at least.
        margin: The gain that would not matter.

    Assumptions:
        The range was fixed beforehand; all rollouts (or pairs) are independent, and those of one policy on one task
        share one mean. Gains may differ between tasks.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import stratified_score_gain
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.4, 0.5, 0.6] * 5)
        >>> place = Scores([0.6, 0.5, 0.7] * 6), Scores([0.3, 0.4, 0.2, 0.1] * 6)
        >>> print(stratified_score_gain({"pick": pick, "place": place}, weights="tasks"))
        +0.350 [+0.230, +0.445] n=77 (95% stratified Gaffke interval), p < 0.0001: the first is better.

    Reference:
        Gaffke (2005) and Vlassis and Thomas (2026), arXiv 2607.08415, for the weighted scores of groups; the means
        that the groups' own scores rule out are left out at a twentieth of the error.
    """
    return gain_from(_compared(strata, weights, paired), confidence, margin)


def stratified_score_gain_bound(
    strata: Strata,
    side: Side = "lower",
    *,
    weights: Weights = "rollouts",
    paired: bool = False,
    confidence: float = 0.95,
) -> Bound:
    """Above (or below) what is the gain over these tasks, guaranteed? All the error is spent on this side.

    Assumptions:
        As for `stratified_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import stratified_score_gain_bound
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.4, 0.5, 0.6] * 5)
        >>> print(stratified_score_gain_bound({"pick": pick}))
        at least +0.177 n=35 (95% stratified Gaffke bound).

    Reference:
        As for `stratified_score_gain`.
    """
    return bound_from(_compared(strata, weights, paired), side, confidence)


def stratified_score_test(
    strata: Strata, *, gain: float = 0.0, weights: Weights = "rollouts", paired: bool = False
) -> ScoreTest:
    """Could the gain over these tasks be this one? The test behind `stratified_score_gain`, without its interval.

    Assumptions:
        As for `stratified_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import stratified_score_test
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.7, 0.8, 0.6] * 5)
        >>> print(stratified_score_test({"pick": pick}))
        +0.150 against +0.000, p = 0.119 (stratified Gaffke, n=35).

    Reference:
        As for `stratified_score_gain`.
    """
    return p_values_from(_compared(strata, weights, paired), gain)


def stratified_score_mean(
    strata: Mapping[str, Scores], *, weights: Weights = "rollouts", confidence: float = 0.95
) -> Interval:
    """Where does the mean score over these tasks lie, guaranteed, whatever the order?

    Args:
        strata: The scores of every task.
        weights: How tasks weigh: by their rollouts, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the mean, at least.

    Assumptions:
        The range was fixed beforehand; all rollouts are independent, and those of one task share one mean.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import stratified_score_mean
        >>> tasks = {"pick": Scores([1, 0.8, 0.9] * 8), "place": Scores([0.2, 0.5] * 8)}
        >>> print(stratified_score_mean(tasks, weights="tasks"))
        0.625 [0.534, 0.712] n=40 (95% stratified Gaffke interval).

    Reference:
        As for `stratified_score_gain`.
    """
    from surefoot.numerics import exponential_sums, many_groups

    _some(strata)
    every = list(strata.values())
    for scores in every:
        _check.instance(scores, "strata", Scores, WRITE)
        differences.check_ranges(every[0], scores, names=("strata", "strata"))
    shares = task_weights({task: len(scores) for task, scores in strata.items()}, weights)
    test = many_groups.group_test([exponential_sums.pool(unit(scores)) for scores in every], list(shares.values()))
    low, high = order_free.ends(test, 1.0 - _check.confidence(confidence))
    estimate = math.fsum(shares[task] * scores.mean for task, scores in strata.items())
    return Interval(
        low=min(estimate, scored(every[0], low)),
        high=max(estimate, scored(every[0], high)),
        estimate=estimate,
        confidence=float(confidence),
        method=METHOD,
        trials=sum(len(scores) for scores in every),
        scale="score",
        assumptions=_assumptions(MEAN_BY_TASK, len(every)),
        data=tuple(every),
    )


def _compared(strata: Strata, weights: Weights, paired: bool) -> Compared:
    import numpy as np

    from surefoot.numerics import exponential_sums, many_groups

    _some(strata)
    one = next(iter(strata.values()))[0]
    for first, second in strata.values():
        differences.check_ranges(first, second)
        differences.check_ranges(one, first, names=("strata", "strata"))
    most = one.high - one.low
    samples, sizes, gains = [], [], []
    for first, second in strata.values():
        if paired:
            gap = differences.paired(first, second)
            samples.append(exponential_sums.pool(np.clip(0.5 * (1.0 + gap / most), 0.0, 1.0)))
            gains.append(math.fsum(gap.tolist()) / gap.size)
        else:
            samples += [exponential_sums.pool(unit(first)), exponential_sums.pool(1.0 - unit(second))]
            gains.append(first.mean - second.mean)
        sizes += [len(first)] if paired else [len(first), len(second)]
    shares = task_weights({task: len(first) + len(second) for task, (first, second) in strata.items()}, weights)
    each = [share for share in shares.values() for _ in range(1 if paired else 2)]
    return Compared(
        data=tuple(scores for pair in strata.values() for scores in pair),
        test=many_groups.group_test(samples, each),
        estimate=math.fsum(share * gain for share, gain in zip(shares.values(), gains, strict=True)),
        method=f"paired {METHOD}" if paired else METHOD,
        trials=sum(sizes),
        assumptions=_assumptions(PAIRS_GAIN_BY_TASK if paired else MEAN_BY_TASK, len(samples)),
    )


def _some(strata: Mapping[str, object]) -> None:
    _check.filled(strata, "strata", "hold at least one task")


def _assumptions(groups: Assumption, count: int) -> tuple[Assumption, ...]:
    return (RANGE_FIXED, groups, ANY_SCORES) if count <= 2 else (RANGE_FIXED, groups, ANY_SCORES, SEARCHED)
