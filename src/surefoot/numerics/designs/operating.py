"""Operating characteristics of a boundary: stopping times, verdicts and p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics import log_factorials
from surefoot.numerics.designs import design_search, stopped_walks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints


class Characteristics(NamedTuple):
    """Chances of stopping after exactly n = 0 ... horizon pairs, one row per pair of rates.

    Attributes:
        first: Stops for the first policy.
        second: Stops for the second policy.
        quits: Is given up before the horizon.
    """

    first: Floats
    second: Floats
    quits: Floats

    @property
    def pairs(self) -> Floats:
        """Expected pairs; a walk that never stops has run the horizon."""
        stopped = self.first + self.second + self.quits
        horizon = stopped.shape[1] - 1
        expected: Floats = horizon - stopped @ (horizon - np.arange(horizon + 1.0))
        return expected


def characteristics(
    walk: stopped_walks.BinaryWalk,
    limits: Ints,
    second: ArrayLike,
    first: ArrayLike,
    *,
    quits: stopped_walks.Quits | None = None,
) -> Characteristics:
    """Stopping chances at each pair of rates (of success; or of a win by that policy alone, for shared environments).

    Args:
        walk: The walk, following every column.
        limits: Its boundary.
        second: Rates of the second policy.
        first: Rates of the first policy.
        quits: Where the walk is given up.
    """
    law = _Law(walk, np.atleast_1d(np.asarray(second, float)), np.atleast_1d(np.asarray(first, float)))
    return _stopping(walk, limits, law, quits)


def over_list(
    walk: stopped_walks.PairedWalk,
    limits: Ints,
    first: int,
    second: int,
    population: int,
    *,
    quits: stopped_walks.Quits | None = None,
) -> Characteristics:
    """Stopping chances over all orders of a list with so many items won by each policy alone: one row.

    Args:
        walk: The walk, following every column.
        limits: Its boundary.
        first: Items that the first policy wins alone.
        second: Items that the second policy wins alone.
        population: Items on the list.
        quits: Where the walk is given up.
    """
    return _stopping(walk, limits, _ListLaw(first, second, population), quits)


def _stopping(
    walk: stopped_walks.BinaryWalk, limits: Ints, law: _Law | _ListLaw, quits: stopped_walks.Quits | None
) -> Characteristics:
    shape = len(law.first), walk.horizon + 1
    out = Characteristics(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    for stop in stopped_walks.sweep(walk, limits, quits=quits):
        law.one_more()
        out.first[:, stop.n] = law.mass(stop.rows, stop.rows + stop.columns) @ stop.chance
        if walk.mirrored:
            out.second[:, stop.n] = law.mass(stop.rows + stop.columns, stop.rows) @ stop.chance
        if stop.quits is not None:
            rows, columns, chance, _ = stop.quits
            out.quits[:, stop.n] = law.mass(rows, rows + columns) @ chance
            if walk.mirrored:
                off = columns > 0  # the diagonal is its own mirror
                rows, columns, chance = rows[off], columns[off], chance[off]
                out.quits[:, stop.n] += law.mass(rows + columns, rows) @ chance
    return out


def stage_wise(walk: stopped_walks.BinaryWalk, limits: Ints, row: int, other: int, *, decided: bool) -> float:
    """The largest chance, over equal policies, of ending at least as far as (row, other) after `walk.horizon` pairs.

    Earlier stops for the first policy are further; among those after as many pairs, the larger gain is. When not
    `decided`, every stop for the first policy is further than no stop.
    """
    n, low = walk.horizon, int(walk.low[walk.horizon])
    until = np.array(limits[: n + 1])
    last = until[n].copy()
    until[n] = n
    left: list[Floats] = []
    total = np.zeros(1)
    for stop in stopped_walks.sweep(walk, until, left):
        total = stopped_walks.add_stops(walk, total, stop)
    rows, columns = np.arange(len(left[0])), np.arange(left[0].shape[1]) - low
    far = columns >= other - row
    stopping = rows[:, None] + columns > last[rows, None]
    chosen = (stopping & far) if decided else (stopping | far)
    at, column = np.nonzero(chosen & walk.valid(n, rows[:, None], columns))
    here = left[0][at, column] * walk.mass(n, at, columns[column])
    total = total + np.bincount(2 * at + columns[column], here, minlength=len(total))
    return walk.worst(total)


def onward(
    walk: stopped_walks.BinaryWalk,
    limits: Ints,
    state: tuple[int, int, int],
    second: float,
    first: float,
    *,
    quits: stopped_walks.Quits | None = None,
) -> tuple[float, float]:
    """The chances to stop for the first and for the second policy from (pairs, row, other) on, at these rates.

    With `quits`, walks that are given up stop for neither.
    """
    n, row, other = state
    chance = np.ones((1, 1))
    found = [0.0, 0.0]
    for pairs in range(n + 1, walk.horizon + 1):
        size = pairs - n + 1
        more = np.zeros((size, size))  # [rows gained, others gained]
        if isinstance(walk, stopped_walks.PairedWalk):
            more[:-1, :-1] = chance * (1.0 - first - second)
            more[1:, :-1] += chance * second
            more[:-1, 1:] += chance * first
        else:
            half = chance * first
            rest = chance - half
            more[:-1, 1:] = half * (1.0 - second)
            more[1:, 1:] += half * second
            more[:-1, :-1] += rest * (1.0 - second)
            more[1:, :-1] += rest * second
        rows, others = row + np.arange(size), other + np.arange(size)
        reach = min(walk.horizon, max(rows[-1], others[-1]))
        edge = limits[pairs, np.minimum(rows, reach)]
        won = others > edge[:, None]
        found[0] += float(more[won].sum())
        more[won] = 0.0
        if walk.mirrored:
            lost = rows[:, None] > limits[pairs, np.minimum(others, reach)]
            found[1] += float(more[lost].sum())
            more[lost] = 0.0
        if quits is not None and pairs < walk.horizon:
            more[design_search.given_up(quits, pairs, np.minimum(rows, reach)[:, None], others)] = 0.0
        chance = more
    return found[0], found[1]


class _Law:
    """The chance of every count under several pairs of rates, one pair more at a time."""

    def __init__(self, walk: stopped_walks.BinaryWalk, second: Floats, first: Floats) -> None:
        self.walk, self.n = walk, 0
        self.second, self.first = second, first
        self.zeros = self.ones = np.ones((len(first), 1))
        if isinstance(walk, stopped_walks.PairedWalk):
            with np.errstate(divide="ignore"):
                self.logs = np.log(np.stack([second, first, np.maximum(1.0 - first - second, 0.0)]))

    def one_more(self) -> None:
        """One pair more."""
        self.n += 1
        if not isinstance(self.walk, stopped_walks.PairedWalk):
            self.zeros = stopped_walks.one_more(self.zeros, self.second)
            self.ones = stopped_walks.one_more(self.ones, self.first)

    def mass(self, rows: Ints, others: Ints) -> Floats:
        """The chance of each state, one row per pair of rates."""
        if not isinstance(self.walk, stopped_walks.PairedWalk):
            both: Floats = self.zeros[:, rows] * self.ones[:, others]
            return both
        lf, ties = self.walk.log_factorial, self.n - rows - others
        terms = np.broadcast_to(lf[self.n] - lf[rows] - lf[others] - lf[ties], (len(self.first), len(rows))).copy()
        for count, log in zip((rows, others, ties), self.logs, strict=True):
            terms += np.where(count > 0, count * np.where(count > 0, log[:, None], 0.0), 0.0)
        mass: Floats = np.exp(terms)
        return mass


class _ListLaw:
    """The chance of every count in a random order of a list, one pair more at a time."""

    def __init__(self, first: int, second: int, population: int) -> None:
        self.first, self.n, self.population = np.zeros(1), 0, population
        self.of = second, first, population - first - second
        self.log_factorial = log_factorials.log_factorials(population)

    def one_more(self) -> None:
        """One pair more."""
        self.n += 1

    def mass(self, rows: Ints, others: Ints) -> Floats:
        """The chance of each state, in one row."""
        lf = self.log_factorial
        terms = np.full(len(rows), lf[self.n] + lf[self.population - self.n] - lf[self.population])
        for count, of in zip((rows, others, self.n - rows - others), self.of, strict=True):
            inside = (count >= 0) & (count <= of)
            kept = np.where(inside, count, 0)
            terms += np.where(inside, lf[of] - lf[kept] - lf[of - kept], -np.inf)
        mass: Floats = np.exp(terms)[None]
        return mass
