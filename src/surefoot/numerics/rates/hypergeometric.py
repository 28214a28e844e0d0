"""Two-by-two tables given their margins, and orderings of all tables with no tie lost to rounding.

Row m of every array here belongs to a total of m successes, column j to j of them in the first group. Given the
total, the chances are free of the common rate; so the unconditional probability of a set of tables is a polynomial in
that rate whose Bernstein coefficients are the set's conditional probabilities, row by row.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from surefoot.numerics import log_factorials, polynomials

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


WHOLE = 2**62
"""Below this a product of whole numbers, and the difference of two, fits into 64 bits."""
NAUGHT = -745.2
"""What has a lower logarithm is 0."""
HELD = 1 << 24
"""So many chances are kept for the next set: very small p-values of large tables need many more, at ever more rates."""
TIE = 1e-11
"""Conditional probabilities closer than this, relatively, are ties: some ten times their rounding."""


@lru_cache(maxsize=4)
def masses(n1: int, n2: int) -> Floats:
    """P(X1 = j | X1 + X2 = m); 0 where there is no such table."""
    outside = np.full(n1, -np.inf)
    second = np.concatenate([outside, log_factorials.log_choose(n2), outside])
    # Column j is a window of the second group's coefficients, at m - j for m = 0, 1, ...: no index is built.
    exponent = sliding_window_view(second, n1 + n2 + 1)[::-1] + log_factorials.log_choose(n1)[:, None]
    exponent -= log_factorials.log_choose(n1 + n2)
    table: Floats = np.exp(exponent, out=exponent).T
    table.flags.writeable = False
    return table


@lru_cache(maxsize=4)
def tails(n1: int, n2: int) -> Floats:
    """P(X1 >= j | m), with a last column of zeros."""
    table = np.zeros((n1 + 2, n1 + n2 + 1)).T
    for j, mass in reversed([*enumerate(masses(n1, n2).T)]):
        np.add(table[:, j + 1], mass, out=table[:, j])
    np.minimum(table, 1.0, out=table)
    table.flags.writeable = False
    return table


def row(n1: int, n2: int, m: int) -> Floats:
    """One row of `masses`, for tables too large to have them all."""
    j = np.arange(max(0, m - n2), min(m, n1) + 1)
    values = np.zeros(n1 + 1)
    exponent = (
        log_factorials.log_choose(n1)[j] + log_factorials.log_choose(n2)[m - j] - log_factorials.log_choose(n1 + n2)[m]
    )
    values[j] = np.exp(exponent)
    return values


def totals_left(x1: int, n1: int, population: int, tail: float) -> tuple[int, int]:
    """The least and the largest total m with P(X1 >= x1 | m) and P(X1 <= x1 | m) above `tail`; they are all between."""
    n2 = population - n1

    def least(x: int) -> int:
        # with n2 + x in all, n1 hold x for sure
        return bisect_left(range(n2 + x), True, x, key=lambda m: float(row(n1, n2, m)[x:].sum()) > tail)

    return least(x1), population - least(n1 - x1)


def two_sided(n1: int, n2: int) -> Floats:
    """Fisher's two-sided p of every table: the chance of all tables in its row at most as likely as it is."""
    table = masses(n1, n2)
    order = np.argsort(table, axis=1)
    ranked = np.take_along_axis(table, order, axis=1)
    sums = np.cumsum(ranked, axis=1)
    # A tie takes the sum up to the last of its equals.
    last = np.diff(ranked, axis=1, append=np.inf) > TIE * ranked
    place = np.where(last, np.arange(n1 + 1), n1 + 1)
    upto = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
    result = np.empty_like(table)
    np.put_along_axis(result, order, np.take_along_axis(sums, np.minimum(upto, n1), axis=1), axis=1)
    return np.asarray(np.where(table > 0.0, np.minimum(result, 1.0), 2.0))


def largest_at_most(values: Floats, level: float) -> Floats:
    """In each row the largest value that is at most `level`, ties included; 0 where there is none."""
    return np.asarray(np.where(values <= level * (1.0 + TIE), values, 0.0).max(axis=1))


def pooled_at_least(n1: int, n2: int, x1: int, m: int) -> Floats:
    """P(Z >= z | each total), z the pooled statistic of x1 of m, compared in whole numbers.

    Z is sign(D) sqrt(D^2 / (t(N - t))) with D = jN - t n1, total t; 0 where t is 0 or N.
    """
    total = n1 + n2
    return _first_beyond(n1, n2, x1 * total - m * n1, m * (total - m))


def _first_beyond(n1: int, n2: int, d0: int, w0: int) -> Floats:
    """P(sign(D) D^2 / w >= sign(d0) d0^2 / w0 | each total)."""
    total = n1 + n2
    t = np.arange(total + 1)
    if d0 == 0:
        first = -(-t * n1 // total)  # every table without a gap, the empty and the full one too
    else:
        inner = t[1:-1]  # with no success, or no failure, the statistic is 0
        # The real solution, then the whole numbers around it settled exactly.
        guess = np.ceil((inner * n1 + d0 * np.sqrt(inner * (total - inner) / w0)) / total).astype(np.int64) + 2
        exact = inner if total**6 < WHOLE else inner.astype(object)  # of many rollouts the products need long integers
        offset, w = exact * n1, exact * (total - exact)
        while (lower := (guess > 0) & _extreme((guess - 1) * total - offset, w, d0, w0)).any():
            guess -= lower
        ends = 0 if d0 < 0 else n1 + 1
        first = np.concatenate(([ends], guess, [ends]))
    return np.take_along_axis(tails(n1, n2), np.clip(first, 0, n1 + 1)[:, None], axis=1)[:, 0]


def _extreme(d: Any, w: Any, d0: int, w0: int) -> Any:
    gap = d * d * w0 - d0 * d0 * w
    beyond = gap >= 0 if d0 > 0 else gap <= 0
    same_side = (d > 0) if d0 > 0 else (d < 0)
    return np.where(same_side, beyond, d > d0).astype(bool)


def pooled_at_most(n1: int, n2: int, x1: int, m: int) -> Floats:
    """P(Z <= -z | each total), z > 0 the pooled statistic of x1 of m, compared in whole numbers."""
    total = n1 + n2
    # Swapping the groups turns Z into -Z: the mirror image of D is k N - t n2 with k in the second group.
    d0, w0 = x1 * total - m * n1, m * (total - m)
    return _first_beyond(n2, n1, d0, w0)


def unpooled(n1: int, n2: int, x1: int, m: int) -> tuple[Floats, Floats, Floats]:
    """P(|Z| >= |z|), P(Z >= z) and P(Z <= z) given each total, z the unpooled statistic of x1 of m."""
    t, j = np.arange(n1 + n2 + 1)[:, None], np.arange(n1 + 1)[None, :]
    k = np.clip(t - j, 0, n2)
    gap = j * n2 - k * n1
    variance = j * (n1 - j) / n1**3 + k * (n2 - k) / n2**3
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(gap == 0, 0.0, gap / np.sqrt(variance))
    here = z[m, x1]
    slack = 1e-12 * abs(here) if np.isfinite(here) else 0.0
    table = masses(n1, n2)
    sets = (np.abs(z) >= abs(here) - slack, z >= here - slack, z <= here + slack)
    both, up, down = (np.asarray((table * chosen).sum(axis=1)) for chosen in sets)
    return both, up, down


def supremum(conditional: Floats) -> polynomials.Peak:
    """The largest unconditional probability over the common rate, proved, however small it is."""
    return suprema(conditional)[0]


def suprema(*conditionals: Floats) -> tuple[polynomials.Peak, ...]:
    """As `supremum`, of several sets of the same tables: how likely each total is at a rate is worked out once."""
    total = len(conditionals[0]) - 1
    weights, totals = log_factorials.log_choose(total), np.arange(total + 1)
    known: dict[bytes, Floats] = {}

    def likely(t: Floats) -> Floats:
        if (key := t.tobytes()) not in known:
            log_p, log_q = log_factorials.log_chances(t, 1.0 - t)
            exponent = np.outer(log_p - log_q, totals)
            exponent += weights
            exponent += (total * log_q)[:, None]
            chances: Floats = np.exp(exponent, out=np.zeros_like(exponent), where=exponent > NAUGHT)
            if sum(one.size for one in known.values()) + chances.size > HELD:
                return chances
            known[key] = chances
        return known[key]

    def peak(conditional: Floats) -> polynomials.Peak:
        if not conditional.any():
            return polynomials.Peak(0.0, 0.0, 0.0)
        return polynomials.maximise(lambda t, _: likely(t) @ conditional, total)

    return tuple(peak(conditional) for conditional in conditionals)
