"""The mean of a bounded score: betting interval by grid, empirical Bernstein, Hoeffding, Student, Welch.

Waudby-Smith and Ramdas 2024 (hedged capital; Snyder et al. Algorithm 2); Maurer and Pontil 2009, theorem 4;
Hoeffding 1963; Welch 1947. Values keep their recorded order: bets on sorted values are invalid.
"""

import math
from collections.abc import Sequence
from typing import Any

from tests.oracles.common import bisect, dec, mp
from tests.oracles.sequential import wsr_bets, wsr_capital

Pair = tuple[float, float]


def hedged_interval(
    values: Sequence[float],
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
    c: float = 0.95,
    running: bool = True,
    horizon: int | None = None,
    ever: bool = True,
    cells: int = 1000,
) -> Pair:
    """Hull of the grid means m never rejected: max(M+, M-)/2 < 1/alpha; then bisection next to its two ends.

    `ever`: a mean once rejected stays rejected (a confidence sequence's running intersection); otherwise only the
    last capital counts. `horizon`: the fixed-size bets, n in place of t ln(t + 1).
    """
    alpha = 1 - confidence
    z = [(v - low) / (high - low) for v in values]
    lams = wsr_bets(z, alpha, 2, running, horizon)[0]

    def kept(m: float) -> bool:
        plus, minus = wsr_capital(z, lams, m, c)
        capital = [max(a, b) / 2 for a, b in zip(plus, minus, strict=True)]
        return (max(capital) if ever else capital[-1]) < 1 / alpha

    grid = [i / cells for i in range(cells + 1)]
    inside = [m for m in grid if kept(m)]
    if not inside:
        raise AssertionError("no grid mean survived: use more cells")
    a, b = inside[0], inside[-1]
    if a > 0:
        a = bisect(lambda m: not kept(m), a - 1 / cells, a, steps=45)
    if b < 1:
        b = bisect(kept, b, b + 1 / cells, steps=45)
    return low + (high - low) * a, low + (high - low) * b


def hoeffding_width(n: int, confidence: float = 0.95, sides: int = 2) -> float:
    """sqrt(ln(sides/alpha)/(2n)) on the [0, 1] scale."""
    return math.sqrt(math.log(sides / (1 - confidence)) / (2 * n))


def hoeffding_interval(values: Sequence[float], low: float, high: float, confidence: float = 0.95) -> Pair:
    """mean -+ (high - low) sqrt(ln(2/alpha)/(2n)), clipped to the range."""
    centre = math.fsum(values) / len(values)
    half = (high - low) * hoeffding_width(len(values), confidence)
    return max(low, centre - half), min(high, centre + half)


def bernstein_width(
    values: Sequence[float], low: float, high: float, confidence: float = 0.95, sides: int = 2
) -> float:
    """sqrt(2 V ln(2 sides/alpha)/n) + 7 (high - low) ln(2 sides/alpha)/(3(n - 1)), V with n - 1.

    Theorem 4 is one-sided with ln(2/alpha); two sides at alpha/2 each make it ln(4/alpha).
    """
    n = len(values)
    centre = math.fsum(values) / n
    variance = math.fsum((v - centre) ** 2 for v in values) / (n - 1)
    log = math.log(2 * sides / (1 - confidence))
    return math.sqrt(2 * variance * log / n) + 7 * (high - low) * log / (3 * (n - 1))


def bernstein_interval(values: Sequence[float], low: float, high: float, confidence: float = 0.95) -> Pair:
    """Empirical Bernstein, two-sided, clipped to the range."""
    centre = math.fsum(values) / len(values)
    half = bernstein_width(values, low, high, confidence)
    return max(low, centre - half), min(high, centre + half)


# --- Approximate, for comparison --------------------------------------------------------------------------


def student_two_sided_p(t: Any, df: Any) -> Any:
    """P(|T| >= |t|) = I_{df/(df + t^2)}(df/2, 1/2)."""
    return mp.betainc(df / mp.mpf(2), mp.mpf("0.5"), 0, df / (df + t**2), regularized=True)


def student_quantile(confidence: float, df: Any) -> Any:
    """t with P(|T| <= t) = confidence."""
    alpha = 1 - dec(confidence)
    return bisect(lambda t: student_two_sided_p(t, df) > alpha, mp.mpf(0), mp.mpf(10000), steps=90)


def _moments(values: Sequence[float]) -> tuple[Any, Any]:
    numbers = [dec(v) for v in values]
    centre = mp.fsum(numbers) / len(numbers)
    return centre, mp.fsum((v - centre) ** 2 for v in numbers) / (len(numbers) - 1)


def student_interval(values: Sequence[float], confidence: float = 0.95) -> Pair:
    """mean -+ t_{n-1} s/sqrt(n)."""
    centre, variance = _moments(values)
    half = student_quantile(confidence, len(values) - 1) * mp.sqrt(variance / len(values))
    return float(centre - half), float(centre + half)


def welch(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> dict[str, float]:
    """t, Satterthwaite's df, two-sided p and the interval of the mean difference, first minus second."""
    (m1, v1), (m2, v2) = _moments(first), _moments(second)
    e1, e2 = v1 / len(first), v2 / len(second)
    df = (e1 + e2) ** 2 / (e1**2 / (len(first) - 1) + e2**2 / (len(second) - 1))
    t = (m1 - m2) / mp.sqrt(e1 + e2)
    half = student_quantile(confidence, df) * mp.sqrt(e1 + e2)
    ends = {"low": float(m1 - m2 - half), "high": float(m1 - m2 + half)}
    return {"t": float(t), "df": float(df), "p": float(student_two_sided_p(t, df)), **ends}
