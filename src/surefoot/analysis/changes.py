"""What changed between two runs: each policy against itself, and the items that it lost and won."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import Comparison, chosen, family, family_level, plain_comparison
from surefoot.analysis.levels import outlook
from surefoot.core.record import Record
from surefoot.core.words import in_its_words
from surefoot.errors import DataError
from surefoot.files.importers import told_apart
from surefoot.files.reading import read
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
    if all({"task", "condition"} <= set(frame.columns) for frame in frames):
        begins = pl.col("condition").str.starts_with(pl.col("task") + " ").any()
        apart = any(frame.select(begins).item() for frame in frames)  # one run may be of one task
        frames = [told_apart(frame.lazy(), several=apart).collect() for frame in frames]
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
