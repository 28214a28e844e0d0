"""Tests and confidence intervals for the gain of one policy over another when rollouts or pairs come in clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.assumptions import ANY_SCORES, CLUSTERS_DRAWN, CLUSTERS_MEASURED, RANGE_FIXED
from surefoot.core.gain import Gain
from surefoot.core.scores import Scores
from surefoot.stats import score_gains
from surefoot.stats.clusters import (
    GUARANTEED,
    MEASURED,
    ClusterShape,
    Gathered,
    Method,
    gathered,
    refuse_unproved,
    weighed,
)
from surefoot.stats.multiplicity import Sides
from surefoot.stats.one_sided_gains import agreeing
from surefoot.stats.score_means import ScoreTest
from surefoot.stats.strata import Weights

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class ClusteredGain(Gain):
    """A gain of clustered rollouts or pairs, and what its clusters are worth.

    Attributes:
        error: The bias-reduced standard error of the gain (CR2).
        freedom: The degrees of freedom of it: Bell and McCaffrey's, added by Satterthwaite's rule.
        shapes: What the sizes of the clusters tell: of the pairs, or of each policy's rollouts.
        counted: The clusters that count against clusters not met, of the policy or the way with the fewest.
        hidden: Whether clusters not met, not the spread of those met, decide an end of the interval.
        sides: The one-sided p-values at the margin. The two-sided one is not twice the smaller of them: where clusters
            fail whole all of its error may lie on one side.
    """

    error: float = 0.0
    freedom: float = 1.0
    shapes: tuple[ClusterShape, ...] = ()
    counted: float = 0.0
    hidden: bool = False
    sides: Sides | None = None

    @property
    def mirrored(self) -> ClusteredGain:
        """The same result with the policies swapped."""
        turned: ClusteredGain = Gain.mirrored.__get__(self)
        return replace(turned, shapes=self.shapes[::-1], sides=None if self.sides is None else self.sides.mirrored)


def cluster_gain(
    first: Scores,
    second: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    method: Method = "measured",
    central: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ClusteredGain:
    """Confidence interval and test for the mean gain of pairs that come in clusters of any sizes.

    Student's t with a bias-reduced variance and a correction for skewness, two more clusters like the worst ones added,
    and guarded against clusters that fail whole and were not met: with a share q of these, none is met with the chance
    (1 - q)^K. With several judges, pair the two policies' scores of one item by one judge; give the items as `clusters`
    and the judges as `crossed`.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        clusters: The cluster of each pair.
        crossed: A second way in which pairs belong together, such as the judge.
        tasks: The task of each pair, where the gain over these very tasks is asked for; a cluster may span tasks.
        weights: How the tasks weigh: by pairs ("rollouts"), all alike ("tasks"), or a number for each.
        method: "measured", or "guaranteed" for the weighted test of Gaffke, which holds where all clusters have one
            mean or are drawn alike with their sizes; without tasks and without a second way.
        central: Whether each end is to be a bound by itself, with half of the error; for questions of one side.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent clusters (of both kinds when crossed), drawn alike from those meant; how a cluster fails may depend
        on its size only mildly. Approximate, measured; exact where clusters of one size do not differ at all.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_gain
        >>> first, second = Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8] * 4), Scores([0.4, 0.5, 0.6, 0.5, 0.5, 0.4] * 4)
        >>> print(cluster_gain(first, second, "aabbccddeeffgghhiijjkkll"))
        +0.300 [+0.044, +0.431] n=24 (95% guarded cluster t interval), p = 0.0297: the first is better.

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples";
        Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering".
    """
    gap = score_gains.paired(first, second)
    numbers, _ = score_gains.labels(clusters, gap.size)
    most = first.high - first.low
    found = gathered((gap,), (numbers,), (-most, most), crossed=crossed, tasks=tasks, weights=weights)
    if _check.choice(method, "method", {"measured": False, "guaranteed": True}):
        refuse_unproved(crossed, tasks)
        test, held = weighed(gap, numbers, (-most, most)), (RANGE_FIXED, CLUSTERS_DRAWN, ANY_SCORES)
        compared = score_gains.Compared((first, second), test, found.evidence.mean, GUARANTEED, gap.size, held)
        gain = score_gains.gain_from(compared, confidence, margin)
        return _guaranteed(gain, found, *(score_gains.p_values_from(compared, side * gain.margin) for side in (1, -1)))
    name = MEASURED if crossed is None else f"two-way {MEASURED}"
    return _measured((first, second), found, name, gap.size, confidence, margin, central=central)


def two_sample_cluster_gain(
    first: Scores,
    second: Scores,
    clusters: tuple[Iterable[object], Iterable[object]],
    *,
    shared: bool = False,
    crossed: tuple[Iterable[object], Iterable[object]] | None = None,
    tasks: tuple[Iterable[object], Iterable[object]] | None = None,
    weights: Weights = "rollouts",
    method: Method = "measured",
    central: bool = False,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ClusteredGain:
    """Confidence interval and test for the difference of two means when each policy's rollouts come in clusters.

    The test of `cluster_gain`, with the moments of both samples added; clusters that were not met may be the first
    policy's at the low end of the range, the second's at the high end, or some of both.

    Args:
        first: Scores of the first policy.
        second: Scores of the second policy.
        clusters: The cluster of each score of the first, and of each score of the second.
        shared: Whether a name on both sides is one cluster, such as a scene that both policies met.
        crossed: A second way in which scores belong together, first and second, such as the training run.
        tasks: The task of each score, first and second, where the gain over these very tasks is asked for.
        weights: How the tasks weigh: by both policies' rollouts, all alike ("tasks"), or a number for each.
        method: "measured", or "guaranteed" for the two-sample test of Gaffke on the means of clusters; only where all
            clusters of a policy are of one size and not shared.
        central: Whether each end is to be a bound by itself, with half of the error; for questions of one side.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        As for `cluster_gain`; the two policies' clusters are independent too, unless they are shared.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import two_sample_cluster_gain
        >>> first, second = Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8]), Scores([0.4, 0.5, 0.3, 0.5, 0.5, 0.4, 0.6])
        >>> print(two_sample_cluster_gain(first, second, ("aabbcc", "uuvvwww")))
        +0.326 [-0.166, +0.599] n=13 (95% two-sample guarded cluster t interval), p = 0.140: cannot tell.

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples";
        Satterthwaite (1946), "An approximate distribution of estimates of variance components".
    """
    import numpy as np

    score_gains.check_ranges(first, second)
    values = np.asarray(first.values), np.asarray(second.values)
    numbers = _numbered(clusters, (len(first), len(second)), shared)
    ways = None if crossed is None else [*crossed[0], *crossed[1]]
    found = gathered(values, numbers, (first.low, first.high), crossed=ways, tasks=tasks, weights=weights)
    trials = len(first) + len(second)
    if _check.choice(method, "method", {"measured": False, "guaranteed": True}):
        refuse_unproved(crossed, tasks)
        units = _units((first, second), numbers, shared)
        gain = score_gains.score_gain(*units, confidence=confidence, margin=margin)
        interval = replace(gain.interval, trials=trials, data=(first, second))
        tests = (score_gains.score_test(*units, gain=side * gain.margin) for side in (1, -1))
        return _guaranteed(replace(gain, interval=interval), found, *tests)
    name = f"two-sample {MEASURED}" if crossed is None else f"two-sample two-way {MEASURED}"
    return _measured((first, second), found, name, trials, confidence, margin, central=central)


def _numbered(
    clusters: tuple[Iterable[object], Iterable[object]], sizes: tuple[int, int], shared: bool
) -> tuple[Ints, Ints]:
    """The clusters of both sides, numbered from 0; one number for a cluster that is shared."""
    ours, theirs = clusters
    if shared:
        both, _ = score_gains.labels([*ours, *theirs], sum(sizes))
        return both[: sizes[0]], both[sizes[0] :]
    one, count = score_gains.labels(ours, sizes[0])
    return one, score_gains.labels(theirs, sizes[1])[0] + count


def _units(data: tuple[Scores, Scores], numbers: tuple[Ints, Ints], shared: bool) -> list[Scores]:
    """The means of clusters of one size as scores; refuses what the guarantee does not cover."""
    import numpy as np

    units = []
    for side, of in zip(data, numbers, strict=True):
        _, places, sizes = np.unique(of, return_inverse=True, return_counts=True)
        if shared or np.ptp(sizes) > 0:
            got = "shared clusters" if shared else f"sizes from {sizes.min():,} to {sizes.max():,}"
            raise _check.wrong(
                "method", f"be 'measured' unless each policy has clusters of its own, all of one size; got {got}."
            )
        means: Floats = np.bincount(places, side.values) / sizes
        units.append(Scores(np.clip(means, side.low, side.high).tolist(), side.low, side.high))
    return units


def _measured(
    data: tuple[Scores, Scores],
    found: Gathered,
    name: str,
    trials: int,
    confidence: float,
    margin: float,
    *,
    central: bool,
) -> ClusteredGain:
    """Interval, p-values and verdict of one test, each end by itself if they are to be bounds."""
    error, evidence = 1.0 - _check.confidence(confidence), found.evidence
    margin = _check.margin(margin, data[0].high - data[0].low)
    above, below = evidence.p_above(0.0), evidence.p_below(0.0)
    plain = Sides(above, below, above, below)
    if central:
        error /= 2.0
        ends, p_value = agreeing(evidence.bounds(error), plain, error, 0.0), min(1.0, 2.0 * min(above, below))
    else:
        p_value = evidence.p_value(0.0)
        each = [p_value if sign * evidence.mean > 0.0 else 1.0 for sign in (1.0, -1.0)]
        ends = agreeing(evidence.interval(error), Sides(*each, *each), error, 0.0)
    hidden = evidence.hidden(ends, not central)
    sides = plain
    if margin:
        better, not_worse = evidence.p_above(margin), evidence.p_above(-margin)
        sides = Sides(better, evidence.p_below(-margin), not_worse, evidence.p_below(margin))
    gain = score_gains.gain_of(
        data,
        ends,
        estimate=evidence.mean,
        confidence=confidence,
        method=f"central {name}" if central else name,
        margin=margin,
        trials=trials,
        p_value=p_value,
        assumptions=(CLUSTERS_DRAWN, CLUSTERS_MEASURED),
        notes=found.notes(hidden=hidden, error=error),
    )
    return _clustered(gain, found, sides, hidden=hidden)


def _guaranteed(gain: Gain, found: Gathered, up: ScoreTest, down: ScoreTest) -> ClusteredGain:
    """A guaranteed gain of clusters, with its tests at the margin and at minus the margin."""
    notes = found.notes(hidden=False, error=1.0 - gain.confidence)
    held = (RANGE_FIXED, CLUSTERS_DRAWN, ANY_SCORES)
    gain = replace(gain, interval=replace(gain.interval, notes=notes, assumptions=held))
    return _clustered(gain, found, Sides(up.above, down.below, down.above, up.below), hidden=False)


def _clustered(gain: Gain, found: Gathered, sides: Sides, *, hidden: bool) -> ClusteredGain:
    return ClusteredGain(
        interval=gain.interval,
        p_value=gain.p_value,
        verdict=gain.verdict,
        margin=gain.margin,
        error=found.error,
        freedom=found.freedom,
        shapes=found.shapes,
        counted=found.evidence.counted,
        hidden=hidden,
        sides=sides,
    )
