"""Exact unconditional one-sided bounds and tests for the difference of two success rates, or of pairs.

`exact_gain` answers the two-sided question and lets its error fall on either side. A question that has one side, a
gate, a claim or one of the two sides that a family charges apart, is answered here: each end by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from surefoot import _check
from surefoot.core.gain import Gain, decide
from surefoot.core.interval import Bound, Interval
from surefoot.core.tally import PairTally, Tally
from surefoot.stats.multiplicity import Sides
from surefoot.stats.rate_gains import ComparedTallies, batch, exact_gain, exact_paired_gain, is_even, oriented

Compared = PairTally | tuple[Tally, Tally]


def central_gain(first: Tally, second: Tally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """Exact unconditional interval for the difference of two proportions of any sizes, each end a bound by itself.

    Tables are ordered by the score limit at the error of one end. The one-sided p-value of "the gain is at most d" is
    gamma plus the largest chance, over all rates with that gain within their own Clopper-Pearson limits with confidence
    1 - gamma, of a table at least as high in that order; gamma is a 100,000th of the error of that end. It never falls
    in d: the lower end is where it passes half of the error. The upper end is the same with the policies swapped. The
    p-value is twice the smaller one-sided one; far from the error that orders the tables `exact_gain` has a smaller
    one.

    Args:
        first: The policy the verdict is about.
        second: The policy it is compared with.
        confidence: One minus the error of both ends together.
        margin: The gain that would not matter.

    Assumptions:
        All rollouts are independent, each policy has one success rate, and the numbers of rollouts were fixed
        beforehand.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.reference import central_gain
        >>> print(central_gain(Tally(17, 20), Tally(14, 20)))
        +15.0 points [-13.4, +41.5] n=40 (95% central exact unconditional interval), p = 0.354: cannot tell.

    Reference:
        Buehler (1957), "Confidence intervals for the product of two binomial parameters"; Berger and Boos (1994), "P
        values maximized over a confidence set for the nuisance parameter".
    """
    return _gain(OneSided.separate(first, second), confidence, margin)


def central_paired_gain(pairs: PairTally, *, confidence: float = 0.95, margin: float = 0.0) -> Gain:
    """Exact unconditional interval for the difference of two proportions on pairs, with each end a bound by itself.

    The construction of `central_gain` with Tango's statistic, for any number of pairs.

    Args:
        pairs: Pairs by which policy succeeded.
        confidence: One minus the error of both ends together.
        margin: The gain that would not matter.

    Assumptions:
        The pairs are independent of one another and their number was fixed beforehand; the two rollouts of a pair
        may depend on each other.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.reference import central_paired_gain
        >>> print(central_paired_gain(PairTally(both=20, first_only=12, second_only=2, neither=16)).interval)
        +20.0 points [+5.8, +35.0] n=50 (95% central exact unconditional paired interval).

    Reference:
        Buehler (1957); Berger and Boos (1994); Tango (1998), "Equivalence test and confidence interval for the
        difference in proportions for the paired-sample design".
    """
    return _gain(OneSided.paired(pairs), confidence, margin)


def gain_bounds(first: Tally, second: Tally, *, confidence: float = 0.95) -> tuple[Bound, Bound]:
    """By how much is the first policy better at least, and at most? Two exact one-sided bounds, each at the confidence.

    For the two one-sided questions of a gate, of which only one is asked at a time: together the two hold with less
    confidence, one minus twice the error.

    Args:
        first: The policy the bounds are about.
        second: The policy it is compared with.
        confidence: The confidence of each bound.

    Assumptions:
        Those of `central_gain`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import gain_bounds
        >>> for bound in gain_bounds(Tally(17, 20), Tally(14, 20)):
        ...     print(bound)
        at least -8.5 points n=40 (95% exact unconditional bound).
        at most +37.4 points n=40 (95% exact unconditional bound).

    Reference:
        Buehler (1957); Berger and Boos (1994).
    """
    return _bounds(OneSided.separate(first, second), confidence)


def paired_gain_bounds(pairs: PairTally, *, confidence: float = 0.95) -> tuple[Bound, Bound]:
    """By how much is the first policy better on the same conditions, at least and at most? Two exact one-sided bounds.

    Args:
        pairs: Pairs by which policy succeeded.
        confidence: The confidence of each bound.

    Assumptions:
        Those of `central_paired_gain`.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import paired_gain_bounds
        >>> lower, upper = paired_gain_bounds(PairTally(both=20, first_only=12, second_only=2, neither=16))
        >>> print(lower)
        at least +7.8 points n=50 (95% exact unconditional paired bound).

    Reference:
        Buehler (1957); Berger and Boos (1994).
    """
    return _bounds(OneSided.paired(pairs), confidence)


def one_sided_bounds(using: Callable[..., Any], /, *data: object, confidence: float = 0.95) -> tuple[Bound, Bound]:
    """The lower and the upper bound of a gain, each at the confidence, by any method of one comparison.

    A method whose interval is by construction the meeting of two one-sided bounds gives both, at a confidence of one
    minus twice the error: so do the score limits, the t intervals (stratified, Welch) and the intervals of
    means. The two exact gains and those of clusters do not, and their central counterparts are asked instead.

    Args:
        using: The method: `(*data, confidence=...)` gives a `Gain` or an `Interval`.
        data: What it takes.
        confidence: The confidence of each bound, above 0.5.

    Assumptions:
        What the method assumes, and that it puts half of its error on each side.

    Example:
        >>> from surefoot import Scores
        >>> from surefoot.reference import one_sided_bounds, welch
        >>> lower, _ = one_sided_bounds(welch, Scores([0.9, 0.8, 0.7, 1.0]), Scores([0.4, 0.6, 0.5, 0.5]))
        >>> print(f"{lower.value:.2f} {lower.confidence}")
        0.20 0.95

    Reference:
        Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power approach".
    """
    confidence = _each(confidence)
    # not a difference: 1 - 2 (1 - 0.95) is 0.8999999999999999
    found = central_form(using)(*data, confidence=round(2.0 * confidence - 1.0, 15))
    interval = found.interval if isinstance(found, Gain) else _check.instance(found, "using", Interval)
    return bounds_of(interval, confidence)


def central_gains(
    compared: Sequence[Compared], *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[tuple[Gain, Sides], ...]:
    """Central exact intervals of many comparisons, each at this confidence, with their one-sided p-values.

    What `central_gain`, `central_paired_gain` and `gain_sides` give, one by one; comparisons of the same sizes are
    computed together.

    Args:
        compared: Pairs, or two tallies, of every comparison.
        confidence: One minus the error of each interval by itself; for a family, its share.
        margin: The gain that would not matter.

    Assumptions:
        Those of `central_gain` and `central_paired_gain`.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.reference import central_gains
        >>> ((gain, sides),) = central_gains([PairTally(both=20, first_only=12, second_only=2, neither=16)])
        >>> print(gain.verdict, round(sides.better, 4))
        better 0.0059

    Reference:
        Buehler (1957); Berger and Boos (1994).
    """
    error, margin = (1.0 - _check.confidence(confidence)) / 2.0, _check.margin(margin, 1.0)
    asks = [asked(*one) if isinstance(one, tuple) else asked(one) for one in compared]
    known = _many_one_sided([one.table for one in asks], error, error)
    found = []
    for one in asks:
        low, high, better, worse = known[one.table]
        plain = Sides(better, worse, better, worse)
        gain = gain_of(one, low, high, plain, confidence, margin)
        found.append((gain, one.sides(margin, error) if margin else plain))
    return tuple(found)


def gain_sides(first: Tally, second: Tally, *, confidence: float = 0.95, margin: float = 0.0) -> Sides:
    """How surprising is this table under every one-sided hypothesis? The p-values that agree with `central_gain`.

    Each is at most half of the error exactly where the end of that interval has passed the edge.

    Args:
        first: The policy the statements are about.
        second: The policy it is compared with.
        confidence: That of the interval: its half error orders the tables, and must not come from the data.
        margin: The gain that would not matter.

    Assumptions:
        Those of `central_gain`.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats.one_sided_gains import gain_sides
        >>> found = gain_sides(Tally(17, 20), Tally(14, 20), margin=0.2)
        >>> print(f"{found.not_worse:.4f} {found.better:.2f}")
        0.0084 1.00

    Reference:
        Buehler (1957); Berger and Boos (1994).
    """
    return _sides(OneSided.separate(first, second), confidence, margin)


def paired_gain_sides(pairs: PairTally, *, confidence: float = 0.95, margin: float = 0.0) -> Sides:
    """How surprising are these pairs under every one-sided hypothesis? As `gain_sides`, for `central_paired_gain`.

    Args:
        pairs: Pairs by which policy succeeded.
        confidence: That of the interval: its half error orders the tables, and must not come from the data.
        margin: The gain that would not matter.

    Assumptions:
        Those of `central_paired_gain`.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats.one_sided_gains import paired_gain_sides
        >>> found = paired_gain_sides(PairTally(both=20, first_only=12, second_only=2, neither=16))
        >>> print(f"{found.better:.5f}")
        0.00592

    Reference:
        Buehler (1957); Berger and Boos (1994).
    """
    return _sides(OneSided.paired(pairs), confidence, margin)


CENTRAL: dict[Callable[..., Any], Callable[..., Any]] = {
    exact_gain: central_gain,
    exact_paired_gain: central_paired_gain,
}
"""Methods that may put more than half of their error on one side, and what does not."""


def central_form(using: Callable[..., Any]) -> Callable[..., Any]:
    """The same method with half of its error on each side, where it may put more on one of them."""
    from surefoot.stats.cluster_gains import cluster_gain, two_sample_cluster_gain

    function = using.func if isinstance(using, partial) else using
    if function in (cluster_gain, two_sample_cluster_gain):
        return partial(using, central=True)
    return CENTRAL.get(using, using)


class OneSided(ComparedTallies):
    """One comparison of successes, asked one side at a time."""

    __slots__ = ()

    def ends(self, error: float, ordering: float) -> tuple[float, float]:
        """The lower and the upper bound, each with this error, from tables ordered at another."""
        return _one_sided(self.table, error, ordering)[:2]

    def sides(self, margin: float, ordering: float) -> Sides:
        """The one-sided p-values."""
        if not margin:
            _, _, better, worse = _one_sided(self.table, ordering, ordering)
            return Sides(better, worse, better, worse)
        (better, worse), (not_worse, not_better) = (_tails(self.table, edge, ordering) for edge in (margin, -margin))
        return Sides(better, worse, not_worse, not_better)


@lru_cache(maxsize=8192)
def _one_sided(table: tuple[int, ...], error: float, ordering: float) -> tuple[float, float, float, float]:
    """Both bounds and both p-values against 0 of one table; families and steps ask for the same one again."""
    return _many_one_sided((table,), error, ordering)[table]


def _many_one_sided(
    tables: Sequence[tuple[int, ...]], error: float, ordering: float
) -> dict[tuple[int, ...], tuple[float, float, float, float]]:
    """Both bounds, each with this error, and both p-values against 0 of many tables, those of one design together."""
    from surefoot.numerics.rates import inversion

    found: dict[tuple[int, ...], tuple[float, float, float, float]] = {}
    turns = {table: oriented(table) for table in tables}
    for alike in _designs(table for table, _ in turns.values()).values():
        count = len(alike)
        ends, tails = (
            part.tolist() for part in inversion.lower_ends(batch(alike, ordering, both=False), error, both=False)
        )
        for place, table in enumerate(alike):
            other = place if is_even(table) else place + count
            found[table] = ends[place], 0.0 - ends[other], tails[place], tails[other]
    return {table: _mirrored(*found[one]) if turned else found[one] for table, (one, turned) in turns.items()}


def _mirrored(low: float, high: float, better: float, worse: float) -> tuple[float, float, float, float]:
    return 0.0 - high, 0.0 - low, worse, better


def _designs(tables: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Different tables by their design: how many rollouts of each, or pairs."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for table in dict.fromkeys(tables):
        found.setdefault(table[1::2] if len(table) == 4 else table[2:], []).append(table)
    return found


@lru_cache(maxsize=8192)
def _tails(table: tuple[int, ...], edge: float, ordering: float) -> tuple[float, float]:
    """The p-values of "at most the edge", and of "at least minus the edge"."""
    import numpy as np

    from surefoot.numerics.rates import inversion

    table, turned = oriented(table)
    better, worse = inversion.tail(batch([table], ordering, both=False), np.arange(2), edge, both=False).tolist()
    if is_even(table):
        worse = better
    return (worse, better) if turned else (better, worse)


def asked(*data: object) -> OneSided:
    """Two tallies, or pairs, to be asked one side at a time."""
    match data:
        case (PairTally() as pairs,):
            return OneSided.paired(pairs)
        case (Tally() as first, Tally() as second):
            return OneSided.separate(first, second)
    raise _check.mistyped("data", "be two tallies or pairs", data)


def _gain(one: OneSided, confidence: float, margin: float) -> Gain:
    error, margin = (1.0 - _check.confidence(confidence)) / 2.0, _check.margin(margin, 1.0)
    sides = one.sides(0.0, error)
    low, high = agreeing(one.ends(error, error), sides, error, 0.0)
    return gain_of(one, low, high, sides, confidence, margin)


def gain_of(one: OneSided, low: float, high: float, plain: Sides, confidence: float, margin: float) -> Gain:
    """The gain with these ends and, without a margin, these one-sided p-values."""
    interval = one.interval((low, high), confidence, central=True)
    p_value = min(1.0, 2.0 * min(plain.better, plain.worse))
    return Gain(interval, p_value, decide(low, high, margin), margin=margin)


def agreeing(ends: tuple[float, float], sides: Sides, error: float, margin: float) -> tuple[float, float]:
    """The two ends on the side of the margin that their p-values say, whatever the rounding."""
    low, high = ends
    low = max(low, math.nextafter(margin, math.inf)) if sides.better <= error else min(low, margin)
    high = min(high, math.nextafter(-margin, -math.inf)) if sides.worse <= error else max(high, -margin)
    return low, high


def _bounds(one: OneSided, confidence: float) -> tuple[Bound, Bound]:
    error = 1.0 - _each(confidence)
    return bounds_of(one.interval(one.ends(error, error), confidence), confidence)


def _sides(one: OneSided, confidence: float, margin: float) -> Sides:
    return one.sides(_check.margin(margin, 1.0), (1.0 - _check.confidence(confidence)) / 2.0)


def _each(confidence: float) -> float:
    if not _check.confidence(confidence) > 0.5:
        raise _check.refused("confidence", "be above 0.5 for a bound on each side", confidence)
    return float(confidence)


def bounds_of(interval: Interval, confidence: float) -> tuple[Bound, Bound]:
    """The two ends of an interval as bounds, each at a confidence of its own."""
    lower = Bound(
        side="lower",
        value=interval.low,
        estimate=interval.estimate,
        confidence=confidence,
        method=interval.method,
        trials=interval.trials,
        scale=interval.scale,
        assumptions=interval.assumptions,
        notes=interval.notes,
        data=interval.data,
        seed=interval.seed,
    )
    return lower, replace(lower, side="upper", value=interval.high)
