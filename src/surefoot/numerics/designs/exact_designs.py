"""Boundaries for two streams of successes and for pairs in shared environments, with their proved errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.special import gammaln, ndtri

from surefoot.numerics.designs import stopped_walks
from surefoot.numerics.designs.design_search import Ascent, Report, ascend, search
from surefoot.numerics.designs.stopped_walks import one_more

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


class Assessment(NamedTuple):
    """What a boundary costs.

    Attributes:
        coefficients: The Bernstein coefficients of its error in one direction.
        objective: Expected pairs + cost x P(no right decision), over the alternatives.
        power: The chance of a right decision, over the alternatives.
        left: P(not stopped | state) at the horizon.
    """

    coefficients: Floats
    objective: float
    power: float
    left: Floats


class Programme:
    """The dynamic programme on the band of columns that can matter.

    Args:
        walk: The walk.
        prior: For each n = 0 ... horizon, (n, chances of the states [row, row + column] under the alternatives).
        nulls: One row per null point: the law of the total at the horizon.
        cost: What a run without a right decision costs, in pairs.
        reach: Columns above the diagonal that are followed after n pairs.
        bounding: Whether walks that leave the band are counted with the least they can cost, so that the value bounds
            that of every rule; otherwise with the cost of never being decided, so that it belongs to a real rule.
    """

    def __init__(
        self,
        walk: stopped_walks.BinaryWalk,
        prior: Iterable[tuple[int, Floats]],
        nulls: Floats,
        cost: float,
        reach: stopped_walks.Reach,
        *,
        bounding: bool = False,
    ) -> None:
        horizon = walk.horizon
        self.walk, self.nulls, self.cost, self.bounding = walk, nulls, cost, bounding
        self.high = [min(n, reach(n)) for n in range(horizon + 1)]
        empty = np.zeros((0, 0))
        self.right, self.wrong, self.mass = ([empty] * (horizon + 1) for _ in range(3))
        for n, chances in prior:
            low, high, rows = int(walk.low[n]), self.high[n], walk.rows(n)
            self.right[n] = _band(chances, rows, low + 1, high + 1)
            if walk.mirrored:
                self.wrong[n] = _band(chances.T, rows, low + 1, high + 1)
            columns = np.arange(-low - 1, high + 2)
            self.mass[n] = walk.mass(n, np.arange(rows)[:, None], columns)

    def respond(self, weights: Floats) -> tuple[float, Ints]:
        """The value of the programme and the best boundary against these weights."""
        walk, horizon = self.walk, self.walk.horizon
        limits = np.full((horizon + 1, horizon + 1), horizon, np.int64)
        total = weights @ self.nulls
        value = np.zeros((0, 0))
        for n in range(horizon, -1, -1):
            rows, low, right = walk.rows(n), int(walk.low[n]), self.right[n]
            width = right.shape[1]
            spread = np.zeros(2 * rows + width + len(total))
            spread[low + 1 : low + 1 + len(total)] = total
            stop = self.mass[n] * stopped_walks.windows(spread, rows, width, 2)
            everyone = right
            if walk.mirrored:
                everyone = right + self.wrong[n]
                stop += self.cost * self.wrong[n]
            stop[:, : low + 2] = np.inf  # no decision against what was seen
            if n == horizon:
                onward = self.cost * everyone
            else:
                onward = np.empty_like(stop)
                shift = int(walk.low[n + 1]) - low
                onward[:, 1:-1] = walk.expect(n, value[:, shift : shift + width], -low) + everyone[:, 1:-1]
                beyond = 1.0 if self.bounding else horizon - n + self.cost
                onward[:, -1] = beyond * everyone[:, -1]
                onward[:, 0] = 0.0 if walk.mirrored else beyond * right[:, 0]
            if n == 0:
                break
            stopped = stop <= onward
            best = np.where(stopped.any(axis=1), np.argmax(stopped, axis=1) - low - 2, n)
            limits[n, :rows] = np.minimum(best + np.arange(rows), n)
            value = np.empty((rows + 1, width))
            np.minimum(stop, onward, out=value[:-1])
            value[-1] = 0.0
            if walk.mirrored:
                value[0, 0] = 0.0
                value[1:, 0] = value[:-1, 2]
            for _ in range(walk.growth):
                total = stopped_walks.lowered(total)
        return float(onward[0, low + 1]), limits

    def assess(self, limits: Ints) -> Assessment:
        """The error and the objective of a boundary."""
        walk, horizon = self.walk, self.walk.horizon
        coefficients, left = np.zeros(1), [np.zeros((0, 0))]
        objective, power = horizon + self.cost, 0.0
        for stop in stopped_walks.sweep(walk, limits, left):
            coefficients = stopped_walks.add_stops(walk, coefficients, stop)
            inside = stop.columns <= self.high[stop.n]  # a stop outside the band counts as none: never too good
            at = stop.rows[inside], stop.columns[inside] + int(walk.low[stop.n]) + 1
            chance = stop.chance[inside]
            right = float(chance @ self.right[stop.n][at])
            power += right
            objective -= (horizon - stop.n + self.cost) * right
            if walk.mirrored:
                objective -= (horizon - stop.n) * float(chance @ self.wrong[stop.n][at])
        return Assessment(coefficients, objective, power, left[-1])


def _band(matrix: Floats, rows: int, low: int, high: int) -> Floats:
    """matrix[r, r + d] for d = -low ... high; 0 outside the matrix."""
    rows_given, columns = matrix.shape
    wide = np.zeros((rows, low + max(columns, rows) + high + 1))
    wide[: min(rows, rows_given), low : low + columns] = matrix[:rows]
    step, unit = wide.strides
    return as_strided(wide, (rows, low + high + 1), (step + unit, unit)).copy()


_MARGIN = 1e-5

_NULLS = 91
BINARY_ASCENT = Ascent(1.5, 15.0, 60)
PAIRED_ASCENT = Ascent(0.5, 40.0, 120)
_COARSEST = 40
"""A paired design of a longer horizon starts from the weights of half the horizon."""


class Design(NamedTuple):
    """A boundary and a number that its error is proved never to exceed."""

    limits: Ints
    proved: float


def binary_design(horizon: int, error: float, *, mirrored: bool, report: Report | None = None) -> Design:
    """The design for two independent streams; `mirrored` decides in both directions, `error` each."""
    programme = binary_programme(horizon, error, for_binary(), binary_cost(horizon), mirrored=mirrored)
    checks = binomial_laws(2 * horizon, 4 * _NULLS + 3)
    tries = tries_for(horizon)
    limits = search(programme, aim(error), BINARY_ASCENT, checks=checks, tries=tries, report=report)
    return proved(programme.walk, limits)


def paired_design(horizon: int, error: float, *, mirrored: bool, report: Report | None = None) -> Design:
    """The design for shared environments in random order; `mirrored` decides in both directions, `error` each."""
    programme = paired_programme(horizon, error, mirrored=mirrored)
    weights = paired_start(horizon, error, mirrored=mirrored)
    checks, tries = np.eye(horizon + 1), tries_for(horizon)
    limits = search(programme, aim(error), PAIRED_ASCENT, checks=checks, weights=weights, tries=tries, report=report)
    return proved(programme.walk, limits)


def tries_for(horizon: int) -> int:
    """How many of the best weights are turned into boundaries: short horizons are cheap and gain most."""
    return min(8, max(2, 600 // horizon))


def aim(error: float) -> float:
    """The error to aim at: a little below what is allowed, so that no rounding can carry it above."""
    return error - min(_MARGIN, error / 1000.0)


def proved(walk: stopped_walks.BinaryWalk, limits: Ints) -> Design:
    """The boundary with its certificate.

    Two streams: the largest error over all common rates, from above. Shared environments: the largest error over all
    numbers of pairs that differ, in random order; it bounds the error for independent pairs too.
    """
    return Design(limits, walk.worst(stopped_walks.coefficients(walk, limits)))


def binary_programme(
    horizon: int,
    error: float,
    points: Alternatives,
    cost: float,
    *,
    mirrored: bool,
    bounding: bool = False,
) -> Programme:
    """The programme for two streams; a `bounding` one has a value that no rule is below."""
    walk = stopped_walks.BinaryWalk(horizon, mirrored=mirrored, depth=deep(paired=False))
    reach = _roots((float(-ndtri(error)) + 2.3) / math.sqrt(2.0))
    chances = binary_chances(points, horizon)
    return Programme(walk, chances, binomial_laws(2 * horizon, _NULLS), cost, reach, bounding=bounding)


def paired_programme(
    horizon: int,
    error: float,
    *,
    mirrored: bool,
    points: Alternatives | None = None,
    bounding: bool = False,
) -> Programme:
    """The programme for shared environments: one null point for each number of pairs that differ."""
    walk = stopped_walks.PairedWalk(horizon, mirrored=mirrored, depth=deep(paired=True))
    chances = paired_chances(for_paired() if points is None else points, horizon)
    reach = _roots(float(-ndtri(error)) + 2.4)
    return Programme(walk, chances, np.eye(horizon + 1)[1:], paired_cost(horizon), reach, bounding=bounding)


def binary_cost(horizon: int) -> float:
    """What a run without a right decision costs, in pairs: chosen for the power of the published figures."""
    share = 5.5 + 1.42 * math.log(min(horizon, 200) / 50) + math.log(max(horizon, 200) / 200)
    return float(horizon**1.5 / max(4.0, share))


def paired_cost(horizon: int) -> float:
    """What a run without a right decision costs, in pairs."""
    return float(horizon**1.5 / (7.0 * max(1.0, horizon / 100) ** 0.2))


def binomial_laws(degree: int, count: int) -> Floats:
    """Binomial laws of a total of `degree`, one row for each of `count` rates spread evenly on the arcsine scale."""
    rates = (1.0 - np.cos(np.pi * np.arange(1, count + 1) / (count + 1))) / 2.0
    m, lf = np.arange(degree + 1), gammaln(np.arange(degree + 2) + 1.0)
    ways = lf[degree] - lf[m] - lf[degree - m]
    laws: Floats = np.exp(ways + m * np.log(rates)[:, None] + (degree - m) * np.log1p(-rates)[:, None])
    return laws


def paired_start(horizon: int, error: float, *, mirrored: bool) -> Floats | None:
    """Weights to begin with, stretched from the best of half the horizon."""
    if horizon <= _COARSEST:
        return None
    half = horizon // 2
    begin = paired_start(half, error, mirrored=mirrored)
    _, best = ascend(paired_programme(half, error, mirrored=mirrored), aim(error), PAIRED_ASCENT, begin)[0]
    share = np.arange(1, horizon + 1) / horizon
    stretched = np.exp(np.interp(share, np.arange(1, half + 1) / half, np.log(best)))
    return stretched * 2**0.75 * half / horizon


def deep(*, paired: bool) -> stopped_walks.Reach:
    """A band below the diagonal from whose edge a return to the boundary is out of the question."""
    return _roots(5.0 if paired else 5.0 / math.sqrt(2))


def _roots(scale: float) -> stopped_walks.Reach:
    """A band that widens with the square root of the pairs."""
    return lambda n: math.ceil(scale * math.sqrt(n)) + 8


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
