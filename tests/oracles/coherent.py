"""The coherent pair (one object that gives interval, verdict and p-value), unpaired and paired, by brute force.

Agresti and Min 2001, two-sided: p(delta) = sup over the nuisance of P(|Z_delta| >= |z_delta,seen|), Z_delta the score
statistic. Berger and Boos 1994: with gamma > 0 the nuisance stays within Clopper-Pearson limits (of each rate at
1 - gamma/2, or of the discordant share at 1 - gamma), and gamma is added; gamma alone where there is none. Interval:
hull of {delta : p(delta) > alpha}. Printed p: sup of p(delta) over the far side of 0, with 0.
One-sided (Buehler 1957, within the same limits): p(delta) = gamma + sup P(L >= L seen), L a table's lower score limit
at an error that orders the tables. Unpaired nuisance: the second rate. Paired nuisance (Tango's Z): the discordance
rate. Meant for small tables.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

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


def _extreme(z: dict[tuple[int, int], float], seen: tuple[int, int]) -> list[tuple[int, int]]:
    return [table for table, value in z.items() if value >= z[seen] - abs(z[seen]) * TIE]


@lru_cache(maxsize=64)
def limits(design: tuple[int, ...], ordering: float) -> dict[tuple[int, int], float]:
    """The lower score limit of every table (with the factor N/(N-1) of two tallies), -1 where nothing is excluded."""
    wanted = NormalDist().inv_cdf(1 - ordering)
    if len(design) == 1:
        (n,) = design
        all_tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
        return {t: _limit(lambda d, t=t: tango_z(*t, n, d), (t[0] - t[1]) / n, wanted) for t in all_tables}
    n, m = design
    wanted /= math.sqrt(1 - 1 / (n + m))
    all_tables = [(a, b) for a in range(n + 1) for b in range(m + 1)]
    return {t: _limit(lambda d, t=t: score_z(t[0], n, t[1], m, d), t[0] / n - t[1] / m, wanted) for t in all_tables}


def _limit(z_of: Callable[[float], float], estimate: float, wanted: float) -> float:
    if estimate <= -1 or z_of(-1 + 1e-13) <= wanted:
        return -1.0
    return bisect(lambda delta: z_of(delta) > wanted, -1 + 1e-13, estimate, steps=50)


def _above(found: dict[tuple[int, int], float], seen: tuple[int, int]) -> list[tuple[int, int]]:
    return [table for table, value in found.items() if value >= found[seen] - TIE]


def unpaired_p(
    x1: int,
    n1: int,
    x2: int,
    n2: int,
    delta: float,
    cells: int = 1000,
    gamma: float = 0.0,
    ordering: float | None = None,
) -> float:
    """p(delta) for two independent tallies; with an ordering the one-sided one."""
    if ordering is None:
        z = {(a, b): abs(score_z(a, n1, b, n2, delta)) for a in range(n1 + 1) for b in range(n2 + 1)}
        tables = _extreme(z, (x1, x2))
    else:
        tables = _above(limits((n1, n2), ordering), (x1, x2))
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
    ordering: float | None = None,
) -> float:
    """p(delta) for one paired tally, first-only and second-only wins among the pairs; with an ordering, one-sided."""
    n, seen = pairs, (first_only, second_only)
    if ordering is None:
        tables = _extreme({(b, c): abs(tango_z(b, c, n, delta)) for b in range(n + 1) for c in range(n + 1 - b)}, seen)
    else:
        tables = _above(limits((n,), ordering), seen)
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
    gamma = (1 - confidence) / 100_000
    return hull(lambda d: unpaired_p(x1, n1, x2, n2, d, cells, gamma), x1 / n1 - x2 / n2, confidence, step)


def unpaired_printed_p(x1: int, n1: int, x2: int, n2: int, step: float = 0.02, cells: int = 400) -> float:
    """The p-value that `compare` prints at 95% for two independent tallies (a lower estimate: sup over a grid)."""
    return far_side_p(lambda d: unpaired_p(x1, n1, x2, n2, d, cells, 5e-7), x1 / n1 - x2 / n2, step)


def unpaired_bound(x1: int, n1: int, x2: int, n2: int, error: float, step: float = 0.02, cells: int = 400) -> float:
    """The one-sided lower bound of two independent tallies with this error."""

    def p_of(delta: float) -> float:
        return unpaired_p(x1, n1, x2, n2, delta, cells, error / 100_000, error) if delta < x1 / n1 - x2 / n2 else 1.0

    return hull(p_of, x1 / n1 - x2 / n2, 1 - error, step)[0]


def paired_interval(
    first_only: int, second_only: int, pairs: int, confidence: float = 0.95, step: float = 0.02, cells: int = 400
) -> tuple[float, float]:
    """The interval that `compare` prints for a paired tally."""
    estimate, gamma = (first_only - second_only) / pairs, (1 - confidence) / 100_000
    return hull(lambda d: paired_p(first_only, second_only, pairs, d, cells, gamma), estimate, confidence, step)


def paired_printed_p(first_only: int, second_only: int, pairs: int, step: float = 0.02, cells: int = 400) -> float:
    """The p-value that `compare` prints at 95% for a paired tally (a lower estimate: sup over a grid)."""
    estimate = (first_only - second_only) / pairs
    return far_side_p(lambda d: paired_p(first_only, second_only, pairs, d, cells, 5e-7), estimate, step)
