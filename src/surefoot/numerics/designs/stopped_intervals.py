"""Which gains does an ending leave possible, given that the walk stopped as declared?

No single order of the endings is good at both ends of an interval, so each end has a test of its own, whose order was
fixed beforehand. The near end, next to 0 after a verdict, follows the order of the p-value: verdicts alone count. The
far ends follow a score at the gain that is tested, in five cells of gains. Every gain that is left out was proved to be
unlikely, between the points of any grid too; `tangents` gives the proof.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics.designs import region_bounds
from surefoot.numerics.designs.stopped_walks import Stops, add_stops

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.designs.region_bounds import Counted
    from surefoot.numerics.designs.stopped_walks import BinaryWalk
    from surefoot.numerics.designs.stopping_states import Endings


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
    return Space(endings, region_bounds.counted(endings, paired=paired))


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
    best, at = region_bounds.peak(chosen, start)
    if best > level or last <= start:
        return 0.0
    found = last
    if region_bounds.peak(chosen, last)[0] > level:
        found = _crossing(chosen, (start, last), level, at)
    slack = _SLACK
    while found - slack > 0.0:
        end = found - slack
        # For streams the chance rises with the gain (the table is monotone: by coupling), so the last gain is enough.
        if region_bounds.is_below(chosen, (0.0 if paired else end, end), level, rising=True):
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
        best, at = region_bounds.peak(chosen, start)
        if best > level:
            left_out = region_bounds.peak(chosen, last)[0] <= level
            end = _crossing(chosen, (start, last), level, at) if left_out else EDGES[cell + 1]
            break
    return _proved(below, end, level) if certified else end


def _proved(below: list[tuple[int, Counted]], end: float, level: float) -> float:
    """The least gain found, from `end` on, above which every gain is proved to be left out."""
    slack, base = _SLACK, end
    end = min(1.0, base + slack) if base else 0.0
    for cell, chosen in below:
        while end < EDGES[cell + 1]:
            if region_bounds.is_below(chosen, (max(EDGES[cell], end), EDGES[cell + 1]), level):
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
        best, near = region_bounds.peak(of, gain)
        if best <= level * (1.0 + _CLOSE):
            break
        left, right = (gain, right) if falling else (left, gain)
    return gain


def _followed(of: Counted, between: tuple[float, float], level: float, near: float) -> tuple[float, bool]:
    """Where one peak crosses the level, and whether it falls there."""

    def height(gain: float) -> float:
        nonlocal near
        best, near = region_bounds.peak(of, gain, near)
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
