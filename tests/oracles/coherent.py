"""The coherent pair (one object that gives interval, verdict and p-value), unpaired and paired, by brute force.

Agresti and Min 2001, two-sided: p(delta) = sup over the nuisance of P(|Z_delta| >= |z_delta,seen|), Z_delta the score
statistic. Berger and Boos 1994: with gamma > 0 the nuisance stays within Clopper-Pearson limits (of each rate at
1 - gamma/2, or of the discordant share at 1 - gamma), and gamma is added; gamma alone where there is none. Interval:
hull of {delta : p(delta) > alpha}. Printed p: sup of p(delta) over the far side of 0, with 0.
Unpaired nuisance: the second rate. Paired nuisance (Tango's Z): the discordance rate. Meant for small tables.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import beta

from tests.oracles.common import bisect
from tests.oracles.paired import tango_z
from tests.oracles.two_rates import score_z

TIE = 1e-9  # |Z| this close (relatively) counts as equal: mirrored tables tie


def _sup(chance: Callable[[np.ndarray], np.ndarray], low: float, high: float, cells: int) -> float:
    """Maximum of a curve on [low, high]: a grid with both ends, then finer grids around its five best points."""
    grid = np.linspace(low, high, cells + 1)
    values = chance(grid)
    best = float(values.max())
    step = (high - low) / cells
    for i in np.argsort(values)[-5:]:
        a, b = max(low, grid[i] - step), min(high, grid[i] + step)
        for _ in range(4):
            fine = np.linspace(a, b, 41)
            heights = chance(fine)
            best = max(best, float(heights.max()))
            top, width = fine[int(heights.argmax())], (b - a) / 40
            a, b = max(low, top - width), min(high, top + width)
    return min(1.0, best)


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    return np.clip(base, 0.0, 1.0) ** exponent  # 0 ** 0 is 1


def clopper_pearson(k: int, n: int, tail: float) -> tuple[float, float]:
    """Limits with this error on each side."""
    low = beta.ppf(tail, k, n - k + 1) if k > 0 else 0.0
    return float(low), float(beta.isf(tail, k + 1, n - k)) if k < n else 1.0


def unpaired_p(
    x1: int, n1: int, x2: int, n2: int, delta: float, cells: int = 1000, gamma: float = 0.0, sides: int = 2
) -> float:
    """p(delta) for two independent tallies; with one side P(Z_delta >= z_delta,seen)."""
    fold = abs if sides == 2 else float
    z = {(a, b): fold(score_z(a, n1, b, n2, delta)) for a in range(n1 + 1) for b in range(n2 + 1)}
    seen = z[x1, x2]
    tables = [table for table, value in z.items() if value >= seen - abs(seen) * TIE]
    (low1, high1), (low2, high2) = ((0.0, 1.0), (0.0, 1.0))
    if gamma:
        (low1, high1), (low2, high2) = clopper_pearson(x1, n1, gamma / 4), clopper_pearson(x2, n2, gamma / 4)
    low, high = max(low2, low1 - delta), min(high2, high1 - delta)
    if low > high:
        return gamma

    def chance(p2: np.ndarray) -> np.ndarray:
        p1 = p2 + delta
        total = np.zeros_like(p2)
        for a, b in tables:
            total += (
                (math.comb(n1, a) * _power(p1, a) * _power(1 - p1, n1 - a))
                * math.comb(n2, b)
                * (_power(p2, b) * _power(1 - p2, n2 - b))
            )
        return total

    return min(1.0, gamma + _sup(chance, low, high, cells))


def paired_p(
    first_only: int,
    second_only: int,
    pairs: int,
    delta: float,
    cells: int = 1000,
    gamma: float = 0.0,
    sides: int = 2,
) -> float:
    """p(delta) for one paired tally: first-only and second-only wins among the pairs."""
    n, fold = pairs, abs if sides == 2 else float
    z = {(b, c): fold(tango_z(b, c, n, delta)) for b in range(n + 1) for c in range(n + 1 - b)}
    seen = z[first_only, second_only]
    tables = [table for table, value in z.items() if value >= seen - abs(seen) * TIE]
    low, high = clopper_pearson(first_only + second_only, n, gamma / 2) if gamma else (0.0, 1.0)
    low = max(low, abs(delta))
    if low > high:
        return gamma

    def chance(discordance: np.ndarray) -> np.ndarray:
        pb, pc = (discordance + delta) / 2, (discordance - delta) / 2
        total = np.zeros_like(discordance)
        for b, c in tables:
            ways = math.comb(n, b) * math.comb(n - b, c)
            total += ways * _power(pb, b) * _power(pc, c) * _power(1 - discordance, n - b - c)
        return total

    return min(1.0, gamma + _sup(chance, low, high, cells))


def hull(p_of: Callable[[float], float], estimate: float, confidence: float, step: float) -> tuple[float, float]:
    """Hull of {delta : p(delta) > alpha}: scan a grid of delta, then bisect next to the outermost accepted points.

    An accepted piece narrower than `step` and apart from the rest can be missed: choose the step to suit.
    """
    alpha = 1 - confidence
    grid = sorted({-1.0, 1.0, estimate, *(round(-1 + i * step, 12) for i in range(1, round(2 / step)))})
    accepted = [delta for delta in grid if p_of(delta) > alpha]
    low, high = accepted[0], accepted[-1]
    if low > -1:
        low = bisect(lambda delta: p_of(delta) <= alpha, grid[grid.index(low) - 1], low, steps=25)
    if high < 1:
        high = bisect(lambda delta: p_of(delta) > alpha, high, grid[grid.index(high) + 1], steps=25)
    return low, high


def far_side_p(p_of: Callable[[float], float], estimate: float, step: float) -> float:
    """sup of p(delta) over delta on the other side of 0 from the estimate, 0 included; 1 at estimate 0."""
    if estimate == 0:
        return 1.0
    sign = -1 if estimate > 0 else 1
    return max(p_of(sign * min(1.0, i * step)) for i in range(round(1 / step) + 1))


def unpaired_interval(
    x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95, step: float = 0.02, cells: int = 400
) -> tuple[float, float]:
    """The interval that `compare` prints for two independent tallies."""
    gamma = (1 - confidence) / 1000
    return hull(lambda d: unpaired_p(x1, n1, x2, n2, d, cells, gamma), x1 / n1 - x2 / n2, confidence, step)


def unpaired_printed_p(x1: int, n1: int, x2: int, n2: int, step: float = 0.02, cells: int = 400) -> float:
    """The p-value that `compare` prints at 95% for two independent tallies (a lower estimate: sup over a grid)."""
    return far_side_p(lambda d: unpaired_p(x1, n1, x2, n2, d, cells, 5e-5), x1 / n1 - x2 / n2, step)


def unpaired_bound(x1: int, n1: int, x2: int, n2: int, error: float, step: float = 0.02, cells: int = 400) -> float:
    """The one-sided lower bound of two independent tallies with this error."""

    def p_of(delta: float) -> float:
        return unpaired_p(x1, n1, x2, n2, delta, cells, error / 1000, 1) if delta < x1 / n1 - x2 / n2 else 1.0

    return hull(p_of, x1 / n1 - x2 / n2, 1 - error, step)[0]


def paired_interval(
    first_only: int, second_only: int, pairs: int, confidence: float = 0.95, step: float = 0.02, cells: int = 400
) -> tuple[float, float]:
    """The interval that `compare` prints for a paired tally."""
    estimate, gamma = (first_only - second_only) / pairs, (1 - confidence) / 1000
    return hull(lambda d: paired_p(first_only, second_only, pairs, d, cells, gamma), estimate, confidence, step)


def paired_printed_p(first_only: int, second_only: int, pairs: int, step: float = 0.02, cells: int = 400) -> float:
    """The p-value that `compare` prints at 95% for a paired tally (a lower estimate: sup over a grid)."""
    estimate = (first_only - second_only) / pairs
    return far_side_p(lambda d: paired_p(first_only, second_only, pairs, d, cells, 5e-5), estimate, step)
