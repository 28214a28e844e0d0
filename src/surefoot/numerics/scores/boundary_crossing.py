"""Probability that uniform order statistics stay within given limits.

Every sum here has positive terms only, so nothing cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


_NEGLIGIBLE = 1e-32  # states this much rarer than the likeliest are left out


def one_sided_tail(n: int, offset: float) -> float:
    """P(F - F_n exceeds `offset` somewhere): the chance that a one-sided band misses (Birnbaum and Tingey).

    The sum of C(n,j) (1 - e - j/n)^(n-j) (e + j/n)^(j-1) times e, with each term written as a Poisson-like
    point mass whose logarithm stays small: no binomial coefficient overflows and no digits are lost.
    """
    if offset <= 0.0:
        return 1.0
    if offset >= 1.0:
        return 0.0
    shift = n * offset
    total = (1.0 - offset) ** n if n < 1000 else math.exp(n * math.log1p(-offset))
    last = min(n - 1, math.floor(n - shift))
    for start in range(1, last + 1, 1 << 18):
        j = np.arange(start, min(start + (1 << 18), last + 1), dtype=float)
        rest = n - j
        inside = np.maximum(-shift / rest, -1.0)
        with np.errstate(divide="ignore"):  # the last term may be exactly 0
            logs = j * np.log1p(shift / j) + rest * np.log1p(inside)
        logs += binomial.beyond_stirling(float(n)) - binomial.beyond_stirling(j) - binomial.beyond_stirling(rest)
        total += float((np.exp(logs) * np.sqrt(n / (2.0 * math.pi * j * rest)) * (shift / (shift + j))).sum())
    return min(1.0, total)


def one_sided_offset(n: int, tail: float) -> float:
    """The offset e with P(F - F_n exceeds e somewhere) = tail."""
    if n == 1:
        return 1.0 - tail
    goal = math.log(tail)
    guess = math.sqrt(-goal / (2.0 * n)) - 1.0 / (6.0 * n)
    guess = guess if 0.0 < guess < 1.0 else 0.5

    def height(offset: float) -> float:
        chance = one_sided_tail(n, offset)
        return (math.log(chance) if chance > 0.0 else -800.0) - goal

    return _root(height, 0.0, 1.0, guess)


def two_sided_offset(n: int, tail: float) -> float:
    """The offset e with P(|F - F_n| exceeds e somewhere) = tail."""
    from scipy import stats

    return float(stats.kstwo.isf(tail, n))


def inside_chance(lows: ArrayLike, highs: ArrayLike) -> float:
    """P(lows[i] <= U_(i) <= highs[i] for all i), limits non-decreasing, by counting points as time passes.

    The uniform sample is a Poisson process of rate n with n points by time 1. Between two limits the count
    grows by a Poisson number (one short convolution); at highs[i] at least i points must have come, before
    lows[i] fewer than i. Noé's idea with a Poisson clock (Moscovich and Nadler 2017), without the transform.
    """
    lows, highs = np.asarray(lows, float), np.asarray(highs, float)
    n = lows.size
    if np.any(lows > highs):
        return 0.0
    numbers = np.arange(1, n + 1)
    times = np.concatenate((highs, lows))
    least = np.concatenate((numbers, np.zeros(n, int)))
    most = np.concatenate((np.full(n, n), numbers - 1))
    useful = ((least > 0) & (times < 1.0)) | ((least == 0) & (times > 0.0))
    order = np.argsort(times[useful], kind="stable")
    log_factorials = special.gammaln(np.arange(n + 2) + 1.0)
    state, first, now = np.ones(1), 0, 0.0
    schedule = zip(*(column[useful][order].tolist() for column in (times, least, most)), strict=True)
    for time, lower, upper in schedule:
        if time > now:
            state, first = _grown(state, first, n, n * (time - now), log_factorials)
            now = time
        if lower > first:
            state, first = state[lower - first :], lower
        if first + state.size - 1 > upper:
            state = state[: max(0, upper - first + 1)]
        if not state.size:
            return 0.0
    short = n - first - np.arange(state.size)
    rate = n * (1.0 - now)
    if rate > 0.0:
        ends = np.exp(short * math.log(rate) - rate - log_factorials[short])
    else:
        ends = (short == 0).astype(float)
    exactly = math.exp(-float(binomial.beyond_stirling(float(n)))) / math.sqrt(2.0 * math.pi * n)  # P(Poisson(n) = n)
    return min(1.0, float(state @ ends) / exactly)


def local_level(n: int, tail: float, sides: int) -> float:
    """The common level g at which every order statistic may leave its own beta limit, `tail` for all together."""
    highest = math.log(tail / sides)  # one order statistic alone
    lowest = highest - math.log(n)  # all of them added up
    if n == 1:
        return math.exp(highest)

    def height(level: float) -> float:
        return inside_chance(*local_limits(n, math.exp(level), sides)) - (1.0 - tail)

    guess = highest - 0.5 * math.log(n) * (1.0 - 0.04 * math.log(n)) if n < 1000 else highest - math.log(25.0)
    return math.exp(_root(height, lowest, highest, min(max(guess, lowest + 1e-3), highest - 1e-3)))


def local_limits(n: int, level: float, sides: int) -> tuple[Floats, Floats]:
    """Limits that the i-th order statistic leaves with probability `level`: above (one side), or on either side."""
    numbers = np.arange(1, n + 1)
    highs = binomial.exact_high(numbers - 1, n, level)
    return (1.0 - highs[::-1] if sides == 2 else np.zeros(n)), highs


def _grown(state: Floats, first: int, n: int, rate: float, log_factorials: Floats) -> tuple[Floats, int]:
    """The weights of the counts after a Poisson number of further points, never above n."""
    length = min(n - first, math.ceil(rate + 10.0 * math.sqrt(rate) + 30.0)) + 1
    steps = np.arange(length)
    kernel = np.exp(steps * math.log(rate) - rate - log_factorials[:length])
    state = np.convolve(state, kernel)[: n - first + 1]
    kept = np.flatnonzero(state > state.max() * _NEGLIGIBLE)
    return state[kept[0] : kept[-1] + 1], first + int(kept[0])


def _root(height: Callable[[float], float], left: float, right: float, guess: float) -> float:
    """The zero of a falling function between `left` and `right`: secants, halving where one leads astray."""
    last, at_last = guess, height(guess)
    point = guess + math.copysign(1e-3 * min(guess - left, right - guess), at_last)
    for _ in range(200):
        left, right = (last, right) if at_last > 0.0 else (left, last)
        value = height(point)
        if value == 0.0 or value == at_last:
            break
        following = point - value * (point - last) / (value - at_last)
        last, at_last = point, value
        inner, outer = (point, right) if value > 0.0 else (left, point)
        if abs(following - point) <= 2e-16 * abs(point):
            break
        point = following if inner < following < outer else 0.5 * (inner + outer)
    return point
