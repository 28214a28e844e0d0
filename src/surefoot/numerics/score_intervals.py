"""Ends of the asymptotic score interval of a difference, two independent counts or pairs, and its p-value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import gain_scores, normal_quantiles, paired_rates, roots, two_rates
from surefoot.numerics.staircase_sets import Observed

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


def ends(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Low, high and two-sided p-value; (x1, n1, x2, n2) with the factor N/(N-1), or (b, c, n) without one.

    The statistic falls in the difference, so {d : |z_d| < z} is an interval and each end one root. The low end is
    above 0 (the high end below) exactly when the p-value is below `error`.
    """
    family_ = family(table)
    shrink = family_.design.shrink
    wanted = normal_quantiles.upper_quantile(error / 2.0) / shrink
    low, high = end(family_, wanted), -end(family_.mirrored(), wanted)
    here = float(family_.statistic(np.array([0.0]))[0])
    if here > wanted:
        low = max(low, 5e-324)
    elif here < -wanted:
        high = min(high, -5e-324)
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    return low, high, min(1.0, 2.0 * normal_quantiles.tail(abs(here) * shrink))


def tails(table: tuple[int, ...], difference: float) -> tuple[float, float]:
    """One-sided p-values of "at most" and "at least" this difference."""
    family_ = family(table)
    z = family_.design.shrink * float(family_.statistic(np.array([difference]))[0])
    return normal_quantiles.tail(z), normal_quantiles.tail(-z)


def family(table: tuple[int, ...]) -> Observed:
    """The counts (x1, n1, x2, n2), or the discordant pairs (b, c, n)."""
    if len(table) == 4:
        x1, n1, x2, n2 = table
        return Observed(two_rates.TwoCounts(n1, n2), x1, x2)
    b, c, n = table
    return Observed(paired_rates.PairCounts(n), b, c)


def end(family: Observed, wanted: float) -> float:
    """Where the statistic falls to `wanted`; -1 where it is never above."""
    if family.estimate <= -1.0:
        return -1.0
    return roots.last(lambda d: bool(family.statistic(np.array([d]))[0] > wanted), -1.0, family.estimate)


def many_ends(tables: Ints, error: float) -> tuple[Floats, Floats]:
    """The ends of `ends` for every row of counts (x1, n1, x2, n2) or (b, c, n), all at once."""
    wanted = normal_quantiles.upper_quantile(error / 2.0) / _shrinks(tables)
    return _many_end(tables, wanted), -_many_end(_mirrored(tables), wanted)


def many_tails(tables: Ints, difference: float) -> tuple[Floats, Floats]:
    """The p-values of `tails` for every row."""
    from scipy.special import ndtr

    z = _shrinks(tables) * _statistics(tables, np.full(len(tables), difference))
    return ndtr(-z), ndtr(z)


def _statistics(tables: Ints, differences: Floats) -> Floats:
    if tables.shape[1] == 4:
        x1, n1, x2, n2 = tables.T
        return gain_scores.statistic(x1, n1, x2, n2, differences)
    b, c, n = tables.T
    return paired_rates.statistic(b, c, n, differences)


def _shrinks(tables: Ints) -> Floats:
    if tables.shape[1] == 4:
        return np.asarray(np.sqrt(1.0 - 1.0 / (tables[:, 1] + tables[:, 3])))
    return np.ones(len(tables))


def _mirrored(tables: Ints) -> Ints:
    return tables[:, [2, 3, 0, 1]] if tables.shape[1] == 4 else tables[:, [1, 0, 2]]


def _many_end(tables: Ints, wanted: Floats) -> Floats:
    x = tables.astype(float)
    right = x[:, 0] / x[:, 1] - x[:, 2] / x[:, 3] if tables.shape[1] == 4 else (x[:, 0] - x[:, 1]) / x[:, 2]
    left = np.full(len(tables), -1.0)
    for _ in range(54):
        middle = (left + right) / 2.0
        above = _statistics(tables, middle) > wanted
        left, right = np.where(above, middle, left), np.where(above, right, middle)
    return left
