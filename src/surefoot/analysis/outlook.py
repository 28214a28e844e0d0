"""Minimum detectable gain of a comparison, and the rollouts that would decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison
    from surefoot.stats.detectable import Outlook, Unit

POWER = 0.8
MOST_OUTLOOKS = 12
"""For more tasks than this it is not worked out: it is a plan for each."""


def outlook(found: Comparison, *, most: float = 1.0) -> Outlook | None:
    """What this size could have shown and how many would tell; None when something was decided.

    Args:
        found: The comparison.
        most: The largest gain there can be, in the unit of the scores.
    """
    if found.verdict is not Verdict.UNDECIDED or not found.comparable or found.depends_on:
        return None
    if found.judged is not None:  # more labels, not more rollouts, make this surer: a note says how many
        return None
    from surefoot.stats import detectable

    gain, interval = found.gain, found.interval
    if len(gain.tallies) == 2:
        return detectable.outlook(gain, power=POWER)
    sizes, unit = _units(found)
    ahead = detectable.outlook_from(
        interval.estimate,
        max(interval.high - interval.estimate, interval.estimate - interval.low),
        sizes,
        unit=unit,
        scale=interval.scale,
        confidence=gain.confidence,
        margin=gain.margin,
        power=POWER,
        most=1.0 if interval.scale == "gain" else most,
        not_worse=gain.not_worse,
    )
    return replace(ahead, called=found.about.plural if unit != "rollouts" and found.about.column else "")


def _units(found: Comparison) -> tuple[tuple[int, ...], Unit]:
    """What is independent of one another, and how many there are."""
    made = found.reading
    if made.groups > 1:
        return (made.groups,), "clusters" if made.design.cluster else "environments"
    if made.paired and made.about.target == "like":
        return (made.units,), "pairs"
    return (max(1, found.of_first.trials), max(1, found.of_second.trials)), "rollouts"
