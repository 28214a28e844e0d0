"""By how much is each first policy better, for very many comparisons of successes at once?"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot import _check
from surefoot.core.gain import Gain
from surefoot.core.tally import PairTally, Tally
from surefoot.stats.one_sided_gains import OneSided, agreeing, asked, gain_of
from surefoot.stats.step_down_tests import Sides

EXACT_FAMILY = 500
"""Up to so many comparisons at once every table is enumerated."""

UNEQUAL = 1.1
"""Beyond so many times as many rollouts of one policy the score limits are no approximation at a small share."""

Compared = PairTally | tuple[Tally, Tally]


def central_gains(
    compared: Sequence[Compared], *, confidence: float = 0.95, margin: float = 0.0
) -> tuple[tuple[Gain, Sides], ...]:
    """By how much is each first policy better? Every gain at this confidence, with its one-sided p-values.

    What `central_gain`, `central_paired_gain` and `gain_sides` give, one by one, up to 500 comparisons. With more, the
    score limits (Miettinen-Nurminen, Tango) take over, all computed together: at the share of one comparison among so
    many, their one-sided error is at most 1.15 times the promised one for pairs, and for policies whose numbers of
    rollouts differ by a tenth or less (counted for 20 to 500). Where they differ by more, tables are enumerated.

    Args:
        compared: Pairs, or two tallies, of every comparison.
        confidence: One minus the error of each interval by itself; for a family, its share.
        margin: The gain that would not matter.

    Assumptions:
        Those of `central_gain` and `central_paired_gain`.

    Example:
        >>> from surefoot import PairTally
        >>> from surefoot.stats import central_gains
        >>> ((gain, sides),) = central_gains([PairTally(both=20, first_only=12, second_only=2, neither=16)])
        >>> print(gain.verdict, round(sides.better, 4))
        better 0.0087

    Reference:
        Buehler (1957); Miettinen and Nurminen (1985); Tango (1998).
    """
    error, margin = (1.0 - _check.confidence(confidence)) / 2.0, _check.margin(margin, 1.0)
    asks = [asked(*one) if isinstance(one, tuple) else asked(one) for one in compared]
    quick = [place for place, one in enumerate(asks) if not one.exact or (len(asks) > EXACT_FAMILY and _even(one))]
    together = dict(zip(quick, _together([asks[place] for place in quick], error, margin), strict=True))
    found = []
    for place, one in enumerate(asks):
        ends, plain, sides = together.get(place) or (one.ends(error, error), one.sides(0.0, error), None)
        low, high = agreeing(ends, plain, error, 0.0)
        if sides is None:
            sides = one.sides(margin, error) if margin else plain
        found.append((gain_of(one, low, high, plain, confidence, margin, place not in together), sides))
    return tuple(found)


def _even(one: OneSided) -> bool:
    """Whether the score limits do among very many: pairs, or nearly as many rollouts of both."""
    return len(one.table) == 3 or max(one.table[1], one.table[3]) <= UNEQUAL * min(one.table[1], one.table[3])


def _together(
    asks: list[OneSided], error: float, margin: float
) -> list[tuple[tuple[float, float], Sides, Sides | None]]:
    """Ends and one-sided p-values, without and with a margin, by the score limits of many tables at once."""
    import numpy as np

    from surefoot.numerics import score_intervals

    found: dict[int, tuple[tuple[float, float], Sides, Sides | None]] = {}
    for width in (3, 4):
        places = [place for place, one in enumerate(asks) if len(one.table) == width]
        if not places:
            continue
        tables = np.array([asks[place].table for place in places])
        lows, highs = score_intervals.many_ends(tables, 2.0 * error)
        up, down = score_intervals.many_tails(tables, 0.0)
        plain = [Sides(p, q, p, q) for p, q in zip(up.tolist(), down.tolist(), strict=True)]
        moved: list[Sides | None] = [None] * len(places)
        if margin:
            four = *score_intervals.many_tails(tables, margin), *score_intervals.many_tails(tables, -margin)
            rows = zip(*(values.tolist() for values in four), strict=True)
            moved = [Sides(better, worse, kept, no) for better, no, kept, worse in rows]
        ends = zip(lows.tolist(), highs.tolist(), strict=True)
        found |= dict(zip(places, zip(ends, plain, moved, strict=True), strict=True))
    return [found[place] for place in range(len(asks))]
