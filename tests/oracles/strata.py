"""Two policies on several tasks: rule X with plain root finding, the stratified score it replaced, and exact sizes.

Rule X as its decision record states it; Miettinen and Nurminen 1985, section 4, for the score (valid only where both
policies met every task equally often and tasks weigh by rollouts).
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import optimize, special, stats

Rows = Sequence[tuple[int, int, int, int]]  # successes and rollouts of the first, then of the second


def rule_x(rows: Rows, weights: Sequence[float], gain: float) -> float:
    """The p-value of a gain."""
    hits = [x for x, _, _, _ in rows] + [m - y for _, _, y, m in rows]
    trials = [n for _, n, _, _ in rows] + [m for _, _, _, m in rows]
    return of_cells(hits, trials, [*weights, *weights], 1 + gain)


def gap(inside: Rows, outside: Rows, ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The p-value of no difference between two gains: the policies are exchanged outside, and rule X asked at 2."""
    hits = [x for x, _, _, _ in inside] + [m - y for _, _, y, m in inside]
    hits += [n - x for x, n, _, _ in outside] + [y for _, _, y, _ in outside]
    trials = [size for side in (inside, outside) for which in (1, 3) for size in (row[which] for row in side)]
    return of_cells(hits, trials, [*ours, *ours, *theirs, *theirs], 2.0)


def of_cells(hits: Sequence[float], trials: Sequence[float], shares: Sequence[float], wanted: float) -> float:
    """The p-value of a weighted sum of the rates of cells."""
    a = 0.1 if min(trials) >= 5 else 0.25
    drawn = [(x + a) / (n + 2 * a) for x, n in zip(hits, trials, strict=True)]
    pulls = [w / (n + 2 * a) for w, n in zip(shares, trials, strict=True)]
    estimate = math.fsum(w * x / n for w, x, n in zip(shares, hits, trials, strict=True))
    target, f = wanted, list(drawn)
    turned = math.fsum(w * p for w, p in zip(shares, drawn, strict=True)) < target
    if turned:
        target, f = math.fsum(shares) - target, [1 - p for p in drawn]

    def rates(size: float) -> list[float]:
        return [
            2 * p / (1 + size * k + math.sqrt((1 + size * k) ** 2 - 4 * size * k * p))
            for p, k in zip(f, pulls, strict=True)
        ]

    def over(size: float) -> float:
        return math.fsum(w * p for w, p in zip(shares, rates(size), strict=True)) - target

    if target < 1e-12:
        fitted = [0.0] * len(f)
    elif abs(over(0.0)) < 1e-15:
        fitted = f
    else:
        fitted = rates(optimize.brentq(over, 0, 4 / (target * min(pulls)), xtol=1e-300, rtol=1e-14, maxiter=1000))
    if turned:
        fitted = [1 - p for p in fitted]
    sets = [
        [w * w * p * (1 - p) / n / (1 - n / (n + 2 * a) ** 2) for w, p, n in zip(shares, some, trials, strict=True)]
        for some in (fitted, drawn)
    ]
    parts = max(sets, key=math.fsum)
    total = math.fsum(parts)
    freedom = max(1.0, total**2 / math.fsum(v * v / n for v, n in zip(parts, trials, strict=True)))
    return float(2 * stats.t.sf(abs(estimate - wanted) / math.sqrt(total), freedom))


def miettinen_nurminen(rows: Rows, confidence: float = 0.95) -> tuple[float, float]:
    """Ends of the stratified score interval: the restricted rates by bounded search, weights n m / (n + m)."""
    weights = [n * m / (n + m) for _, n, _, m in rows]
    estimate = sum(w * (x / n - y / m) for w, (x, n, y, m) in zip(weights, rows, strict=True)) / sum(weights)
    bar = stats.norm.ppf((1 + confidence) / 2)

    def restricted(row: tuple[int, int, int, int], gain: float) -> tuple[float, float]:
        x, n, y, m = row

        def cost(q: float) -> float:
            p = q + gain
            parts = ((x, p), (n - x, 1 - p), (y, q), (m - y, 1 - q))
            return -math.fsum(c * math.log(max(r, 1e-300)) for c, r in parts if c)

        low, high = max(0.0, -gain), min(1.0, 1.0 - gain)
        found = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x
        best = min((low, high, float(found)), key=cost)
        return best + gain, best

    def excess(gain: float) -> float:
        variance = 0.0
        for w, row in zip(weights, rows, strict=True):
            (_, n, _, m), (p, q) = row, restricted(row, gain)
            variance += w * w * (p * (1 - p) / n + q * (1 - q) / m) * (n + m) / (n + m - 1)
        return (sum(weights) * (estimate - gain)) ** 2 - bar**2 * variance

    return optimize.brentq(excess, -1 + 1e-9, estimate), optimize.brentq(excess, estimate, 1 - 1e-9)


def chance(rejects: np.ndarray, layout: Sequence[tuple[int, int]], first: np.ndarray, second: np.ndarray) -> float:
    """The exact chance of a rejection, the axes being the successes of first and second on one task after the other."""
    left = rejects
    for (n, m), p, q in reversed(list(zip(layout, first, second, strict=True))):
        left = (left @ _chances(m, q)) @ _chances(n, p)
    return float(left)


def _chances(n: int, rate: float) -> np.ndarray:
    k = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.exp(ways + special.xlogy(k, rate) + special.xlog1py(n - k, -rate))


def level(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Rates of the second, shifted together within [0, 1], so that the average gain is 0; none if there are none."""
    low, high = -1.0, 1.0
    for _ in range(60):
        shift = (low + high) / 2
        if weights @ (first - np.clip(second + shift, 0, 1)) > 0:
            low = shift
        else:
            high = shift
    moved = np.clip(second + shift, 0, 1)
    return moved if abs(weights @ (first - moved)) < 1e-9 else None


def worst(
    rejects: np.ndarray,
    layout: Sequence[tuple[int, int]],
    weights: np.ndarray,
    rng: np.random.Generator,
    *,
    starts: int = 60,
    steps: int = 40,
    also: Sequence[tuple[Sequence[float], Sequence[float]]] = (),
) -> float:
    """The largest chance of a rejection found where the average gain is 0: random starts, then climbing."""
    count = len(layout)
    points = [(np.array(p), np.array(q)) for p, q in also]
    while len(points) < starts:
        kind = rng.integers(4)
        first = [rng.random(count), rng.random(count), np.round(2 * rng.random(count)) / 2, rng.beta(0.3, 0.3, count)][
            kind
        ]
        second = [first, rng.random(count), rng.random(count), rng.beta(0.3, 0.3, count)][kind]
        if rng.random() < 0.5:
            first, second = second, first
        moved = level(first, second, weights)
        if moved is not None:
            points.append((first, moved))
    valued = sorted(((chance(rejects, layout, p, q), place) for place, (p, q) in enumerate(points)), reverse=True)
    top = 0.0
    for value, place in valued[:3]:
        (first, second), reach = points[place], 0.15
        for _ in range(steps):
            near = np.clip(first + reach * rng.normal(size=count) * (rng.random(count) < 0.6), 0, 1)
            moved = level(
                near, np.clip(second + reach * rng.normal(size=count) * (rng.random(count) < 0.6), 0, 1), weights
            )
            tried = 0.0 if moved is None else chance(rejects, layout, near, moved)
            if moved is not None and tried > value:
                first, second, value, reach = near, moved, tried, min(0.3, 1.3 * reach)
            else:
                reach = max(0.002, 0.93 * reach)
        top = max(top, value)
    return top
