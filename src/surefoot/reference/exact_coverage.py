"""Exact coverage of intervals and bounds of a success rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check

if TYPE_CHECKING:
    from surefoot.numerics.arrays import Floats
    from surefoot.stats.all_counts import Method


MOST = 1_000_000
"""The most rollouts for which coverage is counted."""


def coverage(method: Method, *, trials: int, rate: float, confidence: float = 0.95) -> float:
    """How often does this method hold the truth at this rate? Counted over all outcomes, not simulated.

    For a method with a draw the share of draws that hold the truth is found at each count from the bound itself: the
    ends must move one way as the draw grows.

    Args:
        method: A function from a tally to an interval or a bound, such as `wilson`; your own will do.
        trials: Rollouts, up to 1,000,000.
        rate: The true success rate.
        confidence: The confidence asked of the method.

    Assumptions:
        Independent rollouts with one success rate. An end that equals the rate holds it.

    Example:
        >>> from surefoot.stats import coverage, wald, wilson
        >>> round(coverage(wilson, trials=10, rate=0.9), 4)
        0.9298
        >>> round(coverage(wald, trials=10, rate=0.9), 4)
        0.6497

    Reference:
        Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", section 2.
    """
    import numpy as np

    from surefoot.numerics.rates import binomial
    from surefoot.stats import all_counts

    trials = _check.whole(trials, "trials", least=1)
    if trials > MOST:
        raise _check.refused("trials", f"be at most {MOST:,}", trials, "Coverage is counted, not estimated.")
    rate = _check.rate(rate)
    confidence = _check.confidence(confidence)
    if not callable(method):
        raise _check.mistyped("method", "be a function such as `wilson`", method)
    first, last = binomial.likely(trials, rate)
    counts = np.arange(first, last + 1, dtype=float)
    chances = binomial.pmf(counts, trials, rate)
    if all_counts.randomised(method):
        held = _share_of_draws(method, counts, trials, rate, confidence)
    else:
        low, high = all_counts.ends(method, counts, trials, confidence)
        held = np.where((low <= rate) & (rate <= high), 1.0, 0.0)
    return min(1.0, float(np.sum(chances * held)))


def _share_of_draws(method: Method, counts: Floats, trials: int, rate: float, confidence: float) -> Floats:
    """The share of draws at each count for which the rate is held.

    Each end moves one way with the draw, so the draws on its right side form one stretch from 0 or to 1.
    """
    import numpy as np

    from surefoot.numerics import roots
    from surefoot.stats import all_counts

    def room(draws: Floats, chosen: Floats, end: int) -> Floats:
        """How far the end is on its right side of the rate; negative on the wrong side, never 0."""
        low, high = all_counts.ends(method, chosen, trials, confidence, draws)
        away = rate - low if end == 0 else high - rate
        # An end that equals the rate holds it, perhaps for a whole stretch of draws: the turn is where that ends.
        return np.where(away == 0.0, 5e-324, away)

    start, stop = np.zeros(len(counts)), np.ones(len(counts))
    for end in (0, 1):
        first, last = room(np.zeros(len(counts)), counts, end) > 0, room(np.ones(len(counts)), counts, end) > 0
        stop = np.where(~first & ~last, 0.0, stop)
        turning = np.flatnonzero(first != last)
        if len(turning):
            chosen, rising = counts[turning], last[turning]
            turn = roots.solve(lambda draws, chosen, end=end: room(draws, chosen, end), 0.0, 1.0, chosen, within=1e-14)
            start[turning] = np.where(rising, np.maximum(start[turning], turn), start[turning])
            stop[turning] = np.where(rising, stop[turning], np.minimum(stop[turning], turn))
    share: Floats = np.maximum(stop - start, 0.0)
    return share
