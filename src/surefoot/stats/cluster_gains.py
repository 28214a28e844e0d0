"""How much better is the first policy when rollouts or pairs come in clusters?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.core.assumptions import CLUSTERS_APART
from surefoot.core.gain import Gain
from surefoot.core.notes import Note, Noted
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.stats import differences, exact_gains, score_gains
from surefoot.stats.cluster_shapes import ClusterShape, Spread, Weights, spread_of
from surefoot.stats.welch_intervals import student_gain


@dataclass(frozen=True, slots=True)
class ClusteredGain(Gain):
    """A gain of clustered rollouts or pairs, and what its clusters are worth.

    Attributes:
        error: The standard error of the gain; 0 where all clusters are alike and each counts as one.
        freedom: The degrees of freedom of it: Bell and McCaffrey's, added by Satterthwaite's rule.
        shapes: What the sizes of the clusters tell: of the pairs, or of each policy's rollouts.
    """

    error: float = 0.0
    freedom: float = 1.0
    shapes: tuple[ClusterShape, ...] = ()


def cluster_gain(
    first: Scores,
    second: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ClusteredGain:
    """How much better is the first when pairs come in clusters? Approximate.

    With several judges, pair the two policies' scores of one item by one judge; give the items as `clusters` and
    the judges as `crossed`. Where all clusters show one gain they tell nothing of how they differ: each counts as one
    pair then, and the interval is guaranteed.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        clusters: The cluster of each pair.
        crossed: A second way in which pairs belong together, such as the judge.
        tasks: The task of each pair, where the gain over these very tasks is asked for; a cluster may span tasks.
        weights: How the tasks weigh: by pairs ("rollouts"), all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent clusters (of both kinds when crossed), of any sizes. One cluster that holds most pairs, or very few
        clusters, leave few degrees of freedom and a wide interval.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_gain
        >>> first, second = Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8]), Scores([0.4, 0.5, 0.6, 0.5, 0.5, 0.4])
        >>> print(cluster_gain(first, second, "aabbcc"))
        +0.300 [+0.084, +0.516] n=6 (95% cluster-robust t interval), p = 0.0267: the first is better.

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples";
        Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering".
    """
    confidence = _check.confidence(confidence)
    gap = differences.paired(first, second)
    numbers, _ = differences.labels(clusters, gap.size)
    most = first.high - first.low
    found = spread_of((gap,), (numbers,), crossed=crossed, tasks=tasks, weights=weights, width=2.0 * most)
    if found.alike and (tasks is None or gap.min() == gap.max()):
        return _alike((first, second), found, confidence, margin, paired=True)
    method = "two-way cluster-robust t" if crossed is not None else "cluster-robust t"
    return student((first, second), found, method, gap.size, confidence, margin)


def two_sample_cluster_gain(
    first: Scores,
    second: Scores,
    clusters: tuple[Iterable[object], Iterable[object]],
    *,
    shared: bool = False,
    crossed: tuple[Iterable[object], Iterable[object]] | None = None,
    tasks: tuple[Iterable[object], Iterable[object]] | None = None,
    weights: Weights = "rollouts",
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ClusteredGain:
    """How much better is the first when the rollouts of each policy come in clusters, not in pairs? Approximate.

    A policy whose clusters are all alike, on a task or at all, shows no spread there; it is given that of one rollout
    per cluster. Where everything is alike each cluster counts as one rollout, and the interval is guaranteed.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy.
        clusters: The cluster of each score of the first, and of each score of the second.
        shared: Whether a name on both sides is one cluster, such as a scene that both policies met.
        crossed: A second way in which scores belong together, first and second, such as the training run.
        tasks: The task of each score, first and second, where the gain over these very tasks is asked for.
        weights: How the tasks weigh: by both policies' rollouts, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent clusters, of any sizes; the two policies' too, unless they are shared.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import two_sample_cluster_gain
        >>> first, second = Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8]), Scores([0.4, 0.5, 0.3, 0.5, 0.5, 0.4, 0.6])
        >>> print(two_sample_cluster_gain(first, second, ("aabbcc", "uuvvwww")))
        +0.326 [+0.168, +0.484] n=13 (95% two-sample cluster-robust t interval), p = 0.00543: the first is better.

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples";
        Satterthwaite (1946), "An approximate distribution of estimates of variance components".
    """
    import numpy as np

    confidence = _check.confidence(confidence)
    differences.check_ranges(first, second)
    values = np.asarray(first.values), np.asarray(second.values)
    ours, theirs = clusters
    if shared:
        both, _ = differences.labels([*ours, *theirs], len(first) + len(second))
        numbers = both[: len(first)], both[len(first) :]
    else:
        one, count = differences.labels(ours, len(first))
        other, _ = differences.labels(theirs, len(second))
        numbers = one, other + count
    ways = None if crossed is None else [*crossed[0], *crossed[1]]
    found = spread_of(values, numbers, crossed=ways, tasks=tasks, weights=weights, width=first.high - first.low)
    if found.alike and all(np.ptp(side) == 0.0 for side in values):
        return _alike((first, second), found, confidence, margin, paired=False)
    method = "two-sample cluster-robust t" if crossed is None else "two-sample two-way cluster-robust t"
    return student((first, second), found, method, len(first) + len(second), confidence, margin)


def student(
    data: tuple[Scores, Scores], found: Spread, method: str, trials: int, confidence: float, margin: float
) -> ClusteredGain:
    """The gain by Student's t, its p-value from the same error and degrees of freedom."""
    gain = student_gain(
        data,
        found.estimate,
        found.variance,
        found.freedom,
        confidence=confidence,
        margin=margin,
        method=method,
        trials=trials,
        independent=CLUSTERS_APART,
    )
    return _clustered(gain, found, found.error, found.notes)


def _alike(
    data: tuple[Scores, Scores], found: Spread, confidence: float, margin: float, *, paired: bool
) -> ClusteredGain:
    """The gain when nothing is seen of how clusters differ: each counts as one pair, or as one rollout."""
    first, second = data
    counts = [int(found.fewest)] if paired else [shape.clusters for shape in found.shapes]
    ends = set(first.values) | set(second.values)
    success = (first.low, first.high) == (0.0, 1.0) and ends <= {0.0, 1.0}
    gap = found.estimate
    if success and paired and gap in (-1.0, 0.0, 1.0):
        size = counts[0]
        tally = PairTally(0, size * (gap > 0.0), size * (gap < 0.0), size * (gap == 0.0))
        gain = exact_gains.exact_paired_gain(tally, confidence=confidence, margin=margin)
    elif success and not paired:
        tallies = [Tally(int(side.values[0]) * size, size) for side, size in zip(data, counts, strict=True)]
        gain = exact_gains.exact_gain(*tallies, confidence=confidence, margin=margin)
    elif paired:
        low, high = first.low, first.high
        one, other = (low + max(0.0, gap), low + max(0.0, -gap))
        sides = (Scores([min(high, value)] * counts[0], low, high) for value in (one, other))
        gain = score_gains.paired_score_gain(*sides, confidence=confidence, margin=margin)
    else:
        each = (Scores(side.values[:1] * size, side.low, side.high) for side, size in zip(data, counts, strict=True))
        gain = score_gains.score_gain(*each, confidence=confidence, margin=margin)
    trials = len(first) if paired else len(first) + len(second)
    interval = replace(gain.interval, scale="score gain", trials=trials, data=data)
    return _clustered(replace(gain, interval=interval), found, 0.0, (Note("clusters alike"),))


def _clustered(gain: Gain, found: Spread, error: float, notes: tuple[Noted, ...]) -> ClusteredGain:
    return ClusteredGain(
        interval=replace(gain.interval, notes=notes),
        p_value=gain.p_value,
        verdict=gain.verdict,
        margin=gain.margin,
        error=error,
        freedom=found.freedom,
        shapes=found.shapes,
    )
