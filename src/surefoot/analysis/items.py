"""The items of a benchmark: which are saturated, flaky or suspicious, and which tell policies apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import Tally
from surefoot.core.words import Worded, in_its_words
from surefoot.errors import DataError
from surefoot.files.item_files import read_items
from surefoot.files.reading import reads_frames
from surefoot.sequential.list_mean import ListMean
from surefoot.stats.items import excess_p_values, population_rate, reversal_p_values
from surefoot.stats.multiplicity import holm
from surefoot.stats.rates import clopper_pearson_upper
from surefoot.table.rollouts import Rollouts, a_table

if TYPE_CHECKING:
    import polars as pl


Saturated = Literal["passes", "fails"]
SHOWN = 10
"""So many items of a kind are printed; all are in the table."""


@dataclass(frozen=True, slots=True)
class Item(Record):
    """What the rollouts of all policies say of one item.

    Attributes:
        name: The item, with its settings.
        tally: Successes and rollouts of all policies together.
        policies: How many policies met it.
        saturated: "passes" where every rollout succeeded, "fails" where none did, None otherwise.
        disagreements: Pairs of repeats of one policy that disagree, and all such pairs.
        discrimination: Correlation over policies of the item's rate with the rate on the other items; None below three
            policies or where either does not vary.
        flaky: The p-value of "its repeats disagree no more than those of other items", after all items.
        suspicious: The p-value of "no stronger policy passes it less often than a weaker one", after all items.
    """

    name: str
    tally: Tally
    policies: int
    saturated: Saturated | None
    disagreements: tuple[int, int]
    discrimination: float | None
    flaky: float
    suspicious: float


@dataclass(frozen=True, slots=True)
class Items(Worded):
    """Every item of a table, and which of them are saturated, flaky or suspicious.

    Attributes:
        items: All items, by name.
        unit: What the table calls an item.
        policies: The policies that met them.
        rollouts: Rollouts in all.
        confidence: One minus the chance that any item is called flaky or suspicious wrongly.
        repeated: Whether a policy was run again on an item; nothing can be flaky otherwise.
    """

    items: tuple[Item, ...]
    unit: str
    policies: tuple[str, ...]
    rollouts: int
    confidence: float
    repeated: bool

    @property
    def always_pass(self) -> tuple[Item, ...]:
        """Items that every rollout passed."""
        return tuple(item for item in self.items if item.saturated == "passes")

    @property
    def always_fail(self) -> tuple[Item, ...]:
        """Items that no rollout passed."""
        return tuple(item for item in self.items if item.saturated == "fails")

    @property
    def flaky(self) -> tuple[Item, ...]:
        """Items whose repeats disagree more than elsewhere, the surest first."""
        return self._shown("flaky")

    @property
    def suspicious(self) -> tuple[Item, ...]:
        """Items that stronger policies pass less often than weaker ones, the surest first."""
        return self._shown("suspicious")

    def _shown(self, kind: Literal["flaky", "suspicious"]) -> tuple[Item, ...]:
        level = 1.0 - self.confidence
        return tuple(
            sorted((one for one in self.items if getattr(one, kind) <= level), key=lambda one: getattr(one, kind))
        )

    def table(self) -> pl.DataFrame:
        """A row for each item."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    self.unit: one.name, "rollouts": one.tally.trials, "successes": one.tally.successes,
                    "policies": one.policies, "saturated": one.saturated,
                    "disagreeing_pairs": one.disagreements[0], "pairs_of_repeats": one.disagreements[1],
                    "discrimination": one.discrimination, "p_flaky": one.flaky, "p_suspicious": one.suspicious,
                }
                for one in self.items
            ],
            schema_overrides={"saturated": pl.String, "discrimination": pl.Float64},
        )  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The answer, a line for each thing it says."""
        level, words = formatting.percent(self.confidence), self.words
        counts = (
            f"{len(self.items):,} levels of {self.unit}, {self.rollouts:,} {words.rollouts} of "
            f"{len(self.policies):,} {words.policies}"
        )
        lines = [f"{counts}; {level} that nothing is called flaky or suspicious wrongly."]
        for items, always, other in ((self.always_pass, "pass", "fail"), (self.always_fail, "fail", "pass")):
            if items:
                least = min(items, key=lambda one: one.tally.trials)
                most = clopper_pearson_upper(Tally(0, least.tally.trials), confidence=self.confidence).value
                bound = formatting.percent(round(most, 3), "up")
                lines.append(
                    f"{len(items):,} always {always}: {_names(items)}. They tell no two {words.policies} apart. "
                    f"{least.name!r}, run {least.tally.trials:,} times, may {other} up to {bound} of the time."
                )
        rest = _share(self.items)
        lines += [
            f"Flaky: {one.name!r}: {one.disagreements[0]} of {one.disagreements[1]} pairs of repeats disagree, "
            f"{rest} over all; {formatting.p_value(one.flaky)} after all."
            for one in self.flaky[:SHOWN]
        ]
        lines += [
            f"Suspicious: {one.name!r}: stronger {words.policies} pass it less often than weaker ones; "
            f"{formatting.p_value(one.suspicious)} after all. Look at the item and its grader."
            for one in self.suspicious[:SHOWN]
        ]
        if not self.flaky:
            lines.append(
                "No item is shown to be flaky."
                if self.repeated
                else f"No {words.policy} was run twice on an item, so nothing can be shown to be flaky."
            )
        if not self.suspicious:
            lines.append("No item is shown to be suspicious.")
        telling = sorted(
            (one for one in self.items if one.discrimination is not None), key=lambda one: -(one.discrimination or 0.0)
        )
        if telling:
            lines.append(f"They tell {words.policies} apart best (no error is promised): {_names(telling[:5])}.")
        return lines


@reads_frames
@in_its_words
def items(rollouts: Rollouts, *, unit: str | None = None, confidence: float = 0.95) -> Items:
    """Saturated, flaky and suspicious items of a table of successes, at one error for all.

    Repeats of a policy on an item are taken in pairs, in the order of the rows; an item is flaky if its pairs disagree
    more often than those of the other items (Fisher's test within policies). It is suspicious if the stronger half of
    the policies, by the other items, passes it less often than the weaker half. Holm over both tests of all items.

    Args:
        rollouts: The table.
        unit: The column that tells items apart; found from the shape of the table when not said.
        confidence: One minus the chance that any item is called flaky or suspicious wrongly.

    Assumptions:
        Independent rollouts; see `stats.items` for what is proved.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> rows = [(p, f"q{i}", t, int(i % 4 > 0)) for p in "ab" for i in range(20) for t in range(4)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["model", "question", "epoch", "success"], orient="row"))
        >>> found = sf.items(table)
        >>> len(found.always_pass), len(found.always_fail), found.flaky
        (15, 5, ())
    """
    confidence = _check.confidence(confidence)
    table = a_table(rollouts).declare(unit=unit)
    column = table.design.unit_column
    if column is None:
        raise DataError("one column must tell items apart; none does. Say which: `unit`.", source=table.source)
    table.require("success")
    keys = [one.key for one in table.design.of("setting")] + [column.key]
    met = {group.key for group in table.summary(by=keys)}
    if len({key[-1] for key in met}) == len(met):
        keys = [column.key]  # what an item belongs to is no part of its name where its own name will do
    passed, tried, disagreed, paired, names, policies = counts(table, keys)
    adjusted = holm([*excess_p_values(disagreed, paired).tolist(), *reversal_p_values(passed, tried).tolist()])
    tells = _discriminations(passed, tried)
    made = tuple(
        Item(
            name=name,
            tally=Tally(int(passed[at].sum()), int(tried[at].sum())),
            policies=int((tried[at] > 0).sum()),
            saturated=_saturated(int(passed[at].sum()), int(tried[at].sum())),
            disagreements=(int(disagreed[at].sum()), int(paired[at].sum())),
            discrimination=tells[at],
            flaky=adjusted[at],
            suspicious=adjusted[len(names) + at],
        )
        for at, name in enumerate(names)
    )
    called = " / ".join(table.called(key) for key in keys)
    return Items(made, called, policies, int(tried.sum()), confidence, bool(paired.any()))


def counts(table: Rollouts, keys: Sequence[str]) -> tuple[Any, Any, Any, Any, list[str], tuple[str, ...]]:
    """Successes, rollouts, disagreeing pairs and pairs of every item (rows) and policy (columns); and their names."""
    import numpy as np
    import polars as pl

    from surefoot.table.normalising import home

    rows = home(table.in_order("policy", "success", *keys)).lazy().drop_nulls().collect()
    if not rows.height:
        raise DataError("some rollouts must name an item and an outcome; none does.", source=table.source)
    rows = rows.with_columns(pl.col("success").cast(pl.Int64), pl.concat_str(keys, separator=" / ").alias("item"))
    turn = pl.int_range(pl.len()).over("item", "policy")
    rows = rows.with_columns((turn // 2).alias("pair"))
    pairs = rows.group_by("item", "policy", "pair").agg(pl.col("success").sum().alias("won"), pl.len().alias("size"))
    cells = pairs.group_by("item", "policy").agg(
        pl.col("won").sum(),
        pl.col("size").sum(),
        ((pl.col("size") == 2) & (pl.col("won") == 1)).sum().alias("odd"),
        (pl.col("size") == 2).sum().alias("pairs"),
    )
    names, policies = sorted(cells["item"].unique().to_list()), tuple(sorted(cells["policy"].unique().to_list()))
    at = {name: place for place, name in enumerate(names)}
    of = {name: place for place, name in enumerate(policies)}
    row, column = [at[name] for name in cells["item"]], [of[name] for name in cells["policy"]]
    tables = []
    for kind in ("won", "size", "odd", "pairs"):
        each = np.zeros((len(names), len(policies)), dtype=np.int64)
        each[row, column] = cells[kind].to_numpy()
        tables.append(each)
    return tables[0], tables[1], tables[2], tables[3], names, policies


def _discriminations(passed: Any, tried: Any) -> list[float | None]:
    """The correlation over policies of each item's rate with the mean rate on the other items."""
    import numpy as np

    if passed.shape[1] < 3 or (tried == 0).any() or len(passed) < 2:
        return [None] * len(passed)
    rates = passed / tried
    rest = (rates.sum(axis=0) - rates) / (len(rates) - 1)
    own, others = rates - rates.mean(axis=1, keepdims=True), rest - rest.mean(axis=1, keepdims=True)
    spread = np.sqrt((own**2).sum(axis=1) * (others**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (own * others).sum(axis=1) / spread
    return [float(value) if scale > 1e-12 else None for value, scale in zip(found, spread, strict=True)]


def _saturated(successes: int, trials: int) -> Saturated | None:
    if successes == trials:
        return "passes"
    return "fails" if successes == 0 else None


def _share(every: Sequence[Item]) -> str:
    odd, pairs = (sum(one.disagreements[place] for one in every) for place in (0, 1))
    return f"{100 * odd / pairs:.1f}%" if pairs else "none"


def _names(every: Sequence[Item]) -> str:
    return formatting.some_names([one.name for one in every])


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
        >>> from surefoot.analysis.items import draw_items
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
