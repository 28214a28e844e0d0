"""Which items of a list to run so that the mean of all is known: a random draw, helped by earlier results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.analysis.items import counts
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.files.item_files import read_items
from surefoot.files.reading import reads_frames
from surefoot.sequential.list_mean import ListMean
from surefoot.stats.finite_lists import population_rate
from surefoot.table.rollouts import Rollouts, a_table

if TYPE_CHECKING:
    import polars as pl

WIDTHS = (0.03, 0.05, 0.07)
"""Half-widths that bets by predictions may be tuned to; one is chosen on earlier policies."""
REHEARSED = 4
"""So many earlier policies, at most, are run through the draw to see how wide its intervals are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDraw(Worded, Record):
    """Items drawn from a list, and how well they tell the mean of all.

    Attributes:
        unit: What the table calls an item.
        items: All items, in the order drawn; the first `run` are run.
        run: How many are run.
        predictions: The mean of earlier policies on every item, in that order; empty where they do not help.
        within: What the bets are tuned to, where there are predictions.
        half_width: Half the width that the interval of the mean has: seen on earlier policies with predictions, at
            most without.
        plain: Half the width that it has at most without predictions.
        policies: How many policies the predictions are of.
        seed: The seed of the draw.
        confidence: The confidence of the interval.
    """

    unit: str
    items: tuple[str, ...]
    run: int
    predictions: tuple[float, ...]
    within: float | None
    half_width: float
    plain: float
    policies: int
    seed: int | None
    confidence: float

    def table(self) -> pl.DataFrame:
        """A row for every item of the list, those to be run first; `whole_list` reads it from a file."""
        import polars as pl

        body: dict[str, Any] = {"item": self.items, "run": [int(at < self.run) for at in range(len(self.items))]}
        if self.predictions:
            body |= {"prediction": self.predictions, "within": [self.within] * len(self.items)}
        return pl.DataFrame(body)

    def __str__(self) -> str:
        count, level = len(self.items), formatting.percent(self.confidence)
        drawn = f"{self.run:,} of {count:,} levels of {self.unit} drawn at random"
        known = f"The mean of all {count:,} is then known to within"
        plain = f"±{100 * self.plain:.1f} points at most"
        if not self.predictions:
            return f"{drawn}. {known} {plain} ({level}); predictions by earlier results would not help."
        whose = self.words.policies
        about = f"about ±{100 * self.half_width:.1f} points, as on the {whose} here"
        return (
            f"{drawn}, with the means of {self.policies:,} {whose} as predictions. {known} {about} ({level}; the "
            f"interval holds however wrong they are). Without predictions: {plain}."
        )


@reads_frames
@in_its_words
def draw_items(
    rollouts: Rollouts, number: int, *, rng: Any, unit: str | None = None, confidence: float = 0.95
) -> ItemDraw:
    """A simple random sample of a list of items, and the half-width of the interval of the whole list's mean.

    Earlier policies' means predict each item where that makes the interval narrower on those policies themselves, each
    predicted by the others; which way is taken is fixed here, before the next outcome.

    Args:
        rollouts: Earlier results on the whole list.
        number: How many items to run.
        rng: A seed, which is kept.
        unit: The column that tells items apart; found from the shape of the table when not said.
        confidence: The confidence of the interval.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> from surefoot.analysis.item_draws import draw_items
        >>> rows = [(p, f"q{i}", int(i % 10 < k)) for p, k in (("a", 4), ("b", 5), ("c", 6)) for i in range(300)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["model", "item", "success"], orient="row"))
        >>> drawn = draw_items(table, 60, rng=7)
        >>> drawn.run, len(drawn.items), drawn.half_width < drawn.plain
        (60, 300, True)
    """
    import numpy as np

    table = a_table(rollouts).declare(unit=unit)
    column = table.design.unit_column
    if column is None:
        raise DataError("one column must tell items apart; none does. Say which: `unit`.", source=table.source)
    table.require("success")
    passed, tried, _, _, names, policies = counts(table, [column.key])
    if not 1 <= _check.whole(number, "number", least=1) < len(names):
        raise _check.refused("number", f"be below {len(names):,}, the items of the list", number)
    confidence = _check.confidence(confidence)
    generator, seed = _check.generator(rng)
    order = generator.permutation(len(names))
    rates = np.where(tried > 0, passed / np.maximum(tried, 1), np.nan)[order]
    whole = [at for at in range(len(policies)) if not np.isnan(rates[:, at]).any()]
    ends = population_rate(Tally(number // 2, number), population=len(names), confidence=confidence)
    plain = (ends.high - ends.low) / 2.0
    half, within = plain, None
    if len(whole) > 1:
        seen = {width: _rehearsed(rates[:, whole], number, width, confidence) for width in WIDTHS}
        within = min(seen, key=lambda width: seen[width])
        half = seen[within]
    helps = within is not None and half < plain
    return ItemDraw(
        unit=table.called(column.key),
        items=tuple(names[at] for at in order),
        run=number,
        predictions=tuple(float(one) for one in rates[:, whole].mean(axis=1)) if helps else (),
        within=within if helps else None,
        half_width=half if helps else plain,
        plain=plain,
        policies=len(whole),
        seed=seed,
        confidence=confidence,
    )


def _rehearsed(rates: Any, number: int, within: float, confidence: float) -> float:
    """The mean half-width over some policies, each predicted by the others; items in the order drawn."""
    import numpy as np

    chosen = np.linspace(0, rates.shape[1] - 1, min(REHEARSED, rates.shape[1])).round().astype(int)
    halves = []
    for at in chosen:
        others = np.delete(rates, at, axis=1).mean(axis=1)
        ends = _bet(tuple(others.tolist()), rates[:number, at].tolist(), within, confidence)
        halves.append((ends.high - ends.low) / 2.0)
    return float(np.mean(halves))


def _bet(predictions: Sequence[float], outcomes: Sequence[float], within: float, confidence: float) -> Interval:
    """The mean of the list from the outcomes of its first items."""
    rule = ListMean(len(predictions), within=within, helped_by=tuple(predictions), confidence=confidence)
    state = rule.start()
    for place, value in enumerate(outcomes):
        if state.finished:
            break
        state = rule.step(state, (place, float(value)))
    return state.interval


def _column(table: Rollouts, unit: str | None, items: Sequence[str]) -> str:
    """The column that holds the items, as the user names it or by what it holds: most of those drawn."""
    if unit is not None:
        return table.key(unit)
    held = {one.key: len({*table.names(one.key)}.intersection(items)) for one in table.design.columns}
    best = max(held, key=lambda key: held[key], default=None)
    if best is None or 2 * held[best] < len(items):
        raise DataError("one column must hold the items drawn; none does. Say which: `unit`.", source=table.source)
    return best


@reads_frames
@in_its_words
def whole_list(
    rollouts: Rollouts, drawn: str | PathLike[str], *, unit: str | None = None, confidence: float = 0.95
) -> dict[str, Interval]:
    """The mean of a whole list for each policy, from the items that `draw_items` drew and nothing else.

    Args:
        rollouts: Tonight's results.
        drawn: The file of the draw.
        unit: The column that tells items apart.
        confidence: The confidence of each interval.

    Raises:
        DataError: A drawn item has no outcome, or several, or the file is not of a draw.
    """
    import numpy as np

    found = read_items(drawn)
    run = found.numbers("run", (0.0, 1.0))
    count = int(sum(run))
    if not all(value == (at < count) for at, value in enumerate(run)):
        raise DataError("the items to be run must come first, as they were drawn.", source=found.source)
    table = a_table(rollouts)
    table.require("success")
    passed, tried, _, _, names, policies = counts(table, [_column(table, unit, found.items[:count])])
    place = {name: at for at, name in enumerate(names)}
    made = {}
    for at, policy in enumerate(policies):
        lacking = [one for one in found.items[:count] if one not in place or not tried[place[one], at]]
        if lacking:
            raise DataError(
                f"every item drawn must have an outcome; {policy!r} lacks {len(lacking):,}: "
                f"{formatting.some_names(lacking)}. A crash is an outcome: write a failure.",
                source=table.source,
            )
        rows = [place[one] for one in found.items[:count]]
        values = passed[rows, at] / tried[rows, at]
        if "prediction" in found.columns:
            predictions = found.numbers("prediction", (0.0, 1.0))
            within = found.numbers("within", (0.0, 1.0))[0]
            made[policy] = _bet(predictions, values.tolist(), within, confidence)
        elif np.all(tried[rows, at] == 1):
            tally = Tally(int(passed[rows, at].sum()), count)
            made[policy] = population_rate(tally, population=len(found.items), confidence=confidence)
        else:
            raise DataError(f"each item drawn must be run once; {policy!r} has repeats.", source=table.source)
    return made
