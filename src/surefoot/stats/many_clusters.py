"""How much better is each of many policies than each other, all on the same items in the same clusters?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from surefoot import _check
from surefoot.core.scores import Scores
from surefoot.stats import cluster_gains, differences
from surefoot.stats.cluster_gains import ClusteredGain
from surefoot.stats.cluster_shapes import Spread, shape_of


def all_cluster_gains(
    scores: Mapping[str, Scores], clusters: Iterable[object], *, confidence: float = 0.95, margin: float = 0.0
) -> dict[tuple[str, str], ClusteredGain]:
    """How much better is each policy than each that comes after it, when pairs come in clusters? All pairs at once.

    The same gains as `cluster_gain` gives pair by pair, from one table of residuals: 19,900 pairs take seconds.

    Args:
        scores: Scores of every policy, on the same items in the same order.
        clusters: The cluster of each item.
        confidence: How often one such interval holds its gain, nearly; nothing is adjusted for their number.
        margin: The gain that would not matter.

    Assumptions:
        As for `cluster_gain`.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import all_cluster_gains
        >>> scores = {"new": Scores([0.9, 0.8, 0.7, 0.9, 0.6, 0.8]), "old": Scores([0.4, 0.5, 0.6, 0.5, 0.5, 0.4])}
        >>> print(all_cluster_gains(scores, "aabbcc")["new", "old"])
        +0.300 [+0.084, +0.516] n=6 (95% cluster-robust t interval), p = 0.0267: the first is better.

    Reference:
        As for `cluster_gain`.
    """
    import numpy as np

    from surefoot.numerics import cluster_spread

    confidence = _check.confidence(confidence)
    if len(scores) < 2:
        raise _check.wrong("scores", f"hold at least 2 policies; got {len(scores)}.", scores)
    (start, one), *others = scores.items()
    for name, other in others:
        differences.check_ranges(one, other, names=(f"scores[{start!r}]", f"scores[{name!r}]"))
        if len(other) != len(one):
            raise _check.wrong(
                "scores", f"hold {len(one):,} scores of every policy; got {len(other):,} of {name!r}.", scores
            )
    numbers, _ = differences.labels(clusters, len(one))
    table = cluster_spread.residual_sums(np.array([side.values for side in scores.values()]).T, numbers)
    shape = shape_of(np.bincount(numbers).astype(float))
    means = [side.mean for side in scores.values()]
    tiny = (2e-13 * (one.high - one.low)) ** 2
    found = {}
    for (i, (first, ours)), (j, (second, theirs)) in combinations(enumerate(scores.items()), 2):
        apart = table[:, i] - table[:, j]
        variance = float(apart @ apart)
        if variance <= tiny:  # all clusters alike
            found[first, second] = cluster_gains.cluster_gain(
                ours, theirs, numbers.tolist(), confidence=confidence, margin=margin
            )
            continue
        spread = Spread(means[i] - means[j], variance, shape.freedom, (shape,), alike=False, fewest=shape.clusters)
        found[first, second] = cluster_gains.student(
            (ours, theirs), spread, "cluster-robust t", len(one), confidence, margin
        )
    return found
