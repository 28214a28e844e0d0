"""Simultaneous intervals for the rates and mean scores of the policies of a table, and the bias of the highest.

Rows that stand beside one another are compared, so their intervals hold together: whichever row is picked, by any rule,
its interval holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from surefoot import stats
from surefoot.analysis.comparison_data import Weights
from surefoot.analysis.comparisons import alone
from surefoot.analysis.judge_corrections import Correction, human_corrections
from surefoot.analysis.labelled_comparisons import corrected_alone
from surefoot.analysis.measurements import MEASURED, Measurement, measure
from surefoot.core.interval import Interval
from surefoot.core.tally import Tally
from surefoot.stats.rankings import Ranking
from surefoot.stats.selection import SelectionBias, held_together, selection_bias, simultaneous_confidence
from surefoot.table.coverage import coverage
from surefoot.table.design import MANY
from surefoot.table.rollouts import Measure, Rollouts

MOST_COMPARED = 200
"""The bias of the highest is computed for so many policies at most; it takes a second."""


def independent(rollouts: Rollouts) -> bool:
    """Whether nothing in the table is shared between policies but few units, met again by each on its own."""
    design = rollouts.design
    return design.units < MANY and not design.cluster and not (design.unit is not None and coverage(rollouts).once)


def with_rows(ranking: Ranking, rollouts: Rollouts, *, weights: Weights = "units", own: bool = False) -> Ranking:
    """A ranking with an interval for every policy, all holding together or each by itself, and the highest's bias."""
    what: Measure = "score" if ranking.measure == "score" else "success"
    apart, count = independent(rollouts), len(ranking.names)
    each = ranking.confidence if own else simultaneous_confidence(count, ranking.confidence, independent=apart)
    found = {name: alone(rollouts, name, what, each, weights) for name in ranking.names}
    if not own:
        found = {name: guaranteed(one) for name, one in found.items()}
    found = corrected_alone(rollouts, what, found)
    if not own:
        found = _together(found, ranking.confidence, apart)
    bias = highest_bias(rollouts, what, ranking.names)
    return replace(ranking, intervals=tuple(found.values()), own_intervals=own, selection=bias)


def measure_together(
    rollouts: Rollouts, *, weights: Weights = "units", confidence: float = 0.95
) -> tuple[Measurement, ...]:
    """Each policy's success rate and mean score, the intervals of all policies holding together, for each of the two.

    With one policy these are its own intervals.
    """
    apart, made = independent(rollouts), dict[str, Measurement]()
    for what in MEASURED:
        known = sum(group.known(what) > 0 for group in rollouts.summary())
        each = simultaneous_confidence(known, confidence, independent=apart)
        found = measure(rollouts, only=what, weights=weights, confidence=each)
        shown = {one.policy: of for one in found if (of := one.of(what)) is not None}
        if known > 1:
            shown = _together({name: guaranteed(of) for name, of in shown.items()}, confidence, apart)
        for one in found:
            ends: dict[str, Any] = {what: shown.get(one.policy)}
            made[one.policy] = replace(made.get(one.policy, one), **ends)
    return tuple(made.values())


def corrections_together(rollouts: Rollouts, what: Measure, confidence: float) -> tuple[Correction, ...]:
    """Each policy's rate corrected for the judge's errors, all intervals holding together."""
    apart = independent(rollouts)
    count = len(human_corrections(rollouts, measure=what, confidence=confidence)) if rollouts.labels else 0
    each = simultaneous_confidence(count, confidence, independent=apart)
    found = human_corrections(rollouts, measure=what, confidence=each)
    return tuple(
        replace(
            one,
            judged=held_together(
                guaranteed(one.judged) if count > 1 else one.judged, count, confidence, independent=apart
            ),
            interval=held_together(one.interval, count, confidence, independent=apart),
        )
        for one in found
    )


def highest_bias(rollouts: Rollouts, what: Measure, names: Sequence[str]) -> SelectionBias | None:
    """By how much the highest rate is too high on average; None but for independent successes of one task."""
    if what != "success" or not independent(rollouts) or rollouts.labels or len(rollouts.tasks) > 1:
        return None
    known = {str(group.key[0]): group.tally for group in rollouts.summary() if group.known(what)}
    tallies = {name: known[name] for name in names}
    return selection_bias(tallies) if 2 <= len(tallies) <= MOST_COMPARED else None


def _together(found: Mapping[str, Interval], confidence: float, apart: bool) -> dict[str, Interval]:
    return {name: held_together(one, len(found), confidence, independent=apart) for name, one in found.items()}


def guaranteed(found: Interval) -> Interval:
    """Clopper-Pearson's interval where one tally made it, in place of one whose coverage is only nearly promised."""
    if len(found.data) != 1 or not isinstance(found.data[0], Tally):
        return found
    return replace(stats.clopper_pearson(found.data[0], confidence=found.confidence), notes=found.notes)
