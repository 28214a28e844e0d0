"""Exact unconditional p-values of a difference with the nuisance within its own limits, and the ends they give.

For a difference d let p(d) = gamma + sup P(|Z_d| >= z_d), the supremum over those nuisances that limits with
confidence 1 - gamma allow (Berger and Boos 1994), and gamma alone where there is none. The supremum is proved. The
accepted set {d : p(d) > a} need not be connected: its end is a root, and differences beyond it are looked at on a grid
that is fine near the end, where one table more or less decides. What is not proved is that nothing beyond lies between
the points of that grid.

One-sided, tables have one order for all d: by the score limit L at a given error. Z_d falls in d, so those with a limit
of at least L are {Z_L >= z_L}, a staircase whose chance rises with the first rate and falls with the second: p(d) =
gamma + sup P(limit >= L) never falls in d, and its root is the end (Buehler 1957, within the limits of the nuisance).

Everything is about the lower end: the upper one is the lower end of the mirrored table.

For each second count of a design, the smallest first count that an exact test decides.

A design is (n1, n2), two independent counts, or (n,), discordant pairs. A table is decided when its p-value at the edge
and beyond, as `inversion.tail` gives it, is at most the error. The critical value of the score statistic hardly changes
from one second count to the next: it is found at a few of them, which says nearly where the decided tables begin; there
tables are tried one by one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from surefoot.numerics import normal_quantiles, roots
from surefoot.numerics.rates import paired_rates, two_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Batch = two_rates.TwoCounts | paired_rates.PairCounts


GAMMA = 1e-5
"""The share of the error that the limits of the nuisance take; it must not come from the data.

A table is lost where the test over all rates decides it by less than this share: with a thousandth, 10 v 5 lost 12
points of power.
"""

FEW = 120
"""Up to so many draws single tables weigh enough to be accepted far from the rest."""

TOLERANCE = 1e-5
"""How far an end lies outside the accepted set at most, in standard errors."""

_SLACK = 0.1  # a p-value is rounded up by about this share of gamma
_FINE = 1024  # points at which the interpolant of a probability is looked at
_ORDERS = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256)
_ELLIPSES = 0.08 * 1.35 ** np.arange(15.0)
_CORNERS = np.exp(1j * np.pi * np.arange(9.0) / 8.0) / math.cos(math.pi / 16.0)
_CELLS = 60_000  # numbers held at once
_ALONE = 250_000  # of larger products a BLAS makes threads, which cost more than they save
_STEPS = 3e-5 * 2.4 ** np.arange(13.0)
_MORE_STEPS = np.linspace(0.15, 4.0, 36)


class Tables(Protocol):
    """Tables of one design: see `two_rates.TwoCounts` and `paired_rates.PairCounts`."""

    gamma: float
    draws: int
    estimate: Floats
    spread: Floats
    least: Floats
    limit: Floats
    shrink: float

    def statistic(self, which: Ints, difference: Floats) -> Floats: ...  # noqa: D102
    def segment(self, which: Ints, difference: Floats) -> tuple[Floats, Floats]: ...  # noqa: D102
    def growth(self, nuisance: Floats, difference: Floats) -> Floats: ...  # noqa: D102
    def width(self, error: float) -> int: ...  # noqa: D102
    def tails(  # noqa: D102
        self, difference: Floats, nuisance: Floats, order: Order, error: float, *, both: bool
    ) -> Floats: ...


class Order(NamedTuple):
    """The tables at least as extreme as an observed one: those whose z at a difference reaches a level."""

    at: Floats
    level: Floats


def score_limits(tables: Tables, error: float) -> Floats:
    """The largest difference at which each table's z, with the factor N/(N-1), still reaches the error's quantile.

    -1 for a table that excludes nothing. From an error of 0.4 on that of 0.4 is taken: below the observed difference.
    """
    wanted = normal_quantiles.upper_quantile(min(error, 0.4)) / tables.shrink
    which = np.arange(len(tables.estimate))
    low, high = np.full(len(which), -1.0), tables.estimate.copy()
    for _ in range(52):
        middle = (low + high) / 2.0
        inside = tables.statistic(which, middle) > wanted
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low


class Lower(NamedTuple):
    """The lower ends of the accepted sets, and the largest p(d) at 0 and below it."""

    end: Floats
    tail: Floats


def p_values(tables: Tables, which: Ints, difference: Floats, *, both: bool) -> Floats:
    """p(d) of each question, a table and a difference, rounded up; 1 from the observed difference on."""
    gamma = tables.gamma
    at = difference if both else tables.limit[which]
    z = tables.statistic(which, at)
    low, high = tables.segment(which, difference)
    found = np.where(low > high, gamma, 1.0)
    asked = np.nonzero((low <= high) & (z > 0.0) & (at > -1.0) & (difference < tables.estimate[which]))[0]
    if not len(asked):
        return found
    difference, low, high = difference[asked], low[asked], high[asked]
    order_of = Order(at[asked], np.minimum(z[asked], 1e100))
    orders, error = _orders(tables, difference, low, high)
    lost, rounding = gamma * _SLACK / 4.0, 1e-11 + 2e-14 * tables.draws
    for order in np.unique(orders).tolist():
        nodes, fine, terms, bends = _interpolation(order)
        alike = np.nonzero(orders == order)[0]
        step, alone = max(1, _CELLS // tables.width(lost)), max(2, _ALONE // fine.size)
        for part in np.split(alike, range(step, len(alike), step)):
            nuisance = low[part, None] + (high - low)[part, None] * nodes
            as_far = Order(order_of.at[part], order_of.level[part])
            values = tables.tails(difference[part], nuisance, as_far, lost, both=both)
            few = np.split(values, range(alone, len(values), alone))
            top = np.concatenate([(some @ fine).max(axis=1) + np.abs(some @ terms) @ bends for some in few])
            found[asked[part]] = np.minimum(1.0, gamma + lost + error[part] + top * (1.0 + rounding))
    return found


def _orders(tables: Tables, difference: Floats, low: Floats, high: Floats) -> tuple[Ints, Floats]:
    """How many Chebyshev points determine each probability on its segment, and how far it may be off.

    With t = middle + half cos(u + iv) the k-th cosine coefficient of a polynomial f is at most 2 M exp(-kv), where M
    bounds |f| on the ellipse; a polygon around the ellipse has its largest |f| bounded at its corners.
    """
    middle, half = (low + high)[:, None, None] / 2.0, (high - low)[:, None, None] / 2.0
    ellipses = np.cosh(_ELLIPSES)[:, None] * _CORNERS.real + 1j * np.sinh(_ELLIPSES)[:, None] * _CORNERS.imag
    largest = tables.growth(middle + half * ellipses, difference) + math.log(4.0) - np.log(np.expm1(_ELLIPSES))
    wanted = math.log(tables.gamma * _SLACK / 4.0)
    orders, errors = np.full(len(low), tables.draws), np.full(len(low), -math.inf)
    for order in reversed([order for order in _ORDERS if order < tables.draws]):
        here = (largest - order * _ELLIPSES).min(axis=1)
        enough = (here <= wanted) | (order == _ORDERS[-1])  # more are not taken: the error is added
        orders, errors = np.where(enough, order, orders), np.where(enough, np.minimum(here, 0.0), errors)
    return orders, np.exp(errors)


@lru_cache(maxsize=64)
def _interpolation(order: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Chebyshev points of [0, 1]; values to the interpolant on a finer grid, to coefficients; what these bend."""
    angles = np.arange(order + 1) * (math.pi / order)
    ends = np.where((np.arange(order + 1) % order) == 0, 0.5, 1.0)
    terms = np.cos(np.outer(angles, np.arange(order + 1))) * (ends[:, None] * ends) * (2.0 / order)
    grid = np.arange(_FINE + 1) * (math.pi / _FINE)
    fine = terms @ np.cos(np.outer(np.arange(order + 1), grid))
    bends = np.arange(order + 1.0) ** 2 * ((math.pi / _FINE) ** 2 / 8.0)
    return np.sin(angles / 2.0) ** 2, fine, terms, bends


def tail(tables: Tables, which: Ints, edge: float, *, both: bool) -> Floats:
    """The largest p(d) at the edge and below it, of each table."""
    return _tail(tables, which, edge, both=both, ceiling=math.inf)[0]


def _tail(tables: Tables, which: Ints, edge: float, *, both: bool, ceiling: float) -> tuple[Floats, Floats]:
    """The largest p(d) at the edge and below it, and the lowest d on the grid whose p(d) exceeds the ceiling."""
    largest, outermost = np.ones(len(which)), np.full(len(which), edge)
    open_ = np.nonzero(tables.estimate[which] > edge)[0]
    if len(open_):
        steps = _grid(tables, which[open_])
        grid = edge - (steps if both else steps[:, :1])  # one-sided, p(d) never falls
        p = _on_grid(tables, which[open_], grid, both=both)
        largest[open_] = p.max(axis=1)
        outermost[open_] = np.where(p > ceiling, grid, edge).min(axis=1)
    return largest, outermost


def _grid(tables: Tables, which: Ints) -> Floats:
    """How far below an edge p(d) is looked at, a row for each table, the edge itself first."""
    steps = np.concatenate([[0.0], _STEPS, _MORE_STEPS]) if tables.draws <= FEW else np.append(0.0, _STEPS[:-1])
    return np.asarray(tables.spread[which, None] * np.sort(steps))


def _on_grid(tables: Tables, which: Ints, grid: Floats, *, both: bool) -> Floats:
    """p(d) for each row's table."""
    rows = np.repeat(which, grid.shape[1])
    flat = grid.ravel()
    real = flat > -1.0
    found = np.full(len(flat), tables.gamma)
    found[real] = p_values(tables, rows[real], flat[real], both=both)
    return found.reshape(grid.shape)


def lower_ends(tables: Tables, a: float, *, both: bool) -> Lower:
    """The lower end of {d : p(d) > a} of each table, rounded down; above 0 exactly where the tail at 0 is at most a."""
    everything = np.arange(len(tables.estimate))
    largest, outermost = _tail(tables, everything, 0.0, both=both, ceiling=a)
    decided = largest <= a
    start = np.where(decided, 0.0, np.minimum(tables.least, tables.estimate))
    inner = np.where(decided, tables.estimate, np.minimum(outermost, tables.estimate))
    search = _Search(tables, a, start, inner, both=both)
    while search.close():
        pass
    end = np.where(decided, np.maximum(search.outer, math.ulp(0.0)), search.outer)
    return Lower(np.maximum(end, -1.0), largest)


class _Search:
    """Brackets of the ends: p(d) is at most a at `outer`, and above it at `inner`."""

    def __init__(self, tables: Tables, a: float, start: Floats, inner: Floats, *, both: bool) -> None:
        self.tables, self.a, self.both, self.start = tables, a, both, start
        self.outer, self.inner = start.copy(), inner
        self.sides = 2.0 if both else 1.0
        self.wanted = normal_quantiles.upper_quantile(a / self.sides)
        self.outer_z = np.full(len(start), normal_quantiles.upper_quantile(tables.gamma / self.sides))
        self.inner_z = np.full(len(start), -1.0)
        self.tolerance = TOLERANCE * tables.spread
        self.open = np.nonzero(inner > start)[0]

    def close(self) -> bool:
        """Close in on the ends, then look beyond them; whether some were moved outwards."""
        guess = self.asymptotic()
        ahead = 0.1 * self.tables.spread[self.open]
        which = self.open
        while len(which):
            middle = (self.outer[which] + self.inner[which]) / 2.0
            beside = np.stack([guess - ahead, guess + ahead], axis=1)
            if self.both:
                self.probe(which, np.append(beside, middle[:, None], axis=1))
            else:  # p(d) never falls: the middle matters only inside what the two leave open
                self.probe(which, beside)
                self.probe(which, middle[:, None])
            which = which[self.inner[which] - self.outer[which] > self.tolerance[which]]
            width = self.inner[which] - self.outer[which]
            above, below = self.outer_z[which] - self.wanted, self.wanted - self.inner_z[which]
            guess = self.outer[which] + width * above / np.maximum(above + below, 1e-9)
            ahead = np.maximum(0.03 * width, self.tolerance[which] / 3.0)
        return self.beyond()

    def asymptotic(self) -> Floats:
        """Where the observed z is what it is at the ends of the score interval."""
        left, right = self.outer[self.open], self.inner[self.open]
        for _ in range(3):
            grid = left[:, None] + (right - left)[:, None] * np.linspace(0.0, 1.0, 18)[1:-1]
            z = self.tables.statistic(np.repeat(self.open, 16), grid.ravel()).reshape(grid.shape)
            place = (z > self.wanted).sum(axis=1)  # z falls
            ends = np.concatenate([left[:, None], grid, right[:, None]], axis=1)
            rows = np.arange(len(left))
            left, right = ends[rows, place], ends[rows, place + 1]
        return (left + right) / 2.0

    def probe(self, which: Ints, points: Floats) -> None:
        """Move the brackets by p(d) at points: to the lowest that is accepted, and the highest rejected below it."""
        outer, inner = self.outer[which], self.inner[which]
        inside = (points > outer[:, None]) & (points < inner[:, None])
        p = np.where(points <= outer[:, None], 0.0, 1.0)
        rows = np.nonzero(inside)[0]
        p[inside] = p_values(self.tables, which[rows], points[inside], both=self.both)
        accepted: Flags = inside & (p > self.a)
        inner = np.where(accepted, points, inner[:, None]).min(axis=1)
        rejected = inside & ~accepted & (points < inner[:, None])
        outer = np.where(rejected, points, outer[:, None]).max(axis=1)
        z = np.full(p.shape, -1.0)
        known = inside & (p < 0.999)
        z[known] = [normal_quantiles.upper_quantile(value) for value in (p[known] / self.sides).tolist()]
        at = np.arange(len(which))
        lowest, highest = np.where(accepted, points, np.inf).argmin(1), np.where(rejected, points, -np.inf).argmax(1)
        self.inner_z[which] = np.where(accepted.any(axis=1), z[at, lowest], self.inner_z[which])
        self.outer_z[which] = np.where(rejected.any(axis=1), z[at, highest], self.outer_z[which])
        self.outer[which], self.inner[which] = outer, inner

    def beyond(self) -> bool:
        """Move the brackets that have an accepted difference below them."""
        which = self.open[self.outer[self.open] > self.start[self.open]]
        if not len(which) or not self.both:
            return False
        grid = self.outer[which, None] - _grid(self.tables, which)[:, 1:]
        below = grid > self.start[which, None]
        p = np.full(grid.shape, self.tables.gamma)
        rows = np.nonzero(below)[0]
        p[below] = p_values(self.tables, which[rows], grid[below], both=self.both)
        accepted = p > self.a
        moved = accepted.any(axis=1)
        lowest = np.where(accepted, grid, np.inf).argmin(axis=1)
        at = np.arange(len(which))
        further = np.append(grid, np.full((len(grid), 1), -1.0), axis=1)[at, lowest + 1]
        self.inner[which] = np.where(moved, grid[at, lowest], self.inner[which])
        self.outer[which] = np.where(moved, np.maximum(further, self.start[which]), self.outer[which])
        self.open = which[moved]
        return bool(moved.any())


EACH = 250
"""Up to so many second counts tables are tried; with more, the critical value is interpolated."""

_SAMPLES = 9
_SMALL = 64
_MANY, _SURE = 100, 0.02
"""With more draws of each a table is clearly on one side where its statistic is this far from the critical value."""

_CLEAR = ((60, 0.6), (math.inf, 0.85))
"""Nothing beyond the edge was seen to lift a p-value from such a share of the error above it, by the smaller count.

Counted for 39 designs and errors: 1.52 times at most, 1.08 where both counts have more than 50 draws.
"""


def decided(design: tuple[int, ...], a: float, edge: float, second: Ints, *, both: bool) -> Ints:
    """The smallest first count of each second one whose p-value at `edge` and beyond is at most `a`.

    One more than the largest possible count where there is none. With very many second counts, the first count at which
    the interpolated critical value is reached.
    """
    return decided_beyond(design, a, edge, second, decided_at(design, a, edge, second, both=both), both=both)


def decided_at(
    design: tuple[int, ...], a: float, edge: float, second: Ints, *, both: bool, rough: bool = False
) -> Ints:
    """The same at the edge alone, so that no count is larger; with `rough` fewer are interpolated already."""
    levels = _levels(design, a, edge, second, both=both)
    trial = thresholds(design, second, edge, levels)
    if len(second) > (_SMALL if rough else EACH):
        return trial
    most = _most(design, second)
    low, high = np.full(len(second), -1), most + 1  # not decided, and decided
    if len(design) == 2 and min(design) > _MANY:
        low = thresholds(design, second, edge, levels * (1.0 - _SURE)) - 1
        high = np.minimum(high, thresholds(design, second, edge, levels * (1.0 + _SURE)))

    def at_edge(first: Ints, second: Ints) -> Flags:
        return np.asarray(_p_values(design, first, second, a, edge, both=both)[0] <= a)

    return _boundary(at_edge, low, high, trial, second)


def decided_beyond(design: tuple[int, ...], a: float, edge: float, second: Ints, first: Ints, *, both: bool) -> Ints:
    """The same at the edge and beyond, from the first counts at the edge."""
    if not both or len(second) > EACH:  # one-sided, nothing beyond the edge has a larger p-value
        return first
    clear = next(share for draws, share in _CLEAR if min(design) <= draws)

    def beyond(first: Ints, second: Ints) -> Flags:
        p, tables = _p_values(design, first, second, a, edge, both=both)
        near = np.nonzero((p > clear * a) & (p <= a))[0]
        p[near] = tail(tables, near, edge, both=both)
        return np.asarray(p <= a)

    return _boundary(beyond, first - 1, _most(design, second) + 1, first, second)


def _boundary(inside: Callable[[Ints, Ints], Flags], low: Ints, high: Ints, trial: Ints, second: Ints) -> Ints:
    """The smallest first count that is inside, above `low` and at most `high`, near a first guess for each."""
    low, high, trial, stride = low.copy(), high.copy(), np.clip(trial, low + 1, high - 1), 1
    open_ = np.nonzero(high - low > 1)[0]
    while len(open_):
        here = trial[open_]
        yes = inside(here, second[open_])
        high[open_], low[open_] = np.where(yes, here, high[open_]), np.where(yes, low[open_], here)
        # step outwards until the answer is bracketed, then halve
        near = np.where(yes, np.maximum(here - stride, low[open_] + 1), np.minimum(here + stride, high[open_] - 1))
        halved = (low[open_] + high[open_]) // 2
        trial[open_] = np.where(np.abs(near - here) < np.abs(halved - here), near, halved)
        stride *= 2
        open_ = open_[high[open_] - low[open_] > 1]
    return high


def thresholds(design: tuple[int, ...], second: Ints, edge: float, level: Floats) -> Ints:
    """The smallest first count of each second one whose statistic at the edge reaches a level of its own."""
    column, edges, levels = second[:, None], np.full((len(second), 1), edge), level[:, None]
    if len(design) == 2:
        return two_rates.thresholds(design[0], design[1], column, edges, levels)[:, 0]
    return paired_rates.thresholds(design[0], column, edges, levels)[:, 0]


def _batch(design: tuple[int, ...], first: Any, second: Any, gamma: float, ordering: float | None) -> Batch:
    if len(design) == 2:
        return two_rates.TwoCounts(design[0], design[1], first, second, gamma, ordering)
    return paired_rates.PairCounts(design[0], first, second, gamma, ordering)


def _most(design: tuple[int, ...], second: Any) -> Any:
    return np.full(len(second), design[0]) if len(design) == 2 else design[0] - second


def _p_values(
    design: tuple[int, ...], first: Any, second: Any, a: float, edge: float, *, both: bool
) -> tuple[Floats, Batch]:
    """The p-values at the edge, of tables whose first count may be a real number, and the tables."""
    tables = _batch(design, first, second, GAMMA * a, None if both else a)
    return p_values(tables, np.arange(len(first)), np.full(len(first), edge), both=both), tables


def _levels(design: tuple[int, ...], a: float, edge: float, second: Ints, *, both: bool) -> Floats:
    """About which value of the statistic each second count must reach, interpolated between a few of them.

    The first count is taken for a real number, so that the p-value at the edge is a function of it with small jumps.
    """
    some = np.unique(np.linspace(second[0], second[-1], _SAMPLES).astype(np.int64)).astype(float)
    start = normal_quantiles.upper_quantile(a / 2.0 if both else a)
    if start <= 0.0:
        return np.full(len(second), 1e-9)
    few = min(design) <= _MANY
    shares = (0.6, 2.0) if few else (0.9, 1.15)
    low, high = (np.minimum(_real_count(design, some, edge, share * start), _most(design, some)) for share in shares)
    for _ in range(10 if few or len(second) > EACH else 8):
        middle = (low + high) / 2.0
        over = _p_values(design, middle, some, a, edge, both=both)[0] > a
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    z = _statistic(design, low if few else (low + high) / 2.0, some, edge)
    return np.asarray(np.interp(second, some, np.maximum(z * (1.0 - 1e-6), 1e-9)))


def _statistic(design: tuple[int, ...], first: Floats, second: Floats, edge: float) -> Floats:
    if len(design) == 2:
        return two_rates.statistic(first, design[0], second, design[1], edge)
    return paired_rates.statistic(first, second, design[0], edge)


def _real_count(design: tuple[int, ...], second: Floats, edge: float, level: float) -> Floats:
    """The first count, as a real number, at which the statistic has a value; it rises with the count."""
    low, high = np.zeros(len(second)), np.asarray(_most(design, second), float)
    for _ in range(30):
        middle = (low + high) / 2.0
        inside = _statistic(design, middle, second, edge) >= level
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return np.asarray(high)


def score_interval(table: tuple[int, ...], error: float) -> tuple[float, float, float]:
    """Low, high and two-sided p-value; (x1, n1, x2, n2) with the factor N/(N-1), or (b, c, n) without one.

    The statistic falls in the difference, so {d : |z_d| < z} is an interval and each end one root. The low end is
    above 0 (the high end below) exactly when the p-value is below `error`.
    """
    wanted = normal_quantiles.upper_quantile(error / 2.0)
    low, high = _end(table, wanted), -_end(_turned(table), wanted)
    here = _at(table, 0.0)
    if here > wanted:
        low = max(low, 5e-324)
    elif here < -wanted:
        high = min(high, -5e-324)
    else:
        low, high = min(low, 0.0), max(high, 0.0)
    return low, high, min(1.0, 2.0 * normal_quantiles.tail(abs(here)))


def _at(table: tuple[int, ...], difference: float) -> float:
    if len(table) == 3:
        b, c, n = table
        return float(paired_rates.statistic(b, c, n, difference))
    x1, n1, x2, n2 = table
    return float(two_rates.statistic(x1, n1, x2, n2, difference)) * math.sqrt(1.0 - 1.0 / (n1 + n2))


def _turned(table: tuple[int, ...]) -> tuple[int, ...]:
    return (*table[2:], *table[:2]) if len(table) == 4 else (table[1], table[0], table[2])


def _end(table: tuple[int, ...], wanted: float) -> float:
    """Where the statistic falls to `wanted`; -1 where it is never above."""
    if len(table) == 4:
        x1, n1, x2, n2 = table
        estimate = (x1 * n2 - x2 * n1) / (n1 * n2)
    else:
        estimate = (table[0] - table[1]) / table[2]
    if estimate <= -1.0:
        return -1.0
    return roots.last(lambda d: _at(table, d) > wanted, -1.0, estimate)
