"""How often does an interval or a bound hold the truth, exactly?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from surefoot.stats.sweeps import Method

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

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

    from surefoot.numerics import binomial
    from surefoot.stats import sweeps

    trials = _check.whole(trials, "trials", least=1)
    if trials > MOST:
        raise ValueError(
            _check.refusal("trials", f"be at most {MOST:,}", trials, "Coverage is counted, not estimated.")
        )
    rate = _check.rate(rate)
    confidence = _check.confidence(confidence)
    if not callable(method):
        raise TypeError(_check.refusal("method", "be a function such as `wilson`", method))
    first, last = binomial.likely(trials, rate)
    counts = np.arange(first, last + 1, dtype=float)
    chances = binomial.pmf(counts, trials, rate)
    if sweeps.randomised(method):
        held = _share_of_draws(method, counts, trials, rate, confidence)
    else:
        low, high = sweeps.ends(method, counts, trials, confidence)
        held = np.where((low <= rate) & (rate <= high), 1.0, 0.0)
    return min(1.0, float(np.sum(chances * held)))


def _share_of_draws(method: Method, counts: Floats, trials: int, rate: float, confidence: float) -> Floats:
    """The share of draws at each count for which the rate is held.

    Each end moves one way with the draw, so the draws on its right side form one stretch from 0 or to 1.
    """
    import numpy as np

    from surefoot.stats import sweeps

    def passes(draws: Floats, chosen: Floats) -> tuple[Bools, Bools]:
        low, high = sweeps.ends(method, chosen, trials, confidence, draws)
        return low <= rate, high >= rate

    start, stop = np.zeros(len(counts)), np.ones(len(counts))
    at_none, at_all = passes(start, counts), passes(stop, counts)
    for end in (0, 1):
        first, last = at_none[end], at_all[end]
        never = ~first & ~last
        start, stop = np.where(never, 1.0, start), np.where(never, 0.0, stop)
        turning = np.flatnonzero(first != last)
        if not len(turning):
            continue
        before, after = np.zeros(len(turning)), np.ones(len(turning))
        for _ in range(54):  # to the last bit of the draw
            middle = (before + after) / 2.0
            same = passes(middle, counts[turning])[end] == first[turning]
            before, after = np.where(same, middle, before), np.where(same, after, middle)
        rising = last[turning]
        start[turning] = np.where(rising, np.maximum(start[turning], after), start[turning])
        stop[turning] = np.where(rising, stop[turning], np.minimum(stop[turning], before))
    share: Floats = np.maximum(stop - start, 0.0)
    return share
