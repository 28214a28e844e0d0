"""Means of many resamples, and sums under many random signs, without holding more than a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import arrays

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


HELD = 1 << 17  # elements drawn at a time: what a core keeps close by
BLOCK = 1 << 22  # elements of a block: some hundredths of a second, well above what it costs to hand one out
COUNTED = 1 << 20  # counts of a block: to draw one takes as long as several elements
LEVELS = 64  # with so few distinct values, counts of each are drawn instead of every value


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
