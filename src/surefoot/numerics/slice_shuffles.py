"""Step-down over overlapping slices of cells: labels are shuffled inside cells, and one error is kept for all slices.

A slice is a set of cells. Its statistic is a sum of what the cells tell, over its standard deviation under shuffling,
with the skewness of the shuffles taken out; the largest statistic of the slices that are left, drawn anew many times,
tells how surprising each one is (Westfall and Young's step-down).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats

DRAWS = 19_999
SEED = 20_261_116
_TIE = 1e-9
_NONE = 1e-12  # a variance below this: the slice tells nothing
_BLOCK = 1_000_000  # numbers drawn at a time


@dataclass(frozen=True, eq=False)
class Shuffle:
    """Slices and how their statistics are drawn anew.

    Attributes:
        observed: The statistic of every slice, large where the first is worse; not a number where nothing is told.
        draw: So many statistics of every slice under shuffling, from a generator.
        width: How many numbers one draw takes, for its memory.
        spread: The standard deviation of every slice's sum.
    """

    observed: Floats
    draw: Callable[[np.random.Generator, int], Floats]
    width: int
    spread: Floats


@dataclass(frozen=True, eq=False)
class Stepped:
    """Adjusted one-sided p-values of every slice, and the drawn maxima over all slices, largest first."""

    worse: Floats
    better: Floats
    worse_maxima: Floats
    better_maxima: Floats


def statistic(gaps: Floats, variance: Floats, third: Floats) -> Floats:
    """Sums over their standard deviation, with the skewness taken out; rises with the sum."""
    told = variance >= _NONE
    root = np.sqrt(np.where(told, variance, 1.0))
    z = np.clip(gaps / root, -30.0, 30.0)
    skew = np.clip(third / root**3, -0.5, 0.5) / 6.0
    found: Floats = np.where(told, z - skew * (np.clip(z, -5.0, 5.0) ** 2 - 1.0), np.nan)
    return found


def hypergeometric_moments(first: Floats, second: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and third cumulant of the first policy's successes, given the successes of both."""
    both = first + second
    safe = np.maximum(both, 1.0)
    variance = np.where(
        both > 1.0, first * second * total * (both - total) / (safe**2 * np.maximum(both - 1.0, 1.0)), 0.0
    )
    lean = (both - 2.0 * total) * (second - first) / (safe * np.maximum(both - 2.0, 1.0))
    return first * total / safe, variance, np.where(both > 2.0, variance * lean, 0.0)  # fmt: skip


def _of_cells(
    gaps: Floats, variance: Floats, third: Floats, members: Floats, anew: Callable[[Any, int], Floats]
) -> Shuffle:
    """Slices whose cells are shuffled each by itself."""
    spread, lean = variance @ members, third @ members

    def draw(generator: np.random.Generator, size: int) -> Floats:
        return statistic(anew(generator, size) @ members, spread, lean)

    width = max(members.shape)
    return Shuffle(statistic(gaps @ members, spread, lean), draw, width, np.sqrt(spread))


def of_successes(
    first_successes: Floats, first: Floats, second_successes: Floats, second: Floats, members: Floats
) -> Shuffle:
    """Successes of two policies in every cell, labels shuffled inside cells."""
    total = first_successes + second_successes
    mean, variance, third = hypergeometric_moments(first, second, total)
    open_cells = np.flatnonzero(variance >= _NONE)
    good, bad, taken = (side[open_cells].astype(np.int64) for side in (total, first + second - total, first))

    def anew(generator: np.random.Generator, size: int) -> Floats:
        found = np.zeros((size, len(mean)))
        for place, won, lost, ours in zip(open_cells, good, bad, taken, strict=True):
            found[:, place] = mean[place] - generator.hypergeometric(won, lost, ours, size=size)
        return found

    return _of_cells(np.where(variance >= _NONE, mean - first_successes, 0.0), variance, -third, members, anew)


def of_pairs(lost: Floats, won: Floats, members: Floats) -> Shuffle:
    """Pairs of successes in every cell: those that only the second, and only the first, succeeded in."""
    both = (lost + won).astype(np.int64)

    def anew(generator: np.random.Generator, size: int) -> Floats:
        return generator.binomial(both, 0.5, size=(size, len(both))) - both / 2.0

    return _of_cells((lost - won) / 2.0, both / 4.0, np.zeros(len(both)), members, anew)


def of_scores(values: Floats, first: Floats, cell: Any, members: Floats) -> Shuffle:
    """Scores with whether each is the first policy's, and its cell; or clusters, each centred at its cell's mean."""
    count = members.shape[0]
    first = np.asarray(first, bool)
    cells = [np.flatnonzero(cell == place) for place in range(count)]
    gaps, variance, third = np.zeros(count), np.zeros(count), np.zeros(count)
    centred: list[tuple[int, Floats, int]] = []
    for place, rows in enumerate(cells):
        size, ours = len(rows), int(first[rows].sum())
        if size < 2 or not 0 < ours < size:
            continue
        rest = values[rows] - values[rows].mean()
        theirs = size - ours
        gaps[place] = -rest[first[rows]].sum()
        variance[place] = ours * theirs * (rest**2).mean() / (size - 1.0)
        if size > 2:
            lean = ours * theirs * (theirs - ours) * (rest**3).mean()
            third[place] = -lean / ((size - 1.0) * (size - 2.0))
        centred.append((place, rest, ours))

    def anew(generator: np.random.Generator, size: int) -> Floats:
        found = np.zeros((size, count))
        for place, rest, ours in centred:
            fewer = min(ours, len(rest) - ours)
            mixed = generator.permuted(np.broadcast_to(rest, (size, len(rest))), axis=1)[:, :fewer].sum(axis=1)
            found[:, place] = -mixed if fewer == ours else mixed
        return found

    shuffle = _of_cells(gaps, variance, third, members, anew)
    return Shuffle(shuffle.observed, shuffle.draw, max(shuffle.width, len(values)), shuffle.spread)


def of_units(gaps: Floats) -> Shuffle:
    """What the second has more than the first, units by slices: one fair sign for every unit, in all its slices."""
    sums = gaps[np.abs(gaps).max(axis=1, initial=0.0) > 0.0]
    variance, none = (sums**2).sum(axis=0), np.zeros(gaps.shape[1])

    def draw(generator: np.random.Generator, size: int) -> Floats:
        signs = generator.integers(0, 2, size=(size, len(sums)), dtype=np.int8) * np.int8(2) - np.int8(1)
        return statistic(signs.astype(float) @ sums, variance, none)

    width = max(sums.shape)
    return Shuffle(statistic(sums.sum(axis=0), variance, none), draw, width, np.sqrt(variance))


def of_dealt(
    first_successes: Floats, first: Floats, second_successes: Floats, second: Floats, stratum: Any, members: Floats
) -> Shuffle:
    """Successes in cells too sparse to shuffle inside: labels, dealt at random, are shuffled inside strata.

    A slice's own margins in each stratum give its statistic, in the draws as in what was seen.
    """
    groups = [np.flatnonzero(stratum == place) for place in range(int(stratum.max()) + 1)]
    total, both = first_successes + second_successes, first + second

    def of(ours: Floats, won: Floats) -> Floats:
        size = (ours.shape[0], members.shape[1])
        sums = [np.zeros(size) for _ in range(3)]
        for rows in groups:
            met = np.flatnonzero(members[rows].any(axis=0))
            share = members[np.ix_(rows, met)]
            n, x, t, whole = ours[:, rows] @ share, won[:, rows] @ share, total[rows] @ share, both[rows] @ share
            mean, variance, third = hypergeometric_moments(n, whole - n, np.broadcast_to(t, n.shape))
            for place, part in enumerate((mean - x, variance, -third)):
                sums[place][:, met] += part
        return statistic(*sums)

    def draw(generator: np.random.Generator, size: int) -> Floats:
        ours, won = np.zeros((size, len(both))), np.zeros((size, len(both)))
        for rows in groups:
            kinds = np.concatenate((total[rows], (both - total)[rows])).astype(np.int64)
            dealt = generator.multivariate_hypergeometric(kinds, int(first[rows].sum()), size=size)
            won[:, rows] = dealt[:, : len(rows)]
            ours[:, rows] = dealt[:, : len(rows)] + dealt[:, len(rows) :]
        return of(ours, won)

    seen = of(first[None, :], first_successes[None, :])[0]
    return Shuffle(seen, draw, len(groups) * members.shape[1], np.full(members.shape[1], np.nan))


def step_down(shuffle: Shuffle, *, draws: int = DRAWS, seed: int = SEED) -> Stepped:
    """Adjusted one-sided p-values, worse and better, of every slice."""
    generator = np.random.default_rng(seed)
    seen = np.nan_to_num(np.stack((shuffle.observed, -shuffle.observed)), nan=-np.inf)
    orders = np.argsort(-seen, axis=1, kind="stable")
    counts, maxima = np.zeros(seen.shape), np.empty((2, draws))
    done, most = 0, max(1, _BLOCK // max(1, shuffle.width))
    while done < draws:
        size = min(most, draws - done)
        drawn = shuffle.draw(generator, size)
        for side, order in enumerate(orders):
            signed = drawn[:, order[::-1]] if side == 0 else -drawn[:, order[::-1]]
            np.nan_to_num(signed, copy=False, nan=-np.inf)
            largest = np.maximum.accumulate(signed, axis=1)[:, ::-1]
            counts[side] += (largest >= seen[side][order] - _TIE).sum(axis=0)
            maxima[side, done : done + size] = largest[:, 0]
        done += size
    adjusted = np.empty(seen.shape)
    for side, order in enumerate(orders):
        adjusted[side, order] = np.maximum.accumulate((1.0 + counts[side]) / (draws + 1.0))
        adjusted[side, ~np.isfinite(seen[side])] = 1.0
    maxima = -np.sort(-maxima, axis=1)
    return Stepped(adjusted[0], adjusted[1], maxima[0], maxima[1])


def kept(first: Floats, second: Floats, stratum: Any) -> float:
    """The share of the information that comparing within cells leaves, of that within strata."""
    strata = [np.bincount(stratum, side) for side in (first, second)]
    inside, whole = (_information(*sides) for sides in ((first, second), strata))
    return inside / whole if whole else 0.0


def _information(first: Floats, second: Floats) -> float:
    both = np.maximum(first + second, 1.0)
    return float((first * second / both).sum())
