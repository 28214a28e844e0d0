"""When nothing was decided: what could this comparison have seen, and how many rollouts would tell?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from surefoot import stats
from surefoot.core import words
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict
from surefoot.stats.sights import AT_MARGIN, NO_GAIN, rough_sight

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison

POWER = 0.8
MOST_OUTLOOKS = 12
"""For more tasks than this it is not worked out: it is a plan for each."""


def outlook(found: Comparison) -> str:
    """What this size could have seen and how many rollouts would tell; empty when something was decided."""
    if found.verdict is not Verdict.UNDECIDED or not found.comparable:
        return ""
    data = found.gain.data
    if data and all(isinstance(item, Tally | PairTally) for item in data) and len(data) <= 2:
        return str(stats.sight(found.gain, power=POWER))
    seen, times = rough_sight(found.gain, power=POWER)
    return f"{_seen(found, seen)} {_needed(found, times)}"


def _seen(found: Comparison, seen: float) -> str:
    scale, data = found.interval.scale, found.gain.data
    most = data[0].high - data[0].low if data and isinstance(data[0], Scores) and scale != "gain" else math.inf
    if seen >= (1.0 if scale == "gain" else most):
        return f"This size could not have shown any gain, however large, with {words.percent(POWER)} power."
    shown = words.number(seen, scale, "up").lstrip("+") + words.unit(scale)
    return f"This size could have shown a true gain of about {shown}, up or down, with {words.percent(POWER)} power."


def _needed(found: Comparison, times: float | None) -> str:
    size, margin = abs(found.interval.estimate), found.gain.margin
    if times is None:
        return AT_MARGIN if margin else NO_GAIN
    clustered = "cluster" in found.why
    if not clustered and found.gain.method.endswith("betting"):
        kind = "pairs" if found.why.startswith("Paired") else "rollouts of each policy"
        many = f"{math.ceil(times * found.interval.trials):,} {kind}"
    else:
        many = f"{times:.1f} times as many {'clusters' if clustered else 'rollouts'}"
    shown = "" if size > margin else " show the two the same within the margin"
    return f"About {many} would{shown}, if the observed gain is the true one."
