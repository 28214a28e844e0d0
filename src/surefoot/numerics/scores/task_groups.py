"""P-value of a weighted mean over tasks, at the task means that fit the candidate best (rule J).

Groups g of scores in [0, 1], a weight a_i for each score. A group has k scores, weight v = sum a, mean mu = sum a z / v
and a squared standard error e2 = kappa^2 sum a^2 (z - mu)^2 / v^2 + 0.25 / (k (k + 1)), where kappa^2 is
1 + (k + 1) / (k (k - 1)). At a candidate tau below the estimate sum v mu the means are m_g = mu_g / (1 + x v_g e2_g /
mu_g), x such that sum v m = tau, and the p-value is P(sum_i a_i E_i (kappa (z_i - mu_g) + mu_g - m_g) <= E_0 max_g (max
a in g) m_g) with standard exponential E. At the true means and with kappa = 1 that is a p-value by the theorem of
Vlassis and Thomas; the means are fitted, and kappa gives back the spread that fitting takes. The level is measured, not
proved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.scores import score_samples, score_tails

if TYPE_CHECKING:
    from collections.abc import Sequence

    from surefoot.numerics.arrays import Floats, Ints
    from surefoot.numerics.scores.score_samples import Pooled


@dataclass(frozen=True, slots=True)
class TaskGroups:
    """The test of a weighted mean over groups, in the direction "is it larger?".

    Attributes:
        samples: Scores that weigh alike within a group.
        scales: The weight of one score of each sample.
        owners: The group of each sample.
        weights: The weight of each group.
        means: Their observed means.
        spreads: kappa of each group, by which distances from the observed mean are multiplied.
        squares: Squared standard errors of the means, never 0.
        largest: The largest weight of a score in each group.
    """

    samples: tuple[Pooled, ...]
    scales: Floats
    owners: Ints
    weights: Floats
    means: Floats
    spreads: Floats
    squares: Floats
    largest: Floats

    @property
    def estimate(self) -> float:
        """The observed weighted mean."""
        return float(self.weights @ self.means)

    @property
    def mirrored(self) -> TaskGroups:
        """The same test of 1 - z."""
        return replace(self, samples=tuple(map(score_samples.mirror, self.samples)), means=1.0 - self.means)

    def log_p(self, target: float) -> float:
        """The logarithm of the p-value against "the weighted mean is at most so much"; it rises in the target."""
        if target >= self.estimate:
            return 0.0
        if target <= 0.0:
            return -math.inf
        fitted = fitted_means(self.means, self.squares, self.weights, target)
        means = self.means - (self.means - fitted) / self.spreads
        spare = np.array([float((self.largest * fitted).max())])
        scales = (self.scales * self.spreads[self.owners])[None]
        found = score_tails.log_tails(self.samples, scales, means[self.owners][None], spare)
        return min(0.0, float(found[0]) + math.log1p(score_tails.SAFE))

    def low_end(self, tail: float) -> float:
        """The largest target that is refused as too low with this error; 0 when none is."""
        estimate = self.estimate
        if estimate <= score_tails.TINY:
            return 0.0
        about = math.sqrt(float(self.weights**2 @ self.squares))
        guess = estimate + float(special.ndtri(tail)) * about
        return score_tails.root(self.log_p, tail, estimate, guess, about)


def task_groups(sides: Sequence[Sequence[Floats]], shares: Sequence[Floats]) -> TaskGroups:
    """The test of cells of scores: one list of cells for each policy, with the weight of each cell.

    Cells of one score of a policy are put together as one group; a lone one joins that policy's smallest other cell.
    """
    samples, scales, owners = [], [], []
    sizes: list[int] = []
    for cells, weights in zip(sides, shares, strict=True):
        for group in _grouped(cells, weights):
            each = np.concatenate([np.full(cells[cell].size, weights[cell] / cells[cell].size) for cell in group])
            scores = np.concatenate([cells[cell] for cell in group])
            for scale in np.unique(each):
                samples.append(score_samples.pool(scores[each == scale]))
                scales.append(float(scale))
                owners.append(len(sizes))
            sizes.append(scores.size)
    return _measured(tuple(samples), np.array(scales), np.array(owners), np.array(sizes, float))


def _grouped(cells: Sequence[Floats], weights: Floats) -> list[list[int]]:
    """Which cells of a policy share a group; never told by the order of tasks, nor by which policy is called first.

    Among the smallest cells of the least weight a lone score joins the one whose mean is farthest from it.
    """
    lone = [cell for cell, scores in enumerate(cells) if scores.size == 1]
    groups = [[cell] for cell, scores in enumerate(cells) if scores.size > 1]
    if len(lone) != 1 or not groups:
        return [*groups, lone] if lone else groups
    (single,) = lone

    def order(group: list[int]) -> tuple[float | tuple[float, ...], ...]:
        scores = cells[group[0]]
        away = np.round(np.abs(scores - cells[single][0]), 12)  # the same for 1 - z
        gap = round(abs(float(scores.mean() - cells[single][0])), 12)
        return scores.size, float(weights[group[0]]), -gap, tuple(np.sort(away).tolist())

    min(groups, key=order).extend(lone)
    return groups


def _measured(samples: tuple[Pooled, ...], scales: Floats, owners: Ints, sizes: Floats) -> TaskGroups:
    groups = sizes.size
    counts, centres = np.array([one.size for one in samples]), np.array([one.mean for one in samples])
    inside = np.array([one.spread for one in samples])
    weights = np.bincount(owners, scales * counts, groups)
    weights, scales = weights / weights.sum(), scales / weights.sum()
    means = np.clip(np.bincount(owners, scales * counts * centres, groups) / weights, 0.0, 1.0)
    around = inside + counts * (centres - means[owners]) ** 2
    spreads = kappa(sizes)
    squares = spreads**2 * np.bincount(owners, scales**2 * around, groups) / weights**2 + 0.25 / (sizes * (sizes + 1.0))
    largest = np.zeros(groups)
    np.maximum.at(largest, owners, scales)
    return TaskGroups(samples, scales, owners, weights, means, spreads, squares, largest)


def kappa(sizes: Floats) -> Floats:
    """By how much the distances of k scores from their mean are stretched; 1 for one score."""
    return np.sqrt(np.where(sizes > 1.0, 1.0 + (sizes + 1.0) / (sizes * np.maximum(sizes - 1.0, 1.0)), 1.0))


def fitted_means(means: Floats, squares: Floats, weights: Floats, target: float | Floats) -> Floats:
    """The means with this weighted sum, below the observed one: each falls the farther the less sure it is.

    The sum is convex and falls in the step x, so Newton's method from 0 rises to the root without passing it.

    Args:
        means: Observed means, the last axis over groups.
        squares: Their squared standard errors.
        weights: The weight of each group.
        target: The weighted sum wanted, one for each row of means; above 0.
    """
    known = means > score_tails.TINY
    slopes = np.where(known, weights * squares / np.where(known, means, 1.0), 0.0)
    x = np.zeros(means.shape[:-1])
    for _ in range(200):
        fitted = means / (1.0 + x[..., None] * slopes)
        over = fitted @ weights - target
        fall = (fitted * slopes / (1.0 + x[..., None] * slopes)) @ weights
        if (over <= 1e-15 * target).all() or not (fall > 0.0).all():
            break
        further = x + np.maximum(over, 0.0) / fall
        if (further - x <= 1e-16 * x).all():
            break
        x = further
    return fitted
