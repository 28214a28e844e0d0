"""Pareto front of quality and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from surefoot import _check
from surefoot.analysis.comparison_data import Target, Weights
from surefoot.analysis.comparisons import chosen
from surefoot.analysis.measurements import measured
from surefoot.analysis.need_evidence import Asker, NotComparableError, seen, table_of
from surefoot.analysis.needs import Need
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.stats.multiplicity import holm
from surefoot.table.measures import column_of, measuring
from surefoot.table.rollouts import Measure, Rollouts, a_table

MOST = 12
"""Policies whose pairs are looked at for both quality and cost."""
WIDER = 2.0
"""A limit that nobody stated is so many times the largest cost that was seen."""


@dataclass(frozen=True, slots=True)
class Dominance(Record):
    """One policy against another: cheaper, and not worse by the margin.

    Attributes:
        winner: The policy that may be the better choice.
        loser: The policy that it may take the place of.
        cheaper_p: The p-value of "the winner is not cheaper".
        not_worse_p: The p-value of "the winner is worse by as much as the margin".
        adjusted_p: The larger of the two, adjusted by Holm over all pairs in both directions.
        shown: Whether both were shown.
    """

    winner: str
    loser: str
    cheaper_p: float
    not_worse_p: float
    adjusted_p: float = 1.0
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Front(Record):
    """Policies by quality and cost.

    Attributes:
        cost: The column of the cost; less is better.
        measure: Whether success or the score is the quality.
        margin: By how much quality may be worse.
        names: The policies, the cheapest first.
        costs: The mean cost of each.
        qualities: The rate or mean score of each.
        pairs: Every pair in both directions.
        confidence: The confidence of all claims together.
        limit: The most that a rollout can cost.
        stated: Whether the limit was stated; otherwise it is twice the largest cost seen.
        words: What the table calls policies and rollouts.
    """

    cost: str
    measure: Measure
    margin: float
    names: tuple[str, ...]
    costs: tuple[float, ...]
    qualities: tuple[float, ...]
    pairs: tuple[Dominance, ...]
    confidence: float
    limit: float
    stated: bool
    words: Words = USUAL

    @property
    def dominated(self) -> tuple[Dominance, ...]:
        """The pairs of which one was shown cheaper and not worse."""
        return tuple(one for one in self.pairs if one.shown)

    @property
    def front(self) -> tuple[str, ...]:
        """The policies of which no other was shown cheaper and not worse."""
        lost = {one.loser for one in self.dominated}
        return tuple(name for name in self.names if name not in lost)

    @property
    def looks(self) -> tuple[str, ...]:
        """The policies that no other beats in both by the estimates alone, shown or not."""
        known = list(zip(self.names, self.costs, self.qualities, strict=True))
        beaten = {a[0] for a in known for b in known if b[1] <= a[1] and b[2] >= a[2] and b[1:] != a[1:]}
        return tuple(name for name in self.names if name not in beaten)

    def __str__(self) -> str:
        return "\n".join((self._means(), *(self._two() if len(self.names) == 2 else self._many())))

    def _means(self) -> str:
        each = "; ".join(f"{name} {cost:,.4g}" for name, cost in zip(self.names, self.costs, strict=True))
        limit = f"limit {self.limit:,.6g}"
        said = limit if self.stated else f"{limit}, twice the largest seen; a limit known beforehand is surer"
        return f"Cost {self.cost} (mean): {each} ({said})."

    def _worse(self) -> str:
        shown = f"{100 * self.margin:.6g} points" if self.measure == "success" else f"{self.margin:,.6g}"
        return f"not worse by {shown}" if self.margin else "better"

    def _two(self) -> list[str]:
        level, error = formatting.percent(self.confidence), 1.0 - self.confidence
        if self.dominated:
            one = self.dominated[0]
            p = formatting.p_value(one.adjusted_p)
            return [f"{one.winner} is cheaper than {one.loser} and {self._worse()} ({level}, {p}): it dominates."]
        one = min(self.pairs, key=lambda pair: max(pair.cheaper_p, pair.not_worse_p))
        cheaper, held = one.cheaper_p <= error / 2.0, one.not_worse_p <= error / 2.0
        looked = [formatting.p_value(min(1.0, 2.0 * p)) for p in (one.cheaper_p, one.not_worse_p)]  # either way round
        parts = ["cheaper" if cheaper else f"not shown cheaper ({looked[0]})"]
        parts.append(self._worse() if held else f"not shown {self._worse()} ({looked[1]})")
        joined = f"{parts[0]}{', but ' if cheaper != held else ' and '}{parts[1]}"
        margin = "" if self.margin else " A margin says how much worse would not matter."
        return [f"Neither dominates; {one.winner} against {one.loser}: {joined}.{margin}"]

    def _many(self) -> list[str]:
        level = formatting.percent(self.confidence)
        beaten: dict[str, list[str]] = {}
        for one in self.dominated:
            beaten.setdefault(one.loser, []).append(one.winner)
        lines = [
            f"On the front: {', '.join(self.front)}; no other was shown cheaper and {self._worse()} ({level} for all)."
        ]
        lines += [f"Shown off it: {name}, by {', '.join(by)}." for name, by in beaten.items()]
        hidden = [name for name in self.front if name not in self.looks]
        if hidden:
            lines.append(f"Off it by the estimates, but not shown: {', '.join(hidden)}.")
        return lines


@reads_frames
@in_its_words
def pareto(
    rollouts: Rollouts,
    cost: str,
    *,
    policies: Sequence[str] = (),
    limit: float | None = None,
    margin: float = 0.0,
    measure: Measure | None = None,
    target: Target | None = None,
    weights: Weights = "units",
    confidence: float = 0.95,
) -> Front:
    """Pareto front of quality and cost: which policies are shown cheaper and not worse than which.

    A claim is an intersection-union test of two needs: a mean cost at most 1.0 times the other's, and a quality not
    worse by the margin. All pairs are looked at in both directions, with no false claim among them (Holm).

    Args:
        rollouts: The table.
        cost: The column of the cost, such as tokens; less is better.
        policies: The policies; all when not said.
        limit: The most that a rollout can cost, known beforehand; twice the largest seen when not said.
        margin: By how much quality may be worse.
        measure: "success" or "score"; success where the table has it.
        target: "like" or "these", as for `compare`.
        weights: How units weigh, as for `compare`.
        confidence: The confidence of all claims together.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [(p, int(i % 10 > 0), t + i % 7) for p, t in (("new", 40), ("old", 90)) for i in range(200)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["policy", "success", "tokens"], orient="row"))
        >>> print(sf.pareto(table, "tokens", limit=200, margin=0.1))
        Cost tokens (mean): new 42.97; old 92.97 (limit 200).
        new is cheaper than old and not worse by 10 points (95%, p = 0.00312): it dominates.
    """
    what, level = chosen(a_table(rollouts), measure), _check.confidence(confidence)
    names = tuple(policies) or rollouts.policies
    if not 2 <= len(names) <= MOST:
        must = f"have 2 to {MOST} {rollouts.words.policies}"
        raise DataError(f"a front of quality and cost must {must}; got {len(names)}.", source=rollouts.source)
    stated = limit is not None
    if limit is None:
        limit = twice_the_largest(rollouts, cost, names)
    quality, price = Need(measure=what, not_worse_by=margin), Need(measure=cost, at_most_times=1.0, limit=limit)
    costs = measuring(rollouts, cost, "score", names, limit=limit)
    means = {
        name: (
            measured(costs.where(policy=name), "score", level, weights, target).estimate,
            measured(rollouts.where(policy=name), what, level, weights, target).estimate,
        )
        for name in names
    }
    pairs: list[Dominance] = []
    for first, second in combinations(names, 2):
        who = Asker(first, second, (1.0 - level) / 2.0, target, weights, bounds=False)
        pairs += _both_ways(rollouts, quality, price, who)
    sure = holm([max(one.cheaper_p, one.not_worse_p) for one in pairs])
    found = tuple(
        Dominance(one.winner, one.loser, one.cheaper_p, one.not_worse_p, p, p <= 1.0 - level)
        for one, p in zip(pairs, sure, strict=True)
    )
    order = sorted(names, key=lambda name: (means[name][0], name))
    each = [tuple(means[name][at] for name in order) for at in (0, 1)]
    return Front(cost, what, margin, tuple(order), each[0], each[1], found, level, limit, stated, rollouts.words)


def _both_ways(rollouts: Rollouts, quality: Need, price: Need, who: Asker) -> list[Dominance]:
    """Whether each of two is cheaper than the other and not worse."""
    second = str(who.second)
    try:
        better, cheaper = (seen(*_asked(rollouts, need, who)) for need in (quality, price))
    except NotComparableError:
        return [Dominance(who.first, second, 1.0, 1.0), Dominance(second, who.first, 1.0, 1.0)]
    dearer_p, cheaper_p = cheaper.sides(1.0)
    return [
        Dominance(who.first, second, cheaper_p, better.sides(-quality.value)[0]),
        Dominance(second, who.first, dearer_p, better.sides(quality.value)[1]),
    ]


def _asked(rollouts: Rollouts, need: Need, who: Asker) -> tuple[Rollouts, Need, Measure, Asker, None]:
    table, kind = table_of(rollouts, need, who)
    return table, need, kind, who, None


def twice_the_largest(rollouts: Rollouts, cost: str, names: Sequence[str]) -> float:
    """A limit of a cost that nobody stated."""
    column_of(rollouts, cost)
    costs = measuring(rollouts, cost, "score", names, limit=1e300)
    largest = max((group.most or 0.0) for group in costs.summary() if group.key[0] in names)
    if largest <= 0.0:
        raise DataError(f"`{cost}` must be above 0 in some row; it is 0 in all.", source=rollouts.source)
    return WIDER * largest
