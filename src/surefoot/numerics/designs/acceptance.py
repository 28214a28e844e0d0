"""Sequential test of a failure rate: its boundary and operating characteristics.

After n rollouts with f failures the test accepts when f <= accept[n] and rejects when f >= reject[n]. The boundaries
are Wald's two parallel lines, f = slope n - a and f = slope n + b, closed at the horizon. The lines are moved in as far
as the errors allow, and the errors are those of the whole closed test, summed over its endings.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc

if TYPE_CHECKING:
    from collections.abc import Callable

    from surefoot.numerics.arrays import Floats, Ints


LONGER = 1.5
"""The horizon, in multiples of the least number of rollouts that tells the rates apart at one look. At 1.5 the mean
number is within 3% of what a horizon without end gives, at either rate, and the most is known."""
MOST = 10_000
"""No horizon is longer than this."""
_HAIR = 1.0 - 1e-9  # rounding of a sum never carries an error above its limit
_STEPS = 14  # halvings that place a line
_FAR = 4.0  # lines begin so many of Wald's distances out, where the errors of the end leave room for it
_EDGE = 1e-12  # a line through a whole number counts as that number


class Boundaries(NamedTuple):
    """Accepts after n rollouts when failures <= accept[n] (-1 for never), rejects when failures >= reject[n]."""

    accept: Ints
    reject: Ints


class Endings(NamedTuple):
    """Where the test can end, from the worst ending to the best, with their chances at one rate.

    The order is by stage: an earlier rejection is worse, an earlier acceptance better, and at the horizon more failures
    are worse. Every upper part of it grows more likely with the rate, whatever the boundaries: more successes never
    lead to a worse ending.
    """

    rollouts: Ints
    failures: Ints
    verdict: Ints
    chance: Floats
    rate: float

    def at(self, rate: float) -> Floats:
        """The chances at another rate."""
        successes = self.rollouts - self.failures
        with np.errstate(divide="ignore"):
            up, down = np.log(rate / self.rate), np.log((1.0 - rate) / (1.0 - self.rate))
        ratio = np.where(successes > 0, successes * up if rate > 0.0 else -np.inf, 0.0)
        ratio = ratio + np.where(self.failures > 0, self.failures * down if rate < 1.0 else -np.inf, 0.0)
        return np.asarray(np.exp(np.log(self.chance) + ratio))

    def place(self, rollouts: int, failures: int) -> int:
        """Which of them this is."""
        return int(np.flatnonzero((self.rollouts == rollouts) & (self.failures == failures))[0])


@lru_cache(maxsize=256)
def boundaries(good: float, bad: float, error: float, most: int | None = None) -> Boundaries:
    """The boundaries that tell a rate of `good` from one of `bad`, both errors at most `error`.

    Args:
        good: The rate to accept.
        bad: The rate to reject, below it.
        error: The largest chance to accept `bad`, and to reject `good`.
        most: The most rollouts. Fewer than the test asks for leave some counts at the end undecided.

    Raises:
        OverflowError: Above `MOST` rollouts would be needed.
    """
    horizon, last = closed(good, bad, error)
    accepted, rejected = last, last + 1
    if most is not None and most < horizon:
        horizon = most
        accepted, rejected = _last_counts(good, bad, error, horizon)
    win, loss = math.log(good / bad), math.log((1.0 - bad) / (1.0 - good))
    slope = win / (win + loss)

    def lines(below: float, above: float) -> Boundaries:
        n = np.arange(horizon + 1)
        accept = np.floor(slope * n - below + _EDGE).astype(np.int64)
        reject = np.ceil(slope * n + above - _EDGE).astype(np.int64)
        # What the rollouts left cannot change is decided at once.
        accept = np.maximum(np.maximum(accept, accepted - (horizon - n)), -1)
        reject = np.minimum(np.maximum(reject, accept + 1), rejected)
        accept, reject = np.minimum(accept, accepted), np.maximum(reject, 1)
        accept[horizon], reject[horizon] = accepted, rejected
        return Boundaries(accept, reject)

    def accepts_bad(below: float) -> float:
        return ending_chances(lines(below, above), bad)[0]

    def rejects_good(above: float) -> float:
        return ending_chances(lines(below, above), good)[1]

    below = above = float(horizon)  # both lines out of reach
    far = min(_FAR * -math.log(error) / (win + loss), float(horizon))
    while True:
        before = lines(below, above)
        # Each line has its own error, and moving either in can only lower the other's: they never compete.
        below = _innermost(accepts_bad, below, far, error)
        above = _innermost(rejects_good, above, far, error)
        after = lines(below, above)
        if all(np.array_equal(one, other) for one, other in zip(before, after, strict=True)):
            return after


def _innermost(chance: Callable[[float], float], outer: float, far: float, error: float) -> float:
    """The least distance of a line, found by halving, at which its error is kept; `outer` keeps it."""
    inner, limit = 0.0, error * _HAIR
    if outer > far:
        inner, outer = (inner, far) if chance(far) <= limit else (far, outer)
    for _ in range(_STEPS):
        middle = (inner + outer) / 2.0
        inner, outer = (inner, middle) if chance(middle) <= limit else (middle, outer)
    return outer


def closed(good: float, bad: float, error: float) -> tuple[int, int]:
    """The horizon, and the most failures that are accepted there."""
    horizon = math.ceil(LONGER * fixed(good, bad, error))
    while True:
        if horizon > MOST:
            raise OverflowError
        accepted, rejected = _last_counts(good, bad, error, horizon)
        if rejected == accepted + 1:
            return horizon, accepted
        horizon += 1


def fixed(good: float, bad: float, error: float) -> int:
    """The least number of rollouts that tells the rates apart at one look, both errors kept.

    Raises:
        OverflowError: Above `MOST` rollouts would be needed.
    """
    failures = 0
    while True:
        # With so many failures allowed, `bad` is kept out from some number of rollouts on.
        rollouts = _least(lambda n: bdtr(failures, n, 1.0 - bad) <= error * _HAIR, failures + 1)  # noqa: B023
        if bdtrc(failures, rollouts, 1.0 - good) <= error * _HAIR:
            return rollouts
        failures += 1


def _least(holds: Callable[[int], bool], start: int) -> int:
    """The least whole number from `start` on for which it holds, given that it then holds for all larger ones."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
        if low > MOST:
            raise OverflowError
    return bisect_left(range(high), True, low + 1, key=holds)


def _last_counts(good: float, bad: float, error: float, rollouts: int) -> tuple[int, int]:
    """The most failures accepted and the least rejected at one look; next to one another where that can be."""
    counts = np.arange(-1, rollouts + 1)
    below = np.where(counts < 0, 0.0, bdtr(np.maximum(counts, 0), rollouts, 1.0 - bad))
    most = int(counts[np.flatnonzero(below <= error * _HAIR)[-1]])
    above = np.where(counts < 0, 1.0, bdtrc(np.maximum(counts, 0), rollouts, 1.0 - good))
    least = int(counts[np.flatnonzero(above <= error * _HAIR)[0]]) + 1
    if least > most + 1:
        return most, least
    # All from least - 1 to most would do: take the one nearest to the middle line, which shares what is left.
    win, loss = math.log(good / bad), math.log((1.0 - bad) / (1.0 - good))
    middle = min(max(round(win / (win + loss) * rollouts - 0.5), least - 1), most)
    return middle, middle + 1


def endings(limits: Boundaries, rate: float) -> Endings:
    """Where the test can end, and the chance of each ending at this rate."""
    accept, reject = limits.accept.tolist(), limits.reject.tolist()
    horizon = len(accept) - 1
    chance = np.zeros(reject[-1] + 2)
    chance[0] = 1.0
    rejections: list[tuple[int, int, int, float]] = []
    acceptances: list[tuple[int, int, int, float]] = []
    for n in range(1, horizon):
        chance = _one_more(chance, rate)
        # The boundaries rise by at most one a rollout, so each is met exactly and never jumped over.
        if accept[n] >= 0 and chance[accept[n]] > 0.0:
            acceptances.append((n, accept[n], 1, float(chance[accept[n]])))
            chance[accept[n]] = 0.0
        if chance[reject[n]] > 0.0:
            rejections.append((n, reject[n], -1, float(chance[reject[n]])))
            chance[reject[n]] = 0.0
    chance = _one_more(chance, rate)
    at_end = [
        (horizon, f, 1 if f <= accept[horizon] else -1 if f >= reject[horizon] else 0, float(chance[f]))
        for f in reversed(range(len(chance)))
        if chance[f] > 0.0
    ]
    rollouts, failures, verdict, found = zip(*rejections, *at_end, *reversed(acceptances), strict=True)
    return Endings(np.array(rollouts), np.array(failures), np.array(verdict), np.array(found), rate)


def ending_chances(limits: Boundaries, rate: float) -> tuple[float, float, float]:
    """The chance to accept and to reject at this rate, and the mean number of rollouts."""
    found = endings(limits, rate)
    accepted, rejected = (float(found.chance[found.verdict == verdict].sum()) for verdict in (1, -1))
    return accepted, rejected, float(found.chance @ found.rollouts)


def _one_more(chance: Floats, rate: float) -> Floats:
    after: Floats = chance * rate
    after[1:] += chance[:-1] * (1.0 - rate)
    return after


def ends(found: Endings, place: int, level: float) -> tuple[float, float]:
    """The lowest and the highest rate left by an ending: others make it, or one beyond it, unlikely."""

    def at_least(rate: float) -> bool:
        return float(found.at(rate)[place:].sum()) > level

    def at_most(rate: float) -> bool:
        return float(found.at(rate)[: place + 1].sum()) > level

    low = 0.0 if at_least(0.0) else _crossing(at_least)[0]
    high = 1.0 if at_most(1.0) else _crossing(lambda rate: not at_most(rate))[1]
    return low, high


def _crossing(above: Callable[[float], bool]) -> tuple[float, float]:
    """A rate on each side of where it turns true."""
    low, high = 0.0, 1.0
    for _ in range(44):
        middle = (low + high) / 2.0
        low, high = (low, middle) if above(middle) else (middle, high)
    return low, high
