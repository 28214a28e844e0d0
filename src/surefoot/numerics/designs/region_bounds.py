"""How likely is a set of endings at most, over a whole region of rates?

The log of P(counts) is concave in the rates: x log p + (n - x) log(1 - p) and its like. Its tangent at a point of the
region is above it everywhere, so the chance of a set is at most a sum of exponentials of affine functions of the rates.
Such a sum is convex and is largest at a corner of the region: four numbers bound a probability over a quadrilateral,
with an error of the second order in its size. Regions that are not settled are split.

Rates are given by the gain d and a nuisance s in [0, 1] that says where between its bounds the second rate lies: both
are affine in each when the other is fixed, so that a rectangle in (d, s) is a quadrilateral of rates.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats
    from surefoot.numerics.designs.stopping_states import Endings


_ROUNDING = 1.0 - 1e-9  # of the level: more than all the sums here can be off
_CELLS = 3_000_000  # terms summed at once
_SPLITS = 40  # a region split so often is a point
_STRETCH = 600.0  # exponents beyond this are as good as infinite


class Counted(NamedTuple):
    """A set of endings, ready to be summed.

    Attributes:
        weights: Log of the chance of each times the ways to its counts.
        counts: How often each outcome was seen: successes and failures of both, or wins of either alone and the rest.
        paired: Whether the counts are of pairs in shared environments.
    """

    weights: Floats
    counts: Floats
    paired: bool

    def chosen(self, which: Flags) -> Counted:
        """Some of them."""
        return Counted(self.weights[which], self.counts[which], self.paired)


def counted(endings: Endings, *, paired: bool) -> Counted:
    """All endings, ready to be summed."""
    n, first, second = endings.n, endings.first, endings.second
    if paired:
        columns = [first, second, n - first - second]
        ways = gammaln(n + 1.0)
    else:
        columns = [first, n - first, second, n - second]
        ways = 2.0 * gammaln(n + 1.0)
    counts = np.stack(columns, axis=1).astype(float)
    return Counted(np.log(endings.chance) + ways - gammaln(counts + 1.0).sum(axis=1), counts, paired)


def outcome_chances(gain: Floats, nuisance: Floats, *, paired: bool) -> Floats:
    """The chance of each outcome that is counted, one row per pair of gain and nuisance."""
    rest = (1.0 - gain) * (1.0 - nuisance)  # of the first policy to fail; of a pair to tell nothing
    second = nuisance * (1.0 - gain) / (2.0 if paired else 1.0)
    columns = [second + gain, second, rest] if paired else [second + gain, rest, second, 1.0 - second]
    return np.stack(columns, axis=-1)


def chances(of: Counted, gain: float, nuisance: Floats) -> Floats:
    """The chance of the set at one gain and several nuisances strictly between 0 and 1."""
    logs = np.log(outcome_chances(np.full_like(nuisance, gain), nuisance, paired=of.paired))
    out = np.empty(len(nuisance))
    step = max(1, _CELLS // max(1, len(of.weights)))
    for start in range(0, len(nuisance), step):
        part = slice(start, start + step)
        out[part] = np.exp(of.counts @ logs[part].T + of.weights[:, None]).sum(axis=0)
    return out


def peak(of: Counted, gain: float, near: float | None = None) -> tuple[float, float]:
    """About the largest chance of the set at one gain, and the nuisance where it is; looked for `near` one if given."""
    if near is None:
        angles = np.linspace(0.0, math.pi / 2.0, 20)
        angles[0], angles[-1] = 1e-3, math.pi / 2.0 - 1e-3
        grid, reach = np.sin(angles) ** 2, math.pi / 38.0
    else:
        reach = math.pi / 56.0
        angle = math.asin(math.sqrt(near))
        grid = np.sin(np.clip(angle + reach * np.array([-1.0, 0.0, 1.0]), 1e-4, math.pi / 2.0 - 1e-4)) ** 2
    best, at = -1.0, 0.5
    for _ in range(3):
        found = chances(of, gain, grid)
        if found.max() > best:
            best, at = float(found.max()), float(grid[found.argmax()])
        angle, reach = math.asin(math.sqrt(at)), reach / 2.0
        grid = np.sin(np.clip(angle + reach * np.array([-1.0, 1.0]), 1e-4, math.pi / 2.0 - 1e-4)) ** 2
    return best, at


def is_below(of: Counted, gains: tuple[float, float], level: float, *, rising: bool = False) -> bool:
    """Whether the chance of the set is proved to be at most `level` at all gains in this range, whatever the nuisance.

    False when a place is found where it is larger, or when it is too near the level to tell.

    Args:
        of: The set.
        gains: The range, ends included, in [0, 1].
        level: What the chance is compared with.
        rising: Whether the chance grows with the gain; it only decides where tangents are taken.
    """
    level *= _ROUNDING
    if not len(of.weights):
        return True
    edges = np.sin(np.linspace(0.0, math.pi / 2.0, 9)) ** 2
    low, high = gains
    step = max(4.0 / float(of.counts.sum(axis=1).max()), 0.01)
    cuts = [low, *(c for c in low + step * (2.0 ** np.arange(1, 12) - 1.0) if c < high - step), high]
    cells = np.array([(*gains, *nuisances) for gains in pairwise(cuts) for nuisances in pairwise(edges.tolist())])
    batch = max(1, _CELLS // (4 * len(of.weights)))
    for _ in range(_SPLITS):
        bounds = [_corners(of, cells[i : i + batch], rising=rising) for i in range(0, len(cells), batch)]
        tops = np.concatenate(bounds)
        over = tops.max(axis=1) > level
        if not over.any():
            return True
        cells, tops = cells[over], tops[over]
        middles = _middles(of, cells, rising=rising)
        if (middles > level).any():
            return False
        # Too wide where the corners at the tangent's edge are too high, or rise more from its middle than opposite.
        near, far = tops[:, :2].max(axis=1), tops[:, 2:].max(axis=1)
        wide = (near > level) | (near - middles > far - near)
        cells = np.concatenate([_halved(cells[wide], 2), _halved(cells[~wide], 0)])
    return False


def _middles(of: Counted, cells: Floats, *, rising: bool) -> Floats:
    """The chance of the set where each cell's tangent is taken."""
    at = outcome_chances(_edge(cells, rising=rising), cells[:, 2:].mean(axis=1), paired=of.paired)
    step = max(1, _CELLS // len(of.weights))
    parts = [np.log(at[i : i + step]) for i in range(0, len(at), step)]
    return np.concatenate([np.exp(of.counts @ logs.T + of.weights[:, None]).sum(axis=0) for logs in parts])


def _edge(cells: Floats, *, rising: bool) -> Floats:
    """The gain at which each cell's tangent is taken: where the chance is larger; short of 1, where some are 0."""
    edge: Floats = np.minimum(cells[:, 1 if rising else 0], 1.0 - 1e-9)
    return edge


def _halved(cells: Floats, axis: int) -> Floats:
    middle = cells[:, axis : axis + 2].mean(axis=1)
    one, other = cells.copy(), cells.copy()
    one[:, axis + 1] = other[:, axis] = middle
    return np.concatenate([one, other])


def _corners(of: Counted, cells: Floats, *, rising: bool) -> Floats:
    """The tangent bound at the corners of each cell: two at the edge where the tangent is taken, two opposite."""
    near, far = (cells[:, 1], cells[:, 0]) if rising else (cells[:, 0], cells[:, 1])
    left, right = cells[:, 2], cells[:, 3]
    base = outcome_chances(_edge(cells, rising=rising), (left + right) / 2.0, paired=of.paired)
    gains, nuisances = np.stack([near, near, far, far], axis=1), np.stack([left, right, left, right], axis=1)
    moved = outcome_chances(gains, nuisances, paired=of.paired) / base[:, None] - 1.0
    slopes = (np.log(base)[:, None] + moved).reshape(-1, base.shape[1])
    exponent = of.counts @ slopes.T + of.weights[:, None]
    with np.errstate(over="ignore"):
        np.exp(np.minimum(exponent, _STRETCH, out=exponent), out=exponent)
        bound: Floats = exponent.sum(axis=0).reshape(len(cells), 4)
    return bound
