"""Many policies: adjusted p-values, compact letters, strengths from preferences, rank intervals.

Holm 1979; Benjamini and Hochberg 1995; Wang and Ramdas 2022 (e-BH); Piepho 2004 (letters: the maximal sets with no
separated pair); Bradley and Terry 1952; Davidson 1970 (ties).
"""

import math
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
from scipy.optimize import minimize

from tests.oracles.common import frac


def bonferroni(p: Sequence[float]) -> list[float]:
    """min(1, m p)."""
    return [float(min(1, len(p) * frac(x))) for x in p]


def sidak(p: Sequence[float]) -> list[float]:
    """1 - (1 - p)^m."""
    return [float(1 - (1 - frac(x)) ** len(p)) for x in p]


def holm(p: Sequence[float]) -> list[float]:
    """The smallest level at which the step-down procedure rejects: max over ranks j <= i of (m-j+1) p_(j)."""
    m, exact = len(p), [frac(x) for x in p]
    order = sorted(range(m), key=lambda i: exact[i])
    out = [0.0] * m
    for place, i in enumerate(order):
        out[i] = float(min(1, max((m - j) * exact[order[j]] for j in range(place + 1))))
    return out


def holm_rejects(p: Sequence[float], alpha: float) -> list[bool]:
    """The step-down procedure itself: smallest p first at alpha/m, alpha/(m-1), ...; stop at the first miss."""
    left = sorted(range(len(p)), key=lambda i: p[i])
    out = [False] * len(p)
    while left and frac(p[left[0]]) <= frac(alpha) / len(left):
        out[left.pop(0)] = True
    return out


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """min over ranks j >= i of m p_(j)/j."""
    m, exact = len(p), [frac(x) for x in p]
    order = sorted(range(m), key=lambda i: exact[i])
    out = [0.0] * m
    for place, i in enumerate(order):
        out[i] = float(min([1, *(m * exact[order[j]] / (j + 1) for j in range(place, m))]))
    return out


def e_benjamini_hochberg(evidence: Sequence[float], alpha: float) -> list[bool]:
    """Reject the k largest e-values, k the largest number with k e_(k)/m >= 1/alpha."""
    m = len(evidence)
    order = sorted(range(m), key=lambda i: -evidence[i])
    good = [k for k in range(1, m + 1) if k * evidence[order[k - 1]] / m >= 1 / alpha]
    chosen = set(order[: max(good, default=0)])
    return [i in chosen for i in range(m)]


def letters(names: Sequence[str], means: Sequence[float], separated: Sequence[Sequence[str]]) -> dict[str, str]:
    """Try every set of policies: a maximal set with no separated pair gets a letter; 'a' holds the best."""
    order = sorted(range(len(names)), key=lambda i: -means[i])
    ranked = [names[i] for i in order]
    apart = {frozenset(pair) for pair in separated}
    size = len(ranked)
    alike = [
        set(group)
        for count in range(1, size + 1)
        for group in combinations(range(size), count)
        if not any(frozenset((ranked[i], ranked[j])) in apart for i, j in combinations(group, 2))
    ]
    maximal = sorted(sorted(group) for group in alike if not any(group < other for other in alike))
    out = dict.fromkeys(names, "")
    for place, group in enumerate(maximal):
        for i in group:
            out[ranked[i]] += chr(ord("a") + place)
    return out


def rank_intervals(count: int, better: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """(best, worst) rank of each policy over every full order that honours all verdicts (i, j): i better than j."""
    ranks: list[list[int]] = [[] for _ in range(count)]
    for order in permutations(range(count)):
        place = {policy: rank for rank, policy in enumerate(order, 1)}
        if all(place[i] < place[j] for i, j in better):
            for policy in range(count):
                ranks[policy].append(place[policy])
    if not ranks[0]:
        raise AssertionError("the verdicts form a circle")
    return [(min(r), max(r)) for r in ranks]


# --- Preferences ------------------------------------------------------------------------------------------


def bradley_terry(wins: Sequence[Sequence[float]]) -> list[float]:
    """Centred log strengths that maximise sum wins_ij log(1/(1 + e^(t_j - t_i))); a tie is half a win each."""
    w = np.asarray(wins, dtype=float)

    def loss(t: np.ndarray) -> tuple[float, np.ndarray]:
        lead = t[:, None] - t[None, :]
        miss = 1 / (1 + np.exp(lead))
        pull = w * miss
        return float(np.sum(w * np.logaddexp(0, -lead))), pull.sum(axis=0) - pull.sum(axis=1)

    best = minimize(loss, np.zeros(len(w)), jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 10000}).x
    return [float(t) for t in best - best.mean()]


def strength_spread(
    sessions: Sequence[Sequence[tuple[int, int, float]]], size: int
) -> tuple[list[float], np.ndarray, np.ndarray, np.ndarray]:
    """(centred log strengths, their jackknife covariance over sessions, degrees of freedom of every difference, its
    variance were all games independent).

    Game by game: a session moves the strengths by (information of the others + 0.01)^-1 times its own slope, the 0.01
    holding what no other session tells; the covariance is (G - 1)/G times the sum of squares of these moves about their
    mean. A difference has (sum a)^2 / sum a^2 - 1 degrees of freedom, a being the variance that the session's own
    information gives it; on the diagonal those of a strength.
    """
    wins = np.zeros((size, size))
    for i, j, points in (game for session in sessions for game in session):
        wins[i, j] += points
        wins[j, i] += 1 - points
    theta = bradley_terry(wins)
    slopes, informations = [], []
    for session in sessions:
        slope, information = np.zeros(size), np.zeros((size, size))
        for i, j, points in session:
            chance = 1 / (1 + math.exp(theta[j] - theta[i]))
            apart = np.zeros(size)
            apart[i], apart[j] = 1, -1
            slope += (points - chance) * apart
            information += chance * (1 - chance) * np.outer(apart, apart)
        slopes.append(slope)
        informations.append(information)
    whole, number = sum(informations), len(sessions)
    pairs = zip(informations, slopes, strict=True)
    moves = np.array([np.linalg.solve(whole - own + 0.01 * np.eye(size), slope) for own, slope in pairs])
    about = moves - moves.mean(axis=0)
    covariance = (number - 1) / number * sum(np.outer(one, one) for one in about)
    freedom = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            contrast = np.full(size, -1 / size) if i == j else np.zeros(size)
            contrast[i] += 1
            contrast[j] -= i != j
            back = np.linalg.pinv(whole) @ contrast
            shares = [back @ own @ back for own in informations]
            freedom[i, j] = max(1.0, sum(shares) ** 2 / sum(a * a for a in shares) - 1)
    apart = np.linalg.pinv(whole)
    least = np.array([[apart[i, i] + apart[j, j] - 2 * apart[i, j] for j in range(size)] for i in range(size)])
    return theta, covariance, freedom, least


def elo(strengths: Sequence[float]) -> list[float]:
    """1000 + 400 theta/ln 10."""
    return [1000 + 400 * t / math.log(10) for t in strengths]


def davidson(wins: Sequence[Sequence[float]], ties: Sequence[Sequence[float]]) -> tuple[list[float], float]:
    """(centred log strengths, nu): P(tie) goes as nu sqrt(pi_i pi_j), a win as pi; ties[i][j] read once, i < j."""
    size = len(wins)

    def loss(x: np.ndarray) -> float:
        t, log_nu = x[:size], x[size]
        total = 0.0
        for i, j in combinations(range(size), 2):
            tie = log_nu + (t[i] + t[j]) / 2
            norm = np.logaddexp(np.logaddexp(t[i], t[j]), tie)
            total += wins[i][j] * (norm - t[i]) + wins[j][i] * (norm - t[j]) + ties[i][j] * (norm - tie)
        return float(total + t.sum() ** 2)  # the likelihood does not see the mean: pin it at 0

    x = minimize(loss, np.zeros(size + 1), jac="3-point", method="BFGS", options={"gtol": 1e-8}).x
    strengths = x[:size] - x[:size].mean()
    return [float(t) for t in strengths], float(np.exp(x[size]))
