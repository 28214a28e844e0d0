"""How sure is a mean when rollouts come in clusters: one user, one scene, several tries at one item?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core import words
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.stats import bootstraps, differences
from surefoot.stats.means import WRITE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteredMean(Record):
    """A mean of clustered rollouts, its interval and what the clusters cost.

    Attributes:
        interval: Where the mean lies.
        clusters: How many clusters.
        plain_error: The standard error if all rollouts were independent.
        cr0: The cluster-robust standard error.
        cr1: The same times sqrt(G / (G - 1)), G the number of clusters.
        miller: The standard error of "Adding error bars to evals".
        design_effect: How many times more rollouts the clusters make necessary; never below 1.
        effective_size: How many independent rollouts these are worth.
    """

    interval: Interval
    clusters: int
    plain_error: float
    cr0: float
    cr1: float
    miller: float
    design_effect: float
    effective_size: float

    def __str__(self) -> str:
        worth = math.floor(self.effective_size)
        return (
            f"{str(self.interval).removesuffix('.')}, {self.clusters:,} clusters, design effect "
            f"{words.rounded(self.design_effect, 2, 'up'):.2f}: worth "
            f"{words.counted(worth, 'independent rollout')}."
        )


def cluster_mean(
    scores: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    confidence: float = 0.95,
) -> ClusteredMean:
    """Where does the mean score lie when rollouts come in clusters, and what do the clusters cost?

    Args:
        scores: The scores.
        clusters: The cluster of each score.
        crossed: A second way in which scores belong together, such as the judge when clusters are items.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        Independent clusters (of both kinds when crossed), enough of them: below about 10 the interval is rough.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_mean
        >>> scores = Scores([0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3])
        >>> found = cluster_mean(scores, ["a", "a", "b", "b", "b", "c", "c", "d"])
        >>> print(found.interval)
        0.475 [0.156, 0.794] n=8 (95% cluster-robust t interval).
        >>> found.clusters
        4

    Reference:
        Liang and Zeger (1986); Miller (2024), "Adding error bars to evals", for the use; Cameron, Gelbach and
        Miller (2011) for crossed clusters.
    """
    confidence = _check.confidence(confidence)
    found = _Errors(scores, clusters, crossed)
    if found.plain == 0.0:
        raise ValueError(
            f"`scores` must vary; got {len(scores):,} equal scores, which show no spread. "
            "For successes use `cluster_rate`; for a guarantee `betting_mean` on the means of the clusters."
        )
    half = found.reach(confidence) * found.error
    mean = scores.mean
    interval = Interval(
        low=max(scores.low, mean - half),
        high=min(scores.high, mean + half),
        estimate=mean,
        confidence=confidence,
        method="two-way cluster-robust t" if crossed is not None else "cluster-robust t",
        trials=len(scores),
        scale="score",
        assumptions=(bootstraps.CLUSTERED, differences.APPROXIMATE),
        notes=found.notes,
        data=(scores,),
    )
    return found.result(interval, len(scores) / found.effect)


def cluster_rate(
    outcomes: Sequence[bool | int], clusters: Iterable[object], *, confidence: float = 0.95
) -> ClusteredMean:
    """Where does the success rate lie when rollouts come in clusters, and what do the clusters cost?

    Wilson's interval on the number of independent rollouts that these are worth. Without any success or any
    failure the clusters show nothing of their effect, and each counts as one rollout.

    Args:
        outcomes: Success (True or 1) or failure (False or 0) of each rollout.
        clusters: The cluster of each rollout.
        confidence: How often such intervals hold the rate, nearly.

    Assumptions:
        Independent clusters. The quantile is Student's with one degree less than there are clusters: with the
        normal one, five clusters cover as little as .85 at 95%.

    Example:
        >>> from surefoot.stats import cluster_rate
        >>> found = cluster_rate([1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0], "aaabbbcccddd")
        >>> print(found.interval)
        58.3% [10.6%, 94.3%] n=12 (95% Wilson on effective size interval).
        >>> round(found.design_effect, 2)
        2.83

    Reference:
        Kish (1965) for the design effect; Korn and Graubard (1998), "Confidence intervals for proportions with
        small expected number of positive counts estimated from survey data", for the effective size.
    """
    from surefoot.numerics import score

    confidence = _check.confidence(confidence)
    scores = Scores(outcomes)
    for value in scores.values:
        if value not in (0.0, 1.0):
            raise ValueError(_check.refusal("outcomes", "be successes and failures, 1 or 0", value))
    found = _Errors(scores, clusters, None)
    size = len(scores) / found.effect
    notes = found.notes
    if found.plain == 0.0:
        size = float(found.groups)
        notes = ("All rollouts ended alike: each cluster counts as one rollout.",)
    successes, reach = scores.mean * size, found.reach(confidence)
    interval = Interval(
        low=0.0 if scores.mean == 0.0 else float(score.wilson_low(successes, size, reach)),
        high=1.0 if scores.mean == 1.0 else float(score.wilson_high(successes, size, reach)),
        estimate=scores.mean,
        confidence=confidence,
        method="Wilson on effective size",
        trials=len(scores),
        assumptions=(bootstraps.CLUSTERED, differences.APPROXIMATE),
        notes=notes,
        data=(scores,),
    )
    return found.result(interval, size)


def cluster_bootstrap(
    scores: Scores,
    clusters: Iterable[object],
    *,
    rng: _check.Rng,
    resamples: int = bootstraps.RESAMPLES,
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

    resamples = bootstraps.check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
    numbers, groups = differences.labels(clusters, values.size)
    sums = np.bincount(numbers, values, groups).astype(float)
    sizes = np.bincount(numbers, minlength=groups).astype(float)
    means = resampling.resampled_ratios(sums, sizes, resamples, generator)
    low, high = bootstraps.percentile_ends(means, confidence)
    if bootstraps.alike(means):
        raise ValueError(
            f"`scores` must vary between clusters for a bootstrap; got {groups:,} clusters with one mean. "
            "For successes use `cluster_rate`; for a guarantee `betting_mean` on the means of the clusters."
        )
    return Interval(
        low=low,
        high=high,
        estimate=scores.mean,
        confidence=float(confidence),
        method="cluster bootstrap",
        trials=len(scores),
        scale="score",
        assumptions=(bootstraps.CLUSTERED, differences.APPROXIMATE),
        notes=(f"{resamples:,} resamples of {groups:,} clusters.", *bootstraps.few(groups)),
        data=(scores,),
        seed=seed,
    )


def cluster_gain(
    first: Scores,
    second: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first when pairs come in clusters? Approximate.

    With several judges, pair the two policies' scores of one item by one judge; give the items as `clusters` and
    the judges as `crossed`.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        clusters: The cluster of each pair.
        crossed: A second way in which pairs belong together, such as the judge.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent clusters (of both kinds when crossed), enough of them: below about 10 the interval is rough.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_gain
        >>> first, second = Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8]), Scores([0.4, 0.5, 0.6, 0.5, 0.5, 0.4])
        >>> print(cluster_gain(first, second, "aabbcc"))
        +0.300 [+0.006, +0.594] n=6 (95% cluster-robust t interval), p = 0.0482: the first is better.

    Reference:
        Liang and Zeger (1986); Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering".
    """
    from scipy import special

    confidence = _check.confidence(confidence)
    gap = differences.paired(first, second)
    most = first.high - first.low
    found = _Errors(Scores(gap.clip(-most, most).tolist(), -most, most), clusters, crossed)
    if found.plain == 0.0:
        raise ValueError(
            "`first` and `second` must differ by more than a constant; got equal differences, which show no "
            "spread. Use `betting_paired_gain`, which needs none."
        )
    half, estimate = found.reach(confidence) * found.error, float(gap.mean())
    return differences.gain_of(
        (first, second),
        (estimate - half, estimate + half),
        estimate=estimate,
        confidence=confidence,
        method="two-way cluster-robust t" if crossed is not None else "cluster-robust t",
        margin=margin,
        trials=gap.size,
        p_value=2.0 * float(special.stdtr(found.freedom, -abs(estimate) / found.error)),
        assumptions=(bootstraps.CLUSTERED, differences.APPROXIMATE),
        notes=(*found.notes, f"Design effect {found.effect:.2f}."),
    )


class _Errors:
    """Standard errors of a clustered mean."""

    def __init__(self, scores: Scores, clusters: Iterable[object], crossed: Iterable[object] | None) -> None:
        import numpy as np

        values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
        size = values.size
        numbers, self.groups = differences.labels(clusters, size)
        apart = values - values.mean()
        if np.ptp(values) == 0.0:
            apart[:] = 0.0
        squares = float((apart**2).sum())
        self.plain = math.sqrt(squares / (size - 1) / size)
        within = _square_sums(apart, numbers, self.groups)
        self.cr0 = math.sqrt(within) / size
        self.cr1 = self.cr0 * math.sqrt(self.groups / (self.groups - 1))
        self.miller = math.sqrt(max(0.0, self.plain**2 + (within - squares) / size**2))
        variance, least = self.cr1**2, self.groups
        self.notes: tuple[str, ...] = ()
        if crossed is not None:
            other, count = differences.labels(crossed, size, "crossed")
            second = _square_sums(apart, other, count) / size**2 * count / (count - 1)
            cells, filled = differences.labels(zip(numbers.tolist(), other.tolist(), strict=True), size)
            both = _square_sums(apart, cells, filled) / size**2 * filled / (filled - 1)
            # the difference of estimates can fall below either part, even below 0: the larger part is kept then
            variance, least = max(variance + second - both, variance, second), min(self.groups, count)
            self.notes = (f"{self.groups:,} clusters crossed with {count:,}.",)
        self.freedom = least - 1
        self.effect = max(1.0, variance / self.plain**2) if self.plain else 1.0
        self.error = self.plain * math.sqrt(self.effect)

    def reach(self, confidence: float) -> float:
        """Student's quantile."""
        from scipy import special

        return float(special.stdtrit(self.freedom, (1.0 + confidence) / 2.0))

    def result(self, interval: Interval, size: float) -> ClusteredMean:
        effect = interval.trials / size
        return ClusteredMean(
            interval, self.groups, self.plain, self.cr0, self.cr1, self.miller, float(effect), float(size)
        )


def _square_sums(apart: Floats, numbers: Whole, groups: int) -> float:
    import numpy as np

    return float((np.bincount(numbers, apart, groups) ** 2).sum())
