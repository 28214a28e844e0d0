"""The alternatives that the exact designs are tuned for, and the chances of every count under them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri

from surefoot.numerics.designs import stopped_walks
from surefoot.numerics.designs.design_search import Report
from surefoot.numerics.designs.exact_designs import Design, aim, proved
from surefoot.numerics.designs.stopped_walks import one_more

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


class Alternatives(NamedTuple):
    """Points with weights: success rates (second, first), or chances that only the (second, first) policy wins."""

    second: Floats
    first: Floats
    weights: Floats


def wide(rates: Floats) -> Alternatives:
    """Seven tenths on even rates with gaps .075-.55, three tenths on arcsine points with gaps .17-1.15."""
    low, gap = (grid.ravel() for grid in np.meshgrid(rates, np.linspace(0.075, 0.55, 20), indexing="ij"))
    even = np.stack([low, low + gap, np.ones_like(low)])[:, low + gap <= 1.0]
    angles = np.pi * np.arange(1, 25) / 25
    turn, more = (grid.ravel() for grid in np.meshgrid(angles, np.linspace(0.17, 1.15, 15), indexing="ij"))
    bent = np.stack([_rate(turn), _rate(turn + more), 0.3 + 0.7 * np.sin(turn + more / 2)])[:, turn + more <= np.pi]
    even[2] *= 0.7 / even[2].sum()
    bent[2] *= 0.3 / bent[2].sum()
    return Alternatives(*np.concatenate([even, bent], axis=1))


def for_binary() -> Alternatives:
    """The rates that the design for independent streams is tuned for."""
    return wide(np.arange(2, 100, 4) / 100)


def thirty_five() -> Alternatives:
    """Rates .05, .15, ..., .95 with gaps .1 to .5, all alike: what the published figures average over."""
    rates = np.arange(5, 100, 10) / 100
    second, first = (grid.ravel() for grid in np.meshgrid(rates, rates, indexing="ij"))
    keep = (first - second > 0.05) & (first - second < 0.55)
    return Alternatives(second[keep], first[keep], np.full(keep.sum(), 1.0 / keep.sum()))


def for_paired() -> Alternatives:
    """The chances of a win by one policy alone that the design for shared environments is tuned for."""
    second, first, weights = wide(np.arange(25, 1000, 50) / 1000)
    parts = []
    for tie in (0.0, 0.4, 0.8):
        lost = (1.0 - tie) * second * (1.0 - first)
        parts.append(np.stack([lost, lost + first - second, weights / (first - second)]))
    both = np.concatenate(parts, axis=1)
    both[2] /= both[2].sum()
    return Alternatives(*both)


def twelve() -> Alternatives:
    """Chances of a win by one policy alone at six pairs of rates, independent and tied by a Gaussian copula of .6."""
    first = np.repeat([0.75, 0.90, 0.90, 0.70, 0.55, 0.95], 2)
    second = np.repeat([0.60, 0.60, 0.40, 0.50, 0.45, 0.85], 2)
    both = copula(first, second, np.tile([0.0, 0.6], 6))
    return Alternatives(second - both, first - both, np.full(12, 1.0 / 12))


def copula(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """The chance that both succeed when their outcomes are tied by a Gaussian copula.

    Plackett's integral over the correlation, whose sine is the variable: smooth up to a correlation of 1.
    """
    nodes, weights = np.polynomial.legendre.leggauss(400)
    inner = (first > 0.0) & (first < 1.0) & (second > 0.0) & (second < 1.0)  # a sure outcome is tied to nothing
    sign = np.where(correlation < 0.0, -1.0, 1.0)
    one = ndtri(np.where(inner, first, 0.5))[:, None]
    other = (sign * ndtri(np.where(inner, second, 0.5)))[:, None]
    angles = np.arcsin(np.abs(correlation))[:, None] / 2.0
    sines, cosines = np.sin(angles * (nodes + 1.0)), np.cos(angles * (nodes + 1.0))
    density = np.exp(-((one - other) ** 2) / (2.0 * cosines**2) - one * other / (1.0 + sines))
    more = sign * ((density @ weights) * angles[:, 0]) / (2.0 * np.pi)
    both: Floats = first * second + np.where(inner, more, 0.0)
    return np.clip(both, np.maximum(0.0, first + second - 1.0), np.minimum(first, second))


def binary_chances(points: Alternatives, horizon: int) -> Iterator[tuple[int, Floats]]:
    """(n, chance of s0 and s1 successes) under the alternatives, n = 0 ... horizon."""
    order = np.argsort(points.second, kind="stable")
    first, weights = points.first[order], points.weights[order]
    second, begins = np.unique(points.second[order], return_index=True)
    zeros, ones = np.ones((len(second), 1)), weights[:, None]
    for n in range(horizon + 1):
        if n:
            zeros, ones = one_more(zeros, second), one_more(ones, first)
        yield n, zeros.T @ np.add.reduceat(ones, begins, axis=0)


def paired_chances(points: Alternatives, horizon: int) -> Iterator[tuple[int, Floats]]:
    """(n, chance of c wins by the second and b by the first) under the alternatives, n = horizon ... 0."""
    counts = np.arange(horizon + 1)
    lf = gammaln(np.arange(horizon + 2) + 1.0)
    chances = np.zeros((horizon + 1, horizon + 1))
    tie = 1.0 - points.first - points.second
    fine = tie > 1e-12
    log_tie = np.log(np.where(fine, tie, 1.0))
    log_first, log_second = np.log(points.first), np.log(np.maximum(points.second, 1e-300))
    for c in counts:
        b = counts[: horizon + 1 - c]
        ties = horizon - c - b
        terms = c * log_second[:, None] + b * log_first[:, None] + ties * log_tie[:, None]
        terms += lf[horizon] - lf[c] - lf[b] - lf[ties]
        shares = np.exp(terms) * (fine[:, None] | (ties == 0))
        chances[c, : len(b)] = points.weights @ shares
    for n in range(horizon, -1, -1):
        yield n, chances
        if n:
            share = np.arange(1, n + 1) / n
            rest = (n - np.add.outer(np.arange(n), np.arange(n))) / n
            fewer = np.maximum(rest, 0.0) * chances[:-1, :-1]
            fewer += share * chances[:-1, 1:]
            fewer += share[:, None] * chances[1:, :-1]
            chances = fewer


def _rate(angle: Floats) -> Floats:
    rate: Floats = (1.0 - np.cos(angle)) / 2.0
    return rate


_HALVINGS = 14


def binary_limits(horizon: int, constant: float) -> Ints:
    """sqrt(2n) [asin sqrt((s1+.5)/(n+1)) - asin sqrt((s0+.5)/(n+1))] >= constant x shape decides."""
    n = np.arange(1, horizon + 1)
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for pairs, edge in zip(n, constant * _shape(n, horizon, 0.15, 0.22, 0.06), strict=True):
        angles = np.arcsin(np.sqrt((np.arange(pairs + 1) + 0.5) / (pairs + 1)))
        # The first count whose angle is far enough above; at least one above the row.
        limits[pairs, : pairs + 1] = np.searchsorted(angles, angles + edge / np.sqrt(2.0 * pairs)) - 1
    return limits


def paired_limits(horizon: int, constant: float, *, rise: float = 0.2, guard: float = 1.0) -> Ints:
    """2 sqrt(m) [asin sqrt((b+3/8)/(m+3/4)) - pi/4] m/(m + guard) >= constant x shape decides, m = b + c.

    Without the guard (and with rise .45) a few pairs that differ force a constant of 2.95 where 2.65 would do, when
    the error must hold for every number of pairs that differ.
    """
    n = np.arange(1, horizon + 1)
    edges = constant * _shape(n, horizon, rise, 0.2, 0.1)
    limits = np.full((horizon + 1, horizon + 1), horizon)
    for c in range(horizon + 1):
        b = np.arange(c, horizon + 1 - c)
        m = b + c
        with np.errstate(invalid="ignore"):
            weight = np.where(m > 0, 2.0 * np.sqrt(m) * m / (m + guard), 0.0)
        value = weight * (np.arcsin(np.sqrt((b + 0.375) / (m + 0.75))) - np.pi / 4)
        limits[1:, c] = np.minimum(c + np.searchsorted(np.maximum.accumulate(value), edges) - 1, n)
    limits[np.arange(horizon + 1)[:, None] < np.arange(horizon + 1)] = horizon
    return np.maximum.accumulate(limits, axis=1)


def formula_design(
    walk: stopped_walks.BinaryWalk, shape: Callable[[int, float], Ints], error: float, report: Report | None = None
) -> tuple[Design, float]:
    """The boundary with the smallest constant that keeps the error, and the constant."""
    centre = float(-ndtri(error)) + 0.8  # where the constant nearly always is
    low, high = centre - 0.5, centre + 0.5
    while (best := proved(walk, shape(walk.horizon, high))).proved > aim(error):
        low, high = high, high + 1.0
    while proved(walk, shape(walk.horizon, low)).proved <= aim(error) and low > 0.0:
        low -= 1.0
    for turn in range(_HALVINGS):
        middle = (low + high) / 2.0
        design = proved(walk, shape(walk.horizon, middle))
        if design.proved <= aim(error):
            high, best = middle, design
        else:
            low = middle
        if report is not None:
            report((turn + 1) / _HALVINGS)
    return best, high


def _shape(n: Ints, horizon: int, rise: float, drop: float, near: float) -> Floats:
    shape: Floats = np.sqrt(1.0 + rise * np.log(horizon / n)) * (
        1.0 - drop * np.exp(-np.sqrt((horizon - n) / (near * horizon)))
    )
    return shape
