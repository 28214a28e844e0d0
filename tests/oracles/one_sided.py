"""Slow twins of the one-sided exact bounds: every table ordered by its score limit, chances summed on a grid."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import binom, multinomial, norm


def unpaired_z(x1, n1, x2, n2, d):
    """The score statistic, its restricted rates by direct maximisation of the likelihood."""
    low, high = max(0.0, -d), min(1.0, 1.0 - d)

    def minus(p2):
        p1 = p2 + d
        terms = ((x1, p1), (n1 - x1, 1 - p1), (x2, p2), (n2 - x2, 1 - p2))
        return -sum(k * math.log(max(p, 1e-300)) for k, p in terms if k)

    best = minimize_scalar(minus, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    p2 = min((low, best, high), key=minus)
    p1 = min(max(p2 + d, 0.0), 1.0)
    variance = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    gap = x1 / n1 - x2 / n2 - d
    return 0.0 if abs(gap) < 1e-12 else gap / math.sqrt(variance) if variance > 1e-18 else math.copysign(1e9, gap)


def unpaired_limit(x1, n1, x2, n2, error):
    """The Miettinen-Nurminen lower limit; -1 where nothing is excluded."""
    wanted = norm.isf(error) / math.sqrt(1 - 1 / (n1 + n2))
    estimate = x1 / n1 - x2 / n2
    if estimate <= -1.0 + 1e-9 or unpaired_z(x1, n1, x2, n2, -1 + 1e-9) <= wanted:
        return -1.0
    return brentq(lambda d: unpaired_z(x1, n1, x2, n2, d) - wanted, -1 + 1e-9, estimate - 1e-9, xtol=1e-11)


def unpaired_p(x1, n1, x2, n2, d, error, points=2001):
    """The largest chance, over a grid of rates with difference d, of a table with at least this limit."""
    limits = np.array([[unpaired_limit(a, n1, b, n2, error) for b in range(n2 + 1)] for a in range(n1 + 1)])
    inside = limits >= limits[x1, x2] - 1e-7
    best = 0.0
    for p2 in np.linspace(max(0.0, -d), min(1.0, 1.0 - d), points):
        one = binom.pmf(np.arange(n1 + 1), n1, min(max(p2 + d, 0.0), 1.0))
        best = max(best, float(one @ inside @ binom.pmf(np.arange(n2 + 1), n2, p2)))
    return best


def paired_z(b, c, n, d):
    """Tango's statistic, its restricted chance by direct maximisation."""
    low, high = max(0.0, -d), (1.0 - d) / 2.0

    def minus(pc):
        terms = ((b, pc + d), (c, pc), (n - b - c, 1 - 2 * pc - d))
        return -sum(k * math.log(max(p, 1e-300)) for k, p in terms if k)

    best = minimize_scalar(minus, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    pc = min((low, best, high), key=minus)
    variance = (2 * pc + d - d * d) / n
    gap = (b - c) / n - d
    return 0.0 if abs(gap) < 1e-12 else gap / math.sqrt(variance) if variance > 1e-18 else math.copysign(1e9, gap)


def paired_limit(b, c, n, error):
    """Tango's lower limit; -1 where nothing is excluded."""
    wanted, estimate = norm.isf(error), (b - c) / n
    if estimate <= -1.0 + 1e-9 or paired_z(b, c, n, -1 + 1e-9) <= wanted:
        return -1.0
    return brentq(lambda d: paired_z(b, c, n, d) - wanted, -1 + 1e-9, estimate - 1e-9, xtol=1e-11)


def paired_p(b, c, n, d, error, points=801):
    """The largest chance, over a grid of discordant shares, of pairs with at least this limit."""
    tables = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    own = paired_limit(b, c, n, error)
    inside = [(i, j, n - i - j) for i, j in tables if paired_limit(i, j, n, error) >= own - 1e-7]
    best = 0.0
    for pc in np.linspace(max(0.0, -d), (1.0 - d) / 2.0, points):
        rest = max(1 - 2 * pc - d, 0.0)
        total = pc + d + pc + rest
        best = max(best, float(multinomial.pmf(inside, n, [(pc + d) / total, pc / total, rest / total]).sum()))
    return best
