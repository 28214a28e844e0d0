"""Expected and maximum expected shortage of a lower bound, by quadrature of the definition.

Vincent et al., section IV: ES(p) = E_p[max(p - L, 0)] = integral over p0 in [0, p] of P_p(L <= p0);
MES = max over p of ES(p).
"""

from collections.abc import Callable
from itertools import pairwise

from numpy.polynomial.legendre import leggauss

from tests.oracles.common import dec, mp, pmf
from tests.oracles.one_rate import exact_lower, optimal_lower, randomised_cdf, randomised_quantile

_NODES = [(float(x), float(w)) for x, w in zip(*leggauss(24), strict=True)]


def break_points(trials: int, confidence: float) -> list[float]:
    """Where t*(p0) passes a whole number: the one-sided exact bounds of 0, 1, ..., n successes, and 1."""
    return [exact_lower(j, trials, confidence) for j in range(trials + 1)] + [1.0]


def optimal_shortage(rate: float, trials: int, confidence: float = 0.95, digits: int = 20) -> float:
    """ES(p) = integral_0^p F_p(t*(p0)) dp0 with F_{p0}(t*) = confidence, by mpmath's quad."""
    p, level = dec(rate), dec(confidence)
    cuts = [mp.mpf(x) for x in break_points(trials, confidence) if x < p] + [p]
    with mp.workdps(digits):
        return float(mp.quad(lambda p0: randomised_cdf(randomised_quantile(level, trials, p0), trials, p), cuts))


def optimal_shortage_from_draws(rate: float, trials: int, confidence: float = 0.95) -> float:
    """The same from the other side: sum over k of P(X = k) times the mean over u of (p - L(k + u))+."""
    p = float(rate)
    total = 0.0
    for k in range(trials + 1):
        # L(k + u) rises in u; it may cross p or leave 0 only at these u
        cuts = {0.0, 1.0}
        for u in (randomised_quantile(confidence, trials, p) - k, confidence - k, trials + confidence - k):
            if 0 < u < 1:
                cuts.add(float(u))
        edges = sorted(cuts)
        inner = 0.0
        for a, b in pairwise(edges):
            for x, w in _NODES:
                u = (a + b) / 2 + (b - a) / 2 * x
                inner += w * (b - a) / 2 * max(p - optimal_lower(k, trials, u, confidence), 0.0)
        total += pmf(k, trials, p) * inner
    return total


def optimal_shortage_float(rate: float, trials: int, confidence: float, cuts: list[float]) -> float:
    """The first integral in ordinary floats: 24 Gauss-Legendre nodes between break points (for grids)."""
    edges = [x for x in cuts if x < rate] + [rate]
    total = 0.0
    for a, b in pairwise(edges):
        for x, w in _NODES:
            p0 = (a + b) / 2 + (b - a) / 2 * x
            t = randomised_quantile(confidence, trials, p0)
            total += w * (b - a) / 2 * float(randomised_cdf(t, trials, rate))
    return total


def exact_shortage(rate: float, trials: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson's: sum over k of P(X = k) max(p - L_k, 0)."""
    p = dec(rate)
    lows = [mp.mpf(x) for x in break_points(trials, confidence)[:-1]]
    return float(sum(pmf(k, trials, p) * max(p - low, mp.mpf(0)) for k, low in enumerate(lows)))


def expected_width(
    interval: Callable[[int, int, float], tuple[float, float]],
    rate: float,
    trials: int,
    confidence: float = 0.95,
) -> float:
    """Sum over k of P(X = k) times the width of the interval of k successes."""
    total = 0.0
    for k in range(trials + 1):
        low, high = interval(k, trials, confidence)
        total += pmf(k, trials, rate) * (high - low)
    return total


def grid_maximum(curve: Callable[[float], float], points: int = 100, rounds: int = 4) -> tuple[float, float]:
    """(maximum, where) of a curve on [0, 1]: a grid, then finer grids around the best point."""
    low, high, where = 0.0, 1.0, 0.0
    for _ in range(rounds):
        step = (high - low) / points
        grid = [low + i * step for i in range(points)] + [high]
        where = max(grid, key=curve)
        low, high, points = max(0.0, where - step), min(1.0, where + step), 20
    return curve(where), where


def max_optimal_shortage(trials: int, confidence: float = 0.95, points: int = 100) -> tuple[float, float]:
    """(MES, rate where it is reached) of the optimal lower bound, by grid."""
    cuts = break_points(trials, confidence)
    return grid_maximum(lambda p: optimal_shortage_float(p, trials, confidence, cuts), points)


def max_exact_shortage(trials: int, confidence: float = 0.95, points: int = 200) -> tuple[float, float]:
    """(MES, rate where it is reached) of the Clopper-Pearson lower bound, by grid."""
    lows = break_points(trials, confidence)[:-1]
    return grid_maximum(lambda p: sum(pmf(k, trials, p) * max(p - low, 0.0) for k, low in enumerate(lows)), points)
