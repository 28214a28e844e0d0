"""Paired success: McNemar, Tango, Newcombe's paired interval, and the bootstrap of pairs without any drawing.

McNemar 1947 (exact and mid-p, Fagerland 2013); Tango 1998 (constrained maximum found numerically); Newcombe 1998,
paired method 10. b = pairs only the first policy passes, c = pairs only the second passes.
"""

import math
from fractions import Fraction

from tests.oracles.common import bisect, dec, frac, mp, normal_two_sided_p, z_two_sided
from tests.oracles.one_rate import wilson

Pair = tuple[float, float]


def mcnemar(b: int, c: int) -> dict[str, float]:
    """Exact 2 P(X <= min), mid-p 2 P(X <= min) - P(X = min), X ~ Bin(b + c, 1/2); chi2 with and without correction."""
    m, small = b + c, min(b, c)
    half = Fraction(1, 2**m)
    tail = sum(math.comb(m, j) for j in range(small + 1)) * half
    chi2 = mp.mpf((b - c) ** 2) / m if m else mp.mpf(0)
    chi2cc = mp.mpf(max(0, abs(b - c) - 1) ** 2) / m if m else mp.mpf(0)
    return {
        "exact": float(min(Fraction(1), 2 * tail)),
        "midp": 1.0 if b == c else float(2 * tail - math.comb(m, small) * half),
        "one_sided_b_gt_c": float(sum(math.comb(m, j) for j in range(b, m + 1)) * half),
        "chi2": float(chi2),
        "chi2_p": float(normal_two_sided_p(mp.sqrt(chi2))),
        "chi2cc": float(chi2cc),
        "chi2cc_p": float(normal_two_sided_p(mp.sqrt(chi2cc))),
    }


def constrained_second_only(b: int, c: int, n: int, delta: float) -> float:
    """The most likely P(second only) when P(first only) - P(second only) = delta.

    Maximises b log(q + delta) + c log q + (n - b - c) log(1 - 2q - delta) by bisection on its falling slope.
    """

    def rising(q: float) -> bool:
        slope = 0.0
        for count, chance, speed in ((b, q + delta, 1), (c, q, 1), (n - b - c, 1 - 2 * q - delta, -2)):
            if count and chance <= 0:
                return speed > 0
            if count:
                slope += speed * count / chance
        return slope > 0

    return bisect(rising, max(0.0, -delta), (1 - delta) / 2, steps=80)


def tango_z(b: int, c: int, n: int, delta: float) -> float:
    """(b - c - n delta)/sqrt(n (2q + delta - delta^2)) with the constrained q; 0/0 is 0."""
    gap = b - c - n * delta
    if abs(gap) < 1e-13 * n:
        return 0.0
    variance = n * (2 * constrained_second_only(b, c, n, delta) + delta * (1 - delta))
    return gap / math.sqrt(variance) if variance > 1e-18 else math.copysign(math.inf, gap)


def tango(b: int, c: int, n: int, confidence: float = 0.95) -> Pair:
    """{delta : |Z(delta)| <= z}."""
    z, d = float(z_two_sided(confidence)), (b - c) / n
    low = bisect(lambda delta: tango_z(b, c, n, delta) > z, -1.0, d, steps=60)
    high = bisect(lambda delta: tango_z(b, c, n, delta) > -z, d, 1.0, steps=60)
    return low, high


def newcombe_paired(both: int, b: int, c: int, neither: int, confidence: float = 0.95) -> Pair:
    """Method 10: Wilson on each margin, combined with phi (numerator less n/2 when positive, not below 0)."""
    n = both + b + c + neither
    p1, p2 = (both + b) / n, (both + c) / n
    (l1, u1), (l2, u2) = wilson(both + b, n, confidence), wilson(both + c, n, confidence)
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    top = both * neither - b * c
    if top > 0:
        top = max(0.0, top - n / 2)
    phi = top / math.sqrt(margins) if margins else 0.0
    down = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    up = math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    return p1 - p2 - down, p1 - p2 + up


def bootstrap_limit(b: int, c: int, n: int, confidence: float = 0.95) -> dict[str, float]:
    """Resampling the n pairs for ever: the sum of n draws from {+1: b, -1: c, 0: rest}/n, convolved exactly."""
    sums = {0: 1}
    for _ in range(n):
        fresh: dict[int, int] = {}
        for total, ways in sums.items():
            for step, count in ((1, b), (-1, c), (0, n - b - c)):
                if count:
                    fresh[total + step] = fresh.get(total + step, 0) + ways * count
        sums = fresh
    alpha = 1 - frac(confidence)

    def percentile(prob: Fraction) -> float:
        below = 0
        for total in sorted(sums):
            below += sums[total]
            if Fraction(below, n**n) >= prob:
                return total / n
        raise AssertionError

    d = Fraction(b - c, n)
    return {
        "percentile_lo": percentile(alpha / 2),
        "percentile_hi": percentile(1 - alpha / 2),
        "se": float(mp.sqrt(dec(float((Fraction(b + c, n) - d * d) / n)))),
        "P_diff_le_0": float(Fraction(sum(w for s, w in sums.items() if s <= 0), n**n)),
    }
