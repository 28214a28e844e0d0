"""For each second count of a design, the smallest first count that an exact test decides.

A design is (n1, n2), two independent counts, or (n,), discordant pairs. A table is decided when its p-value at the edge
and beyond, as `inversion.tail` gives it, is at most the error. The critical value of the score statistic hardly changes
from one second count to the next: it is found at a few of them, which says nearly where the decided tables begin; there
tables are tried one by one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import gain_scores, inversion, paired_rates, two_rates

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Batch = two_rates.TwoCounts | paired_rates.PairCounts

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


def decided(design: tuple[int, ...], a: float, edge: float, second: Ints, *, both: bool, rough: bool = False) -> Ints:
    """The smallest first count of each second one whose p-value at `edge` and beyond is at most `a`.

    One more than the largest possible count where there is none. With very many second counts, the first count at which
    the interpolated critical value is reached; with `rough` already for fewer, without a look beyond the edge.
    """
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

    def beyond(first: Ints, second: Ints) -> Flags:
        p, tables = _p_values(design, first, second, a, edge, both=both)
        near = np.nonzero((p > clear * a) & (p <= a))[0]
        p[near] = inversion.tail(tables, near, edge, both=both)
        return np.asarray(p <= a)

    high = _boundary(at_edge, low, high, trial, second)
    if rough or not both:  # one-sided, nothing beyond the edge has a larger p-value
        return high
    clear = next(share for draws, share in _CLEAR if min(design) <= draws)
    return _boundary(beyond, high - 1, most + 1, high, second)


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
        return gain_scores.thresholds(design[0], design[1], column, edges, levels)[:, 0]
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
    tables = _batch(design, first, second, inversion.GAMMA * a, None if both else a)
    return inversion.p_values(tables, np.arange(len(first)), np.full(len(first), edge), both=both), tables


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
        return gain_scores.statistic(first, design[0], second, design[1], edge)
    return paired_rates.statistic(first, second, design[0], edge)


def _real_count(design: tuple[int, ...], second: Floats, edge: float, level: float) -> Floats:
    """The first count, as a real number, at which the statistic has a value; it rises with the count."""
    low, high = np.zeros(len(second)), np.asarray(_most(design, second), float)
    for _ in range(30):
        middle = (low + high) / 2.0
        inside = _statistic(design, middle, second, edge) >= level
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return np.asarray(high)
