"""Stratified difference of mean scores, by the normal approximation."""

from __future__ import annotations

from collections.abc import Mapping

from surefoot import _check
from surefoot.core.assumptions import STREAMS
from surefoot.core.gain import Gain
from surefoot.core.scores import Moments, Scores
from surefoot.reference import welch_intervals
from surefoot.stats import score_gains
from surefoot.stats.score_gains import Ranged
from surefoot.stats.task_weights import Weights, task_weights


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

    from surefoot.numerics.scores import cluster_moments

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
            welch_intervals.refuse_one(len(side), f"{name} on {task!r}")
            seen = welch_intervals.variance(side) / len(side) or width**2 * unseen(len(side))
            variances.append(shares[task] ** 2 * seen)
            freedoms.append(len(side) - 1.0)
        gaps.append(shares[task] * (pair[0].mean - pair[1].mean))
    data = tuple(side for pair in strata.values() for side in pair)
    return welch_intervals.student_gain(
        data,
        float(np.sum(gaps)),
        float(np.sum(variances)),
        cluster_moments.satterthwaite(variances, freedoms),
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
