"""Lists of items: the rate on a whole finite list from a random part of it, and tests of single items.

Single items: repeats that disagree more than elsewhere, and stronger policies that pass less. Finite lists: an order of
the items is drawn at random, and a number of them that was fixed beforehand is run; what is asked is the rate that a
complete run would show, not that of other items.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _check
from surefoot.core.assumptions import ITEMS_DRAWN, ITEMS_FIXED, LIST_DECLARED
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.tally import Tally

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from surefoot.numerics.arrays import Floats


def excess_p_values(marked: ArrayLike, drawn: ArrayLike) -> Floats:
    """One-sided exact p-values that marks are more frequent in an item than in the other items, within strata.

    Given the marks of each stratum and how many draws each item has there, an item's marks are a sum of independent
    hypergeometric counts if marks fall on draws alike (Fisher's test, in strata).

    Args:
        marked: Marked draws, a row for each item and a column for each stratum.
        drawn: All draws, likewise.

    Assumptions:
        Independent draws. Valid where an item's chance of a mark is at most every other item's, in each stratum: its
        own marks are then stochastically smaller and the others' larger than under one common chance.

    Example:
        >>> from surefoot.stats.items import excess_p_values
        >>> [round(float(p), 4) for p in excess_p_values([[4], [1], [0]], [[4], [4], [4]])]
        [0.0101, 0.9293, 1.0]
    """
    marks, draws = np.asarray(marked, dtype=np.int64), np.asarray(drawn, dtype=np.int64)
    totals, all_marks = draws.sum(axis=0).tolist(), marks.sum(axis=0).tolist()
    tails: dict[tuple[int, ...], Floats] = {}
    found = np.ones(len(marks))
    for at, (row, own) in enumerate(zip(draws.tolist(), marks.sum(axis=1).tolist(), strict=True)):
        if own:
            if tuple(row) not in tails:
                tails[tuple(row)] = _tail(row, totals, all_marks)
            found[at] = tails[tuple(row)][own]
    return found


@cache
def _chances(drawn: int, total: int, marked: int) -> Floats:
    from scipy.stats import hypergeom

    found: Floats = hypergeom.pmf(np.arange(drawn + 1), total, marked, drawn)
    return found


def _tail(drawn: list[int], totals: list[int], marks: list[int]) -> Floats:
    """The chance of so many marks or more, from 0 on, over all strata."""
    chances = np.ones(1)
    for size, total, marked in zip(drawn, totals, marks, strict=True):
        if size and marked:
            chances = np.convolve(chances, _chances(size, total, marked))
    full = np.zeros(sum(drawn) + 1)
    full[: len(chances)] = chances
    tail: Floats = np.minimum(1.0, np.cumsum(full[::-1])[::-1])
    return tail


def reversal_p_values(passed: ArrayLike, tried: ArrayLike) -> Floats:
    """One-sided exact p-values that the stronger half of the policies passes an item less often than the weaker half.

    Policies are ordered by their mean over the other items, so the order does not depend on the item itself.

    Args:
        passed: Successes, a row for each item and a column for each policy.
        tried: Rollouts, likewise.

    Assumptions:
        Independent rollouts. Valid where no stronger policy has a smaller chance on the item than a weaker one: the
        p-value of Fisher's test is monotone in both counts, so one common chance is the worst case.

    Example:
        >>> from surefoot.stats.items import reversal_p_values
        >>> [round(float(p), 3) for p in reversal_p_values([[0, 5], [5, 1], [5, 0], [5, 2]], [[5, 5]] * 4)]
        [0.004, 1.0, 1.0, 1.0]
    """
    from scipy.stats import hypergeom

    wins, tries = np.asarray(passed, dtype=float), np.asarray(tried, dtype=float)
    met = tries > 0
    means = np.where(met, wins / np.maximum(tries, 1.0), 0.0)
    others = met.sum(axis=0) - met
    rest = np.where(met & (others > 0), (means.sum(axis=0) - means) / np.maximum(others, 1), np.nan)
    order = np.argsort(rest, axis=1, kind="stable")  # those without another item come last
    place = np.argsort(order, axis=1, kind="stable")
    known = np.isfinite(rest)
    counts = known.sum(axis=1, keepdims=True)
    weak, strong = known & (place < counts // 2), known & (place >= (counts + 1) // 2)
    tied = np.nanmax(np.where(weak, rest, -np.inf), axis=1) >= np.nanmin(np.where(strong, rest, np.inf), axis=1)
    weak_tries, strong_tries = (tries * weak).sum(axis=1), (tries * strong).sum(axis=1)
    weak_wins, strong_wins = (wins * weak).sum(axis=1), (wins * strong).sum(axis=1)
    found = hypergeom.cdf(strong_wins, weak_tries + strong_tries, weak_wins + strong_wins, strong_tries)
    result: Floats = np.where(tied | (counts[:, 0] < 2), 1.0, np.minimum(1.0, found))
    return result


def population_rate(tally: Tally, *, population: int, confidence: float = 0.95) -> Interval:
    """What success rate would a complete run of the list show? Exact, at one look.

    Args:
        tally: Successes among the items run.
        population: Items on the list, run or not.
        confidence: How often such intervals hold the rate of the complete run, at least.

    Assumptions:
        The items run were drawn at random from a list fixed beforehand, and their number was fixed beforehand too.
        The interval is about this list: it says nothing about other items.

    Example:
        >>> from surefoot import Tally
        >>> from surefoot.stats import population_rate
        >>> print(population_rate(Tally(170, 340), population=500))
        50.0% [47.0%, 53.0%] n=340 (95% hypergeometric interval).

    Reference:
        Konijn (1973), "Statistical theory of sample survey design and analysis": both one-sided hypergeometric tails
        above half the error.
    """
    from surefoot.numerics.rates import hypergeometric

    items = listed(population, tally.trials)
    each = (1.0 - _check.confidence(confidence)) / 2.0
    low, high = hypergeometric.totals_left(tally.successes, tally.trials, items, each)
    return Interval(
        low=min(low / items, tally.rate),  # at a confidence that nobody asks for it might be left out
        high=max(high / items, tally.rate),
        estimate=tally.rate,
        confidence=float(confidence),
        method="hypergeometric",
        trials=tally.trials,
        assumptions=(ITEMS_DRAWN, LIST_DECLARED, ITEMS_FIXED),
        notes=(Note("of these items", {"items": items, "run": tally.trials}),),
        data=(tally,),
    )


def listed(population: Any, run: int) -> int:
    """The number of items on a list, checked against how many were run."""
    items = _check.whole(population, "population", least=1)
    if items < run:
        hint = "An item counts once, and the list may not be enlarged after the start."
        raise _check.refused("population", f"be at least {run:,}, the items run", items, hint)
    return items
