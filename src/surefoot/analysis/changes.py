"""Comparison of a run with the previous one."""

from __future__ import annotations

from dataclasses import replace

from surefoot.analysis.comparison_data import Asked, Weights
from surefoot.analysis.comparisons import Comparison, chosen, family, family_level, plain_comparison
from surefoot.analysis.outlook import outlook
from surefoot.core.words import in_its_words
from surefoot.errors import DataError
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
