"""Two targets of one gain, successes on units met several times: these very units, and units like these, slowly.

x_u of n_u successes of the first policy and y_u of m_u of the second in unit u; gain = mean of x_u/n_u - y_u/m_u.

* these: all cells alike and below 5: Hoeffding 1956, the count S = sum x + sum (m - y) against Bin(N, (1 + d)/2), the
  smaller tail doubled; otherwise rule X, every unit weighing 1/U in both policies.
* like, guaranteed: Gaffke's test of the mean of z_u = (gain of u + 1)/2. P(sum c_i E_i <= 0) is the chance that the
  stages with c > 0 end before those with c < 0: a walk from stage to stage, where of two exponentials with means c and
  e the first ends first with chance e/(c + e). Nothing cancels, equal coefficients are like any others.
* like, measured: units are clusters that weigh the same: CR2, its skewness, and what clusters not yet met could hide.
* one rollout a unit and policy: the largest chance, over the rate of pairs that differ, of Tango's score.

Readings: (1) rule X takes a = .1 where every cell has 5 rollouts or more and 1/4 otherwise, as section 21c has it
(section 16 has 1/4 alone, with which the reference values of five rollouts a cell or more come out larger).
(2) Units of unequal repeats weigh the same in the cluster test too (m_g = 1). (3) Its two-sided p takes the side on
which the estimate lies, and is 1 at the estimate. (4) "The largest p(d) at 0 and beyond": 0 and 100 gains from 0 to
the end away from the estimate.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize, stats

from tests.oracles.strata import rule_x

Counts = Sequence[int]
NARROW = 60


def gains(first: Counts, first_size: Counts, second: Counts, second_size: Counts) -> list[float]:
    """The gain in every unit."""
    return [x / n - y / m for x, n, y, m in zip(first, first_size, second, second_size, strict=True)]


# --- These units


def hoeffding(first: Counts, second: Counts, repeats: int, gain: float = 0.0) -> float:
    """The p-value of a gain where every cell has the same number of rollouts."""
    successes = sum(first) + sum(repeats - y for y in second)
    size, rate = 2 * repeats * len(first), (1 + gain) / 2
    tails = stats.binom.cdf(successes, size, rate), stats.binom.sf(successes - 1, size, rate)
    return min(1.0, 2 * float(min(tails)))


def these(first: Counts, first_size: Counts, second: Counts, second_size: Counts, gain: float = 0.0) -> float:
    """The p-value of a gain of these very units, by the method that the cells ask for."""
    sizes = {*first_size, *second_size}
    if len(sizes) == 1 and min(sizes) < 5:
        return hoeffding(first, second, min(sizes), gain)
    rows = list(zip(first, first_size, second, second_size, strict=True))
    weights = [1 / len(rows)] * len(rows)
    estimate = math.fsum(gains(first, first_size, second, second_size)) / len(rows)
    far = -1 if estimate > gain else 1
    return max(rule_x(rows, weights, d) for d in np.linspace(gain, far, 102)[:-1])


# --- Units like these: guaranteed


def first_of_two(means: Sequence[float], others: Sequence[float]) -> float:
    """The chance that a row of exponential stages, of these means, ends before another row does."""
    ahead = [1.0] * len(others) + [0.0]  # by the stage of the other row: the first is over, and the other is not
    for c in reversed(means):
        now = [0.0] * (len(others) + 1)
        for j in reversed(range(len(others))):
            now[j] = (others[j] * ahead[j] + c * now[j + 1]) / (c + others[j])
        ahead = now
    return ahead[0]


def at_most_zero(coefficients: Sequence[float]) -> float:
    """P(sum c_i E_i <= 0), E_i independent standard exponentials."""
    return first_of_two([c for c in coefficients if c > 0], [-c for c in coefficients if c < 0])


def gaffke(unit_gains: Sequence[float], gain: float = 0.0) -> float:
    """The two-sided p-value of a mean gain, by Gaffke's test on (gain + 1)/2."""

    def above(z: list[float], m: float) -> float:
        if max(z) <= m:
            return 1.0
        return at_most_zero([*(x - m for x in z), -m]) if m > 0 else 0.0

    z, m = [(d + 1) / 2 for d in unit_gains], (gain + 1) / 2
    return min(1.0, 2 * min(above(z, m), above([1 - x for x in z], 1 - m)))


# --- Units like these: measured


def bell_mccaffrey(sizes: Sequence[float]) -> float:
    """Degrees of freedom of CR2 for a mean, from the matrix."""
    m = np.asarray(sizes, float)
    a = (1 - m / m.sum()) ** -0.5
    p = np.outer(a, a) * (np.diag(m) - np.outer(m, m) / m.sum())
    return float(np.trace(p) ** 2 / (p * p).sum())


def counted(sizes: Sequence[float]) -> float:
    """How many clusters count."""
    n, squares = sum(sizes), sum(m * m for m in sizes)
    return sum(min(1.0, m * n / squares) for m in sizes)


def cluster_p(
    means: Sequence[float],
    sizes: Sequence[float] | None = None,
    theta: float = 0.0,
    *,
    ends: tuple[float, float] = (-1.0, 1.0),
    two_sided: bool = True,
) -> float:
    """The p-value of the mean of clusters, with hidden ones; one-sided: that the mean is at most theta."""
    m = list(sizes or [1.0] * len(means))
    n = math.fsum(m)
    mean = math.fsum(k * x for k, x in zip(m, means, strict=True)) / n
    if two_sided and mean == theta:
        return 1.0
    if two_sided and mean < theta:
        return cluster_p([-x for x in means], m, -theta, ends=(-ends[1], -ends[0]))
    low, shares = ends[0], [k / n for k in m]
    e = [w * (x - mean) / math.sqrt(1 - w) for w, x in zip(shares, means, strict=True)]
    m2, m3, m4 = (math.fsum(part**power for part in e) for power in (2, 3, 4))
    count, freedom = counted(m), bell_mccaffrey(m)
    if m2 < 1e-30:
        return _alike(mean, theta, ends, count) if two_sided else (1 - max(0.0, (mean - theta) / (mean - low))) ** count
    spread3 = math.fsum(w * (x - mean) ** 3 for w, x in zip(shares, means, strict=True))
    pooled = spread3 * math.fsum((w / math.sqrt(1 - w)) ** 3 for w in shares)
    s = max(0.0, -m3, -pooled)
    worst = s / m2
    extra = max(worst**2, m4 / m2 - 3 * m2 / freedom, 0.0)
    v = m2 + 2 * extra
    c = (s + 2 * worst**3) / v**1.5
    top = (mean - theta) / math.sqrt(v)

    def chance(x: float) -> float:
        z = x if c < 1e-9 else (math.sqrt(max(0.0, 1 + (4 * c / 3) * (x - c / 6))) - 1) / (2 * c / 3)
        at = mean - x * math.sqrt(v)
        hidden = min(1.0, max(0.0, (at - theta) / (at - low))) if at > low else 0.0
        tail = stats.t.sf(z, freedom)
        if two_sided:
            tail = min(1.0, tail + stats.t.sf((mean + at - 2 * theta) / math.sqrt(v), freedom))
        return float((1 - hidden) ** count * tail)

    found = largest(chance, min(-6.0, top), top)
    return max(found, _alike(min(ends[1], mean + 6 * math.sqrt(v)), theta, ends, count)) if two_sided else found


def _alike(mean: float, theta: float, ends: tuple[float, float], count: float) -> float:
    """Two sides, clusters that do not differ: none is hidden that was met, or only those which hide are met."""
    hidden = max(0.0, (mean - theta) / (mean - ends[0]))
    as_far = (theta - ends[0]) * (1 + 1e-12) >= hidden * (ends[1] - ends[0])
    return min(1.0, (1 - hidden) ** count + (hidden**count if as_far else 0.0))


def largest(value: Callable[[float], float], low: float, high: float) -> float:
    """The largest value on a grid of 800 points, then in ever smaller neighbourhoods of the best one."""
    grid, best = np.linspace(low, high, 801), -math.inf
    for _ in range(6):
        values = [value(x) for x in grid]
        place = int(np.argmax(values))
        best = max(best, values[place])
        grid = np.linspace(grid[max(0, place - 1)], grid[min(len(grid) - 1, place + 1)], NARROW)
    return best


# --- One rollout a unit and policy


def exact_pairs(pairs: int, first_only: int, second_only: int) -> float:
    """The p-value of no gain: the largest chance, over the rate of pairs that differ, of as large a score."""
    seen = 0.0 if first_only == second_only else abs(first_only - second_only) / math.sqrt(first_only + second_only)
    extreme = []
    for differ in range(pairs + 1):
        scores = [abs(2 * k - differ) / math.sqrt(differ) if differ else 0.0 for k in range(differ + 1)]
        ways = [math.comb(differ, k) for k in range(differ + 1)]
        extreme.append(sum(w for w, z in zip(ways, scores, strict=True) if z >= seen - 1e-12) / 2**differ)

    def chance(rate: float) -> float:
        return math.fsum(stats.binom.pmf(range(pairs + 1), pairs, rate) * extreme)

    return largest(chance, 0.0, 1.0)


# --- Ends


def interval(p: Callable[[float], float], estimate: float, *, within: float = 1e-9) -> tuple[float, float]:
    """The gains on either side of the estimate at which the p-value falls to 5%."""

    def end(far: float) -> float:
        return far if p(far) > 0.05 else float(optimize.bisect(lambda d: p(d) - 0.05, estimate, far, xtol=within))

    return end(-1 + 1e-12), end(1 - 1e-12)
