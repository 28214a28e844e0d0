"""surefoot: know where your policy stands, in the fewest rollouts.

Names are imported when they are first used, so that a command which needs little loads little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

__version__ = "0.1.0.dev0"

_HOMES = {
    "Band": "surefoot.core.bands",
    "Bound": "surefoot.core.interval",
    "Certified": "surefoot.core.certified",
    "DataError": "surefoot.errors",
    "Interval": "surefoot.core.interval",
    "PairTally": "surefoot.core.tally",
    "Rollouts": "surefoot.rollouts.table",
    "Scores": "surefoot.core.scores",
    "StudyError": "surefoot.errors",
    "SurefootError": "surefoot.errors",
    "Tally": "surefoot.core.tally",
    "Verdict": "surefoot.core.verdict",
    "plan_band": "surefoot.planning.bands",
    "plan_bound": "surefoot.planning.bounds",
    "plan_mean": "surefoot.planning.means",
    "plan_rate": "surefoot.planning.rates",
    "read": "surefoot.rollouts.reading",
    "sequential": "surefoot.sequential",
    "stats": "surefoot.stats",
}

if TYPE_CHECKING:
    from surefoot import sequential as sequential
    from surefoot import stats as stats
    from surefoot.core.bands import Band as Band
    from surefoot.core.certified import Certified as Certified
    from surefoot.core.interval import Bound as Bound
    from surefoot.core.interval import Interval as Interval
    from surefoot.core.scores import Scores as Scores
    from surefoot.core.tally import PairTally as PairTally
    from surefoot.core.tally import Tally as Tally
    from surefoot.core.verdict import Verdict as Verdict
    from surefoot.errors import DataError as DataError
    from surefoot.errors import StudyError as StudyError
    from surefoot.errors import SurefootError as SurefootError
    from surefoot.planning.bands import plan_band as plan_band
    from surefoot.planning.bounds import plan_bound as plan_bound
    from surefoot.planning.means import plan_mean as plan_mean
    from surefoot.planning.rates import plan_rate as plan_rate
    from surefoot.rollouts.reading import read as read
    from surefoot.rollouts.table import Rollouts as Rollouts

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
