"""Walks on counts that stop at a boundary: every chance of stopping, exactly.

A state after n pairs is a row r and a column d. Two streams: r successes of the second policy, r + d of the first.
Shared environments: r pairs won by the second policy alone, r + d by the first alone. Either way m = 2r + d is
sufficient when the policies are equal, and P(not stopped | state) does not depend on the rates: one pass over the
band of columns between the boundaries gives every operating characteristic. A boundary is `limits[n, r]`: the walk
stops for the first policy as soon as r + d > limits[n, r]. A mirrored walk also stops for the second policy, by the
same boundary with the policies swapped, so that only d >= 0 is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from surefoot.numerics import polynomials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

Reach = Callable[[int], int]


class Quits(NamedTuple):
    """Where a walk is given up after n pairs: in (row, column) when low[n, m] <= column <= high[n, m], m the total."""

    low: NDArray[np.int16]
    high: NDArray[np.int16]


class States(NamedTuple):
    """Some states, P(not stopped before | state) of each, and their lean where it is asked for.

    The lean is that chance times the mean gain of the first pair, given the state and that the walk had not stopped.
    """

    rows: Ints
    columns: Ints
    chance: Floats
    lean: Floats


class Stops(NamedTuple):
    """The states in which a walk stops for the first policy after `n` pairs, and P(not stopped before | state).

    `quits` are those in which it is given up, where that is asked for.
    """

    n: int
    rows: Ints
    columns: Ints
    chance: Floats
    lean: Floats
    quits: States | None = None


def everything(n: int) -> int:
    """All columns below the diagonal."""
    return n


class BinaryWalk:
    """Two independent streams of successes and failures, one of each a pair.

    Args:
        horizon: The most pairs.
        mirrored: Whether the walk also stops for the second policy.
        depth: How many columns below the diagonal are followed after n pairs when not mirrored. Below them the walk is
            taken not to have stopped yet, so that every chance of stopping is exact or a little too high.
    """

    growth = 2
    """By how much the sufficient total can grow with each pair."""

    def __init__(self, horizon: int, *, mirrored: bool, depth: Reach = everything) -> None:
        self.horizon, self.mirrored = horizon, mirrored
        self.low = np.array([0 if mirrored else min(n, depth(n)) for n in range(horizon + 1)])
        self.log_factorial = gammaln(np.arange(2 * horizon + 2) + 1.0)

    def rows(self, n: int) -> int:
        """Rows that hold a state after n pairs."""
        return n + 1

    def valid(self, n: int, rows: Ints, columns: Ints) -> Flags:
        """Which of these can be a state after n pairs."""
        other = rows + columns
        return (rows >= 0) & (rows <= n) & (other >= 0) & (other <= n)

    def mass(self, n: int, rows: Ints, columns: Ints) -> Floats:
        """P(state | m) after n pairs of equal policies; 0 where there is no state."""
        valid = self.valid(n, rows, columns)
        other = np.clip(rows + columns, 0, n)
        m, lf = rows + other, self.log_factorial
        ways = 2 * lf[n] - lf[rows] - lf[n - rows] - lf[other] - lf[n - other]
        return np.where(valid, np.exp(ways - lf[2 * n] + lf[m] + lf[2 * n - m]), 0.0)

    def arrive(self, n: int, before: Floats, start: int) -> Floats:
        """P(not stopped before n | state), from the states that go on after n - 1 pairs.

        `before` has a column more at each end; `start` is the column that the answer begins with.
        """
        width = before.shape[1] - 1
        other = np.arange(start, start + n + width)
        up = np.where((other >= 0) & (other <= n), other / n, 0.0)
        down = np.where((other >= 0) & (other <= n), 1.0 - other / n, 0.0)
        half = windows(down, n + 1, width) * before[:, 1:]
        half += windows(up, n + 1, width) * before[:, :-1]
        won = (np.arange(n + 1) / n)[:, None]
        here = half[:, :-1] * won[::-1]
        here[1:] += won[1:] * half[:-1, 1:]
        return here

    def expect(self, n: int, after: Floats, start: int) -> Floats:
        """The mean over the next pair of `after`, values in mass form with a row more and a column more at each end."""
        width = after.shape[1] - 1
        other = np.arange(start - 1, start + n + 1 + width)
        fine = (other >= 0) & (other <= n)
        up = np.where(fine, (other + 1) / (n + 1), 0.0)
        down = np.where(fine, (n + 1 - other) / (n + 1), 0.0)
        half = windows(down, n + 2, width) * after[: n + 2, :-1]
        half += windows(up, n + 2, width) * after[: n + 2, 1:]
        won = (np.arange(1, n + 2) / (n + 1))[:, None]
        here = half[:-1, 1:] * won[::-1]
        here += won * half[1:, :-1]
        return here

    def worst(self, total: Floats) -> float:
        """The largest error with these coefficients, from above: over all common rates."""
        return polynomials.polynomial_maximum(total)[1]

    def top(self, n: int, last: Ints) -> Ints:
        """The highest column of each row that can be reached at n when `last` went on at n - 1."""
        top = np.full(n + 1, -n - 1)
        top[:-1] = last + 1
        top[1:] = np.maximum(top[1:], last)
        return top


class PairedWalk(BinaryWalk):
    """Pairs in shared environments: won by the first policy alone, by the second alone, or by neither."""

    growth = 1

    def rows(self, n: int) -> int:
        """Rows that hold a state after n pairs."""
        return (n + int(self.low[n])) // 2 + 1

    def valid(self, n: int, rows: Ints, columns: Ints) -> Flags:
        """Which of these can be a state after n pairs."""
        return (rows >= 0) & (rows + columns >= 0) & (2 * rows + columns <= n)

    def mass(self, n: int, rows: Ints, columns: Ints) -> Floats:
        """P(state | m) after n pairs of equal policies; 0 where there is no state."""
        valid = self.valid(n, rows, columns)
        other = np.clip(rows + columns, 0, n)
        m, lf = rows + other, self.log_factorial
        return np.where(valid, np.exp(lf[m] - lf[rows] - lf[other] - m * np.log(2.0)), 0.0)

    def arrive(self, n: int, before: Floats, start: int) -> Floats:
        """P(not stopped before n | state), from the states that go on after n - 1 pairs."""
        width, rows = before.shape[1] - 2, len(before)
        wins = np.maximum(np.arange(start, start + rows + width - 1), 0) / n
        ties = np.maximum(n - np.arange(start, start + 2 * rows + width - 2), 0) / n
        here = windows(wins, rows, width) * before[:, :-2]
        here += windows(ties, rows, width, 2) * before[:, 1:-1]
        here[1:] += (np.arange(1, rows) / n)[:, None] * before[:-1, 2:]
        return here

    def expect(self, n: int, after: Floats, start: int) -> Floats:
        """The mean over the next pair of `after`, values in mass form with a row more and a column more at each end."""
        width, rows = after.shape[1] - 2, self.rows(n)
        wins = np.maximum(np.arange(start, start + rows + width - 1) + 1, 0) / (n + 1)
        ties = np.maximum(n + 1 - np.arange(start, start + 2 * rows + width - 2), 0) / (n + 1)
        here = windows(wins, rows, width) * after[:rows, 2:]
        here += windows(ties, rows, width, 2) * after[:rows, 1:-1]
        here += (np.arange(1, rows + 1) / (n + 1))[:, None] * after[1 : rows + 1, :-2]
        return here

    def worst(self, total: Floats) -> float:
        """The largest error with these coefficients, from above: over all numbers of pairs that differ."""
        return float(total.max()) * (1.0 + 1e-9)

    def top(self, n: int, last: Ints) -> Ints:
        """The highest column of each row that can be reached at n when `last` went on at n - 1."""
        top = np.full(self.rows(n), -n - 1)
        top[: len(last)] = last + 1
        top[1:] = np.maximum(top[1:], last[: len(top) - 1] - 1)
        return top


def sweep(
    walk: BinaryWalk,
    limits: Ints,
    left: list[Floats] | None = None,
    quits: Quits | None = None,
    *,
    leaning: bool = False,
) -> Iterator[Stops]:
    """The states in which the walk stops for the first policy, pair by pair.

    Args:
        walk: The walk; it must follow every column to be `leaning`.
        limits: Its boundary.
        left: Receives P(not stopped | state) at the horizon, columns from -low[horizon] on; and the lean after it.
        quits: Where the walk is given up before the horizon; the walk must then follow every column.
        leaning: Whether the lean of every state is followed as well.
    """
    signs = (1.0, -1.0) if leaning else (1.0,)  # of a state's value and of its mirror image's
    onward, begin = np.ones((len(signs), 1, 1)), 0
    last = np.zeros(1, np.int64)
    closed = quits is not None and not walk.mirrored  # below the lowest state that goes on there is none
    for n in range(1, walk.horizon + 1):
        rows, low = walk.rows(n), int(walk.low[n])
        if closed:
            low = min(low, max(0, 1 - begin))
        reached = np.minimum(walk.top(n, last), n)
        top = max(int(reached.max()), 0)
        before = np.zeros((len(signs), rows, top + low + 3))  # columns -low - 1 to top + 1
        skip = begin + low + 1
        share = min(onward.shape[2], before.shape[2] - skip)
        before[:, : onward.shape[1], skip : skip + share] = onward[:, :, :share]
        if walk.mirrored:
            for field, sign in zip(before, signs, strict=True):
                field[1:, 0] = sign * field[:-1, 2]
        elif not closed:
            across, down = np.arange(-low - 1, begin), np.arange(rows)[:, None]
            before[0, :, :skip] = walk.valid(n - 1, down, across)
        here = np.stack([walk.arrive(n, field, -low) for field in before])
        if n == 1:
            here[1:] = here[0] * np.arange(-low, here.shape[2] - low)  # the gain of the first pair itself
        last = np.minimum(limits[n, :rows] - np.arange(rows), n)
        depth = int((reached - last).max(initial=0))
        at, step = np.nonzero(np.arange(1, depth + 1) <= (reached - last)[:, None])
        columns = last[at] + 1 + step
        fine = walk.valid(n, at, columns)
        stopped = _taken(here, at[fine], columns[fine], low)
        given_up = None if quits is None or n == walk.horizon else _give_up(n, here, quits, low)
        yield Stops(n, *stopped, given_up)
        onward, begin = here, -low
        if closed and n < walk.horizon:
            skip = int(here[0].any(axis=0).argmax())
            onward, begin = here[:, :, skip:], skip - low
    if left is not None:
        pad = int(walk.low[walk.horizon]) + begin
        left.extend(np.pad(onward, ((0, 0), (0, 0), (pad, 0))))


def _taken(here: Floats, rows: Ints, columns: Ints, low: int) -> States:
    """Take these states out of `here`."""
    found = here[:, rows, columns + low]
    here[:, rows, columns + low] = 0.0
    return States(rows, columns, found[0], found[-1])


def _give_up(n: int, here: Floats, quits: Quits, low: int) -> States:
    """Take the states out of `here` in which the walk is given up."""
    at, column = np.nonzero(here[0])
    columns, total = column - low, 2 * at + column - low
    lost = (columns >= quits.low[n, total]) & (columns <= quits.high[n, total])
    return _taken(here, at[lost], columns[lost], low)


def coefficients(walk: BinaryWalk, limits: Ints) -> Floats:
    """b_m = P(stops for the first policy | total m at the horizon) when the policies are equal."""
    total = np.zeros(1)
    for stop in sweep(walk, limits):
        total = add_stops(walk, total, stop)
    return total


def add_stops(walk: BinaryWalk, total: Floats, stop: Stops) -> Floats:
    """The coefficients after one more pair: `total` raised by the walk's growth, and the states that stop now."""
    for _ in range(walk.growth):
        total = raised(total)
    mass = stop.chance * walk.mass(stop.n, stop.rows, stop.columns)
    return total + np.bincount(2 * stop.rows + stop.columns, mass, minlength=len(total))


def windows(values: Floats, rows: int, width: int, step: int = 1) -> Floats:
    """values[step x row + column] without a copy, in a tenth of the time of numpy's own windows; not to be written."""
    unit = values.itemsize
    return np.ndarray((rows, width), values.dtype, values, 0, (step * unit, unit))


def raised(total: Floats) -> Floats:
    """The same polynomial in Bernstein coefficients of one degree more."""
    degree = len(total)
    out = np.zeros(degree + 1)
    share = np.arange(1, degree + 1) / degree
    out[:-1] = total * share[::-1]
    out[1:] += total * share
    return out


def lowered(mass: Floats) -> Floats:
    """The law of the total with one of the things counted left out at random."""
    degree = len(mass) - 1
    share = np.arange(1, degree + 1) / degree
    lowered: Floats = mass[1:] * share + mass[:-1] * share[::-1]
    return lowered


def one_more(chances: Floats, rates: Floats) -> Floats:
    """The binomial laws with one more try, one row for each rate."""
    out = np.zeros((len(chances), chances.shape[1] + 1))
    out[:, :-1] = chances * (1.0 - rates)[:, None]
    out[:, 1:] += chances * rates[:, None]
    return out


class Endings(NamedTuple):
    """Every state in which a walk can end.

    Attributes:
        n: Pairs.
        first: The first policy's count.
        second: The second policy's count.
        verdict: 1 for the first policy, -1 for the second, 0 for none.
        chance: P(not stopped before | state), above 0.
        gain: The mean gain of the first pair, given the state and that the walk had not stopped before.
    """

    n: Ints
    first: Ints
    second: Ints
    verdict: NDArray[np.int8]
    chance: Floats
    gain: Floats

    def swapped(self) -> Endings:
        """The same with the policies swapped."""
        return Endings(self.n, self.second, self.first, -self.verdict, self.chance, -self.gain)

    def at(self, n: int, first: int, second: int) -> int:
        """Where a state is."""
        found = np.flatnonzero((self.n == n) & (self.first == first) & (self.second == second))
        if not len(found):
            raise ValueError(f"The rule never ends after {n} pairs with counts {first} and {second}.")
        return int(found[0])


def endings(walk: BinaryWalk, limits: Ints, quits: Quits | None) -> Endings:
    """Every state in which the walk can end.

    Args:
        walk: The walk, following every column.
        limits: Its boundary.
        quits: Where it is given up, if anywhere.
    """
    left: list[Floats] = []
    parts: list[tuple[int, int, States]] = []
    for stop in sweep(walk, limits, left, quits, leaning=True):
        parts.append((stop.n, 1, States(stop.rows, stop.columns, stop.chance, stop.lean)))
        if stop.quits is not None:
            parts.append((stop.n, 0, stop.quits))
    last = walk.horizon
    rows, column = np.nonzero(left[0])
    columns = column - int(walk.low[last])
    fine = walk.valid(last, rows, columns)
    rows, column, columns = rows[fine], column[fine], columns[fine]
    parts.append((last, 0, States(rows, columns, left[0][rows, column], left[1][rows, column])))
    sizes = [len(states.rows) for _, _, states in parts]
    rows, columns, chance, lean = (np.concatenate(each) for each in zip(*(part[2] for part in parts), strict=True))
    found = Endings(
        n=np.repeat([n for n, _, _ in parts], sizes),
        first=rows + columns,
        second=rows,
        verdict=np.repeat(np.array([verdict for _, verdict, _ in parts], np.int8), sizes),
        chance=chance,
        gain=np.divide(lean, chance, out=np.zeros_like(lean), where=chance > 0.0),
    )
    found = _chosen(found, chance > 0.0)
    if not walk.mirrored:
        return found
    other = _chosen(found, found.first != found.second).swapped()  # the diagonal is its own mirror
    return _gathered(found, other)


def _chosen(every: Endings, which: Flags) -> Endings:
    columns: Any = (each[which] for each in every)
    return Endings(*columns)


def _gathered(one: Endings, other: Endings) -> Endings:
    columns: Any = (np.concatenate(each) for each in zip(one, other, strict=True))  # type: ignore[arg-type]
    return Endings(*columns)
