"""What human labels make of a comparison of a judge's outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.analysis.comparison_data import bounds_by
from surefoot.analysis.judge_corrections import corrections_of
from surefoot.analysis.judged_gains import judged_gain
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from surefoot.analysis.comparisons import Comparison
    from surefoot.analysis.judged_gains import JudgedGain
    from surefoot.core.interval import Interval
    from surefoot.table.rollouts import Measure, Rollouts

HOW = ("labels drawn", "labels declared random", "labels missing", "several raters")
"""Notes about all labels of a table, said once for a family."""


def by_labels(made: Comparison, rollouts: Rollouts, bounds_at: tuple[float, float] | None = None) -> Comparison:
    """The comparison corrected by human labels: they decide, and the judge's own gain stands below.

    Where labels exist but do not tell the gain there is no verdict. A pair without any labels stays the judge's, and
    says so.
    """

    def at(level: float) -> JudgedGain | None:
        margin = made.gain.margin
        return judged_gain(rollouts, made.first, made.second, measure=made.measure, confidence=level, margin=margin)

    judged = at(made.gain.confidence)
    if judged is None:
        return replace(made, notes=(*made.notes, Note("not corrected")))
    if made.weights == "settings" and judged.refused is None:
        judged = replace(judged, found=None, refused=Note("labels weigh items"), needed=None, notes=())
    alone = made.gain
    gain = judged.gain or replace(alone, verdict=Verdict.UNDECIDED)
    rates = corrections_of(rollouts, made.measure, made.of_first.confidence)
    own = {made.first: made.of_first, made.second: made.of_second}
    own |= {name: rates[name].interval for name in own if name in rates}
    if judged.rates:  # they subtract to the gain
        own |= dict(zip((made.first, made.second), judged.rates, strict=True))
    below = {"estimate": alone.estimate, "low": alone.interval.low, "high": alone.interval.high, "p": alone.p_value}
    needed = judged.needed
    enough = {} if needed is None else {"low": needed.low, "high": needed.high, "items": needed.items}
    bounds = None
    if bounds_at is not None and judged.gain is not None:
        bounds = bounds_by(lambda level: None if (wide := at(level)) is None else wide.gain, bounds_at)
    return replace(
        made,
        gain=gain,
        of_first=own[made.first],
        of_second=own[made.second],
        judged=judged,
        uncorrected=alone,
        bounds=bounds or (made.bounds if judged.refused is None else None),
        notes=(
            *([judged.refused] if judged.refused is not None else ()),
            *judged.notes,
            *([Note("labels needed", enough)] if enough else ()),
            Note("by the judge", {**below, "scale": alone.interval.scale}),
            *made.notes,
        ),
    )


def corrected_alone(rollouts: Rollouts, measure: Measure, own: Mapping[str, Interval]) -> dict[str, Interval]:
    """Each policy alone: by human labels where it carries some, otherwise by its own outcomes."""
    if not rollouts.labels or not own:
        return dict(own)
    known = corrections_of(rollouts, measure, next(iter(own.values())).confidence)
    return {name: known[name].interval if name in known else one for name, one in own.items()}


def label_lines(found: Sequence[Comparison]) -> list[str]:
    """What human labels did to a family of comparisons: how many they decide, and where and why they cannot."""
    judged = [one for one in found if one.judged is not None]
    if not judged:
        return []
    told = [one for one in judged if one.refused is None]
    many = f"{len(told):,} of the {len(found):,} pairs are" if len(found) > 1 else "The gain is"
    lines = [f"{many} corrected by human labels: verdicts, ranks and letters follow that."] if told else []
    for note in dict.fromkeys(note for one in told for note in one.notes if note.kind in HOW):
        lines.append(str(note))
    if any(one.judged is not None and one.judged.found is not None and not one.judged.found.guaranteed for one in told):
        lines.append("Approximate; measured coverage at least 93.5% at a confidence of 95%.")
    for one in told:
        needed = next((note for note in one.notes if note.kind == "labels needed"), None)
        if needed is not None and one.verdict is Verdict.UNDECIDED:  # the best two not told apart suffice
            lines.append(f"To tell {one.first} from {one.second}: {needed}")
            break
    return [*lines, *(f"{one.first} against {one.second}, no verdict: {one.refused}" for one in judged if one.refused)]
