"""Clustered means by direct matrices: CR2 with Bell and McCaffrey's degrees of freedom, and Korn and Graubard's rate.

Bell and McCaffrey 2002, section 3, for a regression on dummies of groups and one combination of its coefficients;
Satterthwaite 1946 where parts are independent; Korn and Graubard 1998.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import optimize, stats


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


def clopper_pearson(successes: float, size: float, confidence: float) -> tuple[float, float]:
    """The ends as roots of the binomial tails, written with the beta distribution for sizes that are not whole."""
    tail = (1 - confidence) / 2
    low = (
        0.0
        if successes == 0
        else optimize.brentq(lambda p: stats.beta.cdf(p, successes, size - successes + 1) - tail, 0, 1, xtol=1e-14)
    )
    high = (
        1.0
        if successes == size
        else optimize.brentq(lambda p: stats.beta.sf(p, successes + 1, size - successes) - tail, 0, 1, xtol=1e-14)
    )
    return low, high


def rate(outcomes: Sequence[int], clusters: Sequence[int], confidence: float = 0.95) -> tuple[float, float]:
    """Korn and Graubard's ends, the design effect drawn towards that of alike clusters near 0 and 1."""
    n, p = len(outcomes), sum(outcomes) / len(outcomes)
    sizes = [sum(1 for c in clusters if c == g) for g in sorted(set(clusters))]
    if p in (0, 1):
        return clopper_pearson(p * len(sizes), len(sizes), confidence)
    _, variance, freedom = cr2(outcomes, clusters, [0] * n, [1.0])
    imagined = 0.3 * (1 / (p * (1 - p)) - 4)
    alike = sum(m * m for m in sizes) / n**2
    inverse = (len(sizes) * max(1 / n, variance / (p * (1 - p))) + imagined * alike) / (len(sizes) + imagined)
    tail = (1 + confidence) / 2
    size = (stats.t.ppf(tail, n - 1) / stats.t.ppf(tail, freedom)) ** 2 / inverse
    return clopper_pearson(p * size, size, confidence)


def floor(sizes: Sequence[int], width: float) -> float:
    """The variance given to a group whose clusters are all alike."""
    size = sum(sizes) ** 2 / sum(m * m for m in sizes)
    p = (size + 0.25) / (size + 0.5)
    return width**2 * p * (1 - p) / size / (1 - size / (size + 0.5) ** 2)


def welch(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """Satterthwaite's degrees of freedom."""
    return math.fsum(variances) ** 2 / math.fsum(v * v / f for v, f in zip(variances, freedoms, strict=True))
