"""Ends of the asymptotic score interval of a difference, two independent counts or pairs, and its p-value."""

from __future__ import annotations

import math

from surefoot.numerics import normal_quantiles, roots
from surefoot.numerics.rates import gain_scores, paired_rates


def ends(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Low, high and two-sided p-value; (x1, n1, x2, n2) with the factor N/(N-1), or (b, c, n) without one.

    The statistic falls in the difference, so {d : |z_d| < z} is an interval and each end one root. The low end is
    above 0 (the high end below) exactly when the p-value is below `error`.
    """
    wanted = normal_quantiles.upper_quantile(error / 2.0)
    low, high = _end(table, wanted), -_end(_swapped(table), wanted)
    here = _statistic(table, 0.0)
    if here > wanted:
        low = max(low, 5e-324)
    elif here < -wanted:
        high = min(high, -5e-324)
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    return low, high, min(1.0, 2.0 * normal_quantiles.tail(abs(here)))


def _statistic(table: tuple[int, ...], difference: float) -> float:
    if len(table) == 3:
        b, c, n = table
        return float(paired_rates.statistic(b, c, n, difference))
    x1, n1, x2, n2 = table
    return float(gain_scores.statistic(x1, n1, x2, n2, difference)) * math.sqrt(1.0 - 1.0 / (n1 + n2))


def _swapped(table: tuple[int, ...]) -> tuple[int, ...]:
    return (*table[2:], *table[:2]) if len(table) == 4 else (table[1], table[0], table[2])


def _end(table: tuple[int, ...], wanted: float) -> float:
    """Where the statistic falls to `wanted`; -1 where it is never above."""
    if len(table) == 4:
        x1, n1, x2, n2 = table
        estimate = (x1 * n2 - x2 * n1) / (n1 * n2)
    else:
        estimate = (table[0] - table[1]) / table[2]
    if estimate <= -1.0:
        return -1.0
    return roots.last(lambda d: _statistic(table, d) > wanted, -1.0, estimate)
