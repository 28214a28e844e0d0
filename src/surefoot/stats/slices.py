"""Westfall and Young's step-down over slices of a table, in both directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core.record import Record
from surefoot.core.tally import Tally, tallies
from surefoot.core.verdict import CLAIMS, Claim, Verdict

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats


POWER = 0.8
MOST_TABLES = 10**6
"""Tables of two binomials that are enumerated for what could have been seen; above, the normal tells."""
DRAWS = 19_999
SEED = 20_261_116
LOPSIDED = 1.5
"""Above it scores are not shuffled: two policies of one mean would be told apart by their spread alone."""
_TIE = 1e-9
_NONE = 1e-12  # a variance below this: the slice tells nothing
_BLOCK = 1_000_000  # numbers drawn at a time


@dataclass(frozen=True, slots=True)
class SliceTests(Record):
    """Adjusted one-sided p-values of slices: one error for all of them, whatever they share.

    Attributes:
        worse: The p-value of "in no cell of the slice is the first worse", adjusted, for every slice.
        better: The same of "in no cell is it better".
        local_error: The one-sided error that one slice alone may spend: for intervals that hold together.
        confidence: One minus the chance that any slice is named wrongly.
        claim: Which claims are made: both ways with half of the error each, or one with all of it.
        draws: How often labels were shuffled; 0 where no shuffle was needed.
    """

    worse: tuple[float, ...]
    better: tuple[float, ...]
    local_error: float
    confidence: float = 0.95
    claim: Claim = "both"
    draws: int = 0

    @property
    def error(self) -> float:
        """The error of each side that is claimed."""
        return round((1.0 - self.confidence) / (2.0 if self.claim == "both" else 1.0), 15)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is claimed of every slice."""
        return tuple(self._verdict(worse, better) for worse, better in zip(self.worse, self.better, strict=True))

    def _verdict(self, worse: float, better: float) -> Verdict:
        if self.claim != "better" and worse <= self.error:
            return Verdict.WORSE
        return Verdict.BETTER if self.claim != "worse" and better <= self.error else Verdict.UNDECIDED


def slice_gains(
    cells: Mapping[str, tuple[Tally, Tally]],
    slices: Mapping[str, Sequence[str]],
    *,
    confidence: float = 0.95,
    claim: Claim = "both",
    draws: int | None = None,
) -> SliceTests:
    """Step-down max-T permutation tests of overlapping groups of cells, strong control of the familywise error.

    Labels are shuffled inside cells. The statistic of a slice is the sum over its cells of expected less seen successes
    of the first, over its standard deviation, corrected for skewness.

    Args:
        cells: First and second tally of every cell.
        slices: The cells of every slice; slices may overlap.
        confidence: One minus the chance that any slice is named wrongly.
        claim: "both" for worse and better with half of the error each; "worse" or "better" with all of it.
        draws: How often labels are shuffled; 19,999 when not said.

    Assumptions:
        Independent rollouts, one success rate per policy and cell. Proved is "worse somewhere in the slice".

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import slice_gains
        >>> cells = {"dim": (Tally(4, 20), Tally(15, 20)), "bright": (Tally(17, 20), Tally(16, 20))}
        >>> found = slice_gains(cells, {"dim": ["dim"], "bright": ["bright"]})
        >>> [str(one) for one in found.verdicts]
        ['worse', 'undecided']

    Reference:
        Westfall and Young (1993), "Resampling-Based Multiple Testing"; Mantel and Haenszel (1959).
    """
    _check.filled(cells, "cells", "hold at least one cell")
    _check.filled(slices, "slices", "hold at least one slice")
    places = {name: place for place, name in enumerate(cells)}
    members = np.zeros((len(cells), len(slices)))
    for column, (name, inside) in enumerate(slices.items()):
        unknown = [cell for cell in inside if cell not in places]
        if unknown or not inside:
            raise _check.wrong("slices", f"name cells that there are; {name!r} has {unknown or 'none'}.", slices)
        members[[places[cell] for cell in inside], column] = 1.0
    each = [tallies(first, second) for first, second in cells.values()]
    won, tried, lost_to, against = np.asarray(
        [(a.successes, a.trials, b.successes, b.trials) for a, b in each], float
    ).T
    return stepped_down(
        of_successes(won, tried, lost_to, against, members),
        confidence=confidence,
        claim=claim,
        draws=draws or DRAWS,
    )


def stepped_down(shuffle: Shuffle, *, confidence: float, claim: Claim, draws: int) -> SliceTests:
    """The step-down of slices that are shuffled in any way."""
    from scipy import special

    confidence = _check.confidence(confidence)
    _check.choice(claim, "claim", dict.fromkeys(CLAIMS))
    found = step_down(shuffle, draws=draws)
    rank = max(1, math.floor((1.0 - confidence) / 2.0 * (draws + 1) + 1e-9))
    largest = max(float(found.worse_maxima[rank - 1]), float(found.better_maxima[rank - 1]))
    local = float(special.ndtr(-largest)) if math.isfinite(largest) else 0.5
    return SliceTests(tuple(found.worse.tolist()), tuple(found.better.tolist()), local, confidence, claim, draws)


def by_holm(worse: Sequence[float], better: Sequence[float], *, confidence: float, claim: Claim) -> SliceTests:
    """Holm's step-down of one-sided p-values, each way by itself."""
    confidence = _check.confidence(confidence)
    _check.choice(claim, "claim", dict.fromkeys(CLAIMS))
    share = (1.0 - confidence) / 2.0 / max(1, len(worse))
    return SliceTests(_holm(worse), _holm(better), share, confidence, claim)


def _holm(p_values: Sequence[float]) -> tuple[float, ...]:
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted, largest = [1.0] * len(p_values), 0.0
    for done, place in enumerate(order):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - done)))
        adjusted[place] = largest
    return tuple(adjusted)


# What could have been seen


def least_drop(first: int, second: int, rate: float, error: float) -> float | None:
    """The least drop from a rate that is noticed with a chance of .8 at a one-sided error, in points of a hundred.

    Args:
        first: Rollouts of the policy that drops.
        second: Rollouts of the other.
        rate: The other's success rate.
        error: The one-sided error.

    Returns:
        The drop; None where not even one to 0 is noticed so often.
    """
    from scipy import special

    limit = -float(special.ndtri(error))
    steps = np.arange(1, max(1, round(100.0 * rate)) + 1) / 100.0
    if first * second > MOST_TABLES:
        wide = np.sqrt((rate - steps) * (1.0 - rate + steps) / first + rate * (1.0 - rate) / second)
        chance = special.ndtr(steps / np.maximum(wide, 1e-12) - limit)
        return _first_step(steps, chance)
    x, y = np.arange(first + 1.0), np.arange(second + 1.0)
    mean, variance, third = hypergeometric_moments(np.array(float(first)), np.array(float(second)), x[:, None] + y)
    seen = statistic(mean - x[:, None], variance, -third)
    noticed = np.nan_to_num(seen, nan=-np.inf) >= limit
    after = noticed @ _binomial(second, rate)
    chance = np.array([float(_binomial(first, max(0.0, rate - step)) @ after) for step in steps])
    return _first_step(steps, chance)


def usual_error(tests: SliceTests, first: Floats, second: Floats, members: Floats) -> float:
    """The one-sided error of one slice in tables like these, for what could have been seen.

    Where hardly anything failed hardly any shuffle shows much: beyond twice what normal slices leave, it is theirs.

    Args:
        tests: The tests of all slices.
        first: Rollouts of the first in every cell.
        second: Rollouts of the second.
        members: Which cells are in each slice.
    """
    own = tests.local_error * (1.0 if tests.claim == "both" else 2.0)
    if not tests.draws:
        return own
    share = np.sqrt(first * second / np.maximum(first + second, 1.0))[:, None] * members
    share /= np.maximum(np.sqrt((share**2).sum(axis=0)), _NONE)
    size = int(np.clip(4 * _BLOCK // len(share), 199, 1_999))
    largest = (np.random.default_rng(SEED).standard_normal((size, len(share))) @ share).max(axis=1)
    normal = _upper_tail(float(np.quantile(largest, 1.0 - tests.error)))
    return own if own < 2.0 * normal else normal


def standard_errors(error: float) -> float:
    """How many of them away a drop is found in 8 of 10 tables, at a one-sided error."""
    from scipy import special

    return float(special.ndtri(POWER) - special.ndtri(error))


def _upper_tail(z: float) -> float:
    from scipy import special

    return float(special.ndtr(-z))


def _first_step(steps: Floats, chance: Floats) -> float | None:
    return float(steps[int((chance >= POWER).argmax())]) if (chance >= POWER).any() else None


def _binomial(trials: int, rate: float) -> Any:
    from scipy import special

    hits = np.arange(trials + 1.0)
    ways = special.gammaln(trials + 1.0) - special.gammaln(hits + 1.0) - special.gammaln(trials - hits + 1.0)
    return np.exp(ways + special.xlogy(hits, rate) + special.xlog1py(trials - hits, -rate))


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


def lopsided(first: Floats, second: Floats, members: Floats) -> float:
    """How many times its shuffled variance the sum of a slice may have, were only one policy's scores to spread."""
    share = first * second / np.maximum(first + second, 1.0) ** 2
    ours, theirs = (share * first) @ members, (share * second) @ members
    met = (ours > 0.0) & (theirs > 0.0)
    return float(np.maximum(ours[met] / theirs[met], theirs[met] / ours[met]).max(initial=1.0))


def _information(first: Floats, second: Floats) -> float:
    both = np.maximum(first + second, 1.0)
    return float((first * second / both).sum())
