"""Combined confidence distributions: how much error a candidate value would cost, for rates seen through a judge.

The Clopper-Pearson bounds of a rate at every level are the quantiles of two beta variables, one for lower and one for
upper bounds. A function of several rates, monotone in each, gets a bound from the joint draw of the variables that
push it the same way (melding; Fay, Proschan and Brittain 2015). Expectations are taken over fixed nodes, so nothing
here is random; the nodes reach as far into the tails as the error that is asked about.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


USUAL = 0.025
"""The error on each side of a 95% interval."""


@cache
def _nodes(tail: float = USUAL) -> tuple[Floats, Floats]:
    """Levels in (0, 1) and their weights: Gauss-Legendre in the log odds, out to levels far rarer than `tail`."""
    reach = np.log(1.0 / tail) + 8.0
    x, w = np.polynomial.legendre.leggauss(4 * int(np.ceil(reach)))
    levels: Floats = special.expit(reach * x)
    weights: Floats = reach * w * levels * (1.0 - levels)
    return levels, weights / weights.sum()


def bound_quantiles(k: ArrayLike, n: ArrayLike, upper: bool, tail: float = USUAL) -> Floats:
    """Lower or upper exact bounds of a rate at the levels of the nodes, in a new last axis; no data, no bound."""
    levels, _ = _nodes(tail)
    k, n = np.asarray(k, float)[..., None], np.asarray(n, float)[..., None]
    a, b = (k + 1.0, n - k) if upper else (k, n - k + 1.0)
    edge = b == 0.0 if upper else a == 0.0
    inner = binomial.lower(np.where(edge, 1.0, a), np.where(edge, 1.0, b), levels)
    return np.where(edge, 1.0 if upper else 0.0, inner)


def bound_cdf(x: Floats, k: ArrayLike, n: ArrayLike, upper: bool) -> Floats:
    """The chance that the variable of lower or upper bounds is at most x; `k` and `n` broadcast against x."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    a, b = (k + 1.0, n - k) if upper else (k, n - k + 1.0)
    edge = b == 0.0 if upper else a == 0.0
    inner = special.betainc(np.where(edge, 1.0, a), np.where(edge, 1.0, b), np.clip(x, 0.0, 1.0))
    inner = np.where(x < 0.0, 0.0, np.where(x >= 1.0, 1.0, inner))
    at_edge = (x >= 1.0) if upper else (x >= 0.0)
    return np.where(edge, at_edge.astype(float), inner)


def _expect(values: Floats, tail: float) -> Floats:
    """Mean over the last two axes, the nodes of two variables."""
    _, weights = _nodes(tail)
    return np.asarray(np.einsum("...ij,i,j->...", values, weights, weights))


def mixture_error(
    rate: ArrayLike,
    judged: tuple[ArrayLike, ArrayLike],
    hit: tuple[ArrayLike, ArrayLike],
    alarm: tuple[ArrayLike, ArrayLike],
    above: bool,
    tail: float = USUAL,
) -> Floats:
    """The error at which `rate` would be the bound, when judged = rate * hit + (1 - rate) * alarm.

    Args:
        rate: Candidates for the true rate.
        judged: Passes and total of the judge.
        hit: Passes and total of the judge on true successes.
        alarm: Passes and total of the judge on true failures.
        above: Whether the rate is tried as a lower bound; else as an upper one.
        tail: The error that the answer will be compared with; errors far below it are not resolved.
    """
    rate = np.asarray(rate, float)
    hits = bound_quantiles(*hit, upper=above, tail=tail)[..., :, None]
    alarms = bound_quantiles(*alarm, upper=above, tail=tail)[..., None, :]
    t = rate[..., None, None]
    k, n = (np.asarray(part, float)[..., None, None] for part in judged)
    below = bound_cdf(t * hits + (1.0 - t) * alarms, k, n, upper=not above)
    return _expect(below if above else 1.0 - below, tail)


def order_error(
    larger: tuple[ArrayLike, ArrayLike], smaller: tuple[ArrayLike, ArrayLike], tail: float = USUAL
) -> Floats:
    """The error at which it could no longer be said that the first rate is above the second."""
    _, weights = _nodes(tail)
    k, n = (np.asarray(part, float)[..., None] for part in larger)
    below = bound_cdf(bound_quantiles(*smaller, upper=True, tail=tail), k, n, upper=False)
    return np.asarray(np.einsum("...i,i->...", below, weights))


def strata_error(
    rate: ArrayLike,
    share: tuple[ArrayLike, ArrayLike],
    inside: tuple[ArrayLike, ArrayLike],
    outside: tuple[ArrayLike, ArrayLike],
    above: bool,
    tail: float = USUAL,
) -> Floats:
    """The error at which `rate` would be the bound, when rate = share * inside + (1 - share) * outside.

    Args:
        rate: Candidates for the true rate.
        share: Items the judge passed, and all items judged.
        inside: True successes and total among labelled items that the judge passed.
        outside: The same among labelled items that the judge failed.
        above: Whether the rate is tried as a lower bound; else as an upper one.
        tail: The error that the answer will be compared with; errors far below it are not resolved.
    """
    rate = np.asarray(rate, float)[..., None, None]
    v = bound_quantiles(*inside, upper=not above, tail=tail)[..., :, None]
    w = bound_quantiles(*outside, upper=not above, tail=tail)[..., None, :]
    k, n = (np.asarray(part, float)[..., None, None] for part in share)
    apart = v - w
    with np.errstate(all="ignore"):
        level = (rate - w) / apart
    # the share is taken from the side that moves the rate the same way as the other two
    rising, falling = bound_cdf(level, k, n, upper=not above), bound_cdf(level, k, n, upper=above)
    below = np.where(apart > 0.0, rising, np.where(apart < 0.0, 1.0 - falling, (w <= rate).astype(float)))
    return _expect(below if above else 1.0 - below, tail)


def farthest(errors: Callable[[Floats], Floats], tail: float, upward: bool) -> float:
    """The candidate in [0, 1] farthest down (or up) whose error is above the tail; the edge when all are refused.

    Scanned from the edge, so that nothing beyond is overlooked; to 1e-12, on the wide side.
    """
    grid = np.linspace(0.0, 1.0, 65)
    kept = errors(grid) > tail
    if kept[-1 if upward else 0] or not kept.any():
        return float(upward)
    place = int(np.flatnonzero(kept)[-1 if upward else 0])
    inner, outer = float(grid[place]), float(grid[place + (1 if upward else -1)])
    while abs(outer - inner) > 1e-12:
        middle = (inner + outer) / 2.0
        if errors(np.array([middle]))[0] > tail:
            inner = middle
        else:
            outer = middle
    return outer
