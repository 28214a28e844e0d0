"""Bounds from the randomised count t = k + u, k binomial and u uniform on [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import roots
from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Flags, Floats


_ALMOST_ZERO, _ALMOST_ONE = 1e-300, float(np.nextafter(1.0, 0.0))


def low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p with P(X + U > k + u) = tail; 0 where k + u < 1 - tail and 1 where k + u > n + 1 - tail."""
    k, u, n, tail = _together(k, u, n, tail)
    with np.errstate(all="ignore"):
        none = -np.expm1(np.log((1.0 - tail) / u) / n)  # u (1-p)^n = 1 - tail
        every = np.exp(np.log(tail / (1.0 - u)) / n)  # (1-u) p^n = tail
    ends = np.where(k == 0, np.where(u > 1.0 - tail, none, 0.0), np.where(u < 1.0 - tail, every, 1.0))

    def lacking(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        mass = binomial.pmf(k, n, p)
        return binomial.at_least(k, n, p) - u * mass - tail, mass * (k - u * (k - n * p) / (1.0 - p)) / p

    def bracket(k: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        return binomial.exact_low(k, n, tail), binomial.exact_low(k + 1.0, n, tail)  # u = 0 and u = 1

    return _between(ends, lacking, bracket, k, u, n, tail)


def high(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """One minus the lower bound of the failures with the same u, solved for p so that a tiny p keeps its digits."""
    k, u, n, tail = _together(k, u, n, tail)
    with np.errstate(all="ignore"):
        every = np.exp(np.log((1.0 - tail) / u) / n)  # u p^n = 1 - tail
        none = -np.expm1(np.log(tail / (1.0 - u)) / n)  # (1-u) (1-p)^n = tail
    ends = np.where(k == n, np.where(u > 1.0 - tail, every, 1.0), np.where(u < 1.0 - tail, none, 0.0))

    def lacking(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        mass = binomial.pmf(k, n, p)
        return tail - binomial.at_most(k, n, p) + u * mass, mass * (n - k - u * (n * p - k) / p) / (1.0 - p)

    def bracket(k: Floats, n: Floats, tail: Floats) -> tuple[Floats, Floats]:
        return binomial.exact_high(k, n, tail), binomial.exact_high(k - 1.0, n, tail)  # u = 0 and u = 1

    return _between(ends, lacking, bracket, k, u, n, tail)


def unbiased(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> tuple[Floats, Floats]:
    """Both ends of the interval whose acceptance region [t1, t2] has size 1 - tail and is unbiased."""
    low, high = unbiased_low(k, u, n, tail), unbiased_high(k, u, n, tail)
    # At a confidence of a few percent the interval can be a single point, which rounding would turn inside out.
    middle = (low + high) / 2.0
    return np.minimum(low, middle), np.maximum(high, middle)


def unbiased_low(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p whose unbiased acceptance region ends at t2 = k + u (Lehmann-Romano 5.5).

    The two conditions on t1 and t2 differ by (1-p) times the difference of their weights, P(t - 1 < X + U <= t) for
    n - 1: unbiased is equal weights.
    """
    k, u, n, tail = _together(k, u, n, tail)
    # Thresholds compare the draw, not k + u, which would lose digits of u for a large k.
    late = (k == n) & ((u > 1.0 - tail) | (u == 1.0 - tail) & (n > 1))
    inside = ~late & ((k > 1) | (k == 1) & (u > 1.0 - tail))
    answer: Floats = np.where(late, 1.0, 0.0)
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def excess(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        mass = binomial.pmf(k, n, p)
        over = binomial.at_least(k + 1.0, n, p) + (1.0 - u) * mass
        return _weight(*_first(np.maximum(tail - over, 0.0), n, p), n, p) - _weight(k, u, mass, n, p)

    most = np.clip(low(k, u, n, tail), _ALMOST_ZERO, _ALMOST_ONE)
    answer[inside] = roots.solve(excess, _ALMOST_ZERO, most, k, u, n, tail)
    return answer


def unbiased_high(k: ArrayLike, u: ArrayLike, n: ArrayLike, tail: ArrayLike) -> Floats:
    """The p whose unbiased acceptance region starts at t1 = k + u."""
    k, u, n, tail = _together(k, u, n, tail)
    early = (k == 0) & ((u < tail) | (u == tail) & (n > 1))
    inside = ~early & ((k < n - 1.0) | (k == n - 1.0) & (u < tail))
    answer: Floats = np.where(early, 0.0, 1.0)
    k, u, n, tail = (x[inside] for x in (k, u, n, tail))

    def excess(p: Floats, k: Floats, u: Floats, n: Floats, tail: Floats) -> Floats:
        mass = binomial.pmf(k, n, p)
        under = binomial.at_most(k - 1.0, n, p) + u * mass
        return _weight(k, u, mass, n, p) - _weight(*_last(np.maximum(tail - under, 0.0), n, p), n, p)

    # At the left end of the bracket P(X + U <= t) = tail: the bound of the mirrored draw.
    least = np.clip(high(k, np.subtract(1.0, u), n, tail), _ALMOST_ZERO, _ALMOST_ONE)
    answer[inside] = roots.solve(excess, least, _ALMOST_ONE, k, u, n, tail)
    return answer


def _weight(k: Floats, u: Floats, mass: Floats, n: Floats, p: Floats) -> Floats:
    """P(k + u - 1 < X + U <= k + u) for n - 1, from the probability `mass` of k for n."""
    weight: Floats = mass * ((1.0 - u) * (k / (n * p)) + u * ((n - k) / (n * (1.0 - p))))
    return weight


def _first(level: Floats, n: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Whole and fractional part of the t with P(X + U <= t) = level, and the probability of the whole part."""
    whole = _search(lambda count: binomial.at_most(count, n, p) >= level, n)
    mass = binomial.pmf(whole, n, p)
    with np.errstate(all="ignore"):
        part = (level - binomial.at_most(whole - 1.0, n, p)) / mass
    return whole, np.clip(np.where(np.isfinite(part), part, 0.0), 0.0, 1.0), mass


def _last(level: Floats, n: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Whole and fractional part of the t with P(X + U > t) = level, and the probability of the whole part."""
    whole = _search(lambda count: binomial.at_least(count + 1.0, n, p) <= level, n)
    mass = binomial.pmf(whole, n, p)
    with np.errstate(all="ignore"):
        part = 1.0 - (level - binomial.at_least(whole + 1.0, n, p)) / mass
    return whole, np.clip(np.where(np.isfinite(part), part, 1.0), 0.0, 1.0), mass


def _search(enough: Callable[[Floats], Flags], n: Floats) -> Floats:
    """The first count in 0 ... n that is enough, for each element."""
    least, most = np.zeros(n.shape), np.array(n, float)
    while (least < most).any():
        middle = np.floor((least + most) / 2.0)
        found = enough(middle)
        least, most = np.where(found, least, np.minimum(middle + 1.0, most)), np.where(found, middle, most)
    return least


def _between(
    ends: Floats,
    function: Callable[..., tuple[Floats, Floats]],
    bracket: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]],
    *args: Floats,
) -> Floats:
    """The closed forms at no success and at no failure; elsewhere a root between the ends that u = 0 and u = 1 give."""
    k, _, n, _ = args
    inside = np.array((k > 0) & (k < n))
    answer: Floats = np.array(ends)
    if not inside.any():
        return answer
    k, u, n, tail = (x[inside] for x in args)
    plain, other = bracket(k, n, tail)
    answer[inside] = np.where(u == 0.0, plain, other)
    inside[inside] = between = (u > 0.0) & (u < 1.0)
    if between.any():
        sides = (np.clip(end(plain, other)[between], _ALMOST_ZERO, _ALMOST_ONE) for end in (np.minimum, np.maximum))
        answer[inside] = roots.newton(function, *sides, *(x[between] for x in (k, u, n, tail)))
    return answer


def _together(*items: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(item, float) for item in items)))
