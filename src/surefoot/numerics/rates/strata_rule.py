"""Rule X: could the average gain over tasks be d? From successes of two policies on several tasks.

The cells are tasks by policies, the second policy's successes counted as failures, so that the gain is a weighted sum
of rates less one. Every cell's rate is drawn a little towards a half; the rates that fit d best are found by one root
in a Lagrange multiplier; the variance is the larger of those at the fitted and at the seen rates, and Student's t takes
the degrees of freedom that few rollouts in a heavy cell leave. Its level is measured, not proved.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


SMALL = 5
"""From so many rollouts in the smallest cell on, cells are drawn less towards a half."""
PULLS = (0.25, 0.1)
"""So much of a success and of a failure is added to every cell: where some cell is small, and where none is."""
_STEPS = 64  # gains tried on either side of 0
_MANY_CELLS = 40  # from so many cells on, none of them small, the ends are found by a secant
_FINER = 16  # gains tried between an accepted and a refused one, at a time


def p_values(hits: ArrayLike, trials: ArrayLike, weights: ArrayLike, gains: ArrayLike, *, base: float = 1.0) -> Floats:
    """The p-value of every gain.

    Args:
        hits: Successes of the first policy and failures of the second, cells last.
        trials: Rollouts of every cell.
        weights: The weight of every cell: that of its task.
        gains: The gains, of the shape of `hits` without its cells, or to be broadcast with it.
        base: What the weighted sum of the rates is at no gain: 1 for two policies, 0 for the rate of one, 2 for the
            difference of two gains.
    """
    hits, trials, weights = (np.asarray(item, float) for item in (hits, trials, weights))
    gains = np.asarray(gains, float)
    estimate = (weights * (hits / trials)).sum(axis=-1) - base
    pull = PULLS[bool(trials.min() >= SMALL)]
    more = trials + 2.0 * pull
    drawn = (hits + pull) / more
    fitted = _fitted(drawn, weights / more, weights, base + gains)
    unit = weights**2 / trials / (1.0 - trials / more**2)
    under, seen = unit * fitted * (1.0 - fitted), np.broadcast_to(unit * drawn * (1.0 - drawn), fitted.shape)
    parts = np.where((under.sum(axis=-1) >= seen.sum(axis=-1))[..., None], under, seen)
    total = parts.sum(axis=-1)
    freedom = np.maximum(1.0, total**2 / (parts**2 / trials).sum(axis=-1))
    result: Floats = 2.0 * special.stdtr(freedom, -np.abs(estimate - gains) / np.sqrt(total))
    return result


def _fitted(drawn: Floats, pulls: Floats, weights: Floats, targets: Floats) -> Floats:
    """The rates nearest in likelihood to the drawn ones whose weighted sum is the target.

    They solve (f - p) / (p (1 - p)) = lambda k with one lambda >= 0 for all cells, where the sum is to be lowered;
    where it is to be raised all rates are turned to failures.
    """
    turned = (weights * drawn).sum(axis=-1) < targets
    drawn = np.where(turned[..., None], 1.0 - drawn, drawn)
    targets = np.where(turned, weights.sum(axis=-1) - targets, targets)
    aims = np.maximum(targets, 1e-12)
    low, high = np.zeros(aims.shape), 4.0 / aims / pulls.min()
    spot, rates = low, np.broadcast_to(drawn, (*aims.shape, drawn.shape[-1]))
    root = np.ones_like(rates)
    for _ in range(100):
        total = (weights * rates).sum(axis=-1)
        over = total - aims
        if not (np.abs(over) > 1e-13 * np.maximum(aims, 1e-3)).any():
            break
        low, high = np.where(over > 0.0, spot, low), np.where(over > 0.0, high, spot)
        # Newton on the inverse of the sum, which is nearly straight in lambda
        slope = (weights * pulls * rates * (1.0 - rates) / root).sum(axis=-1)
        step = spot + over / slope * total / aims
        spot = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        pulled = spot[..., None] * pulls
        root = np.sqrt((1.0 + pulled) ** 2 - 4.0 * pulled * drawn)
        rates = 2.0 * drawn / (1.0 + pulled + root)
    rates = np.where((targets > 1e-12)[..., None], rates, 0.0)
    result: Floats = np.where(turned[..., None], 1.0 - rates, rates)
    return result


def rate_ends(hits: Floats, trials: Floats, weights: Floats, error: float) -> tuple[float, float]:
    """Both ends of the hull of the rates of one policy with a p-value above the error; weights sum to 1."""
    estimate = float((weights * (hits / trials)).sum())
    grid = np.union1d(np.linspace(0.0, 1.0, 2 * _STEPS + 1), estimate)
    low, high, _ = _refined(grid, hits, trials, weights, error, 0.0)
    return low, high


def invert(hits: Floats, trials: Floats, weights: Floats, error: float) -> tuple[float, float, float]:
    """Both ends of the hull of the gains with a p-value above the error, and the p-value of no gain.

    The p-value is the largest at 0 and beyond it, seen from the estimate; one set of gains that holds 0 serves it and
    the ends, so that the two agree.
    """
    estimate = float((weights * (hits / trials)).sum()) - 1.0
    if abs(estimate) < 1e-14:
        estimate = 0.0
    if hits.size >= _MANY_CELLS and trials.min() >= SMALL:
        quick = _quick(hits, trials, weights, error, estimate)
        if quick is not None:
            return quick
    grid = np.union1d(np.arange(-_STEPS, _STEPS + 1) / _STEPS, estimate)
    low, high, found = _refined(grid, hits, trials, weights, error, 1.0)
    beyond = found[(grid == 0.0) | (grid * estimate < 0.0)] if estimate else np.ones(1)
    return low, high, min(1.0, float(beyond.max()))


def _refined(
    grid: Floats, hits: Floats, trials: Floats, weights: Floats, error: float, base: float
) -> tuple[float, float, Floats]:
    """Both ends of the accepted values, from a grid that holds the estimate; and the p-values on the grid."""
    found = p_values(hits, trials, weights, grid, base=base)
    kept = np.flatnonzero(found > error)  # holds the estimate, whose p-value is 1
    ends = [
        (grid[kept[0]], grid[max(0, kept[0] - 1)]),
        (grid[kept[-1]], grid[min(len(grid) - 1, kept[-1] + 1)]),
    ]
    inner, outer = (np.array(side) for side in zip(*ends, strict=True))
    steps = np.arange(1, _FINER) / _FINER
    while float(np.abs(outer - inner).max()) > 1e-11:
        tried = inner[:, None] + (outer - inner)[:, None] * steps
        accepted = p_values(hits, trials, weights, tried, base=base) > error
        last = np.where(accepted.any(axis=1), accepted.shape[1] - accepted[:, ::-1].argmax(axis=1), 0)
        edges = np.concatenate((inner[:, None], tried, outer[:, None]), axis=1)
        inner, outer = (edges[np.arange(2), last + move] for move in (0, 1))
    return float(inner[0]), float(inner[1]), found


def _quick(
    hits: Floats, trials: Floats, weights: Floats, error: float, estimate: float
) -> tuple[float, float, float] | None:
    """The same for many cells, none of them small, where the p-value falls away from the estimate on either side.

    On the scale of normal quantiles it is nearly straight there: a secant finds each end in a few steps. None where a
    coarse set of gains does not fall, or a step fails: the full set is looked at then.
    """
    aim = float(special.ndtri(error / 2.0))

    def quantiles(gains: Floats) -> Floats:
        return np.asarray(special.ndtri(np.maximum(p_values(hits, trials, weights, gains), 1e-300) / 2.0)) - aim

    coarse = np.unique(np.concatenate((np.linspace(-1.0, 1.0, 9), [estimate, 0.0])))
    found = quantiles(coarse)
    at = int(np.argmin(np.abs(coarse - estimate)))
    if (np.diff(found[: at + 1]) < 0.0).any() or (np.diff(found[at:]) > 0.0).any():
        return None
    ends = []
    for side in (-1.0, 1.0):
        beyond = coarse[found < 0.0]
        beyond = beyond[(beyond - estimate) * side > 0.0]
        if not beyond.size:
            ends.append(side)
            continue
        outer = float(beyond[np.argmin(np.abs(beyond - estimate))])
        inner, high, low = estimate, float(quantiles(np.array([estimate]))[0]), float(quantiles(np.array([outer]))[0])
        for _ in range(60):
            share = min(0.99, max(0.01, high / (high - low)))
            middle = inner + share * (outer - inner)
            value = float(quantiles(np.array([middle]))[0])
            if value > 0.0:
                inner, high, low = middle, value, 0.5 * low if high > 0.0 and value > 0.5 * high else low
            else:
                outer, low, high = middle, value, 0.5 * high if value < 0.5 * low else high
            if abs(outer - inner) <= 1e-11:
                break
        else:
            return None
        ends.append(inner)
    return ends[0], ends[1], min(1.0, float(p_values(hits, trials, weights, np.zeros(1))[0]) if estimate else 1.0)


def cells(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Hits and rollouts of all cells, from rows of successes and rollouts of either policy, one row per task."""
    ours, theirs = np.asarray(first, float), np.asarray(second, float)
    return np.concatenate((ours[:, 0], theirs[:, 1] - theirs[:, 0])), np.concatenate((ours[:, 1], theirs[:, 1]))


def binomial_bound(hits: int, trials: int, error: float) -> tuple[float, float, float]:
    """Both ends and the p-value by Hoeffding's bound, where every rollout weighs the same.

    The tails of a sum of unlike successes are bounded by those of a binomial with the same mean (Hoeffding 1956).
    """
    from surefoot.numerics.rates import binomial

    low, high = (
        float(binomial.exact_low(hits, trials, error / 2.0)),
        float(binomial.exact_high(hits, trials, error / 2.0)),
    )
    tail = float(special.bdtr(min(hits, trials - hits), trials, 0.5))
    return 2.0 * low - 1.0, 2.0 * high - 1.0, min(1.0, 2.0 * tail) if math.isfinite(tail) else 0.0
