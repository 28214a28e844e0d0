"""Two independent success rates: difference intervals and exact tests, from their definitions.

Newcombe 1998 (method 10); Miettinen and Nurminen 1985, Mee 1984 (score, the constrained maximum found numerically);
Agresti and Caffo 2000; Fisher; Barnard 1947 (z pooled or unpooled as statistic); Boschloo 1970. "Greater" means that
the first rate is larger. Orderings are compared as fractions, so no tie is lost.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.oracles.common import bisect, dec, mp, normal_quantile, normal_two_sided_p, pmf, z_two_sided
from tests.oracles.one_rate import wilson

Pair = tuple[float, float]


def newcombe(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Pair:
    """d - sqrt((p1 - l1)^2 + (u2 - p2)^2), d + sqrt((u1 - p1)^2 + (p2 - l2)^2) with Wilson's l and u."""
    p1, p2 = x1 / n1, x2 / n2
    (l1, u1), (l2, u2) = wilson(x1, n1, confidence), wilson(x2, n2, confidence)
    return p1 - p2 - math.hypot(p1 - l1, u2 - p2), p1 - p2 + math.hypot(u1 - p1, p2 - l2)


def wald_difference(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Pair:
    """d -+ z sqrt(p1 q1/n1 + p2 q2/n2)."""
    z, p1, p2 = z_two_sided(confidence), mp.mpf(x1) / n1, mp.mpf(x2) / n2
    half = z * mp.sqrt(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2)
    return float(p1 - p2 - half), float(p1 - p2 + half)


def agresti_caffo(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Pair:
    """Wald's after one success and one failure are added to each policy."""
    return wald_difference(x1 + 1, n1 + 2, x2 + 1, n2 + 2, confidence)


def constrained_rates(x1: int, n1: int, x2: int, n2: int, delta: float) -> Pair:
    """The most likely (p1, p2) with p1 - p2 = delta: bisection on the slope of the concave log-likelihood."""

    def rising(p2: float) -> bool:
        p1 = p2 + delta
        slope = 0.0
        for count, rate, sign in ((x1, p1, 1), (n1 - x1, 1 - p1, -1), (x2, p2, 1), (n2 - x2, 1 - p2, -1)):
            if count and rate <= 0:
                return sign > 0  # the likelihood is zero here: away from this end
            if count:
                slope += sign * count / rate
        return slope > 0

    p2 = bisect(rising, max(0.0, -delta), min(1.0, 1.0 - delta), steps=80)
    return min(1.0, max(0.0, p2 + delta)), min(1.0, max(0.0, p2))


def score_z(x1: int, n1: int, x2: int, n2: int, delta: float, corrected: bool = False) -> float:
    """(p1^ - p2^ - delta)/sqrt(V) at the constrained rates; 0/0 is 0; corrected: V times N/(N - 1)."""
    gap = x1 / n1 - x2 / n2 - delta
    if abs(gap) < 1e-14:
        return 0.0
    p1, p2 = constrained_rates(x1, n1, x2, n2, delta)
    variance = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    if corrected:
        variance *= (n1 + n2) / (n1 + n2 - 1)
    return gap / math.sqrt(variance) if variance > 1e-20 else math.copysign(math.inf, gap)


def score_interval(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95, corrected: bool = True) -> Pair:
    """{delta : |Z(delta)| <= z}: Miettinen-Nurminen (corrected) or Mee; Z falls in delta, one root a side."""
    z, d = float(z_two_sided(confidence)), x1 / n1 - x2 / n2

    def at(delta: float) -> float:
        return score_z(x1, n1, x2, n2, delta, corrected)

    low = bisect(lambda delta: at(delta) > z, -1.0, d, steps=60)
    high = bisect(lambda delta: at(delta) > -z, d, 1.0, steps=60)
    return low, high


def miettinen_nurminen(x1: int, n1: int, x2: int, n2: int, confidence: float = 0.95) -> Pair:
    """Score interval with the N/(N - 1) factor."""
    return score_interval(x1, n1, x2, n2, confidence, corrected=True)


def pooled_z(x1: int, n1: int, x2: int, n2: int, corrected: bool = False) -> Pair:
    """(z, two-sided p) of the pooled z test; 0/n against 0/m gives (0, 1)."""
    pooled = mp.mpf(x1 + x2) / (n1 + n2)
    variance = pooled * (1 - pooled) * (mp.mpf(1) / n1 + mp.mpf(1) / n2)
    if corrected:
        variance = variance * (n1 + n2) / (n1 + n2 - 1)
    z = (mp.mpf(x1) / n1 - mp.mpf(x2) / n2) / mp.sqrt(variance) if variance else mp.mpf(0)
    return float(z), float(normal_two_sided_p(z))


# --- Exact tests ------------------------------------------------------------------------------------------


def fisher(x1: int, n1: int, x2: int, n2: int) -> dict[str, Fraction]:
    """Hypergeometric tails given x1 + x2; two-sided sums every table no more likely than the seen one."""
    m = x1 + x2
    weight = {a: math.comb(n1, a) * math.comb(n2, m - a) for a in range(max(0, m - n2), min(n1, m) + 1)}
    total = sum(weight.values())
    return {
        "greater": Fraction(sum(w for a, w in weight.items() if a >= x1), total),
        "less": Fraction(sum(w for a, w in weight.items() if a <= x1), total),
        "two_sided": Fraction(sum(w for w in weight.values() if w <= weight[x1]), total),
    }


def largest_chance(tables: list[tuple[int, int]], n1: int, n2: int, cells: int = 2000) -> float:
    """sup over the common rate of P(table in the set): a grid, then ternary search around each grid peak."""
    terms = [0] * (n1 + n2 + 1)
    for a, b in tables:
        terms[a + b] += math.comb(n1, a) * math.comb(n2, b)

    def chance(rate: float) -> float:
        return math.fsum(w * rate**m * (1 - rate) ** (n1 + n2 - m) for m, w in enumerate(terms) if w)

    values = [chance(i / cells) for i in range(cells + 1)]
    best = max(values)
    if best >= 1 - 1e-14:
        return 1.0
    for i in range(1, cells):
        if values[i] >= max(values[i - 1], values[i + 1]) and values[i] > 0.99 * best:
            left, right = (i - 1) / cells, (i + 1) / cells
            for _ in range(80):
                a, b = left + (right - left) / 3, right - (right - left) / 3
                left, right = (a, right) if chance(a) < chance(b) else (left, b)
            best = max(best, chance((left + right) / 2))
    return min(1.0, best)


def unconditional(statistic: Callable[[int, int], Any], x1: int, n1: int, x2: int, n2: int) -> float:
    """sup over the common rate of P(statistic >= its seen value)."""
    seen = statistic(x1, x2)
    tables = [(a, b) for a in range(n1 + 1) for b in range(n2 + 1) if statistic(a, b) >= seen]
    return largest_chance(tables, n1, n2)


def signed_z_squared(x1: int, n1: int, x2: int, n2: int, pooled: bool = True) -> Any:
    """sign(z) z^2 as a fraction (infinite where only the variance is 0; 0/0 is 0)."""
    p1, p2 = Fraction(x1, n1), Fraction(x2, n2)
    middle = Fraction(x1 + x2, n1 + n2)
    if pooled:
        variance = middle * (1 - middle) * (Fraction(1, n1) + Fraction(1, n2))
    else:
        variance = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2
    sign = (p1 > p2) - (p1 < p2)
    if variance == 0:
        return sign * math.inf if sign else Fraction(0)
    return sign * (p1 - p2) ** 2 / variance


def barnard(x1: int, n1: int, x2: int, n2: int, pooled: bool = True) -> dict[str, float]:
    """Unconditional p with the z statistic, one-sided both ways and two-sided by |z|."""

    def z(a: int, b: int) -> Any:
        return signed_z_squared(a, n1, b, n2, pooled)

    seen = x1, n1, x2, n2
    return {
        "greater": unconditional(z, *seen),
        "less": unconditional(lambda a, b: -z(a, b), *seen),
        "two_sided": unconditional(lambda a, b: abs(z(a, b)), *seen),
    }


def boschloo(x1: int, n1: int, x2: int, n2: int) -> dict[str, float]:
    """Unconditional p with Fisher's p as statistic (small is extreme); two-sided in both definitions."""
    table = {(a, b): fisher(a, n1, b, n2) for a in range(n1 + 1) for b in range(n2 + 1)}
    out = {
        side: unconditional(lambda a, b, side=side: -table[a, b][side], x1, n1, x2, n2)
        for side in ("greater", "less", "two_sided")
    }
    return {
        "greater": out["greater"],
        "less": out["less"],
        "two_sided_2min": min(1.0, 2 * min(out["greater"], out["less"])),
        "two_sided_fisher_stat": out["two_sided"],
    }


# --- Planning ---------------------------------------------------------------------------------------------


def pooled_z_power(n1: int, n2: int, p1: float, p2: float, alpha: float = 0.05) -> float:
    """Exact chance that the two-sided pooled z test rejects (|z| >= z_{1 - alpha/2})."""
    limit = normal_quantile(1 - dec(alpha) / 2) ** 2
    q1, q2 = [pmf(a, n1, p1) for a in range(n1 + 1)], [pmf(b, n2, p2) for b in range(n2 + 1)]
    return math.fsum(
        q1[a] * q2[b]
        for a in range(n1 + 1)
        for b in range(n2 + 1)
        if abs(signed_z_squared(a, n1, b, n2)) >= float(limit)
    )


def rollouts_each(p1: float, p2: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """[(z_{1-a/2} sqrt(2 pbar qbar) + z_power sqrt(p1 q1 + p2 q2)) / (p1 - p2)]^2, before rounding up."""
    p, q = dec(p1), dec(p2)
    middle = (p + q) / 2
    top = normal_quantile(1 - dec(alpha) / 2) * mp.sqrt(2 * middle * (1 - middle))
    top += normal_quantile(dec(power)) * mp.sqrt(p * (1 - p) + q * (1 - q))
    return float((top / (p - q)) ** 2)
