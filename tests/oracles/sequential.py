"""Sequential tests on a stream of score differences d = r1 - r0 in [-1, 1], one plain pass each.

FHM: methods.md section 8. N-SCORE: Snyder et al. 2026, Algorithm 1. WSR: Waudby-Smith and Ramdas 2024 as in Snyder
et al., Algorithm 2, with its lost division restored. theta-SAVI: Turner and Gruenwald 2023, eq. 4 with Beta plug-ins.
Every trace lists, per pair, the bet chosen before that pair, the wealth after it, and the anytime p-value.
"""

import math
from collections.abc import Sequence
from typing import Any

from scipy.optimize import brentq

from tests.oracles.common import frac

Trace = dict[str, list[float]]


def anytime_p(wealth: Sequence[float]) -> list[float]:
    """min(1, 1/max of the wealth so far)."""
    best, out = 1.0, []
    for x in wealth:
        best = max(best, x)
        out.append(1 / best)
    return out


def decided_at(wealth: Sequence[float], alpha: float) -> int | None:
    """The first n (1-based) with wealth >= 1/alpha, one rounding error forgiven."""
    return next((n for n, x in enumerate(wealth, 1) if x >= (1 / alpha) * (1 - 1e-12)), None)


def process(differences: Sequence[float], bets: Sequence[float]) -> Trace:
    """X *= 1 + xi d for given bets."""
    x, wealth = 1.0, []
    for d, xi in zip(differences, bets, strict=True):
        x *= 1 + xi * d
        wealth.append(x)
    return {"xi": list(bets), "X": wealth, "p": anytime_p(wealth)}


def fhm(
    differences: Sequence[float],
    horizon: int,
    alpha: float = 0.05,
    v0: float = 0.5,
    c0: float = 2.0,
    size: int = 16,
    xi_max: float = 0.99,
    hair: float = 0.0,
    scores: Sequence[tuple[float, float]] | None = None,
    beyond: float = 0.0,
) -> Trace:
    """Finite-horizon mixture, section 8 steps 1-5, for the claim "mean d > 0"; stops at a decision.

    `hair`: the cap of step 4 aims at (1 + hair)/alpha. v0 is 0.5 for binary scores, 0.2 otherwise. With the `scores`
    (ours, theirs) behind the differences, and the margin `beyond` in them, section 8b: a stake of 1.5 whose record
    counts as .99.
    """
    x, b, d_min = 1.0, c0 * v0, math.inf
    record = 0.35 if scores else 0.0
    weights = [(1.0 - record) / size] * size
    bets, wealth = [], []
    for n, d in enumerate(differences, 1):
        s2 = b / (c0 + n - 1)
        w = alpha * x
        remaining = horizon - n + 1
        lo = min(0.9, math.sqrt(2 * math.log(1 / alpha) / (horizon * s2)))
        grid = [xi_max * lo ** (1 - j / (size - 1)) for j in range(size)]
        seen = list(scores or [])[: n - 1]
        live = n == 1
        if seen and any(0 < score < 1 for pair in seen for score in pair):
            gap = max(theirs for _, theirs in seen) - min(ours for ours, _ in seen) + beyond
            live = 1.5 * gap / (1 + abs(beyond)) < 1
        counted = record if live else 0.0
        mix = sum(wj * xj for wj, xj in zip(weights, grid, strict=True)) + xi_max * counted
        mix /= sum(weights) + counted
        floor = math.sqrt(2 * math.log(1 / w) / (remaining * s2))
        xi = min(xi_max, max(mix, floor))
        if d_min < math.inf:
            xi = min(xi, ((1 + hair) / w - 1) / d_min)
        x *= 1 + xi * d
        weights = [wj * (1 + xj * d) for wj, xj in zip(weights, grid, strict=True)]
        record *= max(0.0, 1 + 1.5 * d)
        b += d * d
        if d > 0:
            d_min = min(d_min, d)
        bets.append(xi)
        wealth.append(x)
        if x >= (1 / alpha) * (1 - 1e-12):
            break
    return {"xi": bets, "X": wealth, "p": anytime_p(wealth)}


# --- N-SCORE ----------------------------------------------------------------------------------------------


def kelly(atoms: Sequence[tuple[float, float]], xi_max: float = 1.0) -> float:
    """argmax over xi in [0, xi_max] of the sum of mass * log(1 + xi d): the root of the falling derivative."""

    def slope(xi: float) -> float:
        if any(mass > 0 and 1 + xi * d <= 0 for mass, d in atoms):
            return -1e300
        return sum(mass * d / (1 + xi * d) for mass, d in atoms if mass > 0)

    if slope(0.0) <= 0:
        return 0.0
    if slope(xi_max) >= 0:
        return xi_max
    if slope(xi_max) > -1e300:
        return float(brentq(slope, 0.0, xi_max, xtol=1e-15, rtol=1e-14))
    left, right = 0.0, xi_max  # the derivative falls to minus infinity inside: bisect
    for _ in range(100):
        middle = (left + right) / 2
        left, right = (middle, right) if slope(middle) > 0 else (left, middle)
    return left


def nscore_bet(p0: Sequence[float], p1: Sequence[float], c: Sequence[float], xi_max: float = 1.0) -> float:
    """xi* = argmax of sum_ij p0_i p1_j log(1 + xi (c_j - c_i)): all k^2 terms, no convolution."""
    return kelly([(a * b, cj - ci) for a, ci in zip(p0, c, strict=True) for b, cj in zip(p1, c, strict=True)], xi_max)


def bin_of(score: float, bins: int, decimal: bool = True) -> int:
    """floor((k - 1) r): on the decimal that r prints as, or on the float as it is (0.29 * 100 < 29)."""
    return math.floor(frac(score) * (bins - 1)) if decimal else math.floor((bins - 1) * score)


def nscore(
    second: Sequence[float],
    first: Sequence[float],
    bins: int | None = 2,
    mass: float | None = None,
    xi_max: float = 0.99,
    levels: Sequence[float] | None = None,
    alpha: float | None = None,
    decimal: bool = True,
) -> Trace:
    """N-SCORE_k with pseudo-counts: total prior mass per policy, spread evenly over the levels.

    mass None means 1/2 per bin for k = 2 and 2 in total otherwise. `levels` are declared partial-credit levels (every
    score is one of them); otherwise levels j/(k-1). bins None: the raw pooled values so far are the atoms
    (N-SCORE_inf) and the mass is spread evenly over them. With `alpha`, stops at a decision.
    """
    x, bets, wealth = 1.0, [], []
    for n, (r0, r1) in enumerate(zip(second, first, strict=True)):
        if bins is None and levels is None:
            c = sorted({*second[:n], *first[:n]})
            index = c.index
        elif levels is not None:
            c = list(levels)
            index = c.index
        else:
            assert bins is not None
            c = [j / (bins - 1) for j in range(bins)]
            index = lambda r: bin_of(r, bins, decimal)  # noqa: E731
        two_bins = len(levels) == 2 if levels is not None else bins == 2
        total = mass if mass is not None else (1.0 if two_bins else 2.0)
        xi = 0.0
        if c and (n or total > 0):
            p0, p1 = ([total / len(c)] * len(c) for _ in range(2))
            for a, b in zip(second[:n], first[:n], strict=True):
                p0[index(a)] += 1
                p1[index(b)] += 1
            norm = n + total
            xi = nscore_bet([v / norm for v in p0], [v / norm for v in p1], c, xi_max)
        x *= 1 + xi * (r1 - r0)
        bets.append(xi)
        wealth.append(x)
        if alpha is not None and x >= (1 / alpha) * (1 - 1e-12):
            break
    return {"xi": bets, "X": wealth, "p": anytime_p(wealth)}


def nscore_literal(second: Sequence[float], first: Sequence[float], bins: int | None) -> Trace:
    """Algorithm 1 as printed: no pseudo-counts, xi up to 1 (it can lose everything)."""
    return nscore(second, first, bins=bins, mass=0.0, xi_max=1.0)


# --- WSR --------------------------------------------------------------------------------------------------


def wsr_bets(z: Sequence[float], alpha: float, sides: int = 2, running: bool = True, horizon: int | None = None) -> Any:
    """(lambda, mu, sigma^2) lists on values z in [0, 1].

    mu_t = (1/2 + sum z)/(t + 1); sigma^2_t = (1/4 + sum (z_i - mu)^2)/(t + 1) with mu = mu_i (running, the original)
    or mu_t; lambda_t = sqrt(2 ln(sides/alpha) / (t ln(t+1) sigma^2_{t-1})), sigma^2_0 = 1/4. With `horizon` n the
    divisor t ln(t+1) is n (the paper's fixed-size bets).
    """
    lams, mus, s2s = [], [], []
    s2 = 0.25
    for t in range(1, len(z) + 1):
        pace = t * math.log(t + 1) if horizon is None else horizon
        lams.append(math.sqrt(2 * math.log(sides / alpha) / (pace * s2)))
        mus.append((0.5 + sum(z[:t])) / (t + 1))
        s2 = (0.25 + sum((z[i] - (mus[i] if running else mus[-1])) ** 2 for i in range(t))) / (t + 1)
        s2s.append(s2)
    return lams, mus, s2s


def wsr_capital(z: Sequence[float], lams: Sequence[float], m: float, c: float = 0.95) -> tuple[Any, Any]:
    """M+ and M- after each value: factors 1 + min(lam, c/m)(z - m) and 1 - min(lam, c/(1-m))(z - m)."""
    up, down, plus, minus = 1.0, 1.0, [], []
    for value, lam in zip(z, lams, strict=True):
        up *= 1 + min(lam, c / m if m > 0 else math.inf) * (value - m)
        down *= 1 - min(lam, c / (1 - m) if m < 1 else math.inf) * (value - m)
        plus.append(up)
        minus.append(down)
    return plus, minus


def wsr_two_sided(d: Sequence[float], alpha: float = 0.05, c: float = 0.95, running: bool = True) -> Trace:
    """Is the mean of d other than 0? On z = (d + 1)/2 at m = 1/2, wealth max(M+, M-)/2."""
    z = [(v + 1) / 2 for v in d]
    plus, minus = wsr_capital(z, wsr_bets(z, alpha, 2, running)[0], 0.5, c)
    wealth = [max(a, b) / 2 for a, b in zip(plus, minus, strict=True)]
    return {"plus": plus, "minus": minus, "X": wealth, "p": anytime_p(wealth)}


def wsr_one_sided(d: Sequence[float], alpha: float = 0.05, c: float = 0.95, running: bool = True) -> Trace:
    """Is the mean of d above 0? M+ alone, with ln(1/alpha); xi is the bet on the scale of d (lambda/2)."""
    z = [(v + 1) / 2 for v in d]
    lams = wsr_bets(z, alpha, 1, running)[0]
    plus, _ = wsr_capital(z, lams, 0.5, c)
    return {"xi": [min(lam, 2 * c) / 2 for lam in lams], "X": plus, "p": anytime_p(plus)}


# --- theta-SAVI -------------------------------------------------------------------------------------------


def theta_savi(second: Sequence[int], first: Sequence[int], clamp: bool = True) -> Trace:
    """Bernoulli streams: likelihood at the plug-in means over likelihood at their average, 1 if not first > second.

    Plug-ins from past pairs only: first (2 + successes)/(3 + n), second (1 + successes)/(3 + n).
    """

    def likelihood(p: float, y: int) -> float:
        return p if y else 1 - p

    x, wealth, factors = 1.0, [], []
    for n, (y0, y1) in enumerate(zip(second, first, strict=True)):
        p1, p0 = (2 + sum(first[:n])) / (3 + n), (1 + sum(second[:n])) / (3 + n)
        middle = (p0 + p1) / 2
        factor = likelihood(p0, y0) * likelihood(p1, y1) / (likelihood(middle, y0) * likelihood(middle, y1))
        factors.append(1.0 if clamp and p1 <= p0 else factor)
        x *= factors[-1]
        wealth.append(x)
    return {"factor": factors, "X": wealth, "p": anytime_p(wealth)}


# --- Confidence sequence from a rule's own bets -----------------------------------------------------------


def wealth_at(g: float, differences: Sequence[float], bets: Sequence[float]) -> float:
    """log X(g) = sum of log(1 + min(xi_n, .99/(1 + g)) (d_n - g)), g in (-1, 1]."""
    cap = 0.99 / (1 + g) if g > -1 else math.inf
    return sum(math.log1p(min(xi, cap) * (d - g)) for d, xi in zip(differences, bets, strict=True))


def gain_lower(differences: Sequence[float], bets: Sequence[float], alpha: float) -> float:
    """The root of X(g) = 1/alpha by bisection (X falls in g); -1 when even g = -1 is not excluded."""
    target = math.log(1 / alpha)
    if not differences or wealth_at(-1.0, differences, bets) < target:
        return -1.0
    left, right = -1.0, 1.0
    for _ in range(100):
        middle = (left + right) / 2
        left, right = (middle, right) if wealth_at(middle, differences, bets) >= target else (left, middle)
    return left
