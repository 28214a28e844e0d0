"""Intervals of the rate on a whole finite list, from a random part of it.

A list of items is declared, an order of it is drawn at random, and a number of items that was fixed beforehand is run.
What is asked is the rate that a complete run would show, not that of other items.
"""

from __future__ import annotations

from typing import Any

from surefoot import _check
from surefoot.core.assumptions import ITEMS_DRAWN, ITEMS_FIXED, LIST_DECLARED
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.tally import Tally


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
    """The number of items on a list, checked against how many were run.

    Raises:
        ValueError: More were run than the list has.
    """
    items = _check.whole(population, "population", least=1)
    if items < run:
        hint = "An item counts once, and the list may not be enlarged after the start."
        raise _check.refused("population", f"be at least {run:,}, the items run", items, hint)
    return items
