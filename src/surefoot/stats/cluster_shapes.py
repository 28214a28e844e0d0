"""How many clusters are there really, and how sure is a mean of rollouts that come in them?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.words import spoken
from surefoot.stats import differences

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


Weights = Literal["rollouts", "tasks"] | Mapping[str, float]
"""How tasks weigh: by their share of rollouts, equally, or as given."""

DOMINANT = 0.25
"""From this share of the rollouts on, and twice an equal share, one cluster is said to dominate."""

_IMAGINED = 0.3  # the least with coverage of .94 or more on every layout tried; decision 0031


@dataclass(frozen=True, slots=True)
class ClusterShape(Record):
    """What the sizes of clusters alone tell.

    Attributes:
        clusters: How many clusters.
        effective: How many clusters of one size they are worth, (sum m)^2 / sum m^2.
        freedom: Bell and McCaffrey's degrees of freedom: near 1 when one cluster holds most rollouts.
        largest_share: The share of the rollouts in the largest cluster.
    """

    clusters: int
    effective: float
    freedom: float
    largest_share: float

    def __str__(self) -> str:
        return (
            f"{self.clusters:,} clusters, equivalent to {formatting.rounded(self.effective, 1, 'down'):.1f} of "
            "equal size, "
            f"{formatting.rounded(self.freedom, 1, 'down'):.1f} degrees of freedom; the largest holds "
            f"{100 * self.largest_share:.0f}% of the {spoken().rollouts}."
        )


def cluster_shape(sizes: Iterable[int]) -> ClusterShape:
    """How much can clusters of these sizes tell about a mean, before any outcome is known?

    Args:
        sizes: How many rollouts (or pairs) each cluster holds.

    Assumptions:
        Independent clusters. The degrees of freedom are those of rollouts that vary alike in all clusters.

    Example:
        >>> from surefoot.stats import cluster_shape
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


def shape_of(sizes: Floats) -> ClusterShape:
    """The shape of two or more clusters of checked sizes."""
    from surefoot.numerics import cluster_spread

    return ClusterShape(
        len(sizes),
        cluster_spread.effective_number(sizes),
        cluster_spread.freedom(sizes),
        float(sizes.max() / sizes.sum()),
    )


def task_weights(counts: Mapping[str, int], weights: Weights) -> dict[str, float]:
    """How much each task weighs, summing to 1; `counts` are the rollouts of all policies together."""
    if isinstance(weights, Mapping):
        if set(weights) != set(counts):
            odd = sorted(map(str, set(weights) ^ set(counts)))
            raise _check.wrong(
                "weights", f"hold one number for each task; got a difference in {', '.join(odd)}.", weights
            )
        given = {task: _check.positive(weights[task], f"weights[{task!r}]") for task in counts}
    else:
        _check.choice(weights, "weights", {"rollouts": 1, "tasks": 1})
        given = {task: float(count) if weights == "rollouts" else 1.0 for task, count in counts.items()}
    total = math.fsum(given.values())
    return {task: weight / total for task, weight in given.items()}


@dataclass(frozen=True, slots=True)
class Spread:
    """A sum of weighted means of clustered values, and how sure it is."""

    estimate: float
    variance: float
    freedom: float
    shapes: tuple[ClusterShape, ...]
    alike: bool
    """Whether within each group all clusters have one mean, so that nothing is seen of how clusters differ."""
    fewest: float
    """The least number of clusters behind a group over its weight: what alike clusters count for."""

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    def reach(self, confidence: float) -> float:
        """Student's quantile."""
        from scipy import special

        return float(special.stdtrit(self.freedom, (1.0 + confidence) / 2.0))

    @property
    def notes(self) -> tuple[Note, ...]:
        """Which cluster dominates."""
        return tuple(
            Note("cluster dominates", {"share": shape.largest_share})
            for shape in self.shapes
            if shape.largest_share >= max(DOMINANT, 2.0 / shape.clusters)
        )


def spread_of(
    values: Sequence[Floats],
    clusters: Sequence[Ints],
    *,
    crossed: Iterable[object] | None = None,
    tasks: Iterable[object] | Sequence[Iterable[object]] | None = None,
    weights: Weights = "rollouts",
    width: float,
) -> Spread:
    """The mean of clustered values, or the gain between two sides of them, within tasks if these are given.

    The variance is CR2's and the degrees of freedom are Bell and McCaffrey's. A group (a side's values on a task) whose
    clusters all have one mean shows no spread. It is given that of so many alike rollouts as it has clusters in effect,
    a quarter of an unlike one added at either end, on the whole width of the scores.

    Args:
        values: The values of the one side, or of both.
        clusters: Their clusters, numbered from 0; a number common to both sides is one cluster.
        crossed: A second way in which the values of the one side belong together.
        tasks: The tasks of the one side's values, or of each side's.
        weights: How the tasks weigh.
        width: How far apart two values can be.
    """
    import numpy as np

    from surefoot.numerics import cluster_spread

    every, numbers = np.concatenate(values), np.concatenate(clusters)
    sides = np.repeat(np.arange(len(values)), [len(side) for side in values])
    groups, weighed, names = _groups(sides, tasks, weights, len(values))
    layout = cluster_spread.layout(numbers, groups, weighed)
    _refuse_one(layout.met, names)
    estimate, parts = layout.error(every)
    freedoms, flat = layout.freedoms, layout.reaches(every) <= 1e-13 * width
    if crossed is not None:
        other, count = differences.labels(crossed, every.size, "crossed")
        second = cluster_spread.layout(other, groups, weighed)
        _refuse_one(second.met, names, "crossed")
        _, cells = np.unique(numbers * count + other, return_inverse=True)
        both = cluster_spread.layout(cells, groups, weighed)
        one, two, common = (float(way.error(every)[1].sum()) for way in (layout, second, both))
        # the difference of estimates can fall below either part, even below 0: the larger part is kept then
        parts = np.array([max(one + two - common, one, two)])
        freedoms = np.array([min(freedoms.min(), second.freedoms.min())])
    bare = flat if parts.sum() > (1e-13 * width) ** 2 else np.ones_like(flat)
    for group in np.flatnonzero(bare):
        sizes = layout.held[layout.cell_groups == group]
        floor = weighed[group] ** 2 * width**2 * unseen(cluster_spread.effective_number(sizes))
        parts, freedoms = np.append(parts, floor), np.append(freedoms, cluster_spread.freedom(sizes))
    return Spread(
        estimate=estimate,
        variance=float(parts.sum()),
        freedom=cluster_spread.satterthwaite(parts, freedoms),
        shapes=tuple(shape_of(np.unique(side, return_counts=True)[1].astype(float)) for side in clusters),
        alike=bool(flat.all()),
        fewest=float((layout.met / np.abs(weighed)).min()),
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


def unseen(size: float) -> float:
    """The variance of a rate that so many rollouts, all alike, leave possible; see `numerics.strata_rule`."""
    rate = (size + 0.25) / (size + 0.5)
    return rate * (1.0 - rate) / size / (1.0 - size / (size + 0.5) ** 2)


def korn_graubard(
    rate: float, variance: float, freedom: float, shape: ClusterShape, trials: int, confidence: float
) -> tuple[float, tuple[float, float]]:
    """How many independent rollouts a rate strictly between 0 and 1 is worth, and the ends of its interval.

    Near 0 and 1 few clusters show a failure (or a success), so that the variance itself is badly known: it is drawn
    towards that of clusters whose rollouts are all alike, which `imagined` such clusters would show.
    """
    from scipy import special

    most = rate * (1.0 - rate)
    imagined = _IMAGINED * (1.0 / most - 4.0)
    inverse = shape.clusters * max(1.0 / trials, variance / most) + imagined / shape.effective
    size, tail = (shape.clusters + imagined) / inverse, (1.0 + confidence) / 2.0
    lost = float(special.stdtrit(trials - 1, tail) / special.stdtrit(freedom, tail)) ** 2
    return size, clopper_pearson_ends(rate, size * lost, confidence)


def clopper_pearson_ends(rate: float, size: float, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's ends for a rate seen in so many rollouts, a number that need not be whole."""
    from surefoot.numerics import beta

    tail, successes = (1.0 - confidence) / 2.0, rate * size
    return float(beta.exact_low(successes, size, tail)), float(beta.exact_high(successes, size, tail))
