"""Rules on given or simulated pairs, one sequence or thousands at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot import _check
from surefoot.core.verdict import Verdict
from surefoot.numerics import arrays
from surefoot.numerics.betting import list_bets
from surefoot.sequential.round_rules import RoundRule
from surefoot.sequential.rules import CODES, Rule, S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from surefoot.numerics.arrays import Flags, Floats, Ints
    from surefoot.sequential.list_mean import ListMean

    Verdicts = NDArray[np.object_]


_BLOCK = 1 << 21  # scores of each policy in a block: twice as fast as ten times as many, which fill the caches


class Simulation(NamedTuple):
    """When each of many sequences stopped, and what was decided.

    Attributes:
        stopping_times: Pairs used by each sequence; an undecided one used all it had, at most the horizon.
        verdicts: The `Verdict` of each sequence.
    """

    stopping_times: Ints
    verdicts: Verdicts

    @property
    def mean_pairs(self) -> float:
        """Mean pairs used, undecided sequences counted with all they used."""
        return float(np.mean(self.stopping_times))

    def share(self, verdict: Verdict) -> float:
        """The share of sequences that ended in `verdict`."""
        return float(np.mean(self.verdicts == verdict))

    def __str__(self) -> str:
        parts = ", ".join(f"{self.share(v):.1%} {v.value}" for v in CODES if v in self.verdicts)
        return f"{len(self.verdicts):,} sequences, {self.mean_pairs:.1f} pairs on average: {parts}."


def run(rule: Rule[S], pairs: Iterable[Any]) -> list[S]:
    """What would have been known after each pair? The states, up to the one that finished.

    Pairs after the rule has finished are not looked at.

    Example:
        >>> from surefoot.sequential import FiniteHorizonMixture, run
        >>> states = run(FiniteHorizonMixture(horizon=50), [(1, 0)] * 50)
        >>> states[-1].pairs, states[-1].verdict.value
        (6, 'better')
    """
    state = rule.start()
    states: list[S] = []
    for pair in pairs:
        state = rule.step(state, pair)
        states.append(state)
        if state.finished:
            break
    return states


def simulate(rule: Rule[Any], first: ArrayLike, second: ArrayLike) -> Simulation:
    """Stopping times and verdicts of a rule on many sequences of pairs.

    Gives what `run` gives on each row, many thousands of rows at once, on many cores where joblib is told to.

    Args:
        rule: The rule.
        first: Scores of the first policy, one sequence a row (or one sequence).
        second: Scores of the second policy, of the same shape.

    Raises:
        ValueError: The shapes differ, a row is empty, or a score is outside the rule's range.
    """
    one, other = _scores(rule, first, "first"), _scores(rule, second, "second")
    if one.shape != other.shape:
        raise _check.wrong("second", f"have the shape of `first`, {one.shape}; got {other.shape}.", second)
    step = block_rows(one.shape[1])
    parts = [slice(start, start + step) for start in range(0, len(one), step)]
    times, codes = zip(*arrays.spread(rule.play, [(one[part], other[part]) for part in parts]), strict=True)
    return Simulation(np.concatenate(times), np.array(CODES, dtype=object)[np.concatenate(codes)])


def block_rows(pairs: int) -> int:
    """How many sequences of so many pairs are simulated at a time."""
    return max(1, _BLOCK // pairs)


def _scores(rule: Rule[Any], scores: ArrayLike, name: str) -> Floats:
    array = np.asarray(scores)
    if array.dtype.kind not in "buif":
        raise _check.mistyped(name, "be an array of numbers", array.dtype.name)
    array = np.atleast_2d(np.asarray(array, np.float64))
    if array.ndim != 2 or array.size == 0:
        raise _check.wrong(name, f"hold one sequence a row, each with a pair at least; got shape {array.shape}.")
    fine = (array >= rule.low) & (array <= rule.high)  # NaN is not
    if rule.binary_only:
        fine = (array == rule.low) | (array == rule.high)
    if not fine.all():
        row, column = np.argwhere(~fine)[0]
        what = f"be {rule.low:g} or {rule.high:g}" if rule.binary_only else f"be in [{rule.low:g}, {rule.high:g}]"
        value = array[row, column]
        raise _check.wrong(name, f"{what}; got {value:g} in row {row + 1}, pair {column + 1}.")
    return array


_ROWS = 60_000  # gamblers played side by side: more fill the caches


class RankingSimulation(NamedTuple):
    """How each of many studies ended.

    Attributes:
        rollouts: Rollouts of each policy, a row per study.
        better: The claims: whether a was shown better than b, a square per study.
        complete: Whether all that was asked was decided.
    """

    rollouts: Ints
    better: Flags
    complete: Flags

    @property
    def mean_rollouts(self) -> float:
        """Mean rollouts of a study."""
        return float(self.rollouts.sum(axis=1).mean())

    def __str__(self) -> str:
        return (
            f"{len(self.complete):,} studies, {self.mean_rollouts:.1f} rollouts on average, "
            f"{self.complete.mean():.1%} complete."
        )


def simulate_ranking(rule: RoundRule[Any], scores: ArrayLike) -> RankingSimulation:
    """How would each of many studies have ended? What `run_ranking` gives, many studies at once.

    Args:
        rule: A rule such as `ClosedRanking`; all its policies run from the start.
        scores: The score of every policy in every round of every study: studies, rounds, policies.

    Raises:
        ValueError: The shape does not fit, or a score is outside the rule's range.
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "buif":
        raise _check.mistyped("scores", "be an array of numbers", array.dtype.name)
    if array.ndim != 3 or array.shape[2] != len(rule.names) or not array.size:
        must = f"hold studies, rounds and {len(rule.names)} policies"
        raise _check.wrong("scores", f"{must}; got shape {array.shape}.", scores)
    if any(rule.joined):
        raise _check.wrong("rule", "have all policies from the start to be simulated; got one that joins later.", rule)
    array = np.asarray(array, np.float64)
    if not ((array >= rule.low) & (array <= rule.high)).all():  # NaN is not
        raise _check.wrong("scores", f"be in the range [{rule.low:g}, {rule.high:g}]; got one that is not.", scores)
    step = block_studies(rule)
    parts = [array[start : start + step] for start in range(0, len(array), step)]
    ended = arrays.spread(rule.played, [(part,) for part in parts])
    return RankingSimulation(*(np.concatenate(part) for part in zip(*ended, strict=True)))


def block_studies(rule: RoundRule[Any]) -> int:
    """How many studies are played side by side."""
    return max(1, _ROWS // rule.games)


_OUTCOMES = 1 << 20  # outcomes of lists held at once


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
    from surefoot.sequential.list_mean import ListMean

    column = _check.instance(rule, "rule", ListMean)._column(scores, "scores")
    generator, _ = _check.generator(rng)
    count = _check.whole(orders, "orders", least=1)
    parts = arrays.seeded(count, max(1, _OUTCOMES // rule.population), generator)
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
