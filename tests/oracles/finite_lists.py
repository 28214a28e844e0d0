"""Bets on a list in random order, slowly: section 19 of the methods, from its formulas.

Waudby-Smith and Ramdas 2020 for betting without replacement; the stakes are surefoot's own.
"""

import math
from collections.abc import Sequence

Trace = dict[str, list[float]]


def mixture(
    gains: Sequence[float],
    horizon: int,
    population: int,
    alpha: float = 0.05,
    v0: float = 0.5,
    scores: Sequence[tuple[float, float]] | None = None,
    beyond: float = 0.0,
) -> Trace:
    """The finite-horizon mixture without replacement, for the claim "the list's mean gain is above `beyond`".

    Sixteen constants c, the largest .99, the smallest made for the first 80% of the horizon; stakes c N/(N - t + 1), at
    most .99/(1 + m); the constants' opening weights rise evenly in logs, by .8 in all. Stops at a decision; X is
    infinite where the items left cannot make the claim false. With `scores` (ours, theirs) the stake of 1.5 of section
    8b keeps its record.
    """
    size, n_all = 16, population
    record = 0.35 if scores else 0.0
    raw = [math.exp(0.8 * j / (size - 1)) for j in range(size)]
    weights = [(1 - record) * w / sum(raw) for w in raw]
    squares, x, won, bets, wealth = 2.0 * v0, 1.0, [], [], []
    pace = [n_all / (n_all - t) for t in range(horizon)]
    early = sum(p * p for p in pace[: max(1, math.floor(0.8 * horizon + 1e-12))])
    for t, gain in enumerate(gains):
        mean_left = (n_all * beyond - sum(gains[:t])) / (n_all - t)
        most = 0.99 / (1 + mean_left) if mean_left < 1 else 0.0
        s2 = squares / (2 + t)
        least = min(0.9, math.sqrt(2 * math.log(1 / alpha) / (early * s2)))
        grid = [min(most, pace[t] * 0.99 * least ** (1 - j / (size - 1))) for j in range(size)]
        seen = list(scores or [])[:t]
        live = t == 0
        if seen and any(0 < score < 1 for pair in seen for score in pair):
            worst = max(theirs for _, theirs in seen) - min(ours for ours, _ in seen) + mean_left
            live = 1.5 * pace[t] * worst < 1
        counted = record if live else 0.0
        mix = sum(w * c for w, c in zip(weights, grid, strict=True)) + most * counted
        mix /= sum(weights) + counted
        need = math.log(1 / alpha) - math.log(x)
        floor = pace[t] * math.sqrt(2 * max(need, 0) / (sum(p * p for p in pace[t:]) * s2))
        stake = min(most, max(mix, floor))
        if won and min(won) > mean_left:
            stake = min(stake, (math.exp(need) - 1) / (min(won) - mean_left))
        value = gain - mean_left
        x *= 1 + stake * value
        weights = [w * (1 + c * value) for w, c in zip(weights, grid, strict=True)]
        record *= max(0.0, 1 + 1.5 * pace[t] * value)
        squares += value * value
        if gain > beyond:
            won.append(gain)
        bets.append(stake)
        sure = sum(gains[: t + 1]) - (n_all - t - 1) > n_all * beyond + 1e-9
        wealth.append(math.inf if sure else x)
        if wealth[-1] >= (1 / alpha) * (1 - 1e-9):
            break
    return {"stakes": bets, "X": wealth}


def wealth_at(candidate: float, gains: Sequence[float], stakes: Sequence[float], population: int) -> float:
    """The wealth of these stakes against a candidate for the list's mean, at most .99 of it at risk."""
    x = 1.0
    for t, (gain, stake) in enumerate(zip(gains, stakes, strict=True)):
        mean_left = (population * candidate - sum(gains[:t])) / (population - t)
        if mean_left < -1 - 1e-12:
            return math.inf
        x *= 1 + min(stake, 0.99 / max(1 + mean_left, 1e-15)) * (gain - mean_left)
    left = population - len(gains)
    return math.inf if sum(gains) - left > population * candidate + 1e-12 else x


def lower(gains: Sequence[float], stakes: Sequence[float], alpha: float, population: int) -> float:
    """The least mean that is not refused, by bisection."""
    low, high = -1.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if wealth_at(middle, gains, stakes, population) >= 1 / alpha:
            low = middle
        else:
            high = middle
    return low
