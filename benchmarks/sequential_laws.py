"""The settings on which sequential rules are compared: draws of (first, second), one sequence a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray]]

ALTERNATIVES = [
    (low / 100, (low + gap) / 100) for gap in range(10, 51, 10) for low in range(5, 96, 10) if low + gap <= 95
]
"""(second, first): 35 pairs of rates .05, .15, ..., .95 with gaps .1 to .5; the nine of gap .1 come first."""


def bernoulli(rng: np.random.Generator, draws: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """An equal number of sequences of each alternative, in the order of ALTERNATIVES."""
    each = draws // len(ALTERNATIVES)
    second, first = (np.repeat([a[i] for a in ALTERNATIVES], each)[:, None] for i in (0, 1))
    shape = (len(first), pairs)
    return (rng.random(shape) < first).astype(float), (rng.random(shape) < second).astype(float)


def polynomials(rng: np.random.Generator, draws: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Random polynomial densities: uniform roots, random sign, shifted by the minimum; true draws by inverse CDF."""
    first, second = np.empty((draws, pairs)), np.empty((draws, pairs))
    made = 0
    while made < draws:
        laws = [_polynomial(rng) for _ in range(2)]
        laws.sort(key=lambda law: law[1], reverse=True)
        if laws[0][1] - laws[1][1] < 0.01:
            continue
        for out, (cdf, _) in zip((first, second), laws, strict=True):
            out[made] = np.interp(rng.random(pairs), cdf, _AXIS)
        made += 1
    return first, second


_AXIS = np.linspace(0.0, 1.0, 4001)


def _polynomial(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    roots = rng.random(rng.integers(1, 11))
    values = rng.choice([-1.0, 1.0]) * np.prod(_AXIS[:, None] - roots, axis=1)
    values -= values.min()
    steps = (values[1:] + values[:-1]) / 2.0
    cdf = np.append(0.0, np.cumsum(steps))
    cdf /= cdf[-1]
    middle = (_AXIS[1:] + _AXIS[:-1]) / 2.0
    return cdf, float(np.sum(np.diff(cdf) * middle))


def partial_credit(
    rng: np.random.Generator, draws: int, pairs: int, correlation: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Partial credit on 6 to 8 levels, mean gap .1 to .6, half chains of sub-tasks and half Dirichlet(.8)."""
    first, second = np.empty((draws, pairs)), np.empty((draws, pairs))
    made = 0
    while made < draws:
        levels = int(rng.integers(6, 9))
        law = _chain if rng.random() < 0.5 else _dirichlet
        scores = np.arange(levels) / (levels - 1)
        laws = sorted((law(rng, levels) for _ in range(2)), key=lambda mass: float(mass @ scores), reverse=True)
        if not 0.1 <= (laws[0] - laws[1]) @ scores <= 0.6:
            continue
        for out, mass, uniform in zip((first, second), laws, _uniforms(rng, pairs, correlation), strict=True):
            out[made] = scores[np.searchsorted(np.cumsum(mass)[:-1], uniform, side="right")]
        made += 1
    return first, second


def correlated_partial_credit(rng: np.random.Generator, draws: int, pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with the two policies' scores tied by a Gaussian copula of .6."""
    return partial_credit(rng, draws, pairs, correlation=0.6)


def _chain(rng: np.random.Generator, levels: int) -> np.ndarray:
    # One skill per policy, varied from sub-task to sub-task.
    passes = np.clip(rng.beta(6, 2) + 0.12 * rng.standard_normal(levels - 1), 0.05, 0.995)
    reach = np.append(1.0, np.cumprod(passes))
    return reach - np.append(reach[1:], 0.0)


def _dirichlet(rng: np.random.Generator, levels: int) -> np.ndarray:
    return rng.dirichlet(np.full(levels, 0.8))


def _uniforms(rng: np.random.Generator, pairs: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    if correlation == 0.0:
        return rng.random(pairs), rng.random(pairs)
    from scipy.special import ndtr

    one = rng.standard_normal(pairs)
    other = correlation * one + np.sqrt(1.0 - correlation**2) * rng.standard_normal(pairs)
    return ndtr(one), ndtr(other)
