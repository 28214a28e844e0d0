"""Ends of a binomial proportion's interval that are quantiles of a beta distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def exact_low(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X >= k; n, p) = tail: the Clopper-Pearson lower end; 0 at k = 0."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    with np.errstate(all="ignore"):
        ends = special.betaincinv(np.where(k == 0, 1.0, k), n - k + 1.0, tail)
    return np.where(k == 0, 0.0, ends)


def exact_high(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X <= k; n, p) = tail: the Clopper-Pearson upper end; 1 at k = n."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    with np.errstate(all="ignore"):
        ends = special.betainccinv(k + 1.0, np.where(k == n, 1.0, n - k), tail)
    return np.where(k == n, 1.0, ends)


def jeffreys(k: ArrayLike, n: ArrayLike, tail: float) -> tuple[Floats, Floats]:
    """Equal-tailed Beta(k + 1/2, n - k + 1/2) quantiles; 0 at k = 0 and 1 at k = n."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    low = special.betaincinv(k + 0.5, n - k + 0.5, tail)
    high = special.betainccinv(k + 0.5, n - k + 0.5, tail)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)
