"""Moments of a mean of clustered values, and tests of that mean guarded against clusters that were not met.

The values stand in groups (one; a policy; a policy on a task) whose weighted means are added. What never meets, through
common groups or common clusters, is an independent part: each has its own moments and degrees of freedom, and
Satterthwaite's rule adds these. `Layout` depends on who belongs where, `Evidence` on the values too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics import roots
from surefoot.numerics.arrays import numbered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints

LEAST, MOST = -6.0, 8.0
"""Between these standard errors the nodes are even; beyond the second they grow apart."""

NODES, FAR, INSIDE, NARROWINGS = 200, 40, 60, 3
"""Nodes between the two, nodes beyond, nodes in the best cell, and how often that is narrowed."""

FLAT = 1e-13
"""Clusters whose means differ by less than this share of the range do not differ: that is rounding."""


def _sums(places: Ints, values: Floats, count: int = 0) -> Floats:
    """The sum of the values of every place, numbered from 0."""
    found: Floats = np.bincount(places, values, count)  # type: ignore[assignment]
    return found


def counted(sizes: ArrayLike) -> float:
    """The number of clusters, of which one below Kish's mean size counts as its share of that."""
    sizes = np.asarray(sizes, float)
    shares = sizes * (sizes.sum() / (sizes**2).sum())
    return float(np.where(shares > 1.0 - 1e-12, 1.0, shares).sum())  # equal sizes, but for rounding, count one each


def freedom(sizes: ArrayLike) -> float:
    """Bell and McCaffrey's degrees of freedom of a clustered mean, from the sizes of its (two or more) clusters.

    P has m_g on its diagonal and -a_g a_h m_g m_h / n beside it, a_g^2 = 1 / (1 - m_g / n); the degrees of freedom are
    (tr P)^2 over the sum of its squared entries, which needs no matrix.
    """
    sizes = np.asarray(sizes, float)
    total = sizes.sum()
    raised = sizes**2 / (1.0 - sizes / total)
    beside = max(0.0, float(raised.sum() ** 2 - (raised**2).sum())) / total**2
    return float(total**2 / ((sizes**2).sum() + beside))


def satterthwaite(variances: ArrayLike, freedoms: ArrayLike) -> float:
    """The degrees of freedom of a sum of independent estimated variances, not all 0."""
    shares = np.asarray(variances, float) / np.sum(variances)
    return float(1.0 / (shares**2 / np.asarray(freedoms, float)).sum())


@dataclass(frozen=True, slots=True)
class Layout:
    """Which value belongs to which cluster and group, and what follows from that alone.

    Attributes:
        groups: The group of every value.
        weights: The weight of every group's mean; below 0 where it is taken away.
        cells: The meeting of cluster and group that every value belongs to.
        cell_clusters: The cluster of every cell.
        cell_groups: The group of every cell.
        held: How many values every cell holds.
        cell_scales: What a cell's sum of residuals is multiplied by (CR2).
        parts: The independent part that every cluster belongs to.
        group_parts: The independent part that every group belongs to.
        freedoms: Bell and McCaffrey's degrees of freedom of every part.
    """

    groups: Ints
    weights: Floats
    cells: Ints
    cell_clusters: Ints
    cell_groups: Ints
    held: Ints
    cell_scales: Floats
    parts: Ints
    group_parts: Ints
    freedoms: Floats

    @property
    def met(self) -> Ints:
        """How many clusters every group meets."""
        return np.bincount(self.cell_groups)

    @property
    def shares(self) -> Floats:
        """The weight of every cluster: the sum of its shares of the groups, each by the group's weight."""
        sizes = np.bincount(self.groups)
        of_group = np.abs(self.weights) / sizes
        return _sums(self.cell_clusters, of_group[self.cell_groups] * self.held)

    def means(self, values: Floats) -> Floats:
        """The mean of every group."""
        return np.asarray(np.bincount(self.groups, values) / np.bincount(self.groups), float)

    def scores(self, values: Floats) -> Floats:
        """CR2's residual of every cluster; their squares add up to the variance."""
        apart = values - self.means(values)[self.groups]
        return _sums(self.cell_clusters, self.cell_scales * _sums(self.cells, apart))

    def moments(self, values: Floats) -> Moments:
        """The second to fourth moments of the weighted sum of means, and its degrees of freedom."""
        scores = self.scores(values)
        steps = _sums(self.cell_clusters, np.abs(self.cell_scales) * self.held)
        shares, count = self.shares, len(self.freedoms)

        def total(each: Floats) -> Floats:
            return _sums(self.parts, each, count)

        squares, each_step = scores**2, scores / steps  # products: numpy takes ten times as long for other powers
        pooled = total(shares * each_step * each_step * each_step) / total(shares) * total(steps * steps * steps)
        signs = np.zeros(count, np.int64)  # 1 for parts with groups that are added, 2 for those taken away, 3 for both
        np.bitwise_or.at(signs, self.group_parts, np.where(self.weights > 0.0, 1, 2))
        both = (total(squares * scores), pooled)
        thirds = [[float(each[signs == sign].sum()) for sign in (1, 2, 3)] for each in both]
        known = float((variances := total(squares)).sum())
        return Moments(
            known,
            np.array(thirds),
            float((squares**2).sum()),
            satterthwaite(variances, self.freedoms) if known > 0.0 else float(self.freedoms.min()),
        )

    def unmet(self, reaches: Floats) -> tuple[Unmet, ...]:
        """What clusters that were not met can do: in whole parts, and group by group where a part has several."""
        parts = np.bincount(self.group_parts, reaches)
        number = [counted(self.shares[self.parts == part]) for part in range(len(parts))]
        found = [Unmet.of(parts, number)]
        if len(parts) < len(reaches):
            each = [counted(self.held[self.cell_groups == group]) for group in range(len(reaches))]
            found.append(Unmet.of(reaches, each))
        return tuple(found)


def layout(clusters: Ints, groups: Ints, weights: Floats) -> Layout:
    """The layout of values in clusters and groups, both numbered from 0.

    Only where every group meets two clusters or more is there an error to ask for.
    """
    count, width = int(clusters.max()) + 1, len(weights)
    sizes = np.bincount(groups, minlength=width).astype(float)
    cells, met = numbered(clusters * width + groups, count * width)
    held, keys = np.bincount(cells), np.empty(met, np.int64)
    keys[cells] = clusters * width + groups
    rows, columns = keys // width, keys % width
    left = np.where(held < sizes[columns], 1.0 - held / sizes[columns], 1.0)
    scales = weights[columns] / sizes[columns] / np.sqrt(left)
    # P = D - B B', B with a row per cluster and a column per group; its parts are the connected ones
    entries = scales * held / np.sqrt(sizes[columns])
    parts, group_parts, inner = _connected(rows, columns, entries, (count, width))
    diagonal, taken = np.bincount(rows, scales**2 * held), np.bincount(rows, entries**2)
    squares = np.bincount(parts, diagonal**2 - 2.0 * diagonal * taken) + inner
    traces = np.bincount(parts, diagonal - taken)
    freedoms = traces**2 / np.maximum(squares, 1e-300)
    return Layout(groups, weights, cells, rows, columns, held, scales, parts, group_parts, freedoms)


def _connected(rows: Ints, columns: Ints, entries: Floats, shape: tuple[int, int]) -> tuple[Ints, Ints, Floats]:
    """The connected part of every row and of every column of B, and the sum of squares of B'B in every part."""
    count, width = shape
    sums: Floats
    if width == 1:
        sums = np.bincount(columns, entries**2).astype(float) ** 2
        return np.zeros(count, np.int64), np.zeros(1, np.int64), sums
    from scipy import sparse
    from scipy.sparse import csgraph

    met = sparse.coo_array((np.ones(len(rows)), (rows, count + columns)), (count + width, count + width))
    total, part = csgraph.connected_components(met, directed=False)
    beside = sparse.csr_array((entries, (rows, columns)), shape)
    inner = (beside.T @ beside).tocoo()  # a group lies in one part, and so does every entry of B'B
    sums = np.bincount(part[count:][inner.row], inner.data**2, int(total)).astype(float)
    return part[:count].astype(np.int64), part[count:].astype(np.int64), sums


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of a weighted sum of means.

    Attributes:
        second: The variance (CR2).
        thirds: The third moment, and what it would be were large clusters as skew as all, in two rows; a column each
            for what is added, what is taken away, and what is in both.
        fourth: The fourth moment.
        freedom: The degrees of freedom of the variance.
    """

    second: float
    thirds: Floats
    fourth: float
    freedom: float

    @property
    def adverse(self) -> tuple[float, float]:
        """The third moment against "the mean is larger", and against "it is smaller"; 0 or more."""
        down, up = (np.maximum(0.0, (sign * self.thirds).max(axis=0)).sum() for sign in (-1.0, 1.0))
        return float(down), float(up)


def two_ways(first: Moments, second: Moments, cells: Moments) -> Moments:
    """The moments of values that belong together in two ways, from those of each way and of their meetings."""
    # the difference of estimates can fall below either part, even below 0: the larger part is kept then
    known = max(first.second + second.second - cells.second, first.second, second.second)
    pair, freedoms = (first.second, second.second), (first.freedom, second.freedom)
    added = first.thirds[:1] + second.thirds[:1]
    nu = max(min(freedoms), satterthwaite(pair, freedoms)) if known > 0.0 else min(freedoms)
    return Moments(known, added, max(first.fourth, second.fourth), nu)


@dataclass(frozen=True, slots=True)
class Unmet:
    """The chance that clusters which fail whole were not met, for the share of all that they would take away.

    Clusters can hide in several places (the first policy's, the second's; a task's). With reach d_h and number K_h of
    place h, the shares q_h with sum d_h q_h = share times sum d_h hide best where sum K_h log(1 - q_h) is largest:
    1 - q_h = min(1, (K_h / d_h) / rate), the places joining in the order of d_h / K_h.

    Attributes:
        joins: The share from which on one more place is used.
        reaches: The reach of the places used so far, as a share of all.
        numbers: The counted clusters of these.
        logs: The sum of K_h log(K_h / d_h) over these.
        places: K_h and d_h of every place.
    """

    joins: Floats
    reaches: Floats
    numbers: Floats
    logs: Floats
    places: tuple[Floats, Floats]

    @classmethod
    def of(cls, reaches: ArrayLike, number: ArrayLike) -> Unmet:
        """Places with these reaches, 0 or more, and numbers of counted clusters."""
        every, counts = np.asarray(reaches, float), np.asarray(number, float)
        there = every > 0.0
        if not there.any():
            return cls(np.empty(0), np.ones(1), np.zeros(1), np.zeros(1), (np.zeros(1), np.ones(1)))
        shares, counts = every[there] / every[there].sum(), counts[there]
        order = np.argsort(-shares / counts, kind="stable")
        shares, counts = shares[order], counts[order]
        d, k = np.cumsum(shares), np.cumsum(counts)
        joins = d[:-1] - k[:-1] * shares[1:] / counts[1:]
        logs = np.cumsum(counts * np.log(counts / shares))
        return cls(np.maximum.accumulate(joins), d, k, logs, (counts, shares))

    def log_chance(self, share: Floats) -> Floats:
        """The logarithm of that chance, for each share."""
        with np.errstate(divide="ignore"):
            if not self.joins.size:
                plain: Floats = self.numbers[0] * np.log1p(-share) if self.numbers[0] else np.zeros_like(share)
                return plain
            at = np.searchsorted(self.joins, share, side="right")
            left = np.maximum(0.0, self.reaches[at] - share) / self.numbers[at]
            found: Floats = np.minimum(0.0, self.logs[at] + self.numbers[at] * np.log(left))
        return found

    def log_chance_alone(self, share: Floats) -> Floats:
        """The logarithm of the chance that only clusters which fail whole are met, with the same shares of them."""
        (counts, reaches), left = self.places, np.maximum(0.0, 1.0 - share) / max(self.numbers[-1], 1e-300)
        failing = np.clip(1.0 - (counts / reaches) * left[..., None], 0.0, 1.0)  # 0 in places that are not used yet
        with np.errstate(divide="ignore"):
            logs: Floats = np.where(counts > 0.0, counts * np.log(failing), -np.inf).sum(axis=-1)
        return logs


@dataclass(frozen=True, slots=True)
class Above:
    """The test of "the mean is larger than theta".

    Attributes:
        mean: The observed mean.
        low: The least mean there can be.
        high: The largest.
        root: The standard error, two clusters like the worst ones seen added; 0 where clusters do not differ.
        skew: The skewness against the statement, 0 or more.
        freedom: Degrees of freedom.
        unmet: Where clusters that were not met can hide; the worst counts.
    """

    mean: float
    low: float
    high: float
    root: float
    skew: float
    freedom: float
    unmet: tuple[Unmet, ...]

    @property
    def bend(self) -> float:
        """Where skewness has no more to give, in standard errors: the p-value may have a corner there."""
        return self.skew / 6.0 - 0.75 / self.skew if self.skew >= 1e-9 else LEAST

    def log_p(self, theta: ArrayLike, two_sided: bool = False) -> tuple[Floats, Floats]:
        """The logarithm of the p-value of each theta, and of what it is when no cluster is hidden.

        The two-sided one is for thetas that are not above the mean.
        """
        theta = np.atleast_1d(np.asarray(theta, float))[:, None]
        alike = self._log_alike(theta, two_sided)[:, 0]
        if self.root == 0.0:
            return alike, np.where(self.mean > theta, -np.inf, 0.0)[:, 0]
        last = (self.mean - theta) / self.root
        start, top = np.minimum(LEAST, last), np.minimum(MOST, last)
        even = start + (top - start) * np.linspace(0.0, 1.0, NODES)
        far = top + np.expm1(np.log1p(last - top) * np.linspace(0.0, 1.0, FAR + 1)[1:])
        x = np.sort(np.concatenate((even, np.clip(self.bend, start, last), far), axis=1), axis=1)
        values = self._log_values(x, last, theta, two_sided)
        bare = values[:, -1]
        for _ in range(NARROWINGS):
            at = values.argmax(axis=1)[:, None]
            left = np.take_along_axis(x, np.maximum(at - 1, 0), 1)
            right = np.take_along_axis(x, np.minimum(at + 1, x.shape[1] - 1), 1)
            best = np.take_along_axis(x, at, 1)
            x = np.concatenate((left + (right - left) * np.linspace(0.0, 1.0, INSIDE), best), axis=1)
            x.sort(axis=1)
            values = self._log_values(x, last, theta, two_sided)
        found = np.maximum(values.max(axis=1), bare)
        return (np.maximum(found, alike) if two_sided else found), bare

    def _log_alike(self, theta: Floats, two_sided: bool) -> Floats:
        """The logarithm of the p-value were clusters alike and all of the gap hidden: exact for clusters of one size.

        Of two sides, the same law may give the hidden clusters alone. Clusters that differ: where luck ends.
        """
        mean = min(self.high, self.mean - LEAST * self.root)
        share = np.clip((mean - theta) / max(mean - self.low, 1e-300), 0.0, 1.0)
        if not two_sided:
            return self._log_unmet(share)
        as_far = theta - self.low >= share * (self.high - self.low) * (1.0 - 1e-12)
        both = [np.logaddexp(one.log_chance(share), one.log_chance_alone(share)) for one in self.unmet]
        found: Floats = np.where(as_far, np.minimum(0.0, np.max(both, axis=0)), self._log_unmet(share))
        return found

    def _log_values(self, x: Floats, last: Floats, theta: Floats, two_sided: bool) -> Floats:
        """The logarithm of the chance to see such data with this much of the gap by luck and the rest hidden."""
        apart = np.maximum(0.0, (last - x) * self.root)
        share = np.minimum(1.0, apart / np.maximum(apart + (theta - self.low), 1e-300))
        tail = special.stdtr(self.freedom, -self._normal(x))
        if two_sided:
            tail = np.minimum(1.0, tail + special.stdtr(self.freedom, x - 2.0 * last))
        with np.errstate(divide="ignore"):
            values: Floats = np.log(tail) + self._log_unmet(share)
        return values

    def _log_unmet(self, share: Floats) -> Floats:
        found: Floats = functools.reduce(np.maximum, (one.log_chance(share) for one in self.unmet))
        return found

    def _normal(self, x: Floats) -> Floats:
        """Inverse of Cornish and Fisher's x = z + c (2 z^2 + 1) / 6."""
        if self.skew < 1e-9:
            return x
        inside = np.maximum(0.0, 1.0 + 4.0 * self.skew / 3.0 * (x - self.skew / 6.0))
        normal: Floats = (np.sqrt(inside) - 1.0) / (2.0 * self.skew / 3.0)
        return normal

    def end(self, error: float, two_sided: bool = False) -> float:
        """The theta below the mean at which the p-value is the error, or the least mean there can be."""
        level = math.log(error)

        def over(theta: Floats) -> Floats:
            return np.maximum(self.log_p(theta, two_sided)[0], -700.0) - level

        if self.mean <= self.low or over(np.array([self.low]))[0] >= 0.0:
            return self.low
        return float(roots.solve(over, self.low, self.mean, within=1e-12 * (self.mean - self.low)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What clustered values say about their mean, or about a sum of weighted means.

    Attributes:
        moments: The moments of the mean.
        counted: The counted clusters.
        above: The test of "the mean is larger".
        below: The test of "the mean is smaller", everything with its sign turned.
    """

    moments: Moments
    counted: float
    above: Above
    below: Above

    @classmethod
    def of(
        cls,
        mean: float,
        ends: tuple[float, float],
        moments: Moments,
        number: float,
        unmet: tuple[Sequence[Unmet], Sequence[Unmet]],
    ) -> Evidence:
        """The tests of a mean between these ends; `unmet` at the low end, and at the high one."""
        mean = min(ends[1], max(ends[0], mean))
        down, up = moments.adverse
        one = _guarded(mean, ends, moments, down, tuple(unmet[0]))
        other = _guarded(-mean, (-ends[1], -ends[0]), moments, up, tuple(unmet[1]))
        return cls(moments, number, one, other)

    @property
    def mean(self) -> float:
        """The observed mean."""
        return self.above.mean

    def p_above(self, theta: float) -> float:
        """The p-value of "the mean is at most theta"."""
        return float(np.exp(self.above.log_p(theta)[0][0]))

    def p_below(self, theta: float) -> float:
        """The p-value of "the mean is at least theta"."""
        return float(np.exp(self.below.log_p(-theta)[0][0]))

    def p_value(self, theta: float) -> float:
        """The two-sided p-value of "the mean is theta"."""
        side, at = (self.above, theta) if theta <= self.mean else (self.below, -theta)
        return float(np.exp(side.log_p(at, True)[0][0]))

    def interval(self, error: float) -> tuple[float, float]:
        """The means whose two-sided p-value is above the error."""
        return self.above.end(error, True), 0.0 - self.below.end(error, True)

    def bounds(self, error: float) -> tuple[float, float]:
        """A lower and an upper bound, each with this error by itself."""
        return self.above.end(error), 0.0 - self.below.end(error)

    def hidden(self, ends: tuple[float, float], two_sided: bool = True) -> bool:
        """Whether clusters that were not met, and not the spread of those that were, decide one of these ends."""
        for side, theta in ((self.above, ends[0]), (self.below, -ends[1])):
            full, bare = side.log_p(theta, two_sided)
            if side.low < theta < side.mean and bare[0] < full[0] - 1e-6:
                return True
        return False


def _guarded(
    mean: float, ends: tuple[float, float], moments: Moments, adverse: float, unmet: tuple[Unmet, ...]
) -> Above:
    """The test with the moments against it, as if two more clusters like the worst ones had been seen."""
    known = moments.second
    if known <= (FLAT * (ends[1] - ends[0])) ** 2:
        return Above(mean, *ends, 0.0, 0.0, moments.freedom, unmet)
    worst = adverse / known
    extra = max(worst**2, moments.fourth / known - 3.0 * known / moments.freedom, 0.0)
    spread = known + 2.0 * extra
    return Above(mean, *ends, math.sqrt(spread), (adverse + 2.0 * worst**3) / spread**1.5, moments.freedom, unmet)


def evidence(values: Floats, ways: Sequence[Layout], meetings: Layout | None, ends: tuple[float, float]) -> Evidence:
    """What values between two ends say about the sum of their weighted group means.

    Args:
        values: The values.
        ways: Their layout by clusters, and by the second kind of clusters where they belong together in two ways.
        meetings: The layout by the meetings of both kinds.
        ends: The least and the largest value there can be.
    """
    low, high = ends
    one = ways[0]
    moments = one.moments(values)
    if meetings is not None:
        moments = two_ways(moments, ways[1].moments(values), meetings.moments(values))
    means, sizes = one.means(values), np.abs(one.weights)
    added = one.weights > 0.0
    down = np.maximum(0.0, sizes * np.where(added, means - low, high - means))
    up = np.maximum(0.0, sizes * np.where(added, high - means, means - low))
    least, most = (float(np.where(added, a, b) @ one.weights) for a, b in ((low, high), (high, low)))
    sides = [tuple(hidden for way in ways for hidden in way.unmet(reach)) for reach in (down, up)]
    number = min(_counted(way) for way in ways)
    return Evidence.of(float(one.weights @ means), (least, most), moments, number, (sides[0], sides[1]))


def _counted(way: Layout) -> float:
    """The counted clusters of the values that are added, or of those that are taken away where these are fewer."""
    found = []
    for sign in (1.0, -1.0):
        cells = np.flatnonzero(sign * way.weights[way.cell_groups] > 0.0)
        if cells.size:
            sizes = np.bincount(way.groups)[way.cell_groups[cells]]
            shares = np.abs(way.weights)[way.cell_groups[cells]] * way.held[cells] / sizes
            found.append(counted(np.bincount(way.cell_clusters[cells], shares)[np.unique(way.cell_clusters[cells])]))
    return min(found)
