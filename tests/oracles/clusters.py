"""Clustered means: CR2 by direct matrices, and methods-0.3.md section 23 A word by word, one cluster after another.

Bell and McCaffrey 2002, section 3, for a regression on dummies of groups and one combination of its coefficients;
Satterthwaite 1946 where parts are independent.
"""

import math
from collections.abc import Sequence

import numpy as np

from tests.oracles.common import mp
from tests.oracles.judges import bell_mccaffrey


def cr2(values: Sequence[float], clusters: Sequence[int], groups: Sequence[int], weights: Sequence[float]):
    """Estimate, variance and degrees of freedom of the weighted sum of group means, all clusters in one part."""
    y, c, w = np.asarray(values, float), np.asarray(clusters), np.asarray(weights, float)
    x = np.eye(len(w))[np.asarray(groups)]
    bread = np.linalg.inv(x.T @ x)
    left = np.eye(len(y)) - x @ bread @ x.T
    pull = w @ bread @ x.T
    rows = []
    for cluster in np.unique(c):
        of = np.flatnonzero(c == cluster)
        sizes, vectors = np.linalg.eigh(left[np.ix_(of, of)])
        root = vectors @ np.diag(sizes**-0.5) @ vectors.T
        rows.append(pull[of] @ root @ left[of])
    scores = np.array(rows)
    p = scores @ scores.T
    return float(pull @ y), float(((scores @ y) ** 2).sum()), float(np.trace(p) ** 2 / (p * p).sum())


def floor(sizes: Sequence[int], width: float) -> float:
    """The variance given to a group whose clusters are all alike."""
    size = sum(sizes) ** 2 / sum(m * m for m in sizes)
    p = (size + 0.25) / (size + 0.5)
    return width**2 * p * (1 - p) / size / (1 - size / (size + 0.5) ** 2)


def welch(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """Satterthwaite's degrees of freedom."""
    return math.fsum(variances) ** 2 / math.fsum(v * v / f for v, f in zip(variances, freedoms, strict=True))


def counted(sizes: Sequence[float]) -> float:
    """K = sum min(1, m_g n / sum m^2)."""
    return sum(min(1.0, m * sum(sizes) / sum(k * k for k in sizes)) for m in sizes)


def tail(freedom: float, t: float) -> float:
    """P(T > t) from the incomplete beta function."""
    half = mp.betainc(freedom / 2, 0.5, 0, freedom / (freedom + t * t), regularized=True) / 2
    return float(half if t > 0 else 1 - half)


def moments(sizes: Sequence[int], means: Sequence[float]) -> dict[str, float]:
    """xb, m2, m3, m3', m4, nu and K."""
    n = sum(sizes)
    mean = sum(m * x for m, x in zip(sizes, means, strict=True)) / n
    e = [m * (x - mean) / (n * math.sqrt(1 - m / n)) for m, x in zip(sizes, means, strict=True)]
    third = sum(m * (x - mean) ** 3 for m, x in zip(sizes, means, strict=True)) / n
    pooled = third * sum((m / math.sqrt(1 - m / n)) ** 3 for m in sizes) / n**3
    powers = {f"m{k}": sum(one**k for one in e) for k in (2, 3, 4)}
    return {"mean": mean, **powers, "pooled": pooled, "nu": bell_mccaffrey(sizes), "counted": counted(sizes)}


def p_value(
    sizes: Sequence[int],
    means: Sequence[float],
    theta: float,
    low: float,
    high: float = 1.0,
    *,
    two_sided: bool,
    steps: int = 400,
) -> float:
    """The p-value that the mean is above theta, or differs from it where it is above: largest over x in [-6, x0]."""
    return p_of_moments(moments(sizes, means), theta, low, high, two_sided=two_sided, steps=steps)


def p_of_moments(
    at: dict[str, float], theta: float, low: float, high: float = 1.0, *, two_sided: bool, steps: int = 400
) -> float:
    """The same from the moments."""
    if at["m2"] < 1e-26:
        q = (at["mean"] - theta) / (at["mean"] - low)
        return (1 - q) ** at["counted"] + (
            q ** at["counted"] if two_sided and theta - low >= q * (high - low) * (1 - 1e-12) else 0.0
        )
    s = max(0.0, -at["m3"], -at["pooled"])
    a = s / at["m2"]
    more = max(a * a, at["m4"] / at["m2"] - 3 * at["m2"] / at["nu"], 0.0)
    v = at["m2"] + 2 * more
    c = (s + 2 * a**3) / v**1.5
    x0 = (at["mean"] - theta) / math.sqrt(v)

    def chance(x: float) -> float:
        z = x if c < 1e-9 else (math.sqrt(max(0.0, 1 + 4 * c / 3 * (x - c / 6))) - 1) / (2 * c / 3)
        mu = at["mean"] - x * math.sqrt(v)
        q = min(1.0, max(0.0, (mu - theta) / (mu - low))) if mu > low else 0.0
        luck = tail(at["nu"], z)
        if two_sided:
            luck = min(1.0, luck + tail(at["nu"], (at["mean"] + mu - 2 * theta) / math.sqrt(v)))
        return (1 - q) ** at["counted"] * luck

    left, right, best = min(-6.0, x0), x0, 0.0
    for _ in range(8):
        step = (right - left) / steps
        found = [(chance(left + i * step), i) for i in range(steps + 1)]
        best, i = max(found)
        left, right = left + max(0, i - 1) * step, left + min(steps, i + 1) * step
        steps = 20
    corner = c / 6 - 3 / (4 * c) if c >= 1e-9 else x0  # where the root's argument is 0
    rest = min(high, at["mean"] + 6 * math.sqrt(v))  # luck has given all it can: as if no cluster differed
    q = (rest - theta) / (rest - low)
    alike = (1 - q) ** at["counted"] + q ** at["counted"] if theta - low >= q * (high - low) * (1 - 1e-12) else 0.0
    return max(best, chance(x0), chance(corner) if -6 <= corner <= x0 else 0.0, alike if two_sided else 0.0)


def hidden_in_two(first: tuple[float, float], second: tuple[float, float], share: float, steps: int = 20_000) -> float:
    """The largest (1 - q)^K (1 - r)^L with d q + e r = share (d + e), over a fine grid; (d, K) and (e, L) given."""
    (d, k), (e, number) = first, second
    best = 0.0
    for i in range(steps + 1):
        q = i / steps
        r = (share * (d + e) - d * q) / e
        if -1e-9 <= r <= 1:  # the largest chance may stand at r = 0, which rounding puts just below
            best = max(best, (1 - q) ** k * (1 - max(r, 0.0)) ** number)
    return best
