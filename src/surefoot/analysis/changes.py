"""What changed since the previous run?"""

from __future__ import annotations

from dataclasses import replace

from surefoot import _check
from surefoot.analysis.comparisons import Comparison, chosen, compare, family_member
from surefoot.analysis.measures import Measure
from surefoot.errors import DataError
from surefoot.rollouts.reading import read
from surefoot.rollouts.table import Rollouts, a_table

NOW, BEFORE = "now", "previous run"


def change(
    rollouts: Rollouts,
    previous: Rollouts,
    *,
    measure: Measure | None = None,
    confidence: float = 0.95,
    margin: float = 0.0,
) -> tuple[Comparison, ...]:
    """Which policies got better or worse since the previous run, with no false one among them?

    Rollouts are paired when both runs say in which environment each took place.

    Args:
        rollouts: The run now.
        previous: The run before; policies are the same when their names are.
        measure: "success" or "score"; success where the tables have it.
        confidence: The confidence of all intervals and verdicts together.
        margin: A change that would not matter.

    Raises:
        DataError: No policy has outcomes in both runs, or the scores compared are on different ranges.
    """
    what = chosen(rollouts, measure)
    a_table(previous, "previous")
    known = [{group.key[0] for group in run.summary() if group.known(what)} for run in (rollouts, previous)]
    both = [name for name in rollouts.policies if name in known[0] & known[1]]
    if not both:
        raise DataError(
            f"the two runs must share a policy by name, with a {what} in both; they share none.",
            source=previous.source or None,
        )
    if what == "score" and (rollouts.low, rollouts.high) != (previous.low, previous.high):
        raise DataError("the two runs must use one range of scores; they do not.", source=previous.source or None)
    share = 1.0 - (1.0 - _check.confidence(confidence)) / len(both)
    found = []
    for name in both:
        both_runs = _together(rollouts, previous, name, what)
        one = compare(both_runs, NOW, BEFORE, measure=what, confidence=share, margin=margin)
        found.append(family_member(_named(one, name), len(both), confidence))
    return tuple(found)


def _together(rollouts: Rollouts, previous: Rollouts, name: str, what: Measure) -> Rollouts:
    import polars as pl

    frames = [
        run.where(policy=name).polars().with_columns(pl.lit(label).alias("policy"))
        for run, label in ((rollouts, NOW), (previous, BEFORE))
    ]
    both = pl.concat(frames, how="diagonal_relaxed")
    if what == "success":  # scores may be on ranges of their own
        both = both.drop("score", strict=False)
    return read(both, low=rollouts.low, high=rollouts.high)


def _named(one: Comparison, name: str) -> Comparison:
    return replace(one, first=f"{name} ({NOW})", second=f"{name} ({BEFORE})")
