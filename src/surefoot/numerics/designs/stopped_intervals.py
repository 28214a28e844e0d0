"""Confidence intervals of a gain after a stopped walk.

No single order of the endings is good at both ends of an interval, so each end has a test of its own, whose order was
fixed beforehand. The near end, next to 0 after a verdict, follows the order of the p-value: verdicts alone count. The
far ends follow a score at the gain that is tested, in five cells of gains. Every gain that is left out was proved to be
unlikely, between the points of any grid too; `tangents` gives the proof.

How likely is a set of endings at most, over a whole region of rates?

The log of P(counts) is concave in the rates: x log p + (n - x) log(1 - p) and its like. Its tangent at a point of the
region is above it everywhere, so the chance of a set is at most a sum of exponentials of affine functions of the rates.
Such a sum is convex and is largest at a corner of the region: four numbers bound a probability over a quadrilateral,
with an error of the second order in its size. Regions that are not settled are split.

Rates are given by the gain d and a nuisance s in [0, 1] that says where between its bounds the second rate lies: both
are affine in each when the other is fixed, so that a rectangle in (d, s) is a quadrilateral of rates.

Which gains on a fixed list of environments, run in random order, does an ending leave possible?

Of the list's N environments A are won by the first policy alone and B by the second: the counts after n pairs are
hypergeometric, and (A, B) takes finitely many values. Every one of them can be tried, so nothing has to be proved.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from surefoot.numerics import log_factorials
from surefoot.numerics.designs.stopped_walks import Stops, add_stops

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.designs.stopped_walks import BinaryWalk, Endings


_ROUNDING = 1.0 - 1e-9  # of the level: more than all the sums here can be off
_CELLS = 3_000_000  # terms summed at once
_SPLITS = 40  # a region split so often is a point
_STRETCH = 600.0  # exponents beyond this are as good as infinite


class Counted(NamedTuple):
    """A set of endings, ready to be summed.

    Attributes:
        weights: Log of the chance of each times the ways to its counts.
        counts: How often each outcome was seen: successes and failures of both, or wins of either alone and the rest.
        paired: Whether the counts are of pairs in shared environments.
    """

    weights: Floats
    counts: Floats
    paired: bool

    def chosen(self, which: Flags) -> Counted:
        """Some of them."""
        return Counted(self.weights[which], self.counts[which], self.paired)


def counted(endings: Endings, *, paired: bool) -> Counted:
    """All endings, ready to be summed."""
    n, first, second = endings.n, endings.first, endings.second
    if paired:
        columns = [first, second, n - first - second]
        ways = gammaln(n + 1.0)
    else:
        columns = [first, n - first, second, n - second]
        ways = 2.0 * gammaln(n + 1.0)
    counts = np.stack(columns, axis=1).astype(float)
    return Counted(np.log(endings.chance) + ways - gammaln(counts + 1.0).sum(axis=1), counts, paired)


def outcome_chances(gain: Floats, nuisance: Floats, *, paired: bool) -> Floats:
    """The chance of each outcome that is counted, one row per pair of gain and nuisance."""
    rest = (1.0 - gain) * (1.0 - nuisance)  # of the first policy to fail; of a pair to tell nothing
    second = nuisance * (1.0 - gain) / (2.0 if paired else 1.0)
    columns = [second + gain, second, rest] if paired else [second + gain, rest, second, 1.0 - second]
    return np.stack(columns, axis=-1)


def chances(of: Counted, gain: float, nuisance: Floats) -> Floats:
    """The chance of the set at one gain and several nuisances strictly between 0 and 1."""
    logs = np.log(outcome_chances(np.full_like(nuisance, gain), nuisance, paired=of.paired))
    out = np.empty(len(nuisance))
    step = max(1, _CELLS // max(1, len(of.weights)))
    for start in range(0, len(nuisance), step):
        part = slice(start, start + step)
        out[part] = np.exp(of.counts @ logs[part].T + of.weights[:, None]).sum(axis=0)
    return out


def peak(of: Counted, gain: float, near: float | None = None) -> tuple[float, float]:
    """About the largest chance of the set at one gain, and the nuisance where it is; looked for `near` one if given."""
    if near is None:
        angles = np.linspace(0.0, math.pi / 2.0, 20)
        angles[0], angles[-1] = 1e-3, math.pi / 2.0 - 1e-3
        grid, reach = np.sin(angles) ** 2, math.pi / 38.0
    else:
        reach = math.pi / 56.0
        angle = math.asin(math.sqrt(near))
        grid = np.sin(np.clip(angle + reach * np.array([-1.0, 0.0, 1.0]), 1e-4, math.pi / 2.0 - 1e-4)) ** 2
    best, at = -1.0, 0.5
    for _ in range(3):
        found = chances(of, gain, grid)
        if found.max() > best:
            best, at = float(found.max()), float(grid[found.argmax()])
        angle, reach = math.asin(math.sqrt(at)), reach / 2.0
        grid = np.sin(np.clip(angle + reach * np.array([-1.0, 1.0]), 1e-4, math.pi / 2.0 - 1e-4)) ** 2
    return best, at


def is_below(of: Counted, gains: tuple[float, float], level: float, *, rising: bool = False) -> bool:
    """Whether the chance of the set is proved to be at most `level` at all gains in this range, whatever the nuisance.

    False when a place is found where it is larger, or when it is too near the level to tell.

    Args:
        of: The set.
        gains: The range, ends included, in [0, 1].
        level: What the chance is compared with.
        rising: Whether the chance grows with the gain; it only decides where tangents are taken.
    """
    level *= _ROUNDING
    if not len(of.weights):
        return True
    edges = np.sin(np.linspace(0.0, math.pi / 2.0, 9)) ** 2
    low, high = gains
    step = max(4.0 / float(of.counts.sum(axis=1).max()), 0.01)
    cuts = [low, *(c for c in low + step * (2.0 ** np.arange(1, 12) - 1.0) if c < high - step), high]
    cells = np.array([(*gains, *nuisances) for gains in pairwise(cuts) for nuisances in pairwise(edges.tolist())])
    batch = max(1, _CELLS // (4 * len(of.weights)))
    for _ in range(_SPLITS):
        bounds = [_corners(of, cells[i : i + batch], rising=rising) for i in range(0, len(cells), batch)]
        tops = np.concatenate(bounds)
        over = tops.max(axis=1) > level
        if not over.any():
            return True
        cells, tops = cells[over], tops[over]
        middles = _middles(of, cells, rising=rising)
        if (middles > level).any():
            return False
        # Too wide where the corners at the tangent's edge are too high, or rise more from its middle than opposite.
        near, far = tops[:, :2].max(axis=1), tops[:, 2:].max(axis=1)
        wide = (near > level) | (near - middles > far - near)
        cells = np.concatenate([_halved(cells[wide], 2), _halved(cells[~wide], 0)])
    return False


def _middles(of: Counted, cells: Floats, *, rising: bool) -> Floats:
    """The chance of the set where each cell's tangent is taken."""
    at = outcome_chances(_edge(cells, rising=rising), cells[:, 2:].mean(axis=1), paired=of.paired)
    step = max(1, _CELLS // len(of.weights))
    parts = [np.log(at[i : i + step]) for i in range(0, len(at), step)]
    return np.concatenate([np.exp(of.counts @ logs.T + of.weights[:, None]).sum(axis=0) for logs in parts])


def _edge(cells: Floats, *, rising: bool) -> Floats:
    """The gain at which each cell's tangent is taken: where the chance is larger; short of 1, where some are 0."""
    edge: Floats = np.minimum(cells[:, 1 if rising else 0], 1.0 - 1e-9)
    return edge


def _halved(cells: Floats, axis: int) -> Floats:
    middle = cells[:, axis : axis + 2].mean(axis=1)
    one, other = cells.copy(), cells.copy()
    one[:, axis + 1] = other[:, axis] = middle
    return np.concatenate([one, other])


def _corners(of: Counted, cells: Floats, *, rising: bool) -> Floats:
    """The tangent bound at the corners of each cell: two at the edge where the tangent is taken, two opposite."""
    near, far = (cells[:, 1], cells[:, 0]) if rising else (cells[:, 0], cells[:, 1])
    left, right = cells[:, 2], cells[:, 3]
    base = outcome_chances(_edge(cells, rising=rising), (left + right) / 2.0, paired=of.paired)
    gains, nuisances = np.stack([near, near, far, far], axis=1), np.stack([left, right, left, right], axis=1)
    moved = outcome_chances(gains, nuisances, paired=of.paired) / base[:, None] - 1.0
    slopes = (np.log(base)[:, None] + moved).reshape(-1, base.shape[1])
    exponent = of.counts @ slopes.T + of.weights[:, None]
    with np.errstate(over="ignore"):
        np.exp(np.minimum(exponent, _STRETCH, out=exponent), out=exponent)
        bound: Floats = exponent.sum(axis=0).reshape(len(cells), 4)
    return bound


EDGES = (0.0, 0.1, 0.2, 0.3, 0.45, 1.0)
"""Gains are tested by one order from each edge to the next."""
CENTRES = {False: (0.04, 0.13, 0.23, 0.35, 0.52), True: (0.05, 0.15, 0.25, 0.375, 0.55)}
"""The gain at which the score of each cell is taken: of streams, and of pairs. Any would do; these give short
intervals."""
_SLACK = 0.0005  # from an end found to one that is proved, doubled until the proof holds
_FINE = 1e-4  # to which ends are found
_CLOSE = 2e-3  # of the level
_PEAKS = 5  # of the nuisance that are followed at most
_TIE = 1e-12


class Space(NamedTuple):
    """All endings of a walk, ready to be summed."""

    endings: Endings
    counted: Counted

    def swapped(self) -> Space:
        """The same with the policies swapped."""
        order = [1, 0, 2] if self.counted.paired else [2, 3, 0, 1]
        counted = self.counted._replace(counts=np.ascontiguousarray(self.counted.counts[:, order]))
        return Space(self.endings.swapped(), counted)


def space(endings: Endings, *, paired: bool) -> Space:
    """All endings of a walk, ready to be summed."""
    return Space(endings, counted(endings, paired=paired))


def score(endings: Endings, gain: float, *, paired: bool) -> Floats:
    """How far each ending is above `gain`, in standard errors at that gain."""
    n, first, second = endings.n, endings.first, endings.second
    if paired:
        variance = np.maximum((first + second + 0.5) / (n + 1.0), gain) - gain**2
    else:
        low = np.clip((first + second + 1.0) / (2.0 * n + 2.0) - gain / 2.0, 0.0, 1.0 - gain)
        high = low + gain
        variance = high * (1.0 - high) + low * (1.0 - low)
    found: Floats = ((first - second) / n - gain) / np.sqrt(variance / n)
    return found


def signed_root(first: Ints, second: Ints) -> Floats:
    """The signed root of the likelihood ratio of pairs that differ, against an even chance."""
    together = np.maximum(first + second, 1).astype(float)

    def term(count: Ints) -> Floats:
        return np.asarray(count * np.log(np.maximum(2.0 * count / together, 1e-300)))

    root: Floats = np.sign(first - second) * np.sqrt(np.maximum(2.0 * (term(first) + term(second)), 0.0))
    return root


def as_far(endings: Endings, place: int, *, paired: bool) -> Flags:
    """The verdicts for the first policy that are at least as far as the one at `place`: the order of the p-value.

    Independent streams: an earlier one is further, and after as many pairs the larger gain. Shared environments: the
    larger signed root is further.
    """
    if paired:
        root = signed_root(endings.first, endings.second)
        return np.asarray((endings.verdict > 0) & (root >= root[place] - _TIE))
    gap, n = endings.first - endings.second, endings.n
    further = (n < n[place]) | ((n == n[place]) & (gap >= gap[place]))
    return np.asarray((endings.verdict > 0) & further)


def rooted(endings: Endings, place: int, walk: BinaryWalk) -> float:
    """The largest chance, over equal policies, of a verdict at least as far as the one at `place`.

    For pairs in shared environments: over every number of pairs that differ among the horizon's, in random order.

    Args:
        endings: All endings, none given up for futility.
        place: A verdict for the first policy.
        walk: The walk.
    """
    chosen = np.flatnonzero(as_far(endings, place, paired=True))
    total, begin = np.zeros(1), 0
    chosen = chosen[np.argsort(endings.n[chosen], kind="stable")]
    cuts = np.searchsorted(endings.n[chosen], np.arange(1, walk.horizon + 1), side="right")
    for n, cut in enumerate(cuts.tolist(), 1):
        now, begin = chosen[begin:cut], cut
        rows = endings.second[now]
        here = Stops(n, rows, endings.first[now] - rows, endings.chance[now], endings.chance[now])
        total = add_stops(walk, total, here)
    return walk.worst(total)


def near_end(of: Space, place: int, level: float) -> float:
    """The largest gain found such that all gains in (0, it) are left out after the verdict at `place`; 0 for none.

    Args:
        of: All endings, none given up for futility: the end then holds whether or not that is obeyed.
        place: A verdict for the first policy.
        level: The error.
    """
    paired = of.counted.paired
    chosen = of.counted.chosen(as_far(of.endings, place, paired=paired))
    start, last = _FINE / 10.0, min(float(of.endings.gain[place]), 1.0 - 1e-6)  # never above the estimate
    best, at = peak(chosen, start)
    if best > level or last <= start:
        return 0.0
    found = last
    if peak(chosen, last)[0] > level:
        found = _crossing(chosen, (start, last), level, at)
    slack = _SLACK
    while found - slack > 0.0:
        end = found - slack
        # For streams the chance rises with the gain (the table is monotone: by coupling), so the last gain is enough.
        if is_below(chosen, (0.0 if paired else end, end), level, rising=True):
            return end
        slack *= 2.0
    return 0.0


def far_end(of: Space, place: int, level: float, *, certified: bool) -> float:
    """A gain of 0 or more such that all larger ones are left out after the ending at `place`.

    Args:
        of: All endings of the walk as declared.
        place: An ending that is no verdict for the second policy.
        level: The error.
        certified: Whether that is proved; otherwise the end is only found on a grid.
    """
    paired, below, end = of.counted.paired, [], 0.0
    centres = CENTRES[paired]
    for cell in reversed(range(len(centres))):
        values = score(of.endings, centres[cell], paired=paired)
        chosen = of.counted.chosen((of.endings.verdict < 0) | (values <= values[place] + _TIE))
        below.append((cell, chosen))
        start, last = max(EDGES[cell], _FINE / 10.0), min(EDGES[cell + 1], 1.0 - 1e-6)
        best, at = peak(chosen, start)
        if best > level:
            left_out = peak(chosen, last)[0] <= level
            end = _crossing(chosen, (start, last), level, at) if left_out else EDGES[cell + 1]
            break
    return _proved(below, end, level) if certified else end


def _proved(below: list[tuple[int, Counted]], end: float, level: float) -> float:
    """The least gain found, from `end` on, above which every gain is proved to be left out."""
    slack, base = _SLACK, end
    end = min(1.0, base + slack) if base else 0.0
    for cell, chosen in below:
        while end < EDGES[cell + 1]:
            if is_below(chosen, (max(EDGES[cell], end), EDGES[cell + 1]), level):
                break
            base = max(base, EDGES[cell])
            end = min(1.0, max(end, base) + slack)
            slack *= 2.0
    return end


def _crossing(of: Counted, between: tuple[float, float], level: float, near: float) -> float:
    """Where the peak crosses the level between two gains, on opposite sides of it.

    Secants on the log scale follow one peak of the nuisance; where another is higher in the end, they go on with that.
    """
    left, right = between
    gain, falling = left, True
    for _ in range(_PEAKS):
        gain, falling = _followed(of, (left, right), level, near)
        best, near = peak(of, gain)
        if best <= level * (1.0 + _CLOSE):
            break
        left, right = (gain, right) if falling else (left, gain)
    return gain


def _followed(of: Counted, between: tuple[float, float], level: float, near: float) -> tuple[float, bool]:
    """Where one peak crosses the level, and whether it falls there."""

    def height(gain: float) -> float:
        nonlocal near
        best, near = peak(of, gain, near)
        return math.log(max(best, 1e-300) / level)

    left, right = between
    at_left, at_right = height(left), height(right)
    gain, falling = left, at_left > at_right
    if (at_left > 0.0) == (at_right > 0.0):  # this peak does not cross it here: the end where it comes nearest
        return (left if falling == (at_left <= 0.0) else right), falling
    while right - left > _FINE:
        gain = left + (right - left) * min(max(at_left / (at_left - at_right), 0.05), 0.95)
        here = height(gain)
        if abs(here) < _CLOSE / 2.0:
            break
        if (here > 0.0) == (at_left > 0.0):
            left, at_left = gain, here
        else:
            right, at_right = gain, here
    return gain, falling


class Listed:
    """All endings of a walk over a list as long as its horizon."""

    def __init__(self, endings: Endings, horizon: int) -> None:
        self.endings, self.horizon = endings, horizon
        self.rest = endings.n - endings.first - endings.second
        self.ways = np.full((horizon + 1, horizon + 1), -np.inf)
        for size in range(horizon + 1):
            self.ways[size, : size + 1] = log_factorials.log_choose(size)
        self.weights = np.log(endings.chance) - self.ways[horizon, endings.n]

    def swapped(self) -> Listed:
        """The same with the policies swapped."""
        return Listed(self.endings.swapped(), self.horizon)

    def most(self, chosen: Flags, gap: int, enough: float) -> float:
        """The largest chance of the set over all lists with A - B = gap, or the first found above `enough`."""
        first, second = self.endings.first[chosen], self.endings.second[chosen]
        rest, weights, ways = self.rest[chosen], self.weights[chosen], self.ways
        best = 0.0
        order = np.arange((self.horizon - gap) // 2 + 1)
        for lost in order[np.argsort(np.abs(order - len(order) // 2), kind="stable")].tolist():
            neither = self.horizon - gap - 2 * lost
            terms = ways[gap + lost][first] + ways[lost][second] + ways[neither][rest] + weights
            best = max(best, float(np.exp(terms).sum()))
            if best > enough:
                break
        return best

    def near_end(self, place: int, level: float) -> float:
        """The least gain above 0 that the verdict at `place` leaves possible; none given up for futility."""
        chosen = as_far(self.endings, place, paired=True)
        highest = self._highest(place)
        left = self.horizon - int(self.endings.n[place])
        gaps = range(max(1, highest - 2 * left), highest + 1)
        return next((gap for gap in gaps if self.most(chosen, gap, level) > level), highest) / self.horizon

    def far_end(self, place: int, level: float) -> float:
        """The largest gain of 0 or more that the ending at `place` leaves possible, no verdict for the second."""
        gaps = range(max(0, self._highest(place)), -1, -1)
        return next((gap for gap in gaps if self._possible(place, gap, level)), 0) / self.horizon

    def _possible(self, place: int, gap: int, level: float) -> bool:
        gain = gap / self.horizon
        cell = max(i for i, edge in enumerate(EDGES[:-1]) if edge <= gain + _TIE)
        values = score(self.endings, CENTRES[True][cell], paired=True)
        chosen = (self.endings.verdict < 0) | (values <= values[place] + _TIE)
        return self.most(chosen, gap, level) > level

    def _highest(self, place: int) -> int:
        """The largest gap that the pairs not run can still make."""
        ends = self.endings
        return int(ends.first[place] - ends.second[place]) + self.horizon - int(ends.n[place])
