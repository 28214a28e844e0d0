"""Ends of a bounded mean's interval, found by betting against every candidate mean.

All scores are in [0, 1], in recorded order. Against a candidate m a bet of size b on "larger" multiplies the
capital by 1 + b (z - m); it must be chosen before z is seen. If m is the mean, the capital exceeds 1 / tail at
any time with probability at most `tail` (Ville), so a candidate whose capital gets there is refused. Here are
the lower ends; an upper end is the lower end of 1 - z, mirrored.

Every end rests on a capital that falls in m, so one bracketed root is the end: no grid, nothing left unseen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics import roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats, Ints


CAP = 0.95
"""Share of the capital a hedged WSR bet may risk (section 9 of the methods; WSR write c)."""

AIMED_CAP = 0.99
"""Share of the capital an aimed bet may risk."""

PRIOR_WEIGHT = 2.0
PRIOR_SPREAD = 0.6
"""Before the first score the variance is taken as 0.6 m (1 - m), weighing as much as two scores.

m (1 - m) is the largest variance a score of mean m can have; any start is valid, this one is narrow on success
rates and on concentrated scores alike.
"""
_CHEBYSHEV = np.cos(np.pi * np.arange(25) / 24)
_WEIGHTS = np.array([0.5, *([-1.0, 1.0] * 12)[:-1], 0.5])
_POLE = 0.8  # in widths of the stretch that is interpolated: rho is 5 there, and 24 steps are 16 digits
_STRETCH = 96  # scores looked at one after another
_TOGETHER = 4096  # scores looked at together against all nodes
_NONE = np.zeros(0)
_TINY = 1e-300
_TOLERANCE = 1e-13
_MOST = 0.99
"""Share of the wealth that a stake against a candidate gain may risk."""


def wsr_moments(z: ArrayLike) -> tuple[Floats, Floats]:
    """Running mean and variance of the hedged WSR rule after each score, with its pseudo-score of 1/2 and 1/4.

    Each score's distance is taken from the mean of its own time.
    """
    z = np.asarray(z, float)
    count = np.arange(1, z.size + 1)
    mean = (0.5 + np.cumsum(z)) / (count + 1.0)
    return mean, (0.25 + np.cumsum((z - mean) ** 2)) / (count + 1.0)


def wsr_bets(z: ArrayLike, tail: float, horizon: int | None = None) -> Floats:
    """The predictable bets of hedged WSR, before truncation.

    Args:
        z: Scores in [0, 1].
        tail: Error allowed on one side.
        horizon: Number of scores fixed beforehand; without it the bets suit any stopping time.
    """
    z = np.asarray(z, float)
    variance = np.concatenate(([0.25], wsr_moments(z)[1][:-1]))
    count = np.arange(1, z.size + 1)
    clock = count * np.log(count + 1.0) if horizon is None else float(horizon)
    bets: Floats = np.sqrt(2.0 * math.log(1.0 / tail) / (clock * variance))
    return bets


def log_capital(z: ArrayLike, bets: Floats, mean: float) -> Floats:
    """Logarithm of the capital after each score, betting "larger" against the candidate `mean`.

    Bets are truncated at CAP / mean, which keeps the capital positive and falling in `mean`.
    """
    z = np.asarray(z, float)
    sizes = np.minimum(bets, CAP / mean) if mean > 0.0 else bets
    return np.cumsum(np.log1p(sizes * (z - mean)))


def low_end(z: ArrayLike, bets: Floats, tail: float) -> float:
    """The largest refused candidate: below it every mean has seen its capital reach 1 / tail at some time.

    Args:
        z: Scores in [0, 1].
        bets: Predictable bets, the same for all candidates.
        tail: Error allowed on this side.
    """
    z = np.asarray(z, float)  # nothing is won against a candidate above every score
    return _root(lambda m: float(log_capital(z, bets, m).max()), math.log(1.0 / tail), 0.0, float(z.max()))


def _root(most: Callable[[float], float], goal: float, left: float, right: float) -> float:
    """The largest candidate, to rounding, against which the capital reaches the goal; `most` falls.

    False position with Illinois' correction, halving when it is slow. What is returned was itself found refused
    (or is `left`): an end never claims more than was computed.
    """
    above, below = math.nan, math.nan  # heights over the goal at both ends, once known
    side, near = 0, 1e-14
    for _ in range(200):
        if right - left <= near:
            break
        middle = 0.5 * (left + right)
        if above > 0.0 > below:
            middle = left + (right - left) * above / (above - below)
            # A step of its own size past the guess closes the far side too.
            middle = min(max(middle + (near if side > 0 else -near) * 0.5, left + 0.25 * near), right - 0.25 * near)
        height = most(middle) - goal
        if height >= 0.0:
            below = 0.5 * below if side == 1 else below
            left, above, side = middle, height, 1
        else:
            above = 0.5 * above if side == -1 else above
            right, below, side = middle, height, -1
    return left


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """What the scores so far have won, against every candidate between two others.

    The logarithm of the capital is smooth in the candidate: it is interpolated, to rounding. Scores whose bet is cut
    at CAP against some of these candidates and not against others, and scores next to a pole, are kept as they are.

    Attributes:
        nodes: Chebyshev points of the candidates.
        heights: The logarithm of the capital against them, by the scores that are interpolated.
        scores: The scores that are not.
        bets: The bets on them.
    """

    nodes: Floats
    heights: Floats
    scores: Floats
    bets: Floats

    def at(self, mean: float) -> float:
        """The logarithm of the capital against a candidate."""
        kept = float(_wins(self.scores, self.bets, mean).sum()) if self.scores.size else 0.0
        return float(self._interpolated(np.array([mean]))[0]) + kept

    def _interpolated(self, means: Floats) -> Floats:
        """By the barycentric formula."""
        apart = means[:, None] - self.nodes
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = _WEIGHTS / apart
            heights: Floats = (weights @ self.heights) / weights.sum(axis=1)
        rows, places = np.nonzero(apart == 0.0)
        heights[rows] = self.heights[places]
        return heights

    def between(self, left: float, right: float, scores: Floats, bets: Floats) -> _Past:
        """The same between two nearer candidates, with more scores."""
        nodes = (left + right) / 2.0 + (right - left) / 2.0 * _CHEBYSHEV
        heights = self._interpolated(nodes)
        scores, bets = np.concatenate((self.scores, scores)), np.concatenate((self.bets, bets))
        cut = bets * left >= CAP
        pole = np.where(cut, left, scores + 1.0 / np.minimum(bets, CAP / right) - right)  # how far it is away
        smooth = (cut == (bets * right > CAP)) & (pole >= _POLE * (right - left))
        known, sizes = scores[smooth], bets[smooth]
        for start in range(0, known.size, _TOGETHER):
            part = slice(start, start + _TOGETHER)
            heights = heights + _wins(known[part], sizes[part], nodes[:, None]).sum(axis=1)
        return _Past(nodes, heights, scores[~smooth], bets[~smooth])


def _wins(z: Floats, bets: Floats, mean: float | Floats) -> Floats:
    """What each score adds to the logarithm of the capital against `mean`."""
    wins: Floats = np.log1p(np.minimum(bets, CAP / np.maximum(mean, _TINY)) * (z - mean))
    return wins


def low_ends(z: ArrayLike, bets: Floats, tail: float) -> Floats:
    """The lower end after each score: valid at all times together, and never moving back.

    The ends at the two ends of a stretch of scores bracket all ends inside it. It is halved until it is short; what the
    scores before it have won is interpolated between the bracketing ends. n scores take of the order of n log n steps.
    """
    z, goal = np.asarray(z, float), math.log(1.0 / tail)
    ends = np.zeros(z.size)

    def highest(past: _Past, first: int, last: int, mean: float) -> float:
        return past.at(mean) + float(np.cumsum(_wins(z[first:last], bets[first:last], mean)).max())

    def fill(past: _Past, first: int, last: int, low: float, high: float) -> None:
        """The ends after scores `first` to `last`, all between `low` and `high`."""
        if last - first <= _STRETCH:
            one_by_one(past, first, last, low, high)
            return
        middle = (first + last) // 2
        end = _root(partial(highest, past, first, middle), goal, low, high)
        ends[first:middle], ends[middle:last] = low, end
        if end > low:
            fill(past.between(low, end, _NONE, _NONE), first, middle, low, end)
        if high > end:
            fill(past.between(end, high, z[first:middle], bets[first:middle]), middle, last, end, high)

    def one_by_one(past: _Past, first: int, last: int, low: float, high: float) -> None:
        """The same: the capital against the present end tells when it next moves."""
        start = first
        while start < last:
            ends[start:last] = low
            seen = max(low, _TINY)
            path = past.at(seen) + np.cumsum(_wins(z[first:last], bets[first:last], seen))[start - first :]
            moved = np.flatnonzero(path > goal if low > 0.0 else path >= goal)
            if not moved.size:
                return
            start += int(moved[0]) + 1
            low = _root(partial(highest, past, first, start), goal, low, high)
            ends[start - 1] = low

    high = low_end(z, bets, tail) if z.size else 0.0
    if high > 0.0:
        nothing = _Past(_CHEBYSHEV, np.zeros(_CHEBYSHEV.size), _NONE, _NONE)
        fill(nothing.between(0.0, high, _NONE, _NONE), 0, z.size, 0.0, high)
    return ends


def cells_for(count: int) -> int:
    """In how many cells [0, 1] is cut for `count` scores: fine against the interval, even so that 1/2 is an edge."""
    return max(256, 32 * math.ceil(math.sqrt(min(count, 200_000))))


def aimed_low(z: ArrayLike, tail: float, cells: int | None = None) -> float:
    """The lower end for a number of scores fixed beforehand, with bets aimed at being decided by the last.

    [0, 1] is cut beforehand into equal cells. In each cell the bets aim at its upper edge g: with capital X so
    far, R scores to come and variance V about g, bet sqrt(2 ln(1 / (tail X)) / (R V)). All candidates of a cell
    risk the same shares of their capital, so inside a cell the capital falls in m; the end lies in the first
    cell that is not refused as a whole. Far cells are refused early and dropped.

    Args:
        z: Scores in [0, 1], all that were planned.
        tail: Error allowed on this side.
        cells: Number of cells, a matter of sharpness and speed only.
    """
    return _aimed_ends(np.asarray(z, float), tail, cells, ("low",))[0]


def aimed_ends(z: ArrayLike, tail: float) -> tuple[float, float]:
    """Both ends, each with error `tail`, in one pass; the upper is the lower end of 1 - z, mirrored."""
    low, mirrored = _aimed_ends(np.asarray(z, float), tail, None, ("low", "high"))
    return low, 1.0 - mirrored


def aimed_shares(z: ArrayLike, edge: float, tail: float) -> Floats:
    """Which share of the capital is risked on each score by the bets aimed at the cell edge `edge`."""
    values = np.asarray(z, float).tolist()
    count, shares = len(values), []
    logs, squares, goal = 0.0, PRIOR_WEIGHT * PRIOR_SPREAD * edge * (1.0 - edge), math.log(1.0 / tail)
    for start, stop in _blocks(count):
        variance = squares / (PRIOR_WEIGHT + start)
        share = AIMED_CAP
        if variance > 0.0:
            share = min(share, edge * math.sqrt(2.0 * max(goal - logs, 0.0) / ((count - start) * variance)))
        size = share / edge
        for value in values[start:stop]:
            step = value - edge
            logs += math.log1p(size * step)
            squares += step * step
        shares += [share] * (stop - start)
    return np.array(shares)


def shared_log_capital(z: ArrayLike, shares: Floats, mean: float) -> Floats:
    """Logarithm of the capital after each score when `shares` of it are risked against the candidate `mean`."""
    return np.cumsum(np.log1p(shares * (np.asarray(z, float) / mean - 1.0)))


def _blocks(count: int) -> list[tuple[int, int]]:
    """When the bets are aimed anew: after every score at first and towards the end, less often in between.

    The times depend on the number of scores alone, so the bets stay predictable.
    """
    times, now = [0], 0
    while now < count:
        now += max(1, min(now, count - now) // 25)
        times.append(now)
    return list(pairwise(times))


def _aimed_ends(z: Floats, tail: float, cells: int | None, sides: tuple[str, ...]) -> list[float]:
    """The lower end of z, and that of 1 - z when "high" is asked for too."""
    total = cells or cells_for(z.size)
    views = [z if side == "low" else 1.0 - z for side in sides]
    # Only the cells up to the mean can matter, unless all of those are refused.
    upto = [min(total, math.ceil(float(view.mean()) * total) + 1) for view in views]
    found = _first_alive(views, [np.arange(1, last + 1) for last in upto], total, tail)
    ends = []
    for view, last, cell in zip(views, upto, found, strict=True):
        if cell is None:
            cell = _first_alive([view], [np.arange(last + 1, total + 1)], total, tail)[0] or total
        shares, goal = aimed_shares(view, cell / total, tail), math.log(1.0 / tail)
        most = partial(_largest, view, shares)
        ends.append(_root(most, goal, (cell - 1) / total, cell / total))
    return ends


def _largest(z: Floats, shares: Floats, mean: float) -> float:
    return float(shared_log_capital(z, shares, mean).max())


def _first_alive(views: list[Floats], numbers: list[Ints], total: int, tail: float) -> list[int | None]:
    """In each view, the first of its cells whose upper edge is never refused; None when all are.

    A second view is 1 minus the first. The cells of both walk through the scores together, in one array.
    """
    z, count = views[0], views[0].size
    number = np.concatenate(numbers)
    mirrored = np.repeat(np.arange(len(views)), [len(part) for part in numbers])
    edge = number / total
    sign, shift = 1.0 - 2.0 * mirrored, mirrored - edge  # sign z + shift is the score of the view, minus the edge
    most = AIMED_CAP / edge
    short = np.full(edge.size, math.log(1.0 / tail))  # how far, in logs, the capital is from 1 / tail
    squares = PRIOR_WEIGHT * PRIOR_SPREAD * edge * (1.0 - edge)
    with np.errstate(divide="ignore"):  # no variance about the edge at 1 yet: the most is bet
        for turn, (start, stop) in enumerate(_blocks(count), 1):
            size = short / squares
            size *= 2.0 * (PRIOR_WEIGHT + start) / (count - start)
            np.sqrt(size, out=size)
            np.minimum(size, most, out=size)
            if stop - start == 1:
                step = sign * z[start]
                step += shift
                size *= step
                short -= np.log1p(size, out=size)
                step *= step
                squares += step
                low = short
            else:
                steps = np.multiply.outer(z[start:stop], sign)
                steps += shift
                squares += np.einsum("ij,ij->j", steps, steps)
                steps *= size
                paths = np.log1p(steps, out=steps).cumsum(axis=0)
                low = short - paths.max(axis=0)
                short = short - paths[-1]
            if low.min() <= 0.0:
                short[low <= 0.0] = math.inf  # refused for good
            if turn % 16 == 0:
                kept = short < math.inf
                number, mirrored, short, squares = number[kept], mirrored[kept], short[kept], squares[kept]
                sign, shift, most = sign[kept], shift[kept], most[kept]
                if not number.size:
                    return [None] * len(views)
    firsts = [np.flatnonzero((mirrored == which) & (short < math.inf)) for which in range(len(views))]
    return [int(number[places[0]]) if places.size else None for places in firsts]


def total(terms: Floats) -> Floats:
    """The sum over the first axis, in order."""
    out: Floats = terms[0].copy()
    for term in terms[1:]:
        out += term
    return out


def best_stake(weights: Floats, values: Floats, most: float) -> Floats:
    """The stake x in [0, most] with the largest sum of weights * log(1 + x * values), per column of `weights`.

    `values` (in [-1, 1]) are the same for all columns: shape (K,) against weights (K, R). The sum is concave, so its
    slope has one root: Newton's steps, halving the bracket where a step would leave it. With most = 1 an outcome of -1
    of positive weight forbids the end.
    """
    rows = np.ascontiguousarray(weights.T)  # a row's sum is the same alone as among others
    mean = np.sum(rows * values, axis=1)
    square = np.sum(rows * (values * values), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        at_most = _slope(rows, values, np.full(len(rows), most))[0]
    out = np.where((mean > 0.0) & (at_most >= 0.0), most, 0.0)
    open_ = np.flatnonzero((mean > 0.0) & ~(at_most >= 0.0))
    left, right = np.zeros(len(open_)), np.full(len(open_), most)
    stake = np.minimum(mean[open_] / square[open_], most / 2.0)
    rows = rows[open_]
    for round_ in range(200):
        if not len(open_):
            break
        slope, bend = _slope(rows, values, stake)
        rising = slope > 0.0
        left, right = np.where(rising, stake, left), np.where(rising, right, stake)
        guess = stake + slope / bend
        newton = (guess > left) & (guess < right) & (round_ < 50)  # halving alone is sure to end
        guess = np.where(newton, guess, (left + right) / 2.0)
        settled = (np.abs(guess - stake) <= _TOLERANCE) | (right - left <= _TOLERANCE)
        if settled.any():
            out[open_[settled]] = guess[settled]
            going = ~settled
            open_, rows, left, right, guess = open_[going], rows[going], left[going], right[going], guess[going]
        stake = guess
    return out


def _slope(rows: Floats, values: Floats, stake: Floats) -> tuple[Floats, Floats]:
    """Slope, and minus its derivative, of the sum of weights * log(1 + stake * values)."""
    share = values / (1.0 + stake[:, None] * values)
    part = rows * share
    return np.sum(part, axis=1), np.sum(part * share, axis=1)


def chance_left(sums: Floats, squares: Floats, need: Floats, seen: int, left: int) -> Floats:
    """About how likely log-wealth still rises by `need` in the `left` pairs to come, after `seen` with these gains.

    The sum to come is taken as normal, its mean known only from the pairs seen; the best fixed stake gains `need` when
    that sum reaches sqrt(2 x need x left x variance). Doubled, so as to err on the side of going on.
    """
    from scipy.special import ndtr

    mean = sums / (seen + 2)
    variance = np.maximum((0.2 + squares) / (seen + 1) - mean * mean, 1e-4)
    short = left * mean - np.sqrt(2.0 * np.maximum(need, 0.0) * left * variance)
    chance: Floats = np.minimum(1.0, 2.0 * ndtr(short / np.sqrt(variance * left * (1.0 + left / seen))))
    return np.where(need == -np.inf, 1.0, chance)


def log_wealth(gain: float, outcomes: Floats, stakes: Floats) -> float:
    """Log of the product of 1 + min(stake, .99/(1 + gain)) * (outcome - gain): it falls in `gain` > -1."""
    return float(np.sum(np.log1p(np.minimum(stakes, _MOST / (1.0 + gain)) * (outcomes - gain))))


def excluded_below(outcomes: Floats, stakes: Floats, target: float, bracket: tuple[float, float]) -> float:
    """The largest gain found in the bracket with log-wealth at least `target`; its low end if there is none.

    Bisection to the last bit, and the answer is on the excluded side: a lower end that is never too high.
    """
    return roots.last(lambda gain: log_wealth(gain, outcomes, stakes) >= target, *bracket)
