"""What to buy next for a comparison: more units, more rollouts of those there are, or more labels by people."""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot import _check
from surefoot.analysis.comparison_data import Asked
from surefoot.analysis.comparisons import Comparison, chosen, compare
from surefoot.analysis.pilots import FEWEST
from surefoot.analysis.targets import rows
from surefoot.core import formatting
from surefoot.core.record import Record
from surefoot.core.words import Worded, Words, in_its_words
from surefoot.errors import DataError
from surefoot.files.reading import reads_frames
from surefoot.stats.judge_corrected_gains import CorrectedGain
from surefoot.stats.labelling import DECIDES, half_width_after
from surefoot.table.rollouts import Measure, Rollouts


@dataclass(frozen=True, slots=True)
class Purchase(Record):
    """One way to spend the budget, and how narrow it would make the interval.

    Attributes:
        units: Units that both policies have met then.
        repeats: Rollouts of each policy on a unit, on average.
        rollouts: Rollouts of both policies that are bought.
        half_width: Half the width that the interval of the gain would have.
        says: What is bought, in words.
        labels: Units that people label for it, for both policies.
    """

    units: int
    repeats: float
    rollouts: int
    half_width: float
    says: str
    labels: int = 0


@dataclass(frozen=True, slots=True)
class NextPlan(Worded):
    """What a budget would buy for a comparison, the narrowest interval first.

    Attributes:
        first: The first policy.
        second: The second policy.
        budget: Rollouts of both policies together.
        purchases: The ways to spend it, the narrowest interval first.
        half_width: Half the width of the interval now.
        estimate: The gain now.
        between: The share of the variance that more units alone reduce; the rest, more rollouts of each reduce too.
        scale: The unit of the gain.
        unit: What the table calls a unit.
        notes: What a reader must know besides.
    """

    first: str
    second: str
    budget: int
    purchases: tuple[Purchase, ...]
    half_width: float
    estimate: float
    between: float
    scale: formatting.Scale
    unit: str
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Purchase:
        """The purchase with the narrowest interval."""
        return self.purchases[0]

    def __str__(self) -> str:
        now = f"{self._width(self.half_width)} now"
        lines = [f"{self.first} - {self.second}: {now}. {self.budget:,} more {self.words.rollouts} would make it:"]
        widest = max(one.half_width for one in self.purchases)
        widths = [self._width(one.half_width) for one in self.purchases]
        gains = [self._width(one.half_width / DECIDES)[1:] for one in self.purchases]
        long, last = max(map(len, widths)), max(map(len, gains))
        for width, gain, one in zip(widths, gains, self.purchases, strict=True):
            bar = "█" * max(1, round(WIDEST * one.half_width / widest))
            lines.append(f"  {width:>{long}} {bar:<{WIDEST}} finds {gain:>{last}} in 80%: {one.says}")
        lines.append(f"Buy {self.best.says}.")
        if not self.notes:
            share = f"{100 * self.between:.0f}% of the variance lies between levels of {self.unit}"
            lines.append(f"{share}; more {self.words.rollouts} of the same reduce only the rest.")
        return "\n".join([*lines, *self.notes])

    def _width(self, half: float) -> str:
        return f"±{formatting.number(half, self.scale).lstrip('+')}{formatting.unit(self.scale)}"


WIDEST = 12
"""Characters of the bar of the widest interval."""


@reads_frames
@in_its_words
def plan_next(
    rollouts: Rollouts,
    first: str,
    second: str,
    *,
    budget: int,
    measure: Measure | None = None,
    label_price: float = 1.0,
    confidence: float = 0.95,
) -> NextPlan:
    """Half-widths of the interval of a gain after more units, rollouts of each or labels, from variance components.

    The variance of the gain on units like these is split into what rollouts of one unit vary by and the rest, which
    only more units reduce. Each purchase changes the two parts; the interval of `compare` is scaled with them. Where
    people have labelled some units and a judge all, the parts are the people's and the judge's.

    Args:
        rollouts: The table.
        first: The first policy.
        second: The second policy.
        budget: Rollouts to buy, of both policies together.
        measure: "success" or "score"; success where the table has it.
        label_price: What a label by a person costs, in rollouts.
        confidence: The confidence of the interval.

    Assumptions:
        New units are drawn as those in the table were, in clusters of their own where there are clusters, and vary as
        they do. Approximate: the parts are estimated from the table.

    Example:
        >>> import polars as pl
        >>> import surefoot as sf
        >>> won = lambda p, u, t: int((7 * u + 3 * t + (p == "new")) % 10 < 5 + u % 4)
        >>> rows = [(p, f"task {u}", t, won(p, u, t)) for p in ("new", "old") for u in range(30) for t in range(4)]
        >>> table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "trial", "success"], orient="row"))
        >>> [one.units for one in sf.plan_next(table, "new", "old", budget=240).purchases]
        [60, 30, 150]
    """
    budget, what = _check.whole(budget, "budget", least=2), chosen(rollouts, measure)
    found = compare(rollouts, first, second, measure=what, target="like", confidence=confidence)
    keys = found.reading.design.keys("unit")
    if not keys or not found.reading.paired:
        raise DataError("both policies must have met the same units; they have not.", source=rollouts.source)
    units, noise, repeats = _parts(Asked(rollouts, first, second, what), keys[0])
    if units < FEWEST:
        raise DataError(f"there must be {FEWEST} units or more; got {units}.", source=rollouts.source)
    if found.refused is not None:
        raise DataError(f"{found.refused}", source=rollouts.source)
    if found.judged is not None and found.judged.found is not None:
        price, (low, high) = _check.positive(label_price, "label_price"), rollouts.ends(what)
        return _labelled(found, found.judged.found, rollouts, keys[0], repeats, budget, price, high - low)
    half = (found.interval.high - found.interval.low) / 2.0
    groups = found.reading.groups if found.reading.design.cluster else units
    variance = (half / _reach(groups, confidence)) ** 2
    within = (noise or 0.0) / (repeats * units)
    between = max(0.0, variance - within)

    def bought(says: str, more: int = 0, times: float = 1.0, added: float = 0.0) -> Purchase:
        """So many more units, each run so many times, and so many more rollouts of each unit that is there."""
        total = units + more
        each = (noise or 0.0) * (units / (repeats + added) + more / times) / total**2
        width = _reach(groups * total / units, confidence) * math.sqrt(between * units / total + each)
        run = units * (repeats + added) + more * times
        return Purchase(total, round(run / total, 9), 2 * round(more * times + units * added), width, says)

    words, called, every, apart = rollouts.words, rollouts.called(keys[0]), budget // 2, _clusters(found)
    plans, many, each = [], math.floor(every / repeats), f"of each {words.policy} on each"
    if many:
        plans.append(bought(f"{many:,} more levels of {called}{apart}, {_tries(repeats, words)} {each}", many, repeats))
    if repeats > 1.0:
        plans.append(bought(f"{every:,} more levels of {called}{apart}, one {words.rollout} {each}", every))
    if noise is not None:
        plans.append(bought(f"{every / units:.3g} more {words.rollouts} {each} {called}", added=every / units))
    if not plans:
        raise _check.wrong("budget", f"pay for one more level of {called}; {budget:,} {words.rollouts} do not.", budget)
    unknown = f"No {called} was run twice, so what more {words.rollouts} of each would add is not known."
    return NextPlan(
        first=first,
        second=second,
        budget=budget,
        purchases=tuple(sorted(plans, key=lambda one: one.half_width)),
        half_width=half,
        estimate=found.interval.estimate,
        between=between / (between + within) if noise else 1.0,
        scale=found.interval.scale,
        unit=called,
        notes=(unknown,) if noise is None else (),
    )


def _labelled(
    found: Comparison,
    judged: CorrectedGain,
    rollouts: Rollouts,
    key: str,
    repeats: float,
    budget: int,
    price: float,
    span: float,
) -> NextPlan:
    """What the budget buys where a judge decides every unit and people labelled some: labels, units, or both."""
    words, called = rollouts.words, rollouts.called(key)
    each = 2.0 * repeats
    ways = [  # units, labels
        (0, min(judged.items - judged.labels, math.floor(budget / (2.0 * price)))),
        (math.floor(budget / each), 0),
        (both := math.floor(budget / (each + 2.0 * price)), both),
    ]
    plans = []
    for units, labels in ways:
        width = half_width_after(
            judged, judged.labels + labels, judged.items + units, confidence=found.gain.confidence, span=span
        )
        says = f"{units:,} more levels of {called}, {_tries(repeats, words)} of each {words.policy} on each"
        if not units:
            says = f"labels of {labels:,} more levels of {called}, for both {words.policies}"
        elif labels:
            says += ", all labelled"
        if units or labels:
            run = round(units * each)
            plans.append(Purchase(judged.items + units, repeats, run, width, says, labels))
    if not plans:
        raise _check.wrong("budget", f"pay for a label or one more level of {called}.", budget)
    many = words.rollout if price == 1.0 else words.rollouts
    one = f"A label is taken to cost as much as {price:g} {many}."
    return NextPlan(
        first=found.first,
        second=found.second,
        budget=budget,
        purchases=tuple(sorted(plans, key=lambda one: one.half_width)),
        half_width=judged.gain.interval.width / 2.0,
        estimate=judged.gain.estimate,
        between=1.0,
        scale=judged.gain.interval.scale,
        unit=called,
        notes=(f"{judged.labels:,} of {judged.items:,} levels of {called} are labelled. {one}",),
    )


def _clusters(found: Comparison) -> str:
    """Where new units must lie to be worth what is said of them."""
    return "".join(f", in new levels of {name}" for name in found.reading.design.cluster)


def _tries(repeats: float, words: Words) -> str:
    return f"one {words.rollout}" if repeats == 1.0 else f"{repeats:.3g} {words.rollouts}"


def _parts(asked: Asked, key: str) -> tuple[int, float | None, float]:
    """Units of both policies, the variance of the gain of one rollout of each on a unit, and the usual rollouts of it.

    The variance is None where no unit was run twice.
    """
    import polars as pl

    value = pl.col("value")
    sides = [
        rows(asked, name, [key]).group_by(key).agg(value.var().alias("var"), pl.len().alias("n"))
        for name in (asked.first, asked.second)
    ]
    met = sides[0].join(sides[1], on=key, how="inner")
    each = [met["var"].drop_nulls().to_list(), met["var_right"].drop_nulls().to_list()]
    noise = math.fsum(math.fsum(one) / len(one) for one in each) if all(each) else None
    shares = math.fsum(1.0 / count for side in ("n", "n_right") for count in met[side].to_list())
    return met.height, noise, round(2.0 * met.height / shares, 9) if met.height else 1.0


def _reach(groups: float, confidence: float) -> float:
    """How many standard errors a half-width is, by Student's t over so many groups."""
    from scipy.special import stdtrit

    return float(stdtrit(max(1.0, groups - 1.0), (1.0 + confidence) / 2.0))
