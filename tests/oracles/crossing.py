"""P(lows[i] <= U_(i) <= highs[i] for all i) for n sorted uniforms, three ways, and the equal-local-level band.

Steck 1971 (determinant); Noe 1972 (recursion over the merged limits); plain conditioning by counting.
The band: order statistic i gets the tails of Beta(i, n + 1 - i) at one common level g, g chosen so that the joint
probability is exactly the asked confidence.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.common import bisect, cdf


def steck(lows: Sequence[Any], highs: Sequence[Any]) -> Fraction:
    """n! det[ (b_i - a_j)_+^(j-i+1) / (j-i+1)! ], 0 below the subdiagonal; exact, for n up to about 8.

    Limits must be sorted. The determinant is expanded along its first column, minor by minor.
    """
    a, b = [Fraction(x) for x in lows], [Fraction(x) for x in highs]
    n = len(a)
    if any(x > y for x, y in zip(a, b, strict=True)):
        return Fraction(0)

    def entry(i: int, j: int) -> Fraction:
        k = j - i + 1
        if k < 0:
            return Fraction(0)
        return max(b[i] - a[j], Fraction(0)) ** k / math.factorial(k) if k else Fraction(1)

    def determinant(rows: list[int], columns: list[int]) -> Fraction:
        if not rows:
            return Fraction(1)
        total = Fraction(0)
        for place, i in enumerate(rows):
            value = entry(i, columns[0])
            if value:
                total += (-1) ** place * value * determinant(rows[:place] + rows[place + 1 :], columns[1:])
        return total

    return math.factorial(n) * determinant(list(range(n)), list(range(n)))


def crossing_probability(lows: Sequence[Any], highs: Sequence[Any]) -> Any:
    """Walk up the merged limits keeping P(N(t) = j and no violation so far), N(t) = number of uniforms <= t.

    U_(i) <= b_i means N(b_i) >= i; U_(i) >= a_i means N(a_i) < i. Between two limits s < t each of the n - j
    uniforms above s falls below t with chance (t - s)/(1 - s). Cost n^3. Floats or Fractions.
    """
    n = len(lows)
    zero = 0 * lows[0] + 0 * highs[0]
    state = [zero + 1] + [zero] * n
    s = zero
    for t in sorted({*lows, *highs, zero + 1}):
        if t > s:
            chance = (t - s) / (1 - s)
            fresh = [zero] * (n + 1)
            for j, mass in enumerate(state):
                if mass:
                    left = n - j
                    for more in range(left + 1):
                        fresh[j + more] += mass * math.comb(left, more) * chance**more * (1 - chance) ** (left - more)
            state, s = fresh, t
        least = sum(1 for b in highs if b <= t)
        most = sum(1 for a in lows if a < t)
        state = [mass if least <= j <= most else zero for j, mass in enumerate(state)]
    return state[n]


def brute_probability(lows: Sequence[float], highs: Sequence[float], cells: int = 400) -> float:
    """The iterated integral on a grid: f_i(x) = density that U_(1) <= ... <= U_(i) = x are inside (crude)."""
    n, h = len(lows), 1 / cells
    middle = [(c + 0.5) * h for c in range(cells)]
    below = [1.0] * cells
    for low, high in zip(lows, highs, strict=True):
        density = [value if low <= x <= high else 0.0 for x, value in zip(middle, below, strict=True)]
        below, total = [], 0.0
        for value in density:
            below.append(total + value * h / 2)
            total += value * h
    return math.factorial(n) * total


def local_limits(n: int, g: float) -> tuple[list[float], list[float]]:
    """For i = 1..n the g and 1 - g quantiles of Beta(i, n+1-i), as P(U_(i) <= x) = P(Bin(n, x) >= i)."""
    lows = [bisect(lambda x, i=i: 1 - cdf(i - 1, n, x) < g, 0.0, 1.0, 60) for i in range(1, n + 1)]
    return lows, [1 - x for x in reversed(lows)]


def equal_local_level(n: int, confidence: float = 0.95, sides: int = 2) -> tuple[float, list[float], list[float]]:
    """(g, lowers, uppers): the common local level, by bisection, whose joint probability is `confidence`.

    sides = 1 uses the upper limits only (for an upper band on the CDF; the lower limits mirror them).
    """

    def joint(g: float) -> float:
        lows, highs = local_limits(n, g)
        return crossing_probability(lows if sides == 2 else [0.0] * n, highs)

    g = bisect(lambda g: joint(g) > confidence, 0.0, 1 - confidence, steps=40)
    return g, *local_limits(n, g)
