"""A boundary that keeps its error everywhere and is nearly the best that can: dual ascent, then repair at the horizon.

The ascent raises the weight of a null point whose error is too high and lowers the others. The boundary that answers
the best weights is made monotone, then states at the horizon are taken away until no error is too high and added
while room is left; of several scalings of the weights the boundary with the lowest objective is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.numerics.designs.stopped_walks import Quits

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.numerics.designs.exact_designs import Programme

SCALES = (0.995, 1.0, 1.005, 1.01, 1.02, 1.03)
"""By how much the weights are scaled, one boundary each."""

_REPAIRS = 100
_LEAST = 1e-12
"""No weight falls below this: it could not rise again."""

Report = Callable[[float], None]
"""Told how much of the work is done, from 0 to 1."""


class NoBoundaryError(ArithmeticError):
    """No boundary was found that keeps the error."""


class Ascent(NamedTuple):
    """How weights move: by exp(step / (1 + round / ease) x relative excess), for so many rounds."""

    step: float
    ease: float
    rounds: int


def search(
    programme: Programme,
    error: float,
    ascent: Ascent,
    *,
    checks: Floats,
    weights: Floats | None = None,
    tries: int = 2,
    report: Report | None = None,
) -> Ints:
    """A monotone boundary whose error at every row of `checks` is at most `error`."""
    tell = report or _silent
    climbed = ascend(programme, error, ascent, weights, lambda part: tell(0.7 * part))
    best, lowest = None, np.inf
    for turn, (_, start) in enumerate(climbed[:tries]):
        feasible = repaired(programme, start, error, checks)
        for place, scale in enumerate(SCALES):
            limits = settle(programme, monotone(programme.respond(feasible * scale)[1]), error, checks)
            tell(0.7 + 0.3 * (turn + (place + 1) / len(SCALES)) / tries)
            if limits is not None and (objective := programme.assess(limits).objective) < lowest:
                best, lowest = limits, objective
    if best is None:
        raise NoBoundaryError("No boundary was found that keeps the error.")
    return best


def ascend(
    programme: Programme, error: float, ascent: Ascent, weights: Floats | None = None, report: Report | None = None
) -> list[tuple[float, Floats]]:
    """Weights that were tried with their dual bounds, the best bound first."""
    tell = report or _silent
    count = len(programme.nulls)
    if weights is None:
        weights = np.full(count, 2.5 * programme.walk.horizon / count)
    tried: list[tuple[float, Floats]] = []
    for turn in range(ascent.rounds):
        bound, limits = dual_bound(programme, weights, error)
        tried.append((bound, weights))
        excess = programme.nulls @ programme.assess(limits).coefficients / error - 1.0
        weights = weights * np.exp(ascent.step / (1.0 + turn / ascent.ease) * np.clip(excess, -1.0, 1.0))
        weights = np.maximum(weights, _LEAST)
        tell((turn + 1) / ascent.rounds)
    return sorted(tried, key=lambda one: -one[0])


def repaired(programme: Programme, weights: Floats, error: float, checks: Floats) -> Floats:
    """The weights, raised where the error is too high until the last look alone can mend the rest."""
    for _ in range(_REPAIRS):
        limits = monotone(programme.respond(weights)[1])
        if settle(programme, limits, error, checks) is not None:
            return weights
        excess = programme.nulls @ programme.assess(limits).coefficients / error - 1.0
        weights = weights * np.exp(np.where(excess > 0.0, 0.1 * np.clip(excess + 0.1, 0.0, 1.0), 0.0))
    return weights


def dual_bound(programme: Programme, weights: Floats, error: float) -> tuple[float, Ints]:
    """A number that no rule's objective is below, and the boundary that answers the weights."""
    value, limits = programme.respond(weights)
    return value / (2.0 if programme.walk.mirrored else 1.0) - error * float(weights.sum()), limits


def monotone(limits: Ints) -> Ints:
    """The boundary with a running maximum over rows: less evidence never decides more, so equal rates are the worst."""
    return np.maximum.accumulate(limits, axis=1)


def settle(programme: Programme, limits: Ints, error: float, checks: Floats) -> Ints | None:
    """The boundary with its last look changed, one state at a time, to just keep the error; monotone as before.

    None when the last look alone cannot keep it.
    """
    walk, n = programme.walk, programme.walk.horizon
    rows, low = walk.rows(n), int(walk.low[n])
    undecided = limits.copy()
    undecided[n] = n
    free = programme.assess(undecided)
    width = free.left.shape[1] - low
    row, columns = np.arange(rows), np.arange(width)
    fine = walk.valid(n, row[:, None], columns)
    total = np.where(fine, 2 * row[:, None] + columns, 0)
    chance = np.where(fine, free.left[:, low:], 0.0)
    price = chance * walk.mass(n, row[:, None], columns)
    inside = min(width, programme.high[n] + 2)  # outside the band there is no gain to speak of
    here = slice(low + 1, low + 1 + inside)
    gain = np.zeros_like(chance)
    gain[:, :inside] = chance[:, :inside] * programme.right[n][:, here]
    if walk.mirrored:
        gain[:, :inside] -= chance[:, :inside] * programme.wrong[n][:, here]
    last = np.minimum(limits[n, :rows] - row, width - 1)  # the highest column of each row that stays undecided
    chosen = columns > last[:, None]
    errors = checks @ (free.coefficients + np.bincount(total[chosen], price[chosen], minlength=checks.shape[1]))
    by_total = np.ascontiguousarray(checks.T)
    while errors.max() > error:
        # Take away the state that relieves the worst point most for the power it gives.
        step = np.append(np.diff(row + last) > 0, True) & (last + 1 < width)
        at = np.flatnonzero(step)
        spot = at, last[at] + 1
        relief = price[spot] * by_total[total[spot], int(errors.argmax())]
        if not relief.any():
            return None
        pick = int(np.argmax(relief / np.maximum(gain[spot], 1e-300)))
        errors = errors - price[spot][pick] * by_total[total[spot][pick]]
        last[at[pick]] += 1
    while True:
        # Add the state that gives most power for the share of the remaining room it takes.
        at = np.flatnonzero(np.append(True, np.diff(row + last) > 0) & (last > 0))
        spot = at, last[at]
        more = price[spot][:, None] * by_total[total[spot]]
        fits = (gain[spot] > 0.0) & ((errors + more).max(axis=1) <= error)
        if not fits.any():
            break
        taken = (more / np.maximum(error - errors, 1e-9)).max(axis=1)
        pick = int(np.argmax(np.where(fits, gain[spot] / np.maximum(taken, 1e-300), -1.0)))
        errors = errors + more[pick]
        last[at[pick]] -= 1
    settled = limits.copy()
    settled[n, :rows] = row + last
    return settled


def _silent(_: float) -> None:
    """Tell nobody."""


def closest(limits: Ints) -> Ints:
    """best[n, r]: the first policy can still be decided from (n, r, other) exactly when other > n - best[n, r]."""
    horizon = len(limits) - 1
    room = np.arange(horizon + 1)[:, None] - limits
    best = np.full_like(limits, -1)
    best[:-1] = np.maximum.accumulate(room[:0:-1], axis=0)[::-1]
    return best


def unreachable(limits: Ints, *, mirrored: bool) -> Quits:
    """Where no decision can be reached any more."""
    horizon = len(limits) - 1
    best, found = closest(limits), _nowhere(horizon)
    for n in range(1, horizon):
        lost = np.arange(n + 1) <= n - best[n, : n + 1, None]
        _mark(found, n, lost & lost.T if mirrored else lost)
    return found


def unlikely(limits: Ints, share: float, *, mirrored: bool, paired: bool) -> Quits:
    """Where the predictive chance of any decision is below `share`.

    The rates have uniform priors: the two success rates; or, for shared environments, the chance that a pair differs
    and the chance that the first policy has won one that does. The chance is of the walk that is not given up before.
    """
    horizon = len(limits) - 1
    found = _nowhere(horizon)
    ahead = np.zeros((horizon + 2, horizon + 2))
    for n in range(horizon, 0, -1):
        count = np.arange(n + 1)
        here = (_expected_pair if paired else _expected_streams)(ahead, n)
        decided = count > limits[n, : n + 1, None]
        here[decided] = 1.0
        if mirrored:
            here[decided.T] = 1.0
        if n < horizon:
            _mark(found, n, here < share)
        ahead = here
    return found


def _nowhere(horizon: int) -> Quits:
    shape = horizon + 1, 2 * horizon + 1
    return Quits(np.full(shape, horizon + 1, np.int16), np.full(shape, -horizon - 1, np.int16))


def _mark(quits: Quits, n: int, states: Flags) -> None:
    """Give up after n pairs in these states, one row for each count of the second policy."""
    row, other = np.nonzero(states)
    total, gap = row + other, (other - row).astype(np.int16)
    np.minimum.at(quits.low[n], total, gap)
    np.maximum.at(quits.high[n], total, gap)


def _expected_streams(ahead: Floats, n: int) -> Floats:
    """The mean of `ahead` over the next pair of two streams."""
    up = (np.arange(n + 1) + 1.0) / (n + 2.0)
    half = ahead[:, 1:] * up + ahead[:, :-1] * up[::-1]
    mean: Floats = half[1:] * up[:, None] + half[:-1] * up[::-1, None]
    return mean


def _expected_pair(ahead: Floats, n: int) -> Floats:
    """The mean of `ahead` over the next pair in a shared environment; only counts of at most n together matter."""
    second, first = np.arange(n + 1.0)[:, None], np.arange(n + 1.0)
    differ = (first + second + 1.0) / (n + 2.0)
    won = (first + 1.0) / (first + second + 2.0)
    mean: Floats = (1.0 - differ) * ahead[:-1, :-1] + differ * (won * ahead[:-1, 1:] + (1.0 - won) * ahead[1:, :-1])
    return mean


def given_up(quits: Quits, n: int | Ints, row: int | Ints, other: int | Ints) -> Flags:
    """Whether undecided states are among those in which the walk is given up."""
    total, gap = row + other, other - row
    return np.asarray((gap >= quits.low[n, total]) & (gap <= quits.high[n, total]))
