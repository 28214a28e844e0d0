"""What changed since the previous run, benchmark by benchmark: gains, items that flipped, cost and speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.analysis.changes import Flips, both_runs, flips
from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import Comparison
from surefoot.analysis.fronts import twice_the_largest
from surefoot.analysis.need_evidence import Asker, NotComparableError, seen, table_of
from surefoot.analysis.needs import Need
from surefoot.analysis.slice_tables import SMALLEST, Looked, SliceTable, slice_table
from surefoot.analysis.slice_tests import looked_at
from surefoot.core import formatting
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.core.words import USUAL, Words, in_its_words
from surefoot.errors import DataError
from surefoot.table.columns import plain
from surefoot.table.rollouts import Rollouts

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
