"""The best of many, from the formulas, outcome by outcome: exact p-value, bias of the highest, bounds for all.

p of "j is a best one": the largest chance, over one rate that all share, that the largest pooled z against j is at
least the one met; by summing over every outcome. Bias of the highest: the sum over every outcome of its excess.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tests.oracles.common import bisect, dec, mp, pmf


def pooled_z(x: int, n: int, y: int, m: int) -> float:
    """(x/n - y/m) / sqrt(q (1 - q) (1/n + 1/m)); 0 where q is 0 or 1."""
    if x + y in (0, n + m):
        return 0.0
    q = (x + y) / (n + m)
    return (x / n - y / m) / math.sqrt(q * (1 - q) * (1 / n + 1 / m))


def largest_z(successes: Sequence[int], trials: Sequence[int], j: int) -> float:
    """The largest pooled z of another one against j."""
    return max(
        pooled_z(x, n, successes[j], trials[j])
        for i, (x, n) in enumerate(zip(successes, trials, strict=True))
        if i != j
    )


def outcomes(trials: Sequence[int]) -> list[tuple[int, ...]]:
    """Every outcome."""
    return list(itertools.product(*(range(n + 1) for n in trials)))


def chances(trials: Sequence[int], rates: Sequence[float]) -> np.ndarray:
    """The chance of every outcome, in the order of `outcomes`."""
    table = np.ones(1)
    for n, p in zip(trials, rates, strict=True):
        table = np.outer(table, [pmf(x, n, p) for x in range(n + 1)]).ravel()
    return table


def best_p(successes: Sequence[int], trials: Sequence[int], j: int, points: int = 2001) -> float:
    """The p-value of "j is a best one": a maximum over a grid of the common rate."""
    met = largest_z(successes, trials, j)
    if met <= 0:
        return 1.0
    extreme = np.array([largest_z(one, trials, j) >= met - 1e-9 for one in outcomes(trials)])
    return max(float(chances(trials, [p] * len(trials))[extreme].sum()) for p in np.linspace(0, 1, points))


def winner_bias(rates: Sequence[float], trials: Sequence[int]) -> float:
    """The mean of (shown - true) of the highest one; where several are highest, of one of them at random."""
    total = 0.0
    for one, chance in zip(outcomes(trials), chances(trials, rates), strict=True):
        shown = [x / n for x, n in zip(one, trials, strict=True)]
        highest = [i for i, value in enumerate(shown) if value == max(shown)]
        total += chance * sum(shown[i] - rates[i] for i in highest) / len(highest)
    return total


def sidak_low(successes: int, trials: int, policies: int, confidence: float) -> float:
    """The rate at which so many successes or more have chance 1 - confidence^(1/policies)."""
    error = 1 - dec(confidence) ** (mp.mpf(1) / policies)
    if successes == 0:
        return 0.0

    def rare(p: object) -> bool:
        return bool(mp.fsum(pmf(x, trials, p) for x in range(successes, trials + 1)) < error)

    return float(bisect(rare, mp.mpf(0), mp.mpf(1)))
