"""Rule J over tasks, from its formula: cells into groups, fitted means, the exponential sum by partial fractions.

Numbers are mpmath's; the chance is `score_tails.at_most_zero`. The means are fitted by bisection of x itself.
"""

from collections.abc import Sequence
from typing import Any

from tests.oracles.score_tails import at_most_zero, mp, number

Cell = tuple[list[Any], list[Any]]
"""The scores of a group and the weight of each."""


def groups(sides: Sequence[Sequence[Sequence[Any]]], weights: Sequence[Any]) -> list[Cell]:
    """Cells of one score of a policy together; a lone one with that policy's smallest other cell."""
    total, every = sum(map(number, weights)), []
    for side in sides:
        cells: list[Cell] = []
        single: Cell = ([], [])
        for scores, weight in zip(side, weights, strict=True):
            each = number(weight) / total / len(sides) / len(scores)
            z = [number(x) for x in scores]
            if len(z) == 1:
                single = (single[0] + z, [*single[1], each])
            else:
                cells.append((z, [each] * len(z)))
        if len(single[0]) == 1 and cells:
            lone = single[0][0]
            # ties: the least weight, then the mean farthest from the lone score
            smallest = min(cells, key=lambda cell: (len(cell[0]), cell[1][0], -abs(sum(cell[0]) / len(cell[0]) - lone)))
            smallest[0].extend(single[0])
            smallest[1].extend(single[1])
        elif single[0]:
            cells.append(single)
        every += cells
    return every


def p_at_most(cells: Sequence[Cell], tau: Any) -> Any:
    """Against "the weighted mean is at most tau"."""
    tau, fits = number(tau), []
    for z, a in cells:
        k, v = len(z), sum(a)
        mu = sum(w * x for w, x in zip(a, z, strict=True)) / v
        squared = 1 + mp.mpf(k + 1) / (k * (k - 1)) if k > 1 else mp.mpf(1)
        e2 = squared * sum((w * (x - mu)) ** 2 for w, x in zip(a, z, strict=True)) / v**2 + mp.mpf(1) / (
            4 * k * (k + 1)
        )
        fits.append((v, mu, mp.sqrt(squared), e2))
    if tau >= sum(v * mu for v, mu, _, _ in fits):
        return mp.mpf(1)
    if tau <= 0:
        return mp.mpf(0)

    def means(x: Any) -> list[Any]:
        return [mu / (1 + x * v * e2 / mu) if mu else mp.mpf(0) for v, mu, _, e2 in fits]

    def short(x: Any) -> bool:
        return bool(sum(fit[0] * m for fit, m in zip(fits, means(x), strict=True)) <= tau)

    low, high = mp.mpf(0), mp.mpf(1)
    while not short(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if short(middle) else (middle, high)
    fitted, coefficients = means(high), []
    for (z, a), (_, mu, kappa, _), m in zip(cells, fits, fitted, strict=True):
        coefficients += [w * (kappa * (x - mu) + mu - m) for w, x in zip(a, z, strict=True)]
    spare = max(max(a) * m for (_, a), m in zip(cells, fitted, strict=True))
    return at_most_zero([*coefficients, -spare])


def p_values(strata: Sequence[tuple[Sequence[Any], Sequence[Any]]], weights: Sequence[Any], gain: Any) -> list[Any]:
    """p_better, p_worse of unpaired scores in [0, 1]."""
    first = [[number(x) for x in pair[0]] for pair in strata]
    second = [[1 - number(y) for y in pair[1]] for pair in strata]
    return _both([first, second], weights, gain)


def paired_p_values(gaps: Sequence[Sequence[Any]], weights: Sequence[Any], gain: Any) -> list[Any]:
    """p_better, p_worse of pair gains in [-1, 1]."""
    return _both([[[(1 + number(d)) / 2 for d in task] for task in gaps]], weights, gain)


def _both(sides: Sequence[Sequence[Sequence[Any]]], weights: Sequence[Any], gain: Any) -> list[Any]:
    mirrored = [[[1 - z for z in cell] for cell in side] for side in sides]
    tau = (1 + number(gain)) / 2
    return [p_at_most(groups(sides, weights), tau), p_at_most(groups(mirrored, weights), 1 - tau)]
