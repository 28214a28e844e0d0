"""Means of many resamples, and sums under many random signs, without holding more than a block at a time."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BLOCK = 1 << 17  # elements drawn at a time: what a core keeps close by
LEVELS = 64  # with so few distinct values, counts of each are drawn instead of every value


def resampled_means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """The mean of `resamples` samples of the same size, drawn with replacement."""
    n = values.size
    levels, counts = np.unique(values, return_counts=True)
    if levels.size <= min(LEVELS, n // 2):
        return settled(rng.multinomial(n, counts / n, size=resamples) @ levels / n, levels)
    means = np.empty(resamples)
    rows = max(1, BLOCK // n)
    for start in range(0, resamples, rows):
        stop = min(resamples, start + rows)
        means[start:stop] = values[rng.integers(0, n, size=(stop - start, n))].sum(axis=1)
    return settled(means / n, levels)


def settled(means: Floats, values: Floats) -> Floats:
    """The means, with those that only rounding keeps from 0 set to 0: a tie with 0 is no evidence."""
    means[abs(means) <= 1e-13 * abs(values).max(initial=0.0)] = 0.0
    return means


def resampled_ratios(sums: Floats, sizes: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Total over size of `resamples` draws of whole clusters with replacement."""
    groups = sums.size
    ratios = np.empty(resamples)
    rows = max(1, BLOCK // groups)
    for start in range(0, resamples, rows):
        stop = min(resamples, start + rows)
        drawn = rng.integers(0, groups, size=(stop - start, groups))
        ratios[start:stop] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return settled(ratios, sums / sizes)


def sign_flips(values: Floats, draws: int, rng: np.random.Generator | None) -> tuple[Floats, Floats]:
    """How many values each pattern of signs flips, and their sum: all patterns without `rng`, else random ones."""
    n = values.size
    if rng is None:
        patterns = np.array(list(product((0.0, 1.0), repeat=n)))
        return patterns.sum(axis=1), patterns @ values
    count, total = np.empty(draws), np.empty(draws)
    rows = max(1, BLOCK // n)
    width = -(-n // 8)
    both = np.column_stack((np.ones(n), values))
    for start in range(0, draws, rows):
        stop = min(draws, start + rows)
        bits = np.unpackbits(rng.integers(0, 256, size=(stop - start, width), dtype=np.uint8), axis=1, count=n)
        sums = bits.astype(float) @ both
        count[start:stop], total[start:stop] = sums[:, 0], sums[:, 1]
    return count, total
