"""What changed since the previous run, benchmark by benchmark: gains, items that flipped, cost and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import Comparison, chosen, family, family_level, plain_comparison
from surefoot.analysis.fronts import twice_the_largest
from surefoot.analysis.need_evidence import Asker, NotComparableError, seen, table_of
from surefoot.analysis.needs import Need
from surefoot.analysis.outlook import outlook
from surefoot.analysis.slice_tables import SMALLEST, Looked, SliceTable, slice_table
from surefoot.analysis.slice_tests import looked_at
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import read
from surefoot.table.columns import plain
from surefoot.table.rollouts import Measure, Rollouts, a_table

NOW, BEFORE = "now", "previous run"


@in_its_words
def change(
    rollouts: Rollouts,
    previous: Rollouts,
    *,
    measure: Measure | None = None,
    paired: bool | None = None,
    weights: Weights = "units",
    names: tuple[str, str] = (NOW, BEFORE),
    confidence: float = 0.95,
    margin: float = 0.0,
    gate: bool = False,
) -> tuple[Comparison, ...]:
    """Comparison of each policy with itself in the previous run, with one error for all.

    Rollouts are paired when both runs say in which environment each took place.

    Args:
        rollouts: The run now.
        previous: The run before; policies are the same when their names are.
        measure: "success" or "score"; success where the tables have it.
        paired: Whether to pair rollouts in the same environment; found out from the tables when not said.
        weights: "units", all alike; "settings", every level of a setting alike; or "rollouts".
        names: What the two runs are called.
        confidence: The confidence of all intervals and verdicts together.
        margin: A change that would not matter.
        gate: Whether to give the two one-sided bounds too that a gate judges by.

    Raises:
        DataError: No policy has outcomes in both runs, or the scores compared are on different ranges.
    """
    what = chosen(rollouts, measure)
    a_table(previous, "previous")
    known = [{group.key[0] for group in run.summary() if group.known(what)} for run in (rollouts, previous)]
    both = [name for name in rollouts.policies if name in known[0] & known[1]]
    if not both:
        raise DataError(
            f"the two runs must share {rollouts.words.a_policy} by name, with a {what} in both; they share none.",
            source=previous.source,
        )
    if what == "score" and (rollouts.low, rollouts.high) != (previous.low, previous.high):
        raise DataError("the two runs must use one range of scores; they do not.", source=previous.source)
    level = family_level(len(both), confidence, gate=gate)
    found = []
    for name in both:
        asked = Asked(both_runs(rollouts, previous, name, names, what), *_labels(name, names), what, weights)
        one = plain_comparison(asked, paired=paired, margin=margin, **level)
        found.append(replace(one, policy=name, outlook=outlook(one, most=rollouts.high - rollouts.low)))
    return family(found, confidence)


def both_runs(rollouts: Rollouts, previous: Rollouts, name: str, names: tuple[str, str], what: Measure) -> Rollouts:
    """One policy's two runs as one table, in which each run is a policy of its own."""
    import polars as pl

    frames = [
        run.where(policy=name).polars().with_columns(pl.lit(label).alias("policy"))
        for run, label in zip((rollouts, previous), _labels(name, names), strict=True)
    ]
    both = pl.concat(frames, how="diagonal_relaxed")
    if what == "success":  # scores may be on ranges of their own
        both = both.drop("score", strict=False)
    return replace(
        read(both, low=rollouts.low, high=rollouts.high),
        named=rollouts.named,
        words=rollouts.words,
        source=rollouts.source,
        labelling=rollouts.labelling,
    )


def _labels(name: str, names: tuple[str, str]) -> tuple[str, str]:
    return f"{name} ({names[0]})", f"{name} ({names[1]})"


@dataclass(frozen=True, slots=True)
class Flips(Record):
    """The pairs in which the two policies differ, by name; the greatest difference first.

    Attributes:
        lost: Where the second did better than the first.
        won: Where the first did better.
        pairs: How many pairs were looked at.
    """

    lost: tuple[str, ...]
    won: tuple[str, ...]
    pairs: int


def flips(
    rollouts: Rollouts, first: str, second: str, *, measure: Measure = "success", on: Sequence[str] | None = None
) -> Flips | None:
    """The items that differ between two policies; None where nothing tells which rollouts belong together.

    Args:
        rollouts: The table.
        first: The policy that lost or won.
        second: The policy it is compared with.
        measure: What was compared.
        on: The columns that the user said tell which belong together; found out from the table when not said.
    """
    if on is None and not rollouts.pairing(first, second, measure=measure):
        return None
    pairs = rollouts.pairs(first, second, on=on, measure=measure)
    values = pairs.values(measure)
    labels = pairs.labels(pairs.on, measure)
    telling = [at for at in range(len(pairs.on)) if len({label[at] for label in labels}) > 1]
    alone = [at for at in telling if pairs.on[at] in rollouts.design.keys("unit")]
    if alone and len({tuple(label[at] for at in alone) for label in labels}) == len(labels):
        telling = alone  # what an item belongs to is no part of its name where the item's own name will do
    named = [
        (" / ".join(str(label[at]) for at in telling), one - two)
        for label, (one, two) in zip(labels, values, strict=True)
    ]
    return Flips(
        tuple(name for name, gap in sorted(named, key=lambda each: each[1]) if gap < 0.0),
        tuple(name for name, gap in sorted(named, key=lambda each: -each[1]) if gap > 0.0),
        len(named),
    )


LESS_IS_BETTER = frozenset(
    (
        *("cost", "costs", "price", "usd", "tokens", "latency", "duration", "time", "seconds", "elapsed", "steps"),
        *("turns", "messages", "retries", "collisions", "interventions", "errors", "calls"),
    )
)
"""Words in a column's name that say that less of it is better."""
FLIPPED = 40
"""For so many of the worst rows it is told which items flipped."""
ORDER = {Verdict.WORSE: 0, Verdict.UNDECIDED: 1, Verdict.SAME: 1, Verdict.BETTER: 2}


@dataclass(frozen=True, slots=True)
class Row(Record):
    """One benchmark, category, or both: what changed there.

    Attributes:
        where: The columns and their levels.
        rollouts: Rollouts now and before.
        sums: Their successes, or sums of scores.
        gain: The gain with its interval, all rows holding together.
        verdict: What is shown, at one error for all rows.
        p_value: The p-value of the verdict, or the smaller of the two, after all rows.
        flipped: The items that flipped; None where they are not told, or nothing is paired.
    """

    where: tuple[tuple[str, str], ...]
    rollouts: tuple[int, int]
    sums: tuple[float, float]
    gain: Interval
    verdict: Verdict
    p_value: float
    flipped: Flips | None = None

    @property
    def name(self) -> str:
        """The levels in a word: ``gsm8k, geometry``."""
        return ", ".join(level for _, level in self.where)

    @property
    def rates(self) -> tuple[float, float]:
        """The rates or means now and before."""
        return self.sums[0] / self.rollouts[0], self.sums[1] / self.rollouts[1]


@dataclass(frozen=True, slots=True)
class Price(Record):
    """A measure of which less is better: its mean now, per its mean before.

    Attributes:
        measure: The column.
        now: The mean now.
        before: The mean before.
        ratio: The ratio of the two.
        low: Its lower bound, at one error for all such measures.
        high: Its upper bound.
        verdict: BETTER where it was shown to be less.
        dominates: Whether less of it was shown, and the outcome not to be worse by the margin.
    """

    measure: str
    now: float
    before: float
    ratio: float
    low: float
    high: float
    verdict: Verdict
    dominates: bool


@dataclass(frozen=True, slots=True)
class Regression(Record):
    """What changed in one policy since the previous run.

    Attributes:
        overall: The comparison over everything.
        rows: Every level of the columns and every pair of levels, the worst first.
        columns: The columns whose levels are rows.
        prices: Cost, tokens, latency, steps: all measures of which less is better.
        flipped: The items that flipped; None where rollouts are not paired.
        confidence: One minus the chance that any row says better or worse wrongly; the same for the prices.
        names: What the two runs are called.
        surest: The name of the row that is most surely worse; empty where none is.
        notes: What a reader must know besides.
        words: What the table calls policies and rollouts.
    """

    overall: Comparison
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    prices: tuple[Price, ...]
    flipped: Flips | None
    confidence: float
    names: tuple[str, str]
    surest: str = ""
    notes: tuple[str, ...] = ()
    words: Words = USUAL

    @property
    def culprit(self) -> Row | None:
        """The row that is most surely worse, the finest of those that are equally sure."""
        return next((row for row in self.rows if row.name == self.surest), None)

    def worse(self) -> tuple[Row, ...]:
        """The rows that were shown to be worse."""
        return tuple(row for row in self.rows if row.verdict is Verdict.WORSE)

    def __str__(self) -> str:
        row = self.culprit
        if row is None:
            return f"No {' or '.join(self.columns) or 'part'} is shown to be worse."
        ends = row.gain
        return f"Worse in {row.name}: {formatting.estimate(ends.estimate, ends.low, ends.high, ends.scale)}."


@in_its_words
def regression(
    rollouts: Rollouts,
    previous: Rollouts,
    overall: Comparison,
    *,
    names: tuple[str, str],
    by: Sequence[str] = (),
    weights: Weights = "units",
    confidence: float = 0.95,
) -> Regression:
    """Gains of every benchmark and category against the previous run at one error, and the ratios of costs at another.

    Rows are the slices of `surefoot.slices`: labels are exchanged inside pairs, and a row is called worse or better
    only if hardly any exchange shows as much in any row.

    Args:
        rollouts: The run now.
        previous: The run before.
        overall: The comparison of the two over everything, as `change` makes it.
        names: What the two runs are called.
        by: The columns whose levels are rows; settings and units of few levels when not said.
        weights: How units weigh, as for `compare`.
        confidence: One minus the chance that any row is wrong; the same for the ratios.
    """
    confidence = _check.confidence(confidence)
    both = both_runs(rollouts, previous, str(overall.policy), names, overall.measure)
    asked = Asked(both, overall.first, overall.second, overall.measure, weights)
    cut = _cut(asked, by)
    found = None if cut is None else looked_at(cut, ways=2, smallest=SMALLEST, confidence=confidence,
                                               claim="both", dealt=False)  # fmt: skip
    rows = [] if found is None else _rows(found, confidence)
    surest = ""
    if found is not None:
        worse = {tuple(row.where) for row in rows if row.verdict is Verdict.WORSE}
        surest = next((_name(found, place) for place in found.order if found.names[place].parts in worse), "")
    rows.sort(key=lambda row: (ORDER[row.verdict], row.gain.estimate, row.name))
    rows = [replace(row, flipped=_flips(asked, row)) if at < FLIPPED else row for at, row in enumerate(rows)]
    whole = both_runs(rollouts, previous, str(overall.policy), names, "score")  # with every column that is measured
    prices, notes = _prices(whole, overall, confidence)
    return Regression(
        overall=overall,
        rows=tuple(rows),
        columns=() if cut is None else tuple(map(cut.called, cut.factors)),
        prices=prices,
        flipped=flips(both, overall.first, overall.second, measure=overall.measure),
        confidence=confidence,
        names=names,
        surest=surest,
        notes=notes,
        words=rollouts.words,
    )


def _cut(asked: Asked, by: Sequence[str]) -> SliceTable | None:
    """The table by settings and units of few levels, or by the columns that are named; None where there are none."""
    if by:
        return slice_table(asked, tuple(by))
    design = asked.rollouts.design
    met = {*design.keys("setting"), *design.keys("unit")}
    try:
        cut = slice_table(asked, ())
    except DataError:
        return None
    factors = tuple(key for key in cut.factors if key in met)
    return replace(cut, factors=factors) if factors else None


def _name(found: Looked, place: int) -> str:
    return ", ".join(level for _, level in found.names[place].parts)


def _rows(found: Looked, confidence: float) -> list[Row]:
    """Every slice with its interval; an interval never contradicts the verdict."""
    rows = []
    for place, name in enumerate(found.names):
        verdict, ends = found.tests.verdicts[place], found.interval(place)
        low, high = ends.low, ends.high
        if verdict is not Verdict.BETTER:
            low = min(low, 0.0)
        if verdict is not Verdict.WORSE:
            high = max(high, 0.0)
        low, high = (low, min(high, 0.0)) if verdict is Verdict.WORSE else (low, high)
        low, high = (max(low, 0.0), high) if verdict is Verdict.BETTER else (low, high)
        p = {Verdict.WORSE: found.tests.worse[place], Verdict.BETTER: found.tests.better[place]}
        gain = replace(ends, low=low, high=high, confidence=confidence)
        rows.append(
            Row(name.parts, found.sizes[place], found.sums[place], gain, verdict, p.get(verdict, min(p.values())))
        )
    return rows


def _flips(asked: Asked, row: Row) -> Flips | None:
    part = asked.rollouts.where(**{asked.rollouts.key(column): level for column, level in row.where})
    return flips(replace(part, declared=asked.rollouts.design_roles()), asked.first, asked.second,
                 measure=asked.measure)  # fmt: skip


def _prices(both: Rollouts, overall: Comparison, confidence: float) -> tuple[tuple[Price, ...], tuple[str, ...]]:
    """The measures of which less is better, each as a ratio of means; one error for all."""
    names = [name for name in both.columns if _is_price(both, name) and name != overall.measure]
    found, notes = [], []
    for name in names:
        who = Asker(overall.first, overall.second, (1.0 - confidence) / (2.0 * len(names)))
        try:
            limit = twice_the_largest(both, both.called(name), (overall.first, overall.second))
            need = Need(measure=both.called(name), at_most_times=1.0, limit=limit)
            table, kind = table_of(both, need, who)
            made = seen(table, need, kind, who, None)
            means = table.summary(by=("policy",))
        except (DataError, NotComparableError) as error:
            notes.append(f"{both.called(name)}: not compared. {f'{error}'.removeprefix(f'{both.source}: ')}")
            continue
        mean = {group.key[0]: group.mean for group in means}
        less, more = made.ends[1] < 1.0, made.ends[0] > 1.0
        verdict = Verdict.BETTER if less else Verdict.WORSE if more else Verdict.UNDECIDED
        held = overall.comparable and overall.interval.low > -overall.gain.margin
        found.append(
            Price(both.called(name), float(mean[overall.first] or 0.0), float(mean[overall.second] or 0.0),
                  made.estimate, *made.ends, verdict, less and held)
        )  # fmt: skip
    return tuple(found), tuple(notes)


def _is_price(both: Rollouts, name: str) -> bool:
    """Whether a column holds numbers of which less is better, by its name; numbering and times of day are none."""
    words = plain(both.called(name)).split("_")
    return bool(LESS_IS_BETTER.intersection(words)) and not {"start", "started", "end", "ended", "at", "limit"} & {
        *words
    }
