"""A band on a whole distribution: exact one-sided Kolmogorov-Smirnov level, and what the worst-case CDF implies.

Birnbaum and Tingey 1951 (Vincent et al. eq. 16-18). A step CDF is written as (points, steps): points[0] is the low
end of the range, then the sorted scores; steps[i] is the value on [points[i], points[i + 1]). Nothing lies below
points[0]; a final point (the high end of the range) carries the value 1 in a lower band.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tests.oracles.common import bisect, dec, frac, mp
from tests.oracles.crossing import crossing_probability

Steps = tuple[list[float], list[float]]


def ks_tail(n: int, eps: Any) -> Any:
    """P(D_n^- > eps) = eps sum_{j=0}^{floor(n(1-eps))} C(n,j) (1 - eps - j/n)^(n-j) (eps + j/n)^(j-1)."""
    if eps <= 0:
        return 0 * eps + 1
    if eps >= 1:
        return 0 * eps
    one = Fraction(1) if isinstance(eps, Fraction) else mp.mpf(1)
    total = 0 * one
    for j in range(math.floor(n * (1 - eps)) + 1):
        total += math.comb(n, j) * (1 - eps - one * j / n) ** (n - j) * (eps + one * j / n) ** (j - 1)
    return eps * total


def ks_tail_rational(n: int, eps: float) -> Fraction:
    """The same, eps read as the decimal it prints as, without any rounding."""
    return ks_tail(n, frac(eps))


def ks_width(n: int, confidence: float = 0.95) -> float:
    """eps* with P(D_n^- <= eps*) = confidence."""
    alpha = 1 - dec(confidence)
    return float(bisect(lambda eps: ks_tail(n, eps) > alpha, mp.mpf(0), mp.mpf(1)))


def dkw_width(n: int, confidence: float = 0.95) -> float:
    """sqrt(ln(1/alpha) / 2n)."""
    return float(mp.sqrt(-mp.log(1 - dec(confidence)) / (2 * n)))


def ks_rollouts(eps: float, confidence: float = 0.95) -> int:
    """The smallest n with eps*(n) <= eps, one n after another: P(D_n^- > eps) <= alpha."""
    alpha = 1 - dec(confidence)
    n = 1
    while ks_tail(n, dec(eps)) > alpha:
        n += 1
    return n


def ks_width_two_sided(n: int, confidence: float = 0.95) -> float:
    """eps with P(i/n - eps <= U_(i) <= (i-1)/n + eps for all i) = confidence."""

    def covers(eps: float) -> float:
        low = [max(0.0, i / n - eps) for i in range(1, n + 1)]
        high = [min(1.0, (i - 1) / n + eps) for i in range(1, n + 1)]
        return crossing_probability(low, high)

    return float(bisect(lambda eps: covers(eps) < confidence, 0.5 / n, 1.0, steps=45))


# --- Step CDFs --------------------------------------------------------------------------------------------


def worst_cdf(scores: Sequence[float], low: float, eps: float) -> Steps:
    """Upper band min(1, F_n + eps), 0 left of the range: on [x_(i), x_(i+1)) it is min(1, i/n + eps)."""
    n = len(scores)
    return [low, *sorted(scores)], [min(1.0, i / n + eps) for i in range(n + 1)]


def best_cdf(scores: Sequence[float], low: float, high: float, eps: float) -> Steps:
    """Lower band max(0, F_n - eps), 1 from the high end of the range on."""
    n = len(scores)
    return [low, *sorted(scores), high], [max(0.0, i / n - eps) for i in range(n + 1)] + [1.0]


def worst_cdf_from_uppers(scores: Sequence[float], low: float, uppers: Sequence[float]) -> Steps:
    """A weighted upper band: F(x) <= U_(i+1) <= uppers[i] left of x_(i+1), 1 from the largest score on."""
    return [low, *sorted(scores)], [*uppers, 1.0]


def best_cdf_from_lowers(scores: Sequence[float], low: float, high: float, lowers: Sequence[float]) -> Steps:
    """A weighted lower band: F(x) >= U_(i) >= lowers[i-1] from x_(i) on, 0 before the smallest score."""
    return [low, *sorted(scores), high], [0.0, *lowers, 1.0]


def cdf_at(steps: Steps, x: float, left_limit: bool = False) -> float:
    """The step CDF at x, or just left of x."""
    value = 0.0
    for point, height in zip(*steps, strict=True):
        if point < x or (point == x and not left_limit):
            value = height
    return value


def quantile(steps: Steps, tau: float) -> float:
    """inf {x : F(x) >= tau}; tau is forgiven a rounding error."""
    return next(point for point, height in zip(*steps, strict=True) if height >= tau - 1e-13)


def mean(steps: Steps) -> float:
    """E = A + integral over x >= A of (1 - F(x)): the area above the CDF, rectangle by rectangle."""
    points, heights = steps
    area = sum((points[i + 1] - points[i]) * (1 - heights[i]) for i in range(len(points) - 1))
    return points[0] + area


def cvar(steps: Steps, tau: float) -> float:
    """Mean of the worst tau of the mass: (1/tau) integral_0^tau Q(u) du, midpoint rule between the jumps of Q."""
    cuts = sorted({0.0, tau, *(h for h in steps[1] if 0 < h < tau)})
    return sum((b - a) * quantile(steps, (a + b) / 2) for a, b in pairwise(cuts)) / tau


def chance_at_least(steps: Steps, threshold: float) -> float:
    """P(score >= x) = 1 - F(x-)."""
    return 1 - cdf_at(steps, threshold, left_limit=True)


def numeric_mean(steps: Steps, high: float, cells: int = 20000) -> float:
    """The area again, by the midpoint rule on a plain grid of [A, high]: crude, but with no cleverness at all."""
    low = steps[0][0]
    width = (high - low) / cells
    return low + sum((1 - cdf_at(steps, low + (i + 0.5) * width)) * width for i in range(cells))
