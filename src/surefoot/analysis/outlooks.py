"""When nothing was decided: what could this comparison have shown, and how many rollouts would tell?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from surefoot import stats
from surefoot.core.scores import Scores
from surefoot.core.tally import PairTally, Tally
from surefoot.core.verdict import Verdict

if TYPE_CHECKING:
    from surefoot.analysis.comparisons import Comparison

POWER = 0.8
MOST_OUTLOOKS = 12
"""For more tasks than this it is not worked out: it is a plan for each."""


def outlook(found: Comparison) -> str:
    """What this size could have shown and how many rollouts would tell; empty when something was decided."""
    if found.verdict is not Verdict.UNDECIDED or not found.comparable:
        return ""
    gain, interval, data = found.gain, found.interval, found.gain.data
    if data and all(isinstance(item, Tally | PairTally) for item in data) and len(data) <= 2:
        return str(stats.outlook(gain, power=POWER))
    scores = [item for item in data if isinstance(item, Scores)]
    most = 1.0 if interval.scale == "gain" else scores[0].high - scores[0].low if scores else math.inf
    ahead = stats.outlook_from(
        interval.estimate,
        max(interval.high - interval.estimate, interval.estimate - interval.low),
        (max(1, found.of_first.trials), max(1, found.of_second.trials)),
        unit="rollouts",
        scale=interval.scale,
        confidence=gain.confidence,
        margin=gain.margin,
        power=POWER,
        most=most,
        not_worse=gain.not_worse,
    )
    return str(ahead)
