"""Simulated stopping times on a finite list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.numerics import arrays
from surefoot.numerics.betting import list_bets
from surefoot.sequential.list_mean import ListMean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints

    Verdicts = NDArray[np.object_]

_BLOCK = 1 << 20  # outcomes held at once


class ListSimulation(NamedTuple):
    """What happened in many random orders of one list.

    Attributes:
        items: Items run in each order; all of them where the goal was reached no sooner.
        verdicts: The `Verdict` of each order.
        missed: Whether the interval ever left out the list's mean.
    """

    items: Ints
    verdicts: Verdicts
    missed: Flags

    @property
    def mean_items(self) -> float:
        """Mean items run."""
        return float(np.mean(self.items))

    def share(self, verdict: Verdict) -> float:
        """The share of orders that ended in `verdict`."""
        return float(np.mean(self.verdicts == verdict))

    def __str__(self) -> str:
        return f"{len(self.items):,} orders, {self.mean_items:.1f} items on average, {self.missed.mean():.1%} missed."


def simulate_list(
    rule: ListMean, scores: Sequence[float], *, rng: np.random.Generator | int, orders: int = 1000
) -> ListSimulation:
    """Stopping times of a rule over random orders of a list with these scores.

    Gives what `run_list` gives in each order, many orders at once.

    Args:
        rule: The rule.
        scores: What every item would give, in the order of the list.
        rng: A seed or a generator.
        orders: How many orders to draw.

    Raises:
        ValueError: There is not one score for every item, or one is outside the range.

    Example:
        >>> from surefoot.sequential import ListMean, simulate_list
        >>> alone = simulate_list(ListMean(100, within=0.1), [1, 0] * 50, rng=1, orders=100)
        >>> helped = simulate_list(ListMean(100, within=0.1, helped_by=[1, 0] * 50), [1, 0] * 50, rng=1, orders=100)
        >>> helped.mean_items < alone.mean_items
        True
    """
    column = _check.instance(rule, "rule", ListMean)._column(scores, "scores")
    generator, _ = _check.generator(rng)
    count = _check.whole(orders, "orders", least=1)
    parts = arrays.seeded(count, max(1, _BLOCK // rule.population), generator)
    found = arrays.spread(_drawn, [(rule, np.array(column), *part) for part in parts])
    return ListSimulation(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _drawn(rule: ListMean, scores: Floats, orders: int, rng: np.random.Generator) -> ListSimulation:
    return in_orders(rule, scores, np.argsort(rng.random((orders, rule.population)), axis=1))


def in_orders(rule: ListMean, scores: Floats, order: Ints) -> ListSimulation:
    """What happens in these orders of the list, one a row."""
    terms, places = rule.terms, order.T
    outcomes = (scores - rule.low) / rule.width
    rows, orders = outcomes[places], len(order)
    if rule.within is not None:
        course = list_bets.played(terms, rows, places)
        items = list_bets.items_within(course, rule.error, rule.within / rule.width)
        codes = np.zeros(orders, np.int64)
    else:
        items, codes, course = _tested(rule, terms, rows, places)
    verdicts = np.array([Verdict.UNDECIDED, Verdict.BETTER, Verdict.WORSE], dtype=object)[codes]
    return ListSimulation(items, verdicts, _ever_missed(rule, course, items, float(outcomes.mean())))


def _tested(rule: ListMean, terms: list_bets.Terms, rows: Floats, places: Ints) -> tuple[Ints, Ints, list_bets.Course]:
    """The items run and the verdict code of every order, and the bets; those after the end do not count."""
    size, orders = rows.shape
    tested, target, slack = terms.against or 0.0, -math.log(rule.error), list_bets.SLACK
    bets, done = list_bets.Bets(terms, orders), np.zeros(orders)
    items, codes = np.full(orders, size), np.zeros(orders, np.int64)
    steps = []
    for count, (row, place) in enumerate(zip(rows, places, strict=True), 1):
        steps.append(bets.step(row, terms.features[:, place]))
        done = done + row
        above = (bets.log_wealth[0] >= target) | (done > size * tested + slack)
        below = (bets.log_wealth[1] >= target) | (done + size - count < size * tested - slack)
        below &= rule.claim == "either"
        new = (above | below) & (codes == 0)
        items[new], codes[new] = count, np.where(above[new], 1, 2)
        if codes.all():
            break
    return items, codes, list_bets.course_of(size, rows[: len(steps)], steps)


def _ever_missed(rule: ListMean, course: list_bets.Course, items: Ints, mean: float) -> Flags:
    later = np.arange(len(course.outcomes))[:, None] >= items
    missed = np.zeros(len(items), bool)
    for side in (0, 1) if rule.claim == "either" else (0,):
        path = course.log_paths(np.full(len(items), mean), side)
        missed |= (np.where(later, -math.inf, path) >= -math.log(rule.error)).any(axis=0)
    return missed
