"""When is a walk given up: because no decision can be reached any more, or because hardly one still will be?

For a given total of both counts, the gaps between them from which no decision can be reached are an interval, as the
limits of a walk are monotone. Those from which one is unlikely are taken as an interval too: whatever lies between the
least and the largest of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.numerics.designs.stopped_walks import Quits

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Flags, Floats, Ints


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
