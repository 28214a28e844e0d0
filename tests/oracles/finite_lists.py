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


def ridge(features: Sequence[Sequence[float]], seen: Sequence[int], scores: Sequence[float]) -> list[float]:
    """Slopes of the scores seen on centred features: ridge towards .4 with the weight of 12 items, cut to [0, 1.5]."""
    count, n = len(features), max(len(seen), 1)
    size = len(features[0]) if count else 0
    spread = [[sum(a[i] * b[i] for i in range(size)) / size for b in features] for a in features]
    for j in range(count):
        spread[j][j] += 1e-9 * sum(spread[i][i] for i in range(count))
    sums = [sum(f[i] for i in seen) for f in features]
    left = [
        [
            12 * spread[j][k] + sum(features[j][i] * features[k][i] for i in seen) - sums[j] * sums[k] / n
            for k in range(count)
        ]
        for j in range(count)
    ]
    right = [
        12 * 0.4 * sum(spread[j])
        + sum(features[j][i] * y for i, y in zip(seen, scores, strict=True))
        - sums[j] * sum(scores) / n
        for j in range(count)
    ]
    if count == 1:
        out = [right[0] / left[0][0]]
    elif count == 2:
        whole = left[0][0] * left[1][1] - left[0][1] * left[1][0]
        out = [
            (right[0] * left[1][1] - left[0][1] * right[1]) / whole,
            (left[0][0] * right[1] - left[1][0] * right[0]) / whole,
        ]
    else:
        out = []
    return [min(1.5, max(0.0, slope)) for slope in out]


def list_mean(
    order: Sequence[int],
    scores: Sequence[float],
    columns: Sequence[Sequence[float]],
    *,
    population: int,
    alpha: float,
    within: float | None = None,
    against: float | None = None,
) -> Trace:
    """Section 19's control variate, item by item, for scores in [0, 1]: corrected scores, their ends, both stakes.

    Stakes for an interval: 1.2 (within / s2) N/(N - t + 1). Against a mean: the mixture of `mixture` above, its largest
    constant .99 / mean (or / (1 - mean) downwards), with s2 the mean square of what the features leave unexplained.
    """
    n_all = population
    features = [[value - sum(column) / n_all for value in column] for column in columns]
    squares, kept, out = (
        12 * 0.25,
        [],
        {name: [] for name in ("value", "least", "most", "up", "down", "log_up", "log_down")},
    )
    raw = [math.exp(0.8 * j / 15) for j in range(16)]
    weights = {side: [w / sum(raw) for w in raw] for side in ("up", "down")}
    logs = {"up": 0.0, "down": 0.0}
    pace = [n_all / (n_all - t) for t in range(n_all)]
    early = sum(p * p for p in pace[: max(1, math.floor(0.8 * n_all + 1e-12))])
    for t, (item, score) in enumerate(zip(order, scores, strict=True)):
        slopes = ridge(features, order[:t], scores[:t])
        means = [-sum(f[i] for i in order[:t]) / (n_all - t) for f in features]
        own = score - sum(s * f[item] for s, f in zip(slopes, features, strict=True))
        shift = sum(s * m for s, m in zip(slopes, means, strict=True))
        value = own + shift
        least = shift - sum(s * max(f) for s, f in zip(slopes, features, strict=True))
        most = 1 + shift - sum(s * min(f) for s, f in zip(slopes, features, strict=True))
        s2 = squares / (12 + t)
        stakes = {}
        if within is not None:
            stakes = dict.fromkeys(("up", "down"), 1.2 * within / s2 * pace[t])
        else:
            assert against is not None
            mean = (n_all * against - sum(scores[:t])) / (n_all - t)
            for side, gain, risk, room in (
                ("up", value - mean, mean - least, against),
                ("down", mean - value, most - mean, 1 - against),
            ):
                cap, top = 0.99 / max(risk, 1e-12), 0.99 / max(room, 0.01)
                low = min(0.9, math.sqrt(2 * math.log(1 / alpha) / (early * s2)) / top)
                grid = [min(cap, pace[t] * top * low ** (1 - j / 15)) for j in range(16)]
                mix = sum(w * c for w, c in zip(weights[side], grid, strict=True)) / sum(weights[side])
                need = max(0.0, math.log(1 / alpha) - logs[side])
                floor = pace[t] * math.sqrt(2 * need / (sum(p * p for p in pace[t:]) * s2))
                stakes[side] = min(cap, max(mix, floor)) if 0 <= mean <= 1 else 0.0
                logs[side] += math.log1p(stakes[side] * gain)
                if 0 <= mean <= 1:
                    weights[side] = [w * (1 + c * gain) for w, c in zip(weights[side], grid, strict=True)]
        squares += (own - (sum(kept) / t if t else 0.5)) ** 2
        kept.append(own)
        for name, number in (("value", value), ("least", least), ("most", most), *stakes.items()):
            out[name].append(number)
        out["log_up"].append(logs["up"])
        out["log_down"].append(logs["down"])
    return out


def list_lower(trace: Trace, scores: Sequence[float], alpha: float, population: int) -> float:
    """The least mean that was never refused, by bisection over the largest wealth of the past."""

    def most(candidate: float) -> float:
        x, best = 1.0, 1.0
        for t, score in enumerate(scores):
            mean = (population * candidate - sum(scores[:t])) / (population - t)
            stake = min(trace["up"][t], 0.99 / max(mean - trace["least"][t], 1e-12))
            x *= 1 + stake * (trace["value"][t] - mean)
            best = max(best, x)
            if sum(scores[:t]) + score > population * candidate + 1e-9:
                return math.inf
        return best

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if most(middle) >= 1 / alpha else (low, middle)
    return low
