"""The best of many: its exact p-value, the mean excess of the highest proportion, and sequential halving.

Halving plays many studies side by side, one per row. Scores are in [0, 1].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from surefoot.numerics.rates import binomial

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats, Ints


CELLS = 128
"""Cells that the common proportion is first cut into."""
RELATIVE, ABSOLUTE = 0.01, 2e-4
"""By how much the certified value may exceed the largest one met."""
MOST_HALVINGS = 40
MOST_STORED = 10_000_000
"""Numbers kept in tables of binomial tails."""
NODES = 32
"""Gauss nodes for ties: exact up to 64 proportions."""
NEGLIGIBLE = 1e-17
ZERO = 1e-300
"""Stands for a factor of zero where logarithms of factors are summed."""


def pooled_z(x: Floats, n: Floats | float, y: Floats, m: Floats | float) -> Floats:
    """Pooled two-sample z of x/n - y/m; 0 where all or none are successes."""
    pooled = (x + y) / (n + m)
    spread = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    flat = spread <= 0.0
    return np.where(flat, 0.0, (x / n - y / m) / np.where(flat, 1.0, spread))


class HighestOfMany:
    """The test of "proportion j is a highest one" for every j of one list of counts.

    The statistic is the largest pooled z of another proportion against j. Its null chance is largest where all
    proportions are equal, so one number is left to maximise over; that maximum is certified cell by cell: with j's
    proportion at the low end of a cell and the others at the high end, the chance is at least that anywhere within.
    """

    def __init__(self, successes: Sequence[int], trials: Sequence[int]) -> None:
        self.successes, self.trials = np.array(successes, float), np.array(trials, float)
        self._known: dict[tuple[int, int], float] = {}
        self._tables: dict[tuple[int, int], Floats] = {}
        self._stored = 0

    def p_value(self, j: int) -> float:
        """An upper value of the p-value: at most 1% or 2e-4 above it, whichever is more."""
        others = np.arange(len(self.trials)) != j
        z = pooled_z(self.successes[others], self.trials[others], self.successes[j], self.trials[j])
        statistic = float(np.max(z))
        if statistic <= 0.0:
            return 1.0
        key = int(self.successes[j]), int(self.trials[j])
        if key not in self._known:
            self._known[key] = self._certified(j, statistic)
        return self._known[key]

    def _certified(self, j: int, statistic: float) -> float:
        sizes = Counter(int(n) for i, n in enumerate(self.trials) if i != j)
        own = int(self.trials[j])
        bars = {size: _least(size, own, statistic) for size in sizes}

        def chance(others: Ints, p: Ints, depth: int) -> Floats:
            logs = sum(count * self._logs(size, others, depth)[:, bars[size]] for size, count in sizes.items())
            weights = _chances(own, p / (CELLS << depth))
            met: Floats = np.clip(np.sum(weights * -np.expm1(logs), axis=1), 0.0, 1.0)
            return met

        cells = np.arange(CELLS)
        best = float(np.max(chance(np.arange(CELLS + 1), np.arange(CELLS + 1), 0)))
        settled = 0.0  # the largest bound among cells that need no halving
        for depth in range(MOST_HALVINGS):
            above = np.concatenate([chance(part + 1, part, depth) for part in _blocks(cells, own)])
            split = above > best + max(RELATIVE * best, ABSOLUTE)
            settled = max(settled, float(np.max(above[~split], initial=0.0)))
            if not split.any():
                return min(1.0, max(settled, best))
            middle = 2 * cells[split] + 1
            best = max(best, *(float(np.max(chance(part, part, depth + 1))) for part in _blocks(middle, own)))
            cells = np.concatenate([middle - 1, middle])
        return min(1.0, max(settled, float(np.max(above))))

    def _logs(self, size: int, points: Ints, depth: int) -> Floats:
        """Log of P(X < c) for every c from 0 to size + 1, at points of the grid of a depth; small tables are kept."""
        key, grid = (size, depth), (CELLS << depth) + 1
        if key not in self._tables:
            if self._stored + grid * (size + 2) > MOST_STORED:
                return _log_below(size, points / (grid - 1))
            self._stored += grid * (size + 2)
            self._tables[key] = _log_below(size, np.arange(grid) / (grid - 1))
        return self._tables[key][points]


def _blocks(points: Ints, own: int) -> list[Ints]:
    """The points in parts whose arrays stay small."""
    return np.array_split(points, 1 + len(points) * (own + 1) // 500_000)


def _chances(size: int, p: Floats) -> Floats:
    """P(X = x) for every x from 0 to size and every p; accurate to rounding for sizes up to some thousand."""
    x = np.arange(size + 1.0)
    ways = special.gammaln(size + 1.0) - special.gammaln(x + 1.0) - special.gammaln(size - x + 1.0)
    chances: Floats = np.exp(ways + special.xlogy(x, p[:, None]) + special.xlog1py(size - x, -p[:, None]))
    return chances


def _log_below(size: int, p: Floats) -> Floats:
    """Log of P(X < c) for every c from 0 to size + 1 and every p."""
    logs = np.full((len(p), size + 2), np.log(ZERO))
    total = np.cumsum(_chances(size, p), axis=1)
    logs[:, 1:] = np.log(np.clip(total, ZERO, 1.0))
    logs[:, -1] = 0.0
    return logs


def _least(size: int, own: int, statistic: float) -> Ints:
    """For every own count y the least other count whose z reaches the statistic; size + 1 where none does.

    Made non-decreasing in y, as z is: were it not, the larger event keeps the certificate true.
    """
    x, y = np.arange(size + 1.0)[:, None], np.arange(own + 1.0)[None, :]
    reached = pooled_z(x, float(size), y, float(own)) >= statistic - 1e-9
    least = np.where(reached.any(axis=0), reached.argmax(axis=0), size + 1)
    return np.minimum.accumulate(least[::-1])[::-1]


def mean_excess(rates: Sequence[float], trials: Sequence[int]) -> float:
    """Mean of (shown - true) proportion of whichever is highest, ties shared evenly, at these true proportions."""
    groups = Counter(zip(map(float, rates), map(int, trials), strict=True))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0
    total = 0.0
    for size in sorted({n for _, n in groups}):
        counts = _likely([rate for rate, n in groups if n == size], size)
        logs = {group: _log_share(group, counts, size, nodes) for group in groups}
        everyone = sum(count * logs[group] for group, count in groups.items())
        for (rate, n), count in groups.items():
            if n == size:
                wins = np.exp(everyone - logs[rate, n]) @ weights
                total += count * float(np.sum(binomial.pmf(counts, size, rate) * (counts / size - rate) * wins))
    return total


def _likely(rates: Sequence[float], size: int) -> Floats:
    """Counts that have a chance worth summing at one of the rates."""
    counts = np.arange(size + 1.0)
    if size > 1000:
        ends = [binomial.likely(size, rate) for rate in rates]
        counts = np.unique(np.concatenate([np.arange(low, high + 1.0) for low, high in ends]))
    worth = np.any([binomial.pmf(counts, size, rate) > NEGLIGIBLE for rate in rates], axis=0)
    return counts[worth]


def _log_share(group: tuple[float, int], counts: Floats, size: int, nodes: Floats) -> Floats:
    """Log of P(below) + u P(equal) for a proportion of this group against counts / size, for every count and node."""
    rate, n = group
    met, rest = np.divmod(counts * n, size)
    least = np.where(rest == 0, met, met + 1.0)  # the least count that is not below
    below = binomial.at_most(least - 1.0, n, rate)
    equal = np.where(rest == 0, binomial.pmf(met, n, rate), 0.0)
    return np.log(np.maximum(below[:, None] + nodes * equal[:, None], ZERO))


class Stage(NamedTuple):
    """So many policies run so often each."""

    policies: int
    rollouts: int


def stages(policies: int, budget: int, share: float) -> tuple[Stage, ...]:
    """The stages of so many policies: all, the higher half, and so on down to two, each of an equal share."""
    sizes = [policies]
    while sizes[-1] > 2:
        sizes.append(-(-sizes[-1] // 2))
    return tuple(Stage(size, int(share * budget / (len(sizes) * size) + 1e-9)) for size in sizes)


class Halved(NamedTuple):
    """How each of many studies ended.

    Attributes:
        counts: Rollouts of each policy, a row per study.
        pick: The policy picked.
        fresh: The sum of its fresh scores.
        rollouts: How many fresh rollouts it ran.
    """

    counts: Ints
    pick: Ints
    fresh: Floats
    rollouts: int


def halved(plan: tuple[Stage, ...], budget: int, order: Ints, draw: Callable[[Ints, Ints, Ints], Floats]) -> Halved:
    """Studies run to their ends.

    Args:
        plan: The stages.
        budget: All rollouts.
        order: The place of each policy among ties, a row per study.
        draw: The sum of each policy's next scores, from the studies, how often each runs and how often it has run.
    """
    studies, size = order.shape
    rows, running = np.arange(studies), np.ones((studies, size), bool)
    counts, sums = np.zeros((studies, size), np.int64), np.zeros((studies, size))
    for place, stage in enumerate(plan):
        turns = running * np.int64(stage.rollouts)
        sums += draw(rows, turns, counts)
        counts += turns
        kept = plan[place + 1].policies if place + 1 < len(plan) else 1
        running = kept_of(running, sums / np.maximum(counts, 1), order, kept)
    left = budget - sum(stage.policies * stage.rollouts for stage in plan)
    turns = running * np.int64(left)
    fresh = draw(rows, turns, counts)
    pick = running.argmax(axis=1)
    return Halved(counts + turns, pick, fresh[rows, pick], left)


def kept_of(running: Ints, means: Floats, order: Ints, count: int) -> Ints:
    """Which of the running ones have the highest means; of ties those first in the order."""
    height = np.where(running, means, -np.inf)
    first = np.lexsort((order, -height), axis=1)[:, :count]
    kept = np.zeros_like(running)
    np.put_along_axis(kept, first, True, axis=1)
    return kept
