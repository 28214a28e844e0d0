"""How much does a mean, or a sum of weighted means, vary when its values come in clusters? CR2, Bell-McCaffrey.

The values stand in groups (one; a policy; a policy on a task) whose weighted means are added. What never meets, through
common groups or common clusters, is independent: each such part has its own variance and degrees of freedom, and
Satterthwaite's rule adds them. Everything but `Layout.error` depends on who belongs where, not on the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints


def effective_number(sizes: ArrayLike) -> float:
    """How many clusters of one size would leave a mean as unsure as these do, were all rollouts of a cluster alike."""
    sizes = np.asarray(sizes, float)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


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


@dataclass(frozen=True, slots=True)
class Layout:
    """Which value belongs to which cluster and group, and what follows from that alone.

    Attributes:
        groups: The group of every value.
        weights: The weight of every group's mean.
        cells: The meeting of cluster and group that every value belongs to.
        cell_clusters: The cluster of every cell.
        cell_groups: The group of every cell.
        held: How many values every cell holds.
        cell_scales: What a cell's sum of residuals is multiplied by.
        parts: The independent part that every cluster belongs to.
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
    freedoms: Floats

    @property
    def met(self) -> Ints:
        """How many clusters every group meets."""
        return np.bincount(self.cell_groups)

    def reaches(self, values: Floats) -> Floats:
        """How far apart the means of the clusters of every group are."""
        means = np.bincount(self.cells, values) / self.held
        low, high = np.full(len(self.weights), np.inf), np.full(len(self.weights), -np.inf)
        np.minimum.at(low, self.cell_groups, means)
        np.maximum.at(high, self.cell_groups, means)
        reaches: Floats = high - low
        return reaches

    def error(self, values: Floats) -> tuple[float, Floats]:
        """The sum of the weighted means, and the variance that every independent part adds to it."""
        sizes = np.bincount(self.groups)
        means = np.bincount(self.groups, values) / sizes
        apart = values - means[self.groups]
        scores = np.bincount(self.cell_clusters, self.cell_scales * np.bincount(self.cells, apart))
        variances: Floats = np.bincount(self.parts, scores**2)  # type: ignore[assignment]
        return float(self.weights @ means), variances


def layout(clusters: Ints, groups: Ints, weights: Floats) -> Layout:
    """The layout of values in clusters and groups, both numbered from 0.

    Only where every group meets two clusters or more is there an error to ask for.
    """
    from scipy import sparse
    from scipy.sparse import csgraph

    count, width = int(clusters.max()) + 1, len(weights)
    sizes = np.bincount(groups, minlength=width).astype(float)
    keys, cells, held = np.unique(clusters * width + groups, return_inverse=True, return_counts=True)
    rows, columns = keys // width, keys % width
    left = np.where(held < sizes[columns], 1.0 - held / sizes[columns], 1.0)
    scales = weights[columns] / sizes[columns] / np.sqrt(left)
    # P = D - B B', B with a row per cluster and a column per group; its parts are the connected ones
    entries = scales * held / np.sqrt(sizes[columns])
    met = sparse.coo_array((np.ones(len(keys)), (rows, count + columns)), (count + width, count + width))
    _, numbered = csgraph.connected_components(met, directed=False)
    parts = numbered[:count].astype(np.int64)
    beside = sparse.csr_array((entries, (rows, columns)), (count, width))
    inner = (beside.T @ beside).tocoo()  # a group lies in one part, and so does every entry of B'B
    diagonal, taken = np.bincount(rows, scales**2 * held), np.bincount(rows, entries**2)
    squares = np.bincount(parts, diagonal**2 - 2.0 * diagonal * taken)
    squares = squares + np.bincount(numbered[count:][inner.row], inner.data**2, len(squares))
    traces = np.bincount(parts, diagonal - taken)
    return Layout(groups, weights, cells, rows, columns, held, scales, parts, traces**2 / np.maximum(squares, 1e-300))


def satterthwaite(variances: Floats, freedoms: Floats) -> float:
    """The degrees of freedom of a sum of independent estimated variances, not all 0."""
    shares = variances / variances.sum()
    return float(1.0 / (shares**2 / freedoms).sum())


def residual_sums(values: Floats, clusters: Ints) -> Floats:
    """CR2's residual sums over n of each column of values, one row per cluster; all columns in the same clusters.

    The variance of a column's mean is the sum of its squares, that of the gain between two columns the sum of the
    squares of their difference: a ranking of many policies needs one such table.
    """
    sizes = np.bincount(clusters).astype(float)
    apart = values - values.mean(axis=0)
    order = np.argsort(clusters, kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes[:-1]).astype(np.int64)))
    sums = np.add.reduceat(apart[order], starts, axis=0)
    scales = 1.0 / np.sqrt(1.0 - sizes / len(clusters)) / len(clusters)
    result: Floats = sums * scales.reshape(-1, *[1] * (values.ndim - 1))
    return result
