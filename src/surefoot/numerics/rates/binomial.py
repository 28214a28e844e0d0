"""Binomial probabilities and tails, accurate at both ends and at a billion rollouts."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from surefoot.numerics import roots

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


_HALF_LOG_TAU = 0.5 * log(2.0 * pi)
# What Stirling's formula lacks for 0! ... 15!; above that its series is exact to rounding.
_LACK = np.array([0.0] + [lgamma(x + 1.0) - (x + 0.5) * log(x) + x - _HALF_LOG_TAU for x in range(1, 16)])


def log_pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """The logarithm of P(X = k), -inf where impossible.

    Written as a saddle point (Loader 2000), so that no large numbers cancel.
    """
    k, n, p = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float), np.asarray(p, float))
    with np.errstate(all="ignore"):
        rest = n - k
        inside = (k > 0) & (rest > 0) & (p > 0) & (p < 1)
        logs = (
            beyond_stirling(n)
            - beyond_stirling(k)
            - beyond_stirling(rest)
            - _deviance(k, n * p)
            - _deviance(rest, n * (1.0 - p))
            + 0.5 * np.log(n / (2.0 * pi * k * rest))
        )
        ends = np.where(k == 0, n * np.log1p(-p), np.where(rest == 0, n * np.log(p), -np.inf))
        ends = np.where((n == 0) & (k == 0) | (k == 0) & (p == 0) | (rest == 0) & (p == 1), 0.0, ends)
    return np.where(inside, logs, ends)


def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """P(X = k)."""
    return np.exp(log_pmf(k, n, p))


def at_most(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """P(X <= k); a tiny left tail keeps its digits."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    inside = (k >= 0) & (k < n)
    tails = special.betaincc(np.where(inside, k + 1.0, 1.0), np.where(inside, n - k, 1.0), p)
    return np.where(inside, tails, np.where(k < 0, 0.0, 1.0))


def at_least(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """P(X >= k); a tiny right tail keeps its digits."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    inside = (k > 0) & (k <= n)
    tails = special.betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1.0, 1.0), p)
    return np.where(inside, tails, np.where(k <= 0, 1.0, 0.0))


def likely(n: int, p: float) -> tuple[int, int]:
    """Counts outside which all probability together is below 1e-21 (Bernstein's inequality)."""
    effort = -log(1e-21 / 2.0)
    reach = effort / 3.0 + (effort * effort / 9.0 + 2.0 * effort * n * p * (1.0 - p)) ** 0.5
    return max(0, int(n * p - reach) - 1), min(n, int(n * p + reach) + 2)


def beyond_stirling(x: ArrayLike) -> Floats:
    """The logarithm of x! minus Stirling's formula, to full accuracy (Loader 2000)."""
    x = np.asarray(x, float)
    most = np.maximum(x, 15.0)
    s = 1.0 / (most * most)
    series = 1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))
    lack: Floats = np.where(x < 16.0, _LACK[np.clip(x, 0, 15).astype(int)], series / most)
    return lack


def _deviance(x: Floats, mean: Floats) -> Floats:
    """The value of x log(x / mean) + mean - x, without cancellation where x is near the mean."""
    v = (x - mean) / (x + mean)
    w = v * v
    near = np.abs(v) < 0.1
    w = np.where(near, w, 0.0)
    series = 1 / 15 + w * (1 / 17 + w / 19)
    for odd in (13, 11, 9, 7, 5, 3):
        series = 1 / odd + w * series
    close = (x - mean) * v + 2.0 * x * v * w * series
    return np.where(near, close, x * np.log(x / mean) + mean - x)


_PIECE = 8192


def wilson_ends(k: ArrayLike, n: ArrayLike, z: float) -> tuple[Floats, Floats]:
    """Both ends, by the formulas of `normal_quantiles.wilson_low` and `wilson_high` with their root shared."""
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
