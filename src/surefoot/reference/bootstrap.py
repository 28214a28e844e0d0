"""Bootstrap intervals of a difference of mean scores.

The resampled unit is the pair, the rollout or, where clusters are named, the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from surefoot import _check
from surefoot.core.assumptions import (
    CLUSTERS_APART,
    MANY_ROLLOUTS,
    NO_HEAVY_TAIL,
    SCORE_PAIRS_APART,
    SCORES_ALIKE,
    STREAMS,
    Assumption,
)
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.numerics import arrays
from surefoot.stats import score_gains
from surefoot.stats.means import WRITE, interval_of, refuse_no_spread, unit
from surefoot.stats.preferences import FEW, check_resamples, percentile_ends

if TYPE_CHECKING:
    from collections.abc import Iterable

    from surefoot.numerics.arrays import Floats


HELD = 1 << 17  # elements drawn at a time: what a core keeps close by
BLOCK = 1 << 22  # elements of a block: some hundredths of a second, well above what it costs to hand one out
COUNTED = 1 << 20  # counts of a block: to draw one takes as long as several elements
LEVELS = 64  # with so few distinct values, counts of each are drawn instead of every value
_NO_SPREAD = "vary for a bootstrap; got the same gain from every resample."
_NEEDS_NONE = "Use `paired_score_gain` or `score_gain`, which need no spread."
RESAMPLES = 10_000
_UNSEEN = "Every resample gave the same gain: the bootstrap cannot see how uncertain it is. Use a betting gain."


def resampled_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """The mean of `resamples` samples of the same size, drawn with replacement."""
    n = values.size
    levels, counts = np.unique(values, return_counts=True)
    if levels.size <= min(LEVELS, n // 2):
        parts = arrays.seeded(resamples, COUNTED // levels.size, rng)
        means = arrays.spread(_counted_means, [(levels, counts, *part) for part in parts])
    else:
        parts = arrays.seeded(resamples, max(1, BLOCK // n), rng)
        means = arrays.spread(_drawn_means, [(values, *part) for part in parts])
    return settled(np.concatenate(means), levels)


def _counted_means(levels: Floats, counts: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    n = counts.sum()
    means: Floats = rng.multinomial(n, counts / n, size=resamples) @ levels / n
    return means


def _drawn_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    n = values.size
    means = np.empty(resamples)
    for part in _held(resamples, n):
        means[part] = values[rng.integers(0, n, size=(part.stop - part.start, n))].sum(axis=1)
    return means / n


def _held(rows: int, width: int) -> Iterator[slice]:
    step = max(1, HELD // width)
    return (slice(start, min(rows, start + step)) for start in range(0, rows, step))


def settled(means: Floats, values: Floats) -> Floats:
    """The means, with those that only rounding keeps from 0 set to 0: a tie with 0 is no evidence."""
    means[abs(means) <= 1e-13 * abs(values).max(initial=0.0)] = 0.0
    return means


def resampled_ratios(sums: Floats, sizes: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Total over size of `resamples` draws of whole clusters with replacement."""
    parts = arrays.seeded(resamples, max(1, BLOCK // sums.size), rng)
    ratios = arrays.spread(_drawn_ratios, [(sums, sizes, *part) for part in parts])
    return settled(np.concatenate(ratios), sums / sizes)


def _drawn_ratios(sums: Floats, sizes: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    groups = sums.size
    ratios = np.empty(resamples)
    for part in _held(resamples, groups):
        drawn = rng.integers(0, groups, size=(part.stop - part.start, groups))
        ratios[part] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return ratios


def sign_flips(values: Floats, draws: int, rng: np.random.Generator | None) -> tuple[Floats, Floats]:
    """How many values each pattern of signs flips, and their sum: all patterns without `rng`, else random ones."""
    if rng is None:
        patterns = np.array(list(product((0.0, 1.0), repeat=values.size)))
        return patterns.sum(axis=1), patterns @ values
    parts = arrays.seeded(draws, max(1, BLOCK // values.size), rng)
    counts, totals = zip(*arrays.spread(_drawn_flips, [(values, *part) for part in parts]), strict=True)
    return np.concatenate(counts), np.concatenate(totals)


def _drawn_flips(values: Floats, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    n = values.size
    sums = np.empty((draws, 2))
    width = -(-n // 8)
    both = np.column_stack((np.ones(n), values))
    for part in _held(draws, n):
        drawn = rng.integers(0, 256, size=(part.stop - part.start, width), dtype=np.uint8)
        sums[part] = np.unpackbits(drawn, axis=1, count=n).astype(float) @ both
    return sums[:, 0], sums[:, 1]


def paired_bootstrap(
    first: Scores,
    second: Scores,
    *,
    rng: _check.Rng,
    clusters: Iterable[object] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first on the same conditions? Percentile bootstrap of the pairs.

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        rng: A seed, kept with the result, or a Generator.
        clusters: The cluster of each pair; whole clusters are then resampled.
        resamples: How many resamples.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent pairs (or clusters), enough of them: below about 30 the interval is too narrow.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import paired_bootstrap
        >>> print(paired_bootstrap(Scores([1, 0.8, 0.9, 0.7]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7))
        +0.350 [+0.225, +0.525] n=4 (95% paired bootstrap interval), p = 0.000200: the first is better.

    Reference:
        Efron and Tibshirani (1993), "An introduction to the bootstrap", section 13.3.
    """
    return _pairs(first, second, rng, clusters, resamples, confidence).percentile("paired bootstrap", margin)


def paired_bca(
    first: Scores,
    second: Scores,
    *,
    rng: _check.Rng,
    clusters: Iterable[object] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first on the same conditions? Bootstrap corrected for bias and skewness (BCa).

    Args:
        first: Scores of the first policy, one per pair.
        second: Scores of the second policy, in the same order.
        rng: A seed, kept with the result, or a Generator.
        clusters: The cluster of each pair; whole clusters are then resampled.
        resamples: How many resamples.
        confidence: How often such intervals hold the gain, nearly.
        margin: The gain that would not matter.

    Assumptions:
        Independent pairs (or clusters), enough of them, whose differences are not all equal.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import paired_bca
        >>> print(paired_bca(Scores([1, 0.8, 0.9, 0.7]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron (1987), "Better bootstrap confidence intervals".
    """
    return _pairs(first, second, rng, clusters, resamples, confidence).bca("paired BCa bootstrap", margin)


def unpaired_bootstrap(
    first: Scores,
    second: Scores,
    *,
    rng: _check.Rng,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first, from separate rollouts? Percentile bootstrap of each policy's rollouts.

    Assumptions:
        Independent rollouts, enough of them: below about 30 each the interval is too narrow.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import unpaired_bootstrap
        >>> print(unpaired_bootstrap(Scores([1, 0.8, 0.9]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron and Tibshirani (1993), "An introduction to the bootstrap", section 8.3.
    """
    return _streams(first, second, rng, resamples, confidence).percentile("unpaired bootstrap", margin)


def unpaired_bca(
    first: Scores,
    second: Scores,
    *,
    rng: _check.Rng,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> Gain:
    """How much better is the first, from separate rollouts? Bootstrap corrected for bias and skewness (BCa).

    Assumptions:
        Independent rollouts, enough of them, whose scores are not all equal.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import unpaired_bca
        >>> print(unpaired_bca(Scores([1, 0.8, 0.9]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron (1987), "Better bootstrap confidence intervals"; Efron and Tibshirani (1993), section 14.3.
    """
    return _streams(first, second, rng, resamples, confidence).bca("unpaired BCa bootstrap", margin)


def cluster_bootstrap(
    scores: Scores,
    clusters: Iterable[object],
    *,
    rng: _check.Rng,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Interval:
    """Bootstrap confidence interval of a mean score, by resampling whole clusters.

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
        >>> from surefoot.reference import cluster_bootstrap
        >>> scores = Scores([0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3])
        >>> print(cluster_bootstrap(scores, ["a", "a", "b", "b", "b", "c", "c", "d"], rng=7))
        0.475 [0.266, 0.600] n=8 (95% cluster bootstrap interval).

    Reference:
        Davison and Hinkley (1997), "Bootstrap methods and their application", section 3.8.
    """
    resamples = check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
    numbers, groups = score_gains.labels(clusters, values.size)
    sums = np.bincount(numbers, values, groups).astype(float)
    sizes = np.bincount(numbers, minlength=groups).astype(float)
    means = resampled_ratios(sums, sizes, resamples, generator)
    low, high = percentile_ends(means, confidence)
    if alike(means):
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
        notes=(f"{resamples:,} resamples of {groups:,} clusters.", *few(groups)),
        data=(scores,),
        seed=seed,
    )


def alike(means: Floats) -> bool:
    """Whether only rounding keeps the resamples apart: nothing can be learned from them then."""
    return float(means.max() - means.min()) <= 1e-13 * float(abs(means).max())


def percentile_p(means: Floats) -> float:
    """Twice the share of resamples on the wrong side of 0: below 1 - confidence iff the interval excludes 0."""
    least = min(int(np.count_nonzero(means <= 0.0)), int(np.count_nonzero(means >= 0.0)))
    return min(1.0, 2.0 * least / means.size if least else 2.0 / (means.size + 1))


def acceleration(influence: Floats) -> float:
    """How fast the spread grows with the mean: skewness of the influences over six."""
    spread = float((influence**2).sum())
    return float((influence**3).sum() / (6.0 * spread**1.5)) if spread > 0.0 else 0.0


def bca_ends(means: Floats, estimate: float, bend: float, confidence: float) -> tuple[float, float]:
    """Percentiles moved for bias and acceleration."""
    from scipy import special

    slack = 1e-12 * float(abs(means).max())
    below = np.count_nonzero(means < estimate - slack)
    share = (below + 0.5 * np.count_nonzero(abs(means - estimate) <= slack)) / means.size
    if not 0.0 < share < 1.0:
        raise _check.wrong(
            "resamples", "fall on both sides of the estimate; got one side only.", None, "Use more resamples."
        )
    shift = special.ndtri(share)
    z = special.ndtri((1.0 - confidence) / 2.0)
    ends = []
    for side in (z, -z):
        moved = shift + side
        # beyond the pole of the correction all of the resamples lie on one side
        level = special.ndtr(shift + moved / (1.0 - bend * moved)) if bend * moved < 1.0 else moved > 0.0
        ends.append(float(level))
    ordered = np.sort(means)
    low = ordered[max(0, int(np.ceil(ends[0] * means.size)) - 1)]
    high = ordered[min(means.size - 1, int(np.floor(ends[1] * means.size)))]
    return float(low), float(high)


def few(units: int) -> tuple[str, ...]:
    """What to say of so few units that resampling them shows too little."""
    return (f"Only {units} units to resample: the interval is likely too narrow.",) if units < FEW else ()


def bootstrap_mean(
    scores: Scores, *, rng: _check.Rng, confidence: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """Where does the mean score lie, by resampling the scores? Bias-corrected and accelerated; approximate.

    Assumptions:
        Independent scores, enough of them to show the tails: a rare low score that was not drawn is not seen.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import bootstrap_mean
        >>> print(bootstrap_mean(Scores([1.0, 0.8, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.7, 1.0] * 4), rng=7))
        0.900 [0.852, 0.940] n=40 (95% BCa bootstrap (approximate) interval).

    Reference:
        Efron (1987), "Better bootstrap confidence intervals", equation 2.3; the acceleration of a mean is a sixth
        of its skewness.
    """

    z = unit(scores)
    resamples = check_resamples(resamples, confidence)
    refuse_no_spread(z, "the bootstrap")
    generator, seed = _check.generator(rng)
    means = resampled_means(z, resamples, generator)
    low, high = bca_ends(means, float(z.mean()), acceleration(z - z.mean()), confidence)
    method, notes = "BCa bootstrap (approximate)", (f"{resamples:,} resamples.", *few(z.size))
    return interval_of(scores, low, high, confidence, method, (SCORES_ALIKE, NO_HEAVY_TAIL), notes, seed)


@dataclass(frozen=True, slots=True)
class _Resampled:
    """The resampled gains of two policies, and what is needed to tell them."""

    data: tuple[Scores, Scores]
    means: Floats
    estimate: float
    influence: Floats
    units: int
    trials: int
    confidence: float
    assumption: Assumption
    notes: tuple[str, ...]
    seed: int | None

    def percentile(self, method: str, margin: float) -> Gain:
        unseen = alike(self.means)
        if unseen and (self.means[0] != 0.0 or margin):  # a verdict would follow, from no spread at all
            raise _check.wrong(("first", "second"), _NO_SPREAD, cure=_NEEDS_NONE)
        ends = percentile_ends(self.means, self.confidence)
        return self._gain(ends, method, margin, percentile_p(self.means), (_UNSEEN,) if unseen else few(self.units))

    def bca(self, method: str, margin: float) -> Gain:
        if alike(self.means):
            raise _check.wrong(("first", "second"), _NO_SPREAD, cure=_NEEDS_NONE)
        ends = bca_ends(self.means, self.estimate, acceleration(self.influence), self.confidence)
        return self._gain(ends, method, margin, None, few(self.units))

    def _gain(
        self, ends: tuple[float, float], method: str, margin: float, p_value: float | None, warning: tuple[str, ...]
    ) -> Gain:
        return score_gains.gain_of(
            self.data,
            ends,
            estimate=self.estimate,
            confidence=self.confidence,
            method=method,
            margin=margin,
            trials=self.trials,
            p_value=p_value,
            assumptions=(self.assumption, MANY_ROLLOUTS),
            notes=self.notes + warning,
            seed=self.seed,
        )


def _pairs(
    first: Scores,
    second: Scores,
    rng: _check.Rng,
    clusters: Iterable[object] | None,
    resamples: int,
    confidence: float,
) -> _Resampled:
    gap = score_gains.paired(first, second)
    resamples = check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    notes: tuple[str, ...] = (f"{resamples:,} resamples.",)
    if clusters is None:
        assumption = SCORE_PAIRS_APART
        influence = (gap - gap.mean()) / gap.size
        means = resampled_means(gap, resamples, generator)
    else:
        assumption = CLUSTERS_APART
        numbers, groups = score_gains.labels(clusters, gap.size)
        sums = np.bincount(numbers, gap, groups).astype(float)
        sizes = np.bincount(numbers, minlength=groups).astype(float)
        influence = (sums - sizes * gap.mean()) / gap.size
        means = resampled_ratios(sums, sizes, resamples, generator)
        notes += (f"{groups:,} clusters were resampled whole.",)
    return _Resampled(
        (first, second),
        means,
        float(gap.mean()),
        influence,
        influence.size,
        gap.size,
        confidence,
        assumption,
        notes,
        seed,
    )


def _streams(first: Scores, second: Scores, rng: _check.Rng, resamples: int, confidence: float) -> _Resampled:
    score_gains.check_ranges(first, second)
    resamples = check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    up, down = np.asarray(first.values), np.asarray(second.values)
    gaps = resampled_means(up, resamples, generator) - resampled_means(down, resamples, generator)
    # a rollout moves the gain by its distance from its policy's mean over the size of its sample
    influence = np.concatenate(((up - first.mean) / up.size, (second.mean - down) / down.size))
    return _Resampled(
        (first, second),
        settled(gaps, np.concatenate((up, down))),
        first.mean - second.mean,
        influence,
        min(up.size, down.size),
        up.size + down.size,
        confidence,
        STREAMS,
        (f"{resamples:,} resamples.",),
        seed,
    )
