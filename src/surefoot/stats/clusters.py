"""Confidence intervals for means of rollouts that come in clusters: one user, one scene, several tries at one item."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ANY_SCORES, CLUSTERS_DRAWN, CLUSTERS_MEASURED, RANGE_FIXED, Assumed
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.scores import Scores
from surefoot.core.words import Worded
from surefoot.stats import score_gains, score_means
from surefoot.stats.means import WRITE
from surefoot.stats.strata import Weights, task_weights

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.scores.cluster_tests import Evidence, Layout
    from surefoot.numerics.scores.group_tails import WeighedSample


Method = Literal["measured", "guaranteed"]
"""How clusters are tested: guarded Student's t, approximate; or weighted Gaffke, guaranteed and wider."""

DOMINANT = 0.25
"""From this share of the rollouts on, and twice an equal share, one cluster is said to dominate."""

MEASURED, GUARANTEED = "guarded cluster t", "weighted Gaffke"


@dataclass(frozen=True, slots=True)
class ClusterShape(Worded):
    """What the sizes of clusters alone tell.

    Attributes:
        clusters: How many clusters.
        effective: How many clusters of one size they are worth, (sum m)^2 / sum m^2.
        freedom: Bell and McCaffrey's degrees of freedom: near 1 when one cluster holds most rollouts.
        largest_share: The share of the rollouts in the largest cluster.
        counted: The number of clusters, of which a small one counts as its share of Kish's mean size.
    """

    clusters: int
    effective: float
    freedom: float
    largest_share: float
    counted: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.clusters:,} clusters, equivalent to {formatting.rounded(self.effective, 1, 'down'):.1f} of "
            "equal size, "
            f"{formatting.rounded(self.freedom, 1, 'down'):.1f} degrees of freedom; the largest holds "
            f"{100 * self.largest_share:.0f}% of the {self.words.rollouts}."
        )


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
        error: The bias-reduced standard error (CR2), within tasks if tasks were given.
        freedom: Bell and McCaffrey's degrees of freedom of it.
        shape: What the sizes of the clusters tell.
        counted: The clusters that count against clusters not met; of both kinds the fewer when crossed.
        hidden: Whether clusters not met, not the spread of those met, decide an end of the interval.
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
    counted: float = 0.0
    hidden: bool = False

    def __str__(self) -> str:
        size = math.floor(self.effective_size)
        return (
            f"{str(self.interval).removesuffix('.')}, {self.clusters:,} clusters, design effect "
            f"{formatting.rounded(self.design_effect, 2, 'up'):.2f}: equivalent to "
            f"{formatting.counted(size, 'independent rollout')}."
        )


def cluster_shape(sizes: Iterable[int]) -> ClusterShape:
    """Effective number of clusters and degrees of freedom, from the sizes of clusters alone.

    Args:
        sizes: How many rollouts (or pairs) each cluster holds.

    Assumptions:
        Independent clusters. The degrees of freedom are those of rollouts that vary alike in all clusters.

    Example:
        >>> from surefoot.stats.clusters import cluster_shape
        >>> print(cluster_shape([100] + [5] * 19))
        20 clusters, equivalent to 3.6 of equal size, 3.4 degrees of freedom; the largest holds 51% of the rollouts.

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples";
        Kish (1965) for the effective number.
    """
    import numpy as np

    counts = [_check.whole(size, "sizes", least=1) for size in sizes]
    if len(counts) < 2:
        raise _check.wrong(
            "sizes", f"hold at least 2 clusters; got {len(counts)}. One cluster cannot show how clusters differ.", sizes
        )
    return shape_of(np.asarray(counts, float))


def least_gain_shown(clusters: float, *, confidence: float = 0.95) -> float:
    """Smallest gain that a test of so many clusters can show, however many tries are made in each.

    A share q of clusters that fail whole is not met with the chance (1 - q)^G, alone with the chance q^G, and turns a
    gain of d = q / (1 - q) into none: so a gain is never told from none where (1 + d^G) / (1 + d)^G is above the error.

    Args:
        clusters: How many clusters, or how many are counted.
        confidence: The confidence of the verdict.

    Assumptions:
        Independent clusters of one size, any law of their gains, and a test that treats both policies alike. In units
        of the largest gain, 1 for rates; above 1 no gain can be shown.

    Example:
        >>> from surefoot.stats.clusters import least_gain_shown
        >>> print(f"{least_gain_shown(20):.3f} {least_gain_shown(100):.3f}")
        0.162 0.030

    Reference:
        The chance of meeting none of the clusters that fail.
    """
    from surefoot.numerics import roots

    number, error = _check.positive(clusters, "clusters"), 1.0 - _check.confidence(confidence)
    alone = math.expm1(-math.log(error / 2.0) / number)
    return alone if alone >= 1.0 else roots.last(lambda d: (1.0 + d**number) / (1.0 + d) ** number > error, 0.0, 1.0)


def cluster_mean(
    scores: Scores,
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    method: Method = "measured",
    central: bool = False,
    confidence: float = 0.95,
) -> ClusteredMean:
    """Confidence interval for a mean score when rollouts come in clusters of any sizes, and what the clusters cost.

    Student's t with a bias-reduced variance and a correction for skewness, two more clusters like the worst ones added,
    and guarded against clusters that lie whole at an end of the range and were not met.

    Args:
        scores: The scores.
        clusters: The cluster of each score.
        crossed: A second way in which scores belong together, such as the judge when clusters are items.
        tasks: The task of each score, where the mean over these very tasks is asked for; a cluster may span tasks.
        weights: How the tasks weigh: by rollouts, all alike ("tasks"), or a number for each.
        method: "measured", or "guaranteed" for the weighted test of Gaffke, which holds where all clusters have one
            mean or are drawn alike with their sizes; without tasks and without a second way.
        central: Whether each end is to be a bound by itself, with half of the error; for questions of one side.
        confidence: How often such intervals hold the mean, nearly.

    Assumptions:
        Independent clusters (of both kinds when crossed), drawn alike from those meant; how a cluster fails may depend
        on its size only mildly. Approximate, measured.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.stats import cluster_mean
        >>> scores = Scores([0.2, 0.9, 0.5, 0.7, 0.7, 0.1, 0.4, 0.3])
        >>> found = cluster_mean(scores, ["a", "a", "b", "b", "b", "c", "c", "d"])
        >>> print(found.interval)
        0.475 [0.031, 0.872] n=8 (95% guarded cluster t interval).
        >>> found.clusters, round(found.freedom, 2), round(found.counted, 2)
        (4, 2.6, 3.22)

    Reference:
        Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples"
        (CR2 and its degrees of freedom); Miller (2024), "Adding error bars to evals", for the use; Cameron, Gelbach
        and Miller (2011) for crossed clusters.
    """
    values, numbers = _given(scores, clusters)
    return _mean(scores, values, numbers, crossed, tasks, weights, method, confidence, "score", central)


def cluster_rate(
    outcomes: Sequence[bool | int],
    clusters: Iterable[object],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | None = None,
    weights: Weights = "rollouts",
    method: Method = "measured",
    confidence: float = 0.95,
) -> ClusteredMean:
    """Confidence interval for a success rate when rollouts come in clusters of any sizes, and what the clusters cost.

    The interval of `cluster_mean` with the ends 0 and 1.

    Args:
        outcomes: Success (True or 1) or failure (False or 0) of each rollout.
        clusters: The cluster of each rollout.
        crossed: A second way in which rollouts belong together.
        tasks: The task of each rollout, where the rate over these very tasks is asked for.
        weights: How the tasks weigh: by rollouts, all alike ("tasks"), or a number for each.
        method: "measured" or "guaranteed", as for `cluster_mean`.
        confidence: How often such intervals hold the rate, nearly.

    Assumptions:
        As for `cluster_mean`.

    Example:
        >>> from surefoot.stats import cluster_rate
        >>> found = cluster_rate([1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0], "aaabbbcccddd")
        >>> print(found.interval)
        58.3% [0.0%, 100.0%] n=12 (95% guarded cluster t interval).
        >>> round(found.design_effect, 2)
        2.83

    Reference:
        As for `cluster_mean`; Kish (1965) for the design effect.
    """
    scores = Scores(outcomes)
    for value in scores.values:
        if value not in (0.0, 1.0):
            raise _check.refused("outcomes", "be successes and failures, 1 or 0", value)
    values, numbers = _given(scores, clusters)
    return _mean(scores, values, numbers, crossed, tasks, weights, method, confidence, "rate")


def _mean(
    scores: Scores,
    values: Floats,
    numbers: Ints,
    crossed: Iterable[object] | None,
    tasks: Iterable[object] | None,
    weights: Weights,
    method: Method,
    confidence: float,
    scale: Literal["rate", "score"],
    central: bool = False,
) -> ClusteredMean:
    confidence, ends = _check.confidence(confidence), (scores.low, scores.high)
    error = 1.0 - confidence
    found = gathered((values,), (numbers,), ends, crossed=crossed, tasks=tasks, weights=weights)
    if _check.choice(method, "method", {"measured": False, "guaranteed": True}):
        refuse_unproved(crossed, tasks)
        low, high = (
            ends[0] + (ends[1] - ends[0]) * share for share in score_means.ends(weighed(values, numbers, ends), error)
        )
        name, hidden = GUARANTEED, False
        assumptions: tuple[Assumed, ...] = (RANGE_FIXED, CLUSTERS_DRAWN, ANY_SCORES)
    else:
        low, high = found.evidence.bounds(error / 2.0) if central else found.evidence.interval(error)
        name = MEASURED if crossed is None else f"two-way {MEASURED}"
        assumptions, hidden = (CLUSTERS_DRAWN, CLUSTERS_MEASURED), found.evidence.hidden((low, high), not central)
    mean = found.evidence.mean
    interval = Interval(
        low=min(low, mean),
        high=max(high, mean),
        estimate=mean,
        confidence=confidence,
        method=name,
        trials=len(scores),
        scale=scale,
        assumptions=assumptions,
        notes=found.notes(hidden=hidden),
        data=(scores,),
    )
    return _result(interval, values, numbers, found, hidden)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Clustered values, made ready to be tested.

    Attributes:
        evidence: The tests of their mean, or of the gain between two sides.
        shapes: What the sizes of the clusters tell, of the one side or of both.
        crossed: How many clusters of the second kind there are; 0 without a second way.
        least_p: The smallest p-value against no gain that so many clusters can give.
    """

    evidence: Evidence
    shapes: tuple[ClusterShape, ...]
    crossed: int
    least_p: float

    @property
    def error(self) -> float:
        """The bias-reduced standard error."""
        return math.sqrt(self.evidence.moments.second)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of it."""
        return self.evidence.moments.freedom

    def notes(self, *, hidden: bool, error: float | None = None) -> tuple[Note, ...]:
        """How the clusters count, which one dominates, what decides; with an error, whether a gain could be shown."""
        names = tuple(shape.clusters for shape in self.shapes)
        values = {"clusters": names, "counted": self.evidence.counted, "crossed": self.crossed}
        said = [Note("clusters counted", values)]
        for shape in self.shapes:
            if shape.largest_share >= max(DOMINANT, 2.0 / shape.clusters) or shape.counted < 2.0:
                said.append(Note("cluster dominates", {"share": shape.largest_share}))
        if error is not None and self.least_p > error:
            said.append(Note("too few clusters", {"clusters": names}))
        elif hidden:
            said.append(Note("clusters not met decide"))
        return tuple(said)


def gathered(
    values: Sequence[Floats],
    clusters: Sequence[Ints],
    ends: tuple[float, float],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | Sequence[Iterable[object]] | None = None,
    weights: Weights = "rollouts",
) -> Gathered:
    """The values of the one side or of both, in clusters, made ready.

    Args:
        values: The values of the one side, or of both.
        clusters: Their clusters, numbered from 0; a number common to both sides is one cluster.
        ends: The least and the largest value there can be.
        crossed: A second way in which all the values belong together.
        tasks: The tasks of the one side's values, or of each side's.
        weights: How the tasks weigh.
    """
    import numpy as np

    from surefoot.numerics.arrays import numbered
    from surefoot.numerics.scores import cluster_tests

    every, numbers = np.concatenate(values), np.concatenate(clusters)
    sides = np.repeat(np.arange(len(values)), [len(side) for side in values])
    groups, weighed, names = _groups(sides, tasks, weights, len(values))
    ways = [cluster_tests.layout(numbers, groups, weighed)]
    _refuse_one(ways[0].met, names)
    meetings, count = None, 0
    if crossed is not None:
        other, count = score_gains.labels(crossed, every.size, "crossed")
        ways.append(cluster_tests.layout(other, groups, weighed))
        _refuse_one(ways[1].met, names, "crossed")
        cells, _ = numbered(numbers * count + other, (int(numbers.max()) + 1) * count)
        meetings = cluster_tests.layout(cells, groups, weighed)
    sizes = (np.bincount(side) for side in clusters)
    shapes = tuple(shape_of(size[size > 0].astype(float)) for size in sizes)
    return Gathered(cluster_tests.evidence(every, ways, meetings, ends), shapes, count, _least_p(ways))


def _least_p(ways: Sequence[Layout]) -> float:
    """The p-value of the largest gain there can be, without any spread, against none: the same on either side."""
    import numpy as np

    hidden = [one for way in ways for one in way.unmet(np.abs(way.weights))]
    return 2.0 * math.exp(max(float(one.log_chance(np.array([0.5]))[0]) for one in hidden))


def weighed(values: Floats, numbers: Ints, ends: tuple[float, float]) -> WeighedSample:
    """The guaranteed test of cluster means that weigh by the sizes of their clusters."""
    import numpy as np

    from surefoot.numerics.scores.group_tails import WeighedSample

    sizes = np.bincount(numbers).astype(float)
    means = (np.bincount(numbers, values) / sizes - ends[0]) / (ends[1] - ends[0])
    return WeighedSample.of(np.clip(means, 0.0, 1.0), sizes)


def refuse_unproved(crossed: object, tasks: object) -> None:
    """Refuse a guarantee that is not proved: for crossed clusters and within tasks."""
    for name, given in (("crossed", crossed), ("tasks", tasks)):
        if given is not None:
            raise _check.wrong(
                "method", f"be 'measured' where `{name}` is given: nothing is guaranteed for that; got 'guaranteed'."
            )


def shape_of(sizes: Floats) -> ClusterShape:
    """The shape of two or more clusters of checked sizes."""
    from surefoot.numerics.scores import cluster_tests

    return ClusterShape(
        len(sizes),
        float(sizes.sum() ** 2 / (sizes**2).sum()),
        cluster_tests.freedom(sizes),
        float(sizes.max() / sizes.sum()),
        cluster_tests.counted(sizes),
    )


def _groups(sides: Ints, tasks: Any, weights: Weights, count: int) -> tuple[Ints, Floats, tuple[str, ...]]:
    """The group of every value, its weight, and the name of its task if tasks are given."""
    import numpy as np

    signs = np.array([1.0, -1.0][:count])
    if tasks is None:
        if weights != "rollouts":
            raise _check.wrong("tasks", "be given where `weights` say how tasks weigh; got none.", tasks)
        return sides, signs, ()
    given = [str(task) for side in ([tasks] if count == 1 else tasks) for task in side]
    if len(given) != sides.size:
        raise _check.wrong("tasks", f"name one task per observation, {sides.size:,}; got {len(given):,}.", tasks)
    order = {task: place for place, task in enumerate(dict.fromkeys(given))}
    numbers = np.array([order[task] for task in given])
    met = np.bincount(sides * len(order) + numbers, minlength=count * len(order)).reshape(count, -1)
    if met.min() == 0:
        lone = next(task for task, place in order.items() if met[:, place].min() == 0)
        raise _check.wrong(
            "tasks", f"be met by both policies; got {lone!r} from one only.", tasks, "Leave it out by name."
        )
    shares = task_weights(dict(zip(order, met.sum(axis=0).tolist(), strict=True)), weights)
    return sides * len(order) + numbers, np.outer(signs, list(shares.values())).ravel(), tuple(order) * count


def _refuse_one(met: Ints, names: tuple[str, ...], of: str = "clusters") -> None:
    """Refuse a group that lies in one cluster."""
    if met.min() < 2:
        where = f" on every task; got 1 on {names[int(met.argmin())]!r}" if names else "; got 1"
        raise _check.wrong(
            of, f"name at least 2 clusters{where}. One cluster cannot show how clusters differ: there is no interval."
        )


def _given(scores: Scores, clusters: Iterable[object]) -> tuple[Floats, Ints]:
    """The scores and the numbers of their clusters."""
    import numpy as np

    values = np.asarray(_check.instance(scores, "scores", Scores, WRITE).values)
    return values, score_gains.labels(clusters, values.size)[0]


def _result(interval: Interval, values: Floats, numbers: Ints, found: Gathered, hidden: bool) -> ClusteredMean:
    """The result, with the standard errors that others print of the plain mean."""
    import numpy as np

    trials, groups = len(values), found.shapes[0].clusters
    apart = values - values.mean()
    if np.ptp(values) == 0.0:
        apart[:] = 0.0
    squares, within = float((apart**2).sum()), float((np.bincount(numbers, apart) ** 2).sum())
    plain, cr0 = math.sqrt(squares / (trials - 1) / trials), math.sqrt(within) / trials
    size = trials / max(1.0, found.error**2 / plain**2) if plain else float(groups)
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
        counted=found.evidence.counted,
        hidden=hidden,
    )
