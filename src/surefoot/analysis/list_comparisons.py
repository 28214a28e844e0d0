"""Comparison of two policies on a declared list of items.

Both policies may have run the same part; or the second ran all of it, and only the first is run now. Rollouts enter in
the order they were recorded, which must have been drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from surefoot import _check, sequential
from surefoot.analysis.comparisons import Comparison, chosen, compare
from surefoot.analysis.replays import check_population
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import in_its_words
from surefoot.errors import DataError
from surefoot.sequential.betting import BettingState
from surefoot.sequential.list_mean import ListMeanState
from surefoot.table.rollouts import Measure, Rollouts, a_table

Item = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ListComparison(Record):
    """Two policies compared on a declared list: what a complete run of it would show.

    Attributes:
        first: The policy that the gain and the verdict are about.
        second: The policy it is compared with.
        measure: Whether success or the score was compared.
        population: Items on the list.
        run: Items that the first policy has run.
        in_full: Whether the second policy ran the whole list, so that only the first had to.
        interval: Where the gain on these items lies, valid at any moment.
        p_value: Of no gain on these items, valid at any moment.
        verdict: What is decided of these items.
        notes: What a reader must know besides.
        elsewhere: The same rollouts asked about items like these: another claim, from a number fixed beforehand.
    """

    first: str
    second: str
    measure: Measure
    population: int
    run: int
    in_full: bool
    interval: Interval
    p_value: float
    verdict: Verdict
    notes: tuple[Note, ...]
    elsewhere: Comparison | None = None

    def __str__(self) -> str:
        gain, sure = str(self.interval).rstrip("."), formatting.p_value(self.p_value)
        lines = [str(self.notes[0]), f"{self.first} - {self.second} on these items: {gain}, {sure}."]
        lines += [str(note) for note in self.notes[1:]]
        if self.elsewhere is not None:
            lines.append(f"At this number of items: {self.elsewhere}")
        return "\n".join(lines)


@in_its_words
def compare_on_list(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    population: int,
    randomised: bool,
    helped: bool = False,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> ListComparison:
    """Comparison of two policies on a declared list of items, of which a random part was run.

    Where the second policy ran every item of the list and the first only part of it, the second's results are used as
    predictions, and only the first had to run.

    Args:
        rollouts: The table; items are told apart by task, condition, seed and repeat.
        first: The policy that the verdict is about.
        second: The policy it is compared with.
        population: Items on the list, run or not.
        randomised: That the order was drawn at random; refused otherwise.
        helped: Whether the column `forecast` predicts the first policy's outcome; it must be there for every item.
        measure: "success" or "score"; success where the table has it.
        confidence: Over all looks.
        margin: A gain that would not matter; only where both ran the same items.

    Raises:
        ValueError: The order was not drawn, or the list does not fit what was asked.
        DataError: An item was run twice, is not on the list, or lacks its outcome or prediction.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> items = [item for item in range(40) for _ in range(2)]
        >>> frame = pl.DataFrame({"policy": ["new", "old"] * 40, "item": items, "success": [1, 0] * 40})
        >>> found = sf.compare_on_list(sf.read(frame), "new", "old", population=60, randomised=True)
        >>> print(found.notes[0])
        On these 60 items new is better (7 run; error 5% for what a complete run would show). It says nothing \
about other items.
    """
    table, what = a_table(rollouts), chosen(rollouts, measure)
    check_population(population, randomised=randomised)
    for policy in (first, second):
        _check.choice(policy, "policy", dict.fromkeys(table.policies))
    low, high = table.ends(what)
    ones, others = _outcomes(table, first, what), _outcomes(table, second, what)
    for name, found in ((first, ones), (second, others)):
        if len(found) > population:
            must = f"be at least {len(found):,}, the items that {name} ran"
            raise _check.refused("population", must, population, "A list is not enlarged after the start.")
    in_full = len(others) == population and (len(ones) < population or helped)
    if helped and not in_full:
        raise DataError(
            f"there must be a prediction for every one of the {population:,} items; got {len(others):,} items.",
            cure=f"Let {second!r} be a system that was run on all of them.",
        )
    state: ListMeanState | BettingState
    if in_full:
        if margin:
            raise _check.refused("margin", f"be 0 where {second!r} was run in full", margin)
        forecasts = _forecasts(table, others) if helped else None
        state, gain = _against(ones, others, forecasts, (low, high), confidence)
        run, recorded, notes = state.run, len(ones), state.notes
    else:
        common = [item for item in ones if item in others]
        rule = sequential.FiniteHorizonMixture(
            population, claim="either", confidence=confidence, low=low, high=high, margin=margin,
            binary=what == "success" or None, population=population,
        )  # fmt: skip
        if not common:
            raise DataError(f"{first!r} and {second!r} must have items in common; got none.")
        state = sequential.run(rule, [(ones[item], others[item]) for item in common])[-1]
        gain, run, recorded = state.interval, state.pairs, len(common)
        notes = tuple(note for note in gain.notes if isinstance(note, Note))
    kept = [note for note in notes if note.kind != "of these items"]  # the claim says already what it is about
    if run < recorded:
        kept.append(Note("items not looked at", {"run": run, "more": recorded - run}))
    return ListComparison(
        first=first,
        second=second,
        measure=what,
        population=population,
        run=run,
        in_full=in_full,
        interval=gain,
        p_value=state.p_value,
        verdict=state.verdict,
        notes=(state.on_the_list(first), *kept),
        elsewhere=compare(table, first, second, measure=what, confidence=confidence, margin=margin, paired=True),
    )


def _against(
    ones: dict[Item, float],
    others: dict[Item, float],
    forecasts: list[float] | None,
    ends: tuple[float, float],
    confidence: float,
) -> tuple[ListMeanState, Interval]:
    """The first policy against one that was run in full: where its rule stands, and the gain."""
    places = {item: place for place, item in enumerate(others)}
    strange = next((item for item in ones if item not in places), None)
    if strange is not None:
        raise DataError(f"every item run must be on the list; got {_called(strange)}, which is not.")
    rule = sequential.ListMean(
        len(others), incumbent=tuple(others.values()), helped_by=None if forecasts is None else tuple(forecasts),
        confidence=confidence, low=ends[0], high=ends[1],
    )  # fmt: skip
    state = sequential.run_list(rule, ((places[item], value) for item, value in ones.items()))[-1]
    mean, tested = state.interval, rule.tested or 0.0
    gain = replace(
        mean,
        low=mean.low - tested,
        high=mean.high - tested,
        estimate=mean.estimate - tested,
        scale="gain" if mean.scale == "rate" else "score gain",
    )
    return state, gain


def _keys(table: Rollouts) -> Sequence[str]:
    if table.design.unit is None:
        raise DataError(f"some column must tell items apart; none does. Say which: --unit COLUMN.\n{table.design}")
    return table.design.keys("setting", "unit", "repeat")


def _outcomes(table: Rollouts, policy: str, measure: Measure) -> dict[Item, float]:
    """What each item gave, in the order they were run."""
    part, found = table.where(policy=policy), dict[Item, float]()
    columns = [part.column(name) for name in _keys(table)]
    for *item, value in zip(*columns, part.column(measure), strict=True):
        key = tuple(item)
        if key in found:
            raise DataError(f"an item must be run once by {policy!r}; got {_called(key)} twice.")
        if value is None:
            cure = "An item that crashed or ran out of time counts with the lowest score: write it so."
            raise DataError(f"every item run must have an outcome; got none for {_called(key)}.", cure=cure)
        found[key] = float(value)
    return found


def _forecasts(table: Rollouts, listed: dict[Item, float]) -> list[float]:
    """The prediction of every item, in the order of the list."""
    if "forecast" not in table.columns:
        cure = 'Say which: columns={"forecast": ...}, or --helped-by COLUMN.'
        raise DataError("there must be a column of predictions, `forecast`; got none.", cure=cure)
    found: dict[Item, float] = {}
    columns = [table.column(name) for name in _keys(table)]
    for *item, value in zip(*columns, table.column("forecast"), strict=True):
        if value is None:
            continue
        if found.setdefault(tuple(item), float(value)) != float(value):
            raise DataError(f"an item must have one prediction; got two for {_called(tuple(item))}.")
    lacking = next((item for item in listed if item not in found), None)
    if lacking is not None:
        raise DataError(f"every item of the list must have a prediction; got none for {_called(lacking)}.")
    return [found[item] for item in listed]


def _called(item: Item) -> str:
    return " ".join(str(part) for part in item)
