"""The best boundary against weighted errors: a dynamic programme, and the dual bound that goes with it.

Minimise, over rules, expected pairs + cost x P(no right decision) + weighted false decisions. The errors at the null
points are weighted by `w`; the value of the programme less error x sum(w) is then below what any rule that keeps the
error can reach (weak duality). All values are in mass form: multiplied by the chance of their state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from surefoot.numerics.designs import stopped_walks

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
