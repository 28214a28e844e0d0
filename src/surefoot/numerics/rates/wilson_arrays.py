"""Wilson ends for arrays of any length, in pieces that stay in the processor's cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


_PIECE = 8192


def ends(k: ArrayLike, n: ArrayLike, z: float) -> tuple[Floats, Floats]:
    """Both ends, by the formulas of `rate_ends.wilson_low` and `rate_ends.wilson_high` with their root shared."""
    counts, totals = np.broadcast_arrays(np.asarray(k), np.asarray(n))
    shape = counts.shape
    counts, totals = counts.ravel(), totals.ravel()
    low, high = np.empty(len(counts)), np.empty(len(counts))
    square = z * z
    for start in range(0, len(counts), _PIECE):
        piece = slice(start, start + _PIECE)
        total = totals[piece].astype(float)
        count = counts[piece].astype(float)
        lost = total - count
        twice = 2.0 * count
        root = lost / total
        root *= twice
        root *= 2.0
        root += square
        np.sqrt(root, out=root)
        root *= z
        root += twice
        root += square
        count /= total
        count *= twice
        np.divide(count, root, out=low[piece])
        total += square
        total *= 2.0
        np.divide(root, total, out=high[piece])
        np.copyto(high[piece], 1.0, where=lost == 0.0)
    return low.reshape(shape), high.reshape(shape)
