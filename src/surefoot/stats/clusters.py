"""How sure is a mean when rollouts come in clusters: one user, one scene, several tries at one item?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import CLUSTERS_APART, MANY_ROLLOUTS
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats import bootstrap, differences, score_means
from surefoot.stats.cluster_shapes import (
    ClusterShape,
    Spread,
    Weights,
    clopper_pearson_ends,
    korn_graubard,
    spread_of,
)
from surefoot.stats.means import WRITE

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class ClusteredMean(Record):
    """A mean of clustered rollouts, its interval and what the clusters cost.

    Attributes:
        interval: Where the mean lies.
        clusters: How many clusters.
        plain_error: The standard error if all rollouts were independent.
        cr0: The cluster-robust standard error of the plain mean.
        cr1: The same times sqrt(G / (G - 1)), G the number of clusters.
        miller: The standard error of "Adding error bars to evals".
        design_effect: How many times more rollouts the clusters make necessary; never below 1.
        effective_size: How many independent rollouts these are worth.
        error: The standard error that the interval uses: bias-reduced (CR2), within tasks if tasks were given.
        freedom: Bell and McCaffrey's degrees of freedom of it.
        shape: What the sizes of the clusters tell.
    """

    interval: Interval
    clusters: int
    plain_error: float
    cr0: float
    cr1: float
    miller: float
    design_effect: float
    effective_size: float
    error: float
    freedom: float
    shape: ClusterShape

    def __str__(self) -> str:
        size = math.floor(self.effective_size)
        return (
            f"{str(self.interval).removesuffix('.')}, {self.clusters:,} clusters, design effect "
            f"{formatting.rounded(self.design_effect, 2, 'up'):.2f}: equivalent to "
            f"{formatting.counted(size, 'independent rollout')}."
        )


def cluster_mean(
    scores: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    confidence: float = 0.95,
) -> ClusteredMean:
    """Where does the mean score lie when rollouts come in clusters, and what do the clusters cost?

    Where all clusters have one mean they show nothing of how they differ, and each counts as one score.

    Args:
        scores: The scores.
        clusters: The cluster of each score.
        crossed: A second way in which scores belong together, such as the judge when clusters are items.
        tasks: The task of each score, where the mean over these very tasks is asked for; a cluster may span tasks.
        weights: How the tasks weigh: by rollouts, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        Independent clusters (of both kinds when crossed), of any sizes. One cluster that holds most rollouts, or very
        few clusters, leave few degrees of freedom and a wide interval.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_mean
        >>> scores = Scores([0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3])
        >>> found = cluster_mean(scores, ["a", "a", "b", "b", "b", "c", "c", "d"])
        >>> print(found.interval)
        0.475 [0.112, 0.838] n=8 (95% cluster-robust t interval).
        >>> found.clusters, round(found.freedom, 2)
        (4, 2.6)

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples"
        (CR2 and its degrees of freedom); Miller (2024), "Adding error bars to evals", for the use; Cameron, Gelbach
        and Miller (2011) for crossed clusters.
    """
    confidence = _check.confidence(confidence)
    values, numbers = _given(scores, clusters)
    found = spread_of(
        (values,), (numbers,), crossed=crossed, tasks=tasks, weights=weights, width=scores.high - scores.low
    )
    mean = min(scores.high, max(scores.low, found.estimate))
    if found.alike and tasks is None:
        each = score_means.score_mean(
            Scores([mean] * found.shapes[0].clusters, scores.low, scores.high), confidence=confidence
        )
        interval = replace(each, trials=len(scores), data=(scores,), notes=(Note("clusters alike"),))
        return _result(interval, values, numbers, found, float(found.shapes[0].clusters))
    half = found.reach(confidence) * found.error
    interval = Interval(
        low=max(scores.low, mean - half),
        high=min(scores.high, mean + half),
        estimate=mean,
        confidence=confidence,
        method="two-way cluster-robust t" if crossed is not None else "cluster-robust t",
        trials=len(scores),
        scale="score",
        assumptions=(CLUSTERS_APART, MANY_ROLLOUTS),
        notes=found.notes,
        data=(scores,),
    )
    return _result(interval, values, numbers, found, None)


def cluster_rate(
    outcomes: Sequence[bool | int],
    clusters: Iterable[object],
    *,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    confidence: float = 0.95,
) -> ClusteredMean:
    """Where does the success rate lie when rollouts come in clusters, and what do the clusters cost?

    Clopper and Pearson's interval on the number of independent rollouts that these are worth, less what the few
    degrees of freedom cost (Korn and Graubard). Without any success or any failure the clusters show nothing of their
    effect, and each counts as one rollout. Near 0 and 1 they show little of it: there the effect is drawn towards that
    of clusters whose rollouts are all alike, as if c = 0.3 (1 / (p (1 - p)) - 4) such clusters had been seen besides.

    Args:
        outcomes: Success (True or 1) or failure (False or 0) of each rollout.
        clusters: The cluster of each rollout.
        tasks: The task of each rollout, where the rate over these very tasks is asked for.
        weights: How the tasks weigh: by rollouts, all alike ("tasks"), or a number for each.
        confidence: How often such intervals hold the rate, nearly.

    Assumptions:
        Independent clusters, of any sizes.

    Example:
        >>> from surefoot.stats import cluster_rate
        >>> found = cluster_rate([1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0], "aaabbbcccddd")
        >>> print(found.interval)
        58.3% [1.9%, 99.7%] n=12 (95% Korn-Graubard interval).
        >>> round(found.design_effect, 2)
        3.08

    Reference:
        Korn and Graubard (1998), "Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data"; Kish (1965) for the design effect; Bell and McCaffrey (2002).
    """
    confidence = _check.confidence(confidence)
    scores = Scores(outcomes)
    for value in scores.values:
        if value not in (0.0, 1.0):
            raise _check.refused("outcomes", "be successes and failures, 1 or 0", value)
    values, numbers = _given(scores, clusters)
    found = spread_of((values,), (numbers,), tasks=tasks, weights=weights, width=1.0)
    rate, trials = min(1.0, max(0.0, found.estimate)), len(scores)
    notes = found.notes
    if scores.values.count(scores.values[0]) == trials:
        size = found.fewest
        rate, notes = scores.values[0], (Note("clusters alike"),)
        ends = clopper_pearson_ends(rate, size, confidence)
    else:
        size, ends = korn_graubard(rate, found.variance, found.freedom, found.shapes[0], trials, confidence)
    interval = Interval(
        low=ends[0],
        high=ends[1],
        estimate=rate,
        confidence=confidence,
        method="Korn-Graubard",
        trials=trials,
        assumptions=(CLUSTERS_APART, MANY_ROLLOUTS),
        notes=notes,
        data=(scores,),
    )
    return _result(interval, values, numbers, found, size)


def cluster_bootstrap(
    scores: Scores,
    clusters: Iterable[object],
    *,
    rng: _check.Rng,
    resamples: int = bootstrap.RESAMPLES,
    confidence: float = 0.95,
) -> Interval:
    """Where does the mean score lie, judged by resampling whole clusters?

    Args:
        scores: The scores.
        clusters: The cluster of each score.
        rng: A seed, kept with the result, or a Generator.
        resamples: How many resamples.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        Independent clusters, enough of them: below about 30 the interval is too narrow.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_bootstrap
        >>> scores = Scores([0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3])
        >>> print(cluster_bootstrap(scores, ["a", "a", "b", "b", "b", "c", "c", "d"], rng=7))
        0.475 [0.266, 0.600] n=8 (95% cluster bootstrap interval).

    Reference:
        Davison and Hinkley (1997), "Bootstrap methods and their application", section 3.8.
    """
    import numpy as np

    from surefoot.numerics import resampling

    resamples = bootstrap.check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
    numbers, groups = differences.labels(clusters, values.size)
    sums = np.bincount(numbers, values, groups).astype(float)
    sizes = np.bincount(numbers, minlength=groups).astype(float)
    means = resampling.resampled_ratios(sums, sizes, resamples, generator)
    low, high = bootstrap.percentile_ends(means, confidence)
    if bootstrap.alike(means):
        raise _check.wrong(
            "scores",
            f"vary between clusters for a bootstrap; got {groups:,} clusters with one mean.",
            scores,
            "Use `cluster_mean`, which needs no spread, or `cluster_rate` for successes.",
        )
    return Interval(
        low=low,
        high=high,
        estimate=scores.mean,
        confidence=float(confidence),
        method="cluster bootstrap",
        trials=len(scores),
        scale="score",
        assumptions=(CLUSTERS_APART, MANY_ROLLOUTS),
        notes=(f"{resamples:,} resamples of {groups:,} clusters.", *bootstrap.few(groups)),
        data=(scores,),
        seed=seed,
    )


def _given(scores: Scores, clusters: Iterable[object]) -> tuple[Floats, Ints]:
    """The scores and the numbers of their clusters."""
    import numpy as np

    values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
    return values, differences.labels(clusters, values.size)[0]


def _result(interval: Interval, values: Floats, numbers: Ints, found: Spread, size: float | None) -> ClusteredMean:
    """The result, with the standard errors that others print of the plain mean."""
    import numpy as np

    trials, groups = len(values), found.shapes[0].clusters
    apart = values - values.mean()
    if np.ptp(values) == 0.0:
        apart[:] = 0.0
    squares, within = float((apart**2).sum()), float((np.bincount(numbers, apart) ** 2).sum())
    plain, cr0 = math.sqrt(squares / (trials - 1) / trials), math.sqrt(within) / trials
    if size is None:
        size = trials / max(1.0, found.variance / plain**2) if plain else float(groups)
    return ClusteredMean(
        interval=interval,
        clusters=groups,
        plain_error=plain,
        cr0=cr0,
        cr1=cr0 * math.sqrt(groups / (groups - 1)),
        miller=math.sqrt(max(0.0, plain**2 + (within - squares) / trials**2)),
        design_effect=float(trials / size),
        effective_size=float(size),
        error=found.error,
        freedom=found.freedom,
        shape=found.shapes[0],
    )
