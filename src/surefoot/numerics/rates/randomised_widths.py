"""The mean width, over the draw, of the unbiased randomised interval at every count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.rates import binomial, randomised_counts

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


_NODES = 32


def unbiased(n: int, tail: float) -> Floats:
    """Mean widths at 0 ... n successes: the Bernstein coefficients of the expected width.

    A proportion x is in the interval of count k for the draws u with t1(x) <= k + u <= t2(x); integrate their share
    over x. Between the x where t1 or t2 pass a whole number both lie in known cells, and the two conditions that
    define them are linear in their fractional parts.
    """
    lows = randomised_counts.unbiased_low(np.arange(2, n + 1), 0.0, n, tail)  # t2 passes 2 ... n here
    highs = 1.0 - lows[::-1]  # t1 passes 1 ... n-1 here
    cuts = np.unique(np.concatenate([[0.0], lows, highs, [1.0]]))
    left, right = cuts[:-1], cuts[1:]
    middle = (left + right) / 2.0
    first, last = np.searchsorted(highs, middle), 1 + np.searchsorted(lows, middle)
    apart = first < last  # both in one cell: a single point, which rounding has made a piece
    left, right, first, last = left[apart], right[apart], first[apart], last[apart]
    x, weight = _nodes(left, right)
    start, stop = _parts(first[:, None], last[:, None], n, x, tail)
    widths = np.zeros(n + 2)
    np.add.at(widths, first + 1, right - left)  # cells strictly between the two are covered by every draw
    np.add.at(widths, last, left - right)
    widths = np.cumsum(widths)[: n + 1]
    np.add.at(widths, first, ((1.0 - start) * weight).sum(axis=1))
    np.add.at(widths, last, (stop * weight).sum(axis=1))
    return widths


def _nodes(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights: in the log odds, except on the pieces that touch 0 or 1."""
    at, weight = np.polynomial.legendre.leggauss(_NODES)
    with np.errstate(divide="ignore"):
        start, stop = np.log(left / (1.0 - left)), np.log(right / (1.0 - right))
    plain = ~(np.isfinite(start) & np.isfinite(stop))
    start, stop = np.where(plain, left, start), np.where(plain, right, stop)
    y = (start + stop)[:, None] / 2.0 + (stop - start)[:, None] / 2.0 * at
    x = np.where(plain[:, None], y, 1.0 / (1.0 + np.exp(-y)))
    scale = np.where(plain[:, None], 1.0, x * (1.0 - x))
    return x, scale * weight * (stop - start)[:, None] / 2.0


def _parts(first: Ints, last: Ints, n: int, x: Floats, tail: float) -> tuple[Floats, Floats]:
    """The fractional parts of t1 and t2 in the cells `first` and `last`."""
    # Size 1 - tail is stop b2 - start b1 = outside; unbiased is equal interpolated weights of n - 1 at t1 and t2.
    outside = binomial.at_most(first - 1, n, x) + binomial.at_least(last, n, x) - tail
    b1, b2 = binomial.pmf(first, n, x), binomial.pmf(last, n, x)
    before1, after1 = binomial.pmf(first - 1, n - 1, x), binomial.pmf(first, n - 1, x)
    before2, after2 = binomial.pmf(last - 1, n - 1, x), binomial.pmf(last, n - 1, x)
    rise, fall, apart = after1 - before1, after2 - before2, before2 - before1
    scale = rise * b2 - fall * b1
    start, stop = (apart * b2 + fall * outside) / scale, (outside * rise + apart * b1) / scale
    return np.clip(start, 0.0, 1.0), np.clip(stop, 0.0, 1.0)
