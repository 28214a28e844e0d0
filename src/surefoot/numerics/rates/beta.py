"""Ends of a binomial proportion's interval that are quantiles of a beta distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from surefoot.numerics import roots

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


_TRUSTED = 1e5
"""Below this total scipy's inverse was never seen wrong; above it, it is checked (1000 of 1e9 is off by a half)."""


def exact_low(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X >= k; n, p) = tail: the Clopper-Pearson lower end; 0 at k = 0."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    ends = lower(np.where(k == 0, 1.0, k), n - k + 1.0, tail)
    return np.where(k == 0, 0.0, ends)


def exact_high(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X <= k; n, p) = tail: the Clopper-Pearson upper end; 1 at k = n."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    ends = upper(k + 1.0, np.where(k == n, 1.0, n - k), tail)
    return np.where(k == n, 1.0, ends)


def jeffreys(k: ArrayLike, n: ArrayLike, tail: float) -> tuple[Floats, Floats]:
    """Equal-tailed Beta(k + 1/2, n - k + 1/2) quantiles; 0 at k = 0 and 1 at k = n."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    low, high = lower(k + 0.5, n - k + 0.5, tail), upper(k + 0.5, n - k + 0.5, tail)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def lower(a: Floats, b: Floats, tail: ArrayLike) -> Floats:
    """The x with probability `tail` below it."""
    return _checked(special.betaincinv, special.betainc, a, b, tail)


def upper(a: Floats, b: Floats, tail: ArrayLike) -> Floats:
    """The x with probability `tail` above it."""
    return _checked(special.betainccinv, special.betaincc, a, b, tail)


def _checked(inverse: Callable[..., Any], forward: Callable[..., Any], a: Floats, b: Floats, tail: ArrayLike) -> Floats:
    """The inverse where it inverts, a bracketed root where it does not."""
    ends: Floats = np.asarray(inverse(a, b, tail))
    if np.max(a + b) <= _TRUSTED:
        return ends
    a, b, tails, flat = (np.ravel(item) for item in np.broadcast_arrays(a, b, np.asarray(tail, float), ends))
    wrong = np.flatnonzero(~(np.abs(forward(a, b, flat) - tails) <= 1e-11 * tails) & (a + b > _TRUSTED))
    if not len(wrong):
        return ends
    flat = flat.copy()
    flat[wrong] = roots.solve(
        lambda x, a, b, tail: forward(a, b, x) - tail, np.zeros(len(wrong)), 1.0, a[wrong], b[wrong], tails[wrong]
    )
    return flat.reshape(ends.shape)
