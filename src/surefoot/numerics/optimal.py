"""Bounds from the randomised count t = k + u, k binomial and u uniform on [0, 1]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import beta, binomial, roots

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def below(t: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """P(X + U <= t)."""
    t = np.asarray(t, float)
    whole = np.floor(t)
    chance: Floats = binomial.at_most(whole - 1.0, n, p) + (t - whole) * binomial.pmf(whole, n, p)
    return chance


def above(t: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """P(X + U > t)."""
    t = np.asarray(t, float)
    whole = np.floor(t)
    chance: Floats = binomial.at_least(whole + 1.0, n, p) + (1.0 - (t - whole)) * binomial.pmf(whole, n, p)
    return chance


def low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X + U > k + u) = tail; 0 where k + u < 1 - tail and 1 where k + u > n + 1 - tail."""
    k, u, n, tail = _together(k, u, n, tail)
    with np.errstate(all="ignore"):
        none = -np.expm1(np.log((1.0 - tail) / u) / n)  # u (1-p)^n = 1 - tail
        every = np.exp(np.log(tail / (1.0 - u)) / n)  # (1-u) p^n = tail
    ends: Floats = np.where(k == 0, np.where(u > 1.0 - tail, none, 0.0), np.where(u < 1.0 - tail, every, 1.0))
    # n = 1 has no count between its ends, and k = 0 = n cannot be: the ends are all closed forms.
    inside = (k > 0) & (k < n)
    if not inside.any():
        return ends
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def lacking(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        return binomial.at_least(k, n, p) - u * binomial.pmf(k, n, p) - tail

    # u = 0 and u = 1 are the exact bounds of k and k + 1: the root lies between them.
    answer: Floats = np.array(ends)
    answer[inside] = roots.solve(lacking, beta.exact_low(k, n, tail), beta.exact_low(k + 1.0, n, tail), k, u, n, tail)
    return answer


def high(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """One minus the lower bound of the failures, with the same u."""
    return 1.0 - low(np.asarray(n, float) - k, u, n, tail)


def quantile(level: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """The t with P(X + U <= t) = level."""
    level, n, p = _together(level, n, p)
    least, most = np.zeros(level.shape), np.array(n)
    # The whole part is the first count with P(X <= count) >= level.
    while (least < most).any():
        middle = np.floor((least + most) / 2.0)
        enough = binomial.at_most(middle, n, p) >= level
        least, most = np.where(enough, least, middle + 1.0), np.where(enough, middle, most)
        least = np.minimum(least, most)
    with np.errstate(all="ignore"):
        part = (level - binomial.at_most(least - 1.0, n, p)) / binomial.pmf(least, n, p)
    t: Floats = least + np.clip(np.where(np.isfinite(part), part, 0.0), 0.0, 1.0)
    return t


def unbiased_low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p whose unbiased acceptance region [t1, t2] of size 1 - tail ends at t2 = k + u (Lehmann-Romano 5.5)."""
    k, u, n, tail = _together(k, u, n, tail)
    # Thresholds compare the draw, not k + u, which would lose digits of u for a large k.
    early = (k < 1) | (k == 1) & (u <= 1.0 - tail)
    late = (k == n) & (u > 1.0 - tail)
    answer: Floats = np.where(late, 1.0, 0.0)
    inside = ~early & ~late
    if not inside.any():
        return answer
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def excess(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        # Given p and t2 the size fixes t1; what is left of the second condition is positive left of the root.
        over = binomial.at_least(k + 1.0, n, p) + (1.0 - u) * binomial.pmf(k, n, p)
        start = quantile(np.clip(tail - over, 0.0, 1.0), n, p)
        further = binomial.at_least(k, n - 1.0, p) + (1.0 - u) * binomial.pmf(k - 1.0, n - 1.0, p)
        return tail - further - below(start - 1.0, n - 1.0, p)

    answer[inside] = roots.solve(excess, 0.0, low(k, u, n, tail), k, u, n, tail)
    return answer


def unbiased(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> tuple[Floats, Floats]:
    """Both ends; the high end is one minus the low end of the mirrored count n + 1 - t = (n - k) + (1 - u)."""
    k, u, n = (np.asarray(x, float) for x in (k, u, n))
    return unbiased_low(k, u, n, tail), 1.0 - unbiased_low(n - k, 1.0 - u, n, tail)


def _together(*items: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(item, float) for item in items)))
