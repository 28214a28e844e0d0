"""A slow twin of the step-down over slices: every shuffle of the labels is listed, in fractions.

Written from the formulas of section 21b; nothing of `surefoot.stats.slices` is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def two_by_two() -> list[tuple[int, ...]]:
    """The slices of a table of two factors of two levels: a=0, a=1, b=0, b=1, and the four cells."""
    return [(0, 1), (2, 3), (0, 2), (1, 3), (0,), (1,), (2,), (3,)]


def _adjusted(z: float, skew: float) -> float:
    z = min(30.0, max(-30.0, z))
    skew = min(0.5, max(-0.5, skew))
    return z - skew * (min(5.0, max(-5.0, z)) ** 2 - 1.0) / 6.0


def _statistics(gaps: Sequence[float], v: Sequence[float], k: Sequence[float], slices) -> list[float]:
    found = []
    for one in slices:
        variance = sum(v[cell] for cell in one)
        if variance < 1e-12:
            found.append(-math.inf)
            continue
        z = sum(gaps[cell] for cell in one) / math.sqrt(variance)
        found.append(_adjusted(z, sum(k[cell] for cell in one) / variance**1.5))
    return found


def _step_down(seen: list[float], drawn: list[tuple[list[float], float]]) -> list[float]:
    order = sorted(range(len(seen)), key=lambda place: -seen[place])
    adjusted, largest = [1.0] * len(seen), 0.0
    for rank, place in enumerate(order):
        if seen[place] == -math.inf:
            continue
        left = order[rank:]
        chance = sum(weight for one, weight in drawn if max(one[each] for each in left) >= seen[place] - 1e-9)
        largest = max(largest, chance)
        adjusted[place] = largest
    return adjusted


def of_successes(x, n, y, m, slices=None) -> list[float]:
    """Exact adjusted p-values, worse, of successes: all tables with the cells' totals."""
    slices = two_by_two() if slices is None else slices
    v, k, choices = [], [], []
    for ours, theirs, total in zip(n, m, (a + b for a, b in zip(x, y, strict=True)), strict=True):
        size = ours + theirs
        var = ours * theirs * total * (size - total) / (size**2 * (size - 1)) if size > 1 else 0.0
        v.append(var)
        k.append(-var * (size - 2 * total) * (theirs - ours) / (size * (size - 2)) if size > 2 else 0.0)
        whole = math.comb(size, ours)
        choices.append(
            [
                (ours * total / size - hit, math.comb(total, hit) * math.comb(size - total, ours - hit) / whole)
                for hit in range(max(0, total - theirs), min(ours, total) + 1)
            ]
        )
    gaps = [a * (b + d) / (a + c) - b for a, b, c, d in zip(n, x, m, y, strict=True)]
    return _all_of(gaps, v, k, choices, slices)


def of_pairs(lost, won, slices=None) -> list[float]:
    """Exact adjusted p-values, worse, of pairs: a fair coin for every pair in which one alone succeeded."""
    slices = two_by_two() if slices is None else slices
    sizes = [a + b for a, b in zip(lost, won, strict=True)]
    choices = [[(hit - size / 2, math.comb(size, hit) / 2**size) for hit in range(size + 1)] for size in sizes]
    gaps = [(a - b) / 2 for a, b in zip(lost, won, strict=True)]
    return _all_of(gaps, [size / 4 for size in sizes], [0.0] * len(sizes), choices, slices)


def of_scores(values, first, cell, slices) -> list[float]:
    """Exact adjusted p-values, worse, of scores: all ways to deal the labels inside cells."""
    cells = sorted(set(cell))
    gaps, v, k, choices = [], [], [], []
    for place in cells:
        rows = [row for row, one in enumerate(cell) if one == place]
        size, n = len(rows), sum(first[row] for row in rows)
        m, mean = size - n, sum(values[row] for row in rows) / size
        rest = [values[row] - mean for row in rows]
        m2, m3 = sum(r**2 for r in rest) / size, sum(r**3 for r in rest) / size
        gaps.append(-sum(r for r, row in zip(rest, rows, strict=True) if first[row]) if n * m else 0.0)
        v.append(n * m * m2 / (size - 1) if size > 1 else 0.0)
        k.append(-n * m * (m - n) * m3 / ((size - 1) * (size - 2)) if size > 2 else 0.0)
        dealt = list(itertools.combinations(rest, n))
        choices.append([(-sum(one) if n * m else 0.0, 1 / len(dealt)) for one in dealt])
    return _all_of(gaps, v, k, choices, slices)


def of_units(gaps, slices) -> list[float]:
    """Exact adjusted p-values, worse, of units by cells: all signs of all units."""
    sums = [[sum(row[cell] for cell in one) for one in slices] for row in gaps]
    variance = [sum(row[place] ** 2 for row in sums) for place in range(len(slices))]

    def told(signs) -> list[float]:
        whole = [sum(sign * row[place] for sign, row in zip(signs, sums, strict=True)) for place in range(len(slices))]
        return [
            _adjusted(one / math.sqrt(var), 0.0) if var > 1e-12 else -math.inf
            for one, var in zip(whole, variance, strict=True)
        ]

    every = [(told(signs), 0.5 ** len(gaps)) for signs in itertools.product((1, -1), repeat=len(gaps))]
    return _step_down(told([1] * len(gaps)), every)


def _all_of(gaps, v, k, choices, slices) -> list[float]:
    drawn = []
    for one in itertools.product(*choices):
        weight = math.prod(part for _, part in one)
        drawn.append((_statistics([gap for gap, _ in one], v, k, slices), weight))
    return _step_down(_statistics(gaps, v, k, slices), drawn)
