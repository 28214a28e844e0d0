"""Confidence intervals and tests for mean scores, and their difference, over several tasks.

Each task is compared with itself. By default the task means are fitted to the candidate (rule J), whose level is
measured; by name the largest p-value over all task means is taken, whose level is proved and which takes seconds from
five tasks on and minutes from twenty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from surefoot import _check
from surefoot.core.assumptions import (
    ANY_SCORES,
    MEAN_BY_TASK,
    PAIRS_GAIN_BY_TASK,
    RANGE_FIXED,
    SCORES_MEASURED,
    SEARCHED,
    WEIGHED,
    Assumed,
    Assumption,
)
from surefoot.core.gain import Gain
from surefoot.core.interval import Bound, Interval, Side
from surefoot.core.notes import Note
from surefoot.core.scores import Scores
from surefoot.stats import score_gains, score_means
from surefoot.stats.means import WRITE, scored, unit
from surefoot.stats.score_gains import Compared, bound_from, gain_from, p_values_from
from surefoot.stats.score_means import ScoreTest
from surefoot.stats.strata import Weights, task_weights

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats

MEASURED, GUARANTEED = "stratified scores", "stratified Gaffke"
FEW = 3
"""With fewer scores than this in a cell, one score carries much of a task's weight."""

Strata = Mapping[str, tuple[Scores, Scores]]
Level = Literal["measured", "guaranteed"]


def stratified_score_gain(
    strata: Strata,
    *,
    weights: Weights = "rollouts",
    paired: bool = False,
    method: Level = "measured",
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """Confidence interval and test for the difference of two mean scores over several tasks, stratified by task.

    The gain is the weighted average over tasks of the first mean less the second. For a candidate gain the means of all
    cells, a policy on a task, are moved to fit it, those farthest that are known least; the p-value is that of the
    weighted exponential sum at these means. It rises with the candidate, so interval, bounds and p-values agree. Cells
    may hold any number of scores from one on. One task alone is compared by the proved test of `score_gain` (of
    `paired_score_gain` for pairs).

    Args:
        strata: First and second scores of every task.
        weights: How tasks weigh: by the rollouts of both policies, all alike ("tasks"), or a number for each.
        paired: Whether the scores of a task come in pairs, on the same conditions.
        method: "measured" fits the means of the cells; "guaranteed" takes the largest p-value over all means, which
            takes seconds from five tasks on and minutes from twenty.
        confidence: How often such intervals hold the gain.
        margin: The gain that would not matter.

    Assumptions:
        The range was fixed beforehand; all rollouts (or pairs) are independent, and those of one policy on one task
        share one mean. Gains may differ between tasks. The level of "measured" is measured, not proved.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import stratified_score_gain
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.4, 0.5, 0.6] * 5)
        >>> place = Scores([0.6, 0.5, 0.7] * 6), Scores([0.3, 0.4, 0.2, 0.1] * 6)
        >>> print(stratified_score_gain({"pick": pick, "place": place}, weights="tasks"))
        +0.350 [+0.261, +0.424] n=77 (95% stratified scores interval), p < 0.0001: the first is better.

    Reference:
        Gaffke (2005) and Vlassis and Thomas (2026), arXiv 2607.08415, for the weighted exponential sum at given means;
        the fitted means are ours. "guaranteed": the means that the groups' own scores rule out are left out at a
        twentieth of the error.
    """
    return gain_from(_compared(strata, weights, paired, method), confidence, margin)


def stratified_score_gain_bound(
    strata: Strata,
    side: Side = "lower",
    *,
    weights: Weights = "rollouts",
    paired: bool = False,
    method: Level = "measured",
    confidence: float = 0.95,
) -> Bound:
    """One-sided confidence bound for the difference of two mean scores over several tasks, stratified by task.

    Assumptions:
        As for `stratified_score_gain`; all the error is spent on this side.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import stratified_score_gain_bound
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.4, 0.5, 0.6] * 5)
        >>> place = Scores([0.6, 0.5, 0.7] * 6), Scores([0.3, 0.4, 0.2, 0.1] * 6)
        >>> print(stratified_score_gain_bound({"pick": pick, "place": place}))
        at least +0.280 n=77 (95% stratified scores bound).

    Reference:
        As for `stratified_score_gain`.
    """
    return bound_from(_compared(strata, weights, paired, method), side, confidence)


def stratified_score_test(
    strata: Strata,
    *,
    gain: float = 0.0,
    weights: Weights = "rollouts",
    paired: bool = False,
    method: Level = "measured",
) -> ScoreTest:
    """Test of one value of the difference of two mean scores over several tasks, two-sided and in both directions.

    The test behind `stratified_score_gain`, without its interval.

    Assumptions:
        As for `stratified_score_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import stratified_score_test
        >>> pick = Scores([1, 0.8, 0.9, 0.7] * 5), Scores([0.7, 0.8, 0.6] * 5)
        >>> place = Scores([0.6, 0.5, 0.7] * 6), Scores([0.3, 0.4, 0.7, 0.6] * 6)
        >>> print(stratified_score_test({"pick": pick, "place": place}))
        +0.123 against +0.000, p = 0.00727 (stratified scores, n=77).

    Reference:
        As for `stratified_score_gain`.
    """
    return p_values_from(_compared(strata, weights, paired, method), gain)


def stratified_score_mean(
    strata: Mapping[str, Scores],
    *,
    weights: Weights = "rollouts",
    method: Level = "measured",
    confidence: float = 0.95,
) -> Interval:
    """Confidence interval for the mean score over several tasks, stratified by task.

    Args:
        strata: The scores of every task.
        weights: How tasks weigh: by their rollouts, all alike ("tasks"), or a number for each.
        method: As for `stratified_score_gain`. One task alone has the proved interval of `score_mean`.
        confidence: How often such intervals hold the mean.

    Assumptions:
        The range was fixed beforehand; all rollouts are independent, and those of one task share one mean. The level
        of "measured" is measured, not proved.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import stratified_score_mean
        >>> tasks = {"pick": Scores([1, 0.8, 0.9] * 8), "place": Scores([0.2, 0.5] * 8)}
        >>> print(stratified_score_mean(tasks, weights="tasks"))
        0.625 [0.544, 0.703] n=40 (95% stratified scores interval).

    Reference:
        As for `stratified_score_gain`.
    """
    _some(strata)
    every = list(strata.values())
    for scores in every:
        _check.instance(scores, "strata", Scores, WRITE)
        score_gains.check_ranges(every[0], scores, names=("strata", "strata"))
    shares = task_weights({task: len(scores) for task, scores in strata.items()}, weights)
    proved = _proved(method, len(every))
    test = _test([[unit(scores) for scores in every]], list(shares.values()), proved)
    low, high = score_means.ends(test, 1.0 - _check.confidence(confidence))
    estimate = math.fsum(shares[task] * scores.mean for task, scores in strata.items())
    return Interval(
        low=min(estimate, scored(every[0], low)),
        high=max(estimate, scored(every[0], high)),
        estimate=estimate,
        confidence=float(confidence),
        method=GUARANTEED if proved else MEASURED,
        trials=sum(len(scores) for scores in every),
        scale="score",
        assumptions=_assumptions(MEAN_BY_TASK, weights, proved, len(every)),
        notes=_notes(every, proved),
        data=tuple(every),
    )


def _compared(strata: Strata, weights: Weights, paired: bool, method: Level) -> Compared:
    import numpy as np

    _some(strata)
    pairs = list(strata.values())
    one = pairs[0][0]
    for first, second in pairs:
        score_gains.check_ranges(first, second)
        score_gains.check_ranges(one, first, names=("strata", "strata"))
    most = one.high - one.low
    if paired:
        gaps = [score_gains.paired(first, second) for first, second in pairs]
        sides = [[np.clip(0.5 * (1.0 + gap / most), 0.0, 1.0) for gap in gaps]]
        gains = [math.fsum(gap.tolist()) / gap.size for gap in gaps]
    else:
        sides = [[unit(first) for first, _ in pairs], [1.0 - unit(second) for _, second in pairs]]
        gains = [first.mean - second.mean for first, second in pairs]
    shares = task_weights({task: len(first) + len(second) for task, (first, second) in strata.items()}, weights)
    proved = _proved(method, len(pairs))
    name, groups = (GUARANTEED if proved else MEASURED), (PAIRS_GAIN_BY_TASK if paired else MEAN_BY_TASK)
    data = tuple(scores for pair in pairs for scores in pair)
    return Compared(
        data=data,
        test=_test(sides, list(shares.values()), proved),
        estimate=math.fsum(share * gain for share, gain in zip(shares.values(), gains, strict=True)),
        method=f"paired {name}" if paired else name,
        trials=sum(cell.size for cells in sides for cell in cells),
        assumptions=_assumptions(groups, weights, proved, len(sides) * len(pairs)),
        notes=_notes(data, proved),
    )


def _proved(method: Level, tasks: int) -> bool:
    """Whether the level is proved: asked for, or for nothing with one task."""
    return _check.choice(method, "method", {"measured": False, "guaranteed": True}) or tasks == 1


def _test(sides: list[list[Floats]], shares: list[float], proved: bool) -> score_means.Tested:
    """The test of the weighted mean of all cells, those of one policy in one list; the policies weigh alike."""
    import numpy as np

    from surefoot.numerics.scores import many_groups, score_tails, two_groups

    if not proved:
        return two_groups.task_groups(sides, [np.array(shares)] * len(sides))
    samples = [score_tails.pool(cell) for cells in zip(*sides, strict=True) for cell in cells]
    return many_groups.group_test(samples, [share for share in shares for _ in sides])


def _some(strata: Mapping[str, object]) -> None:
    _check.filled(strata, "strata", "hold at least one task")


def _assumptions(groups: Assumption, weights: Weights, proved: bool, count: int) -> tuple[Assumed, ...]:
    if not proved:
        weighed = WEIGHED["given" if isinstance(weights, Mapping) else weights]
        return (RANGE_FIXED, groups, weighed, SCORES_MEASURED)
    return (RANGE_FIXED, groups, ANY_SCORES) if count <= 2 else (RANGE_FIXED, groups, ANY_SCORES, SEARCHED)


def _notes(cells: Sequence[Scores], proved: bool) -> tuple[Note, ...]:
    fewest = min(map(len, cells))
    return (Note("few rollouts a task", {"count": fewest}),) if fewest < FEW and not proved else ()
