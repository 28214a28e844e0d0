"""How would the gain in mean score vary if the evaluation were run again, judged by resampling it?

The resampled unit is the pair, the rollout or, where clusters are named, the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check
from surefoot.core.gain import Gain
from surefoot.core.interval import Interval
from surefoot.core.scores import Scores
from surefoot.stats import differences

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEW = 30
CLUSTERED = "The clusters are independent of one another."
_NO_SPREAD = "Use `betting_paired_gain` or `betting_gain`, which need no spread."
RESAMPLES = 10_000


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
        >>> from surefoot.stats import paired_bootstrap
        >>> print(paired_bootstrap(Scores([1, 0.8, 0.9, 0.7]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7))
        +0.350 [+0.225, +0.525] n=4 (95% paired bootstrap interval), p = 0.000200: the first is better.

    Reference:
        Efron and Tibshirani (1993), "An introduction to the bootstrap", section 13.3.
    """
    found = _Pairs(first, second, rng, clusters, resamples, confidence)
    low, high = percentile_ends(found.means, confidence)
    return found.gain((low, high), "paired bootstrap", margin, percentile_p(found.means))


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
        >>> from surefoot.stats import paired_bca
        >>> print(paired_bca(Scores([1, 0.8, 0.9, 0.7]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron (1987), "Better bootstrap confidence intervals".
    """
    found = _Pairs(first, second, rng, clusters, resamples, confidence)
    low, high = bca_ends(found.means, found.estimate, acceleration(found.influence), confidence)
    return found.gain((low, high), "paired BCa bootstrap", margin, None)


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
        >>> from surefoot.stats import unpaired_bootstrap
        >>> print(unpaired_bootstrap(Scores([1, 0.8, 0.9]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron and Tibshirani (1993), "An introduction to the bootstrap", section 8.3.
    """
    means, seed = _two_samples(first, second, rng, resamples, confidence)
    ends = percentile_ends(means, confidence)
    p_value = percentile_p(means)
    return _unpaired(first, second, ends, "unpaired bootstrap", confidence, margin, p_value, seed, means)


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
        >>> from surefoot.stats import unpaired_bca
        >>> print(unpaired_bca(Scores([1, 0.8, 0.9]), Scores([0.4, 0.5, 0.6, 0.5]), rng=7).verdict)
        better

    Reference:
        Efron (1987), "Better bootstrap confidence intervals"; Efron and Tibshirani (1993), section 14.3.
    """
    import numpy as np

    means, seed = _two_samples(first, second, rng, resamples, confidence)
    # a rollout moves the gain by its distance from its policy's mean over the size of its sample
    up = (np.asarray(first.values) - first.mean) / len(first)
    down = (second.mean - np.asarray(second.values)) / len(second)
    bend = acceleration(np.concatenate((up, down)))
    ends = bca_ends(means, first.mean - second.mean, bend, confidence)
    return _unpaired(first, second, ends, "unpaired BCa bootstrap", confidence, margin, None, seed, means)


def check_resamples(resamples: int, confidence: float) -> int:
    """How many resamples, at least enough for one in each tail."""
    least = int(2.0 / (1.0 - _check.confidence(confidence))) + 1
    hint = f"At this confidence fewer than {least:,} resamples leave a tail empty."
    if _check.whole(resamples, "resamples") < least:
        raise ValueError(_check.refusal("resamples", f"be at least {least:,}", resamples, hint))
    return resamples


def percentile_ends(means: Floats, confidence: float) -> tuple[float, float]:
    """The values with at least half the error at or beyond them on each side: mirrored data, mirrored ends."""
    import numpy as np

    each = (1.0 - confidence) / 2.0
    rank = max(0, int(np.ceil(each * means.size * (1.0 - 1e-12))) - 1)
    ordered = np.partition(means, (rank, means.size - 1 - rank))
    return float(ordered[rank]), float(ordered[means.size - 1 - rank])


def alike(means: Floats) -> bool:
    """Whether only rounding keeps the resamples apart: nothing can be learned from them then."""
    return float(means.max() - means.min()) <= 1e-13 * float(abs(means).max())


def percentile_p(means: Floats) -> float:
    """Twice the share of resamples on the wrong side of 0: below 1 - confidence iff the interval excludes 0."""
    import numpy as np

    least = min(int(np.count_nonzero(means <= 0.0)), int(np.count_nonzero(means >= 0.0)))
    return min(1.0, 2.0 * least / means.size if least else 2.0 / (means.size + 1))


def acceleration(influence: Floats) -> float:
    """How fast the spread grows with the mean: skewness of the influences over six."""
    spread = float((influence**2).sum())
    return float((influence**3).sum() / (6.0 * spread**1.5)) if spread > 0.0 else 0.0


def bca_ends(means: Floats, estimate: float, bend: float, confidence: float) -> tuple[float, float]:
    """Percentiles moved for bias and acceleration."""
    import numpy as np
    from scipy import special

    if alike(means):
        raise ValueError(f"the scores must vary for a BCa bootstrap; every resample gave the same mean. {_NO_SPREAD}")
    slack = 1e-12 * max(1.0, abs(estimate))
    below = np.count_nonzero(means < estimate - slack)
    share = (below + 0.5 * np.count_nonzero(abs(means - estimate) <= slack)) / means.size
    if not 0.0 < share < 1.0:
        raise ValueError("`resamples` must fall on both sides of the estimate; got one side only. Use more resamples.")
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


class _Pairs:
    """The resampled mean differences of pairs or clusters of pairs."""

    def __init__(
        self,
        first: Scores,
        second: Scores,
        rng: _check.Rng,
        clusters: Iterable[object] | None,
        resamples: int,
        confidence: float,
    ) -> None:
        import numpy as np

        from surefoot.numerics import resampling

        gap = differences.paired(first, second)
        self.confidence = confidence
        resamples = check_resamples(resamples, confidence)
        generator, self.seed = _check.generator(rng)
        self.first, self.second, self.estimate = first, second, float(gap.mean())
        self.notes: tuple[str, ...] = (f"{resamples:,} resamples.",)
        if clusters is None:
            self.assumptions: tuple[str, ...] = (differences.PAIRED, differences.APPROXIMATE)
            self.influence = (gap - gap.mean()) / gap.size
            self.means = resampling.resampled_means(gap, resamples, generator)
        else:
            numbers, groups = differences.labels(clusters, gap.size)
            self.assumptions = (CLUSTERED, differences.APPROXIMATE)
            sums = np.bincount(numbers, gap, groups).astype(float)
            sizes = np.bincount(numbers, minlength=groups).astype(float)
            self.influence = (sums - sizes * gap.mean()) / gap.size
            self.means = resampling.resampled_ratios(sums, sizes, resamples, generator)
            self.notes += (f"{groups:,} clusters were resampled whole.",)

    def gain(self, ends: tuple[float, float], method: str, margin: float, p_value: float | None) -> Gain:
        notes = self.notes + _warnings(self.means, self.influence.size)
        return differences.gain_of(
            self.first,
            self.second,
            ends,
            estimate=self.estimate,
            confidence=self.confidence,
            method=method,
            margin=margin,
            trials=len(self.first),
            p_value=p_value,
            assumptions=self.assumptions,
            notes=notes,
            seed=self.seed,
        )


def _warnings(means: Floats, units: int) -> tuple[str, ...]:
    if alike(means):
        if means[0] != 0.0:  # a verdict would follow, from no spread at all
            raise ValueError(f"the scores must vary for a bootstrap; every resample gave the same gain. {_NO_SPREAD}")
        return ("Every resample gave the same gain: the bootstrap cannot see how uncertain it is. Use a betting gain.",)
    return (f"Only {units} units to resample: the interval is likely too narrow.",) if units < FEW else ()


def _two_samples(
    first: Scores, second: Scores, rng: _check.Rng, resamples: int, confidence: float
) -> tuple[Floats, int | None]:
    import numpy as np

    from surefoot.numerics import resampling

    differences.check_ranges(first, second)
    resamples = check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    up, down = np.asarray(first.values), np.asarray(second.values)
    gaps = resampling.resampled_means(up, resamples, generator) - resampling.resampled_means(down, resamples, generator)
    return resampling.settled(gaps, np.concatenate((up, down))), seed


def _unpaired(
    first: Scores,
    second: Scores,
    ends: tuple[float, float],
    method: str,
    confidence: float,
    margin: float,
    p_value: float | None,
    seed: int | None,
    means: Floats,
) -> Gain:
    return differences.gain_of(
        first,
        second,
        ends,
        estimate=first.mean - second.mean,
        confidence=confidence,
        method=method,
        margin=margin,
        trials=len(first) + len(second),
        p_value=p_value,
        assumptions=(differences.STREAMS, differences.APPROXIMATE),
        notes=_warnings(means, min(len(first), len(second))),
        seed=seed,
    )


def mean_bootstrap(
    values: Floats, rng: _check.Rng, resamples: int, confidence: float, method: str, trials: int
) -> Interval:
    """Percentile interval of the mean of rates of tasks, for the statistics that average over tasks."""
    from surefoot.numerics import resampling

    resamples = check_resamples(resamples, confidence)
    generator, seed = _check.generator(rng)
    low, high = percentile_ends(resampling.resampled_means(values, resamples, generator), confidence)
    assumptions = ("The tasks are independent draws from those that matter.", differences.APPROXIMATE)
    return Interval(
        low=low,
        high=high,
        estimate=float(values.mean()),
        confidence=float(confidence),
        method=method,
        trials=trials,
        assumptions=assumptions,
        notes=(f"{resamples:,} resamples.",),
        seed=seed,
    )
