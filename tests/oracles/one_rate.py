"""One success rate, slowly: intervals, exact coverage, optimal randomised bounds, expected shortage.

Wilson 1927; Newcombe 1998 (method 4); Clopper and Pearson 1934; Brown, Cai and DasGupta 2001 (Jeffreys and
Agresti-Coull); Vincent et al., section IV and eq. 9 (uniformly most accurate bound); Lehmann and Romano,
Testing Statistical Hypotheses, section 5.5 (unbiased two-sided).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.oracles.common import bisect, cdf, dec, mp, pmf, z_two_sided

Pair = tuple[float, float]


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Pair:
    """(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); exactly 0 at none and 1 at all."""
    z, n = z_two_sided(confidence), mp.mpf(trials)
    p = successes / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * mp.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low = 0.0 if successes == 0 else float(centre - half)
    high = 1.0 if successes == trials else float(centre + half)
    return low, high


def wilson_corrected(successes: int, trials: int, confidence: float = 0.95) -> Pair:
    """Newcombe 1998 method 4: solve |p - P| - 1/2n = z sqrt(P(1-P)/n), clipped to [0, 1]."""
    z, n = z_two_sided(confidence), mp.mpf(trials)
    p = successes / n
    low_root = z * mp.sqrt(z**2 - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))
    high_root = z * mp.sqrt(z**2 + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
    low = (2 * n * p + z**2 - 1 - low_root) / (2 * (n + z**2))
    high = (2 * n * p + z**2 + 1 + high_root) / (2 * (n + z**2))
    return (
        0.0 if successes == 0 else max(0.0, float(low)),
        1.0 if successes == trials else min(1.0, float(high)),
    )


def wald(successes: int, trials: int, confidence: float = 0.95, clip: bool = False) -> Pair:
    """p -+ z sqrt(p(1-p)/n)."""
    z, n = z_two_sided(confidence), mp.mpf(trials)
    p = successes / n
    half = z * mp.sqrt(p * (1 - p) / n)
    return _clipped(p - half, p + half, clip)


def agresti_coull(successes: int, trials: int, confidence: float = 0.95, clip: bool = True) -> Pair:
    """Wald's formula on n + z^2 trials with k + z^2/2 successes."""
    z = z_two_sided(confidence)
    n = trials + z**2
    p = (successes + z**2 / 2) / n
    half = z * mp.sqrt(p * (1 - p) / n)
    return _clipped(p - half, p + half, clip)


def _clipped(low: Any, high: Any, clip: bool) -> Pair:
    return (float(max(low, 0)), float(min(high, 1))) if clip else (float(low), float(high))


def exact_lower(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided Clopper-Pearson: the p with P_p(X >= k) = 1 - confidence; 0 when k = 0."""
    if successes == 0:
        return 0.0
    alpha = 1 - dec(confidence)
    return float(bisect(lambda p: 1 - cdf(successes - 1, trials, p) < alpha, mp.mpf(0), mp.mpf(1)))


def exact_upper(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided Clopper-Pearson: the p with P_p(X <= k) = 1 - confidence; 1 when k = n."""
    if successes == trials:
        return 1.0
    alpha = 1 - dec(confidence)
    return float(bisect(lambda p: cdf(successes, trials, p) > alpha, mp.mpf(0), mp.mpf(1)))


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> Pair:
    """Two one-sided exact bounds, half the error each."""
    one_sided = (1 + dec(confidence)) / 2
    return exact_lower(successes, trials, one_sided), exact_upper(successes, trials, one_sided)


def jeffreys(successes: int, trials: int, confidence: float = 0.95, end_rule: bool = True) -> Pair:
    """Equal tails of Beta(k + 1/2, n - k + 1/2); with the end rule 0 at none and 1 at all."""
    alpha = 1 - dec(confidence)
    a, b = successes + mp.mpf("0.5"), trials - successes + mp.mpf("0.5")

    def quantile(prob: Any) -> float:
        below = lambda x: mp.betainc(a, b, 0, x, regularized=True) < prob  # noqa: E731
        return float(bisect(below, mp.mpf(0), mp.mpf(1), steps=60))

    low = 0.0 if end_rule and successes == 0 else quantile(alpha / 2)
    high = 1.0 if end_rule and successes == trials else quantile(1 - alpha / 2)
    return low, high


def coverage(interval: Callable[[int, int, float], Pair], trials: int, rate: float, confidence: float = 0.95) -> float:
    """Sum over k of P(X = k) where the interval of k successes holds the rate."""
    p = dec(rate)
    total = mp.mpf(0)
    for k in range(trials + 1):
        low, high = interval(k, trials, confidence)
        if low <= p <= high:
            total += pmf(k, trials, p)
    return float(total)


# --- The randomised count T = k + U ---------------------------------------------------------------------


def randomised_cdf(t: Any, n: int, p: Any) -> Any:
    """F_p(t) = P(X + U <= t) = P(X <= floor(t) - 1) + (t - floor(t)) P(X = floor(t)), any real t."""
    if t <= 0:
        return 0 * p
    if t >= n + 1:
        return 0 * p + 1
    whole = math.floor(t)
    return cdf(whole - 1, n, p) + (t - whole) * pmf(whole, n, p)


def randomised_quantile(prob: Any, n: int, p: Any) -> Any:
    """The smallest t with F_p(t) = prob."""
    below = 0 * p
    for x in range(n + 1):
        mass = pmf(x, n, p)
        if prob <= below + mass and mass > 0:
            return x + (prob - below) / mass
        below += mass
    return mp.mpf(n + 1)


def optimal_lower(successes: int, trials: int, draw: float, confidence: float = 0.95) -> float:
    """Uniformly most accurate lower bound: the p with F_p(k + U) = confidence (Vincent et al. eq. 9b)."""
    t, level = successes + dec(draw), dec(confidence)
    if t < level:
        return 0.0
    if t > trials + level:
        return 1.0
    return float(bisect(lambda p: randomised_cdf(t, trials, p) > level, mp.mpf(0), mp.mpf(1)))


def optimal_upper(successes: int, trials: int, draw: float, confidence: float = 0.95) -> float:
    """One minus the lower bound of the failures, with the same draw."""
    return float(1 - mp.mpf(optimal_lower(trials - successes, trials, draw, confidence)))


def unbiased_acceptance(n: int, p: Any, alpha: Any) -> tuple[Any, Any]:
    """(t1, t2) with F_n(t2) - F_n(t1) = F_{n-1}(t2 - 1) - F_{n-1}(t1 - 1) = 1 - alpha.

    Walk v = F_n(t1) up from 0 to alpha; the right-hand difference never falls, so bisect on v.
    """

    def ends(v: Any) -> tuple[Any, Any]:
        return randomised_quantile(v, n, p), randomised_quantile(v + 1 - alpha, n, p)

    def too_small(v: Any) -> bool:
        t1, t2 = ends(v)
        return randomised_cdf(t2 - 1, n - 1, p) - randomised_cdf(t1 - 1, n - 1, p) < 1 - alpha

    return ends(bisect(too_small, mp.mpf(0), alpha, steps=55))


def unbiased_interval(successes: int, trials: int, draw: float, confidence: float = 0.95) -> Pair:
    """UMAU interval {p : t1(p) <= k + U <= t2(p)}; t1 and t2 rise with p, so each end is one bisection.

    As p -> 0 the acceptance region tends to [alpha, 2 - alpha], as p -> 1 to [n - 1 + alpha, n + 1 - alpha].
    """
    alpha = 1 - dec(confidence)
    t = successes + dec(draw)
    if t < alpha:
        return 0.0, 0.0
    if t > trials + 1 - alpha:
        return 1.0, 1.0
    low, high = 0.0, 1.0
    if t > 2 - alpha:
        low = float(bisect(lambda p: unbiased_acceptance(trials, p, alpha)[1] < t, mp.mpf(0), mp.mpf(1), steps=34))
    if t < trials - 1 + alpha:
        high = float(bisect(lambda p: unbiased_acceptance(trials, p, alpha)[0] <= t, mp.mpf(0), mp.mpf(1), steps=34))
    return low, high


def population_rate(successes: int, trials: int, population: int, confidence: float = 0.95) -> Pair:
    """All totals M whose two one-sided hypergeometric tails are above half the error, in fractions; as shares."""
    error = (1 - Fraction(str(confidence))) / 2
    left = []
    for total in range(successes, population - trials + successes + 1):
        ways = [math.comb(total, j) * math.comb(population - total, trials - j) for j in range(trials + 1)]
        every = math.comb(population, trials)
        if Fraction(sum(ways[successes:]), every) > error and Fraction(sum(ways[: successes + 1]), every) > error:
            left.append(total)
    return left[0] / population, left[-1] / population
