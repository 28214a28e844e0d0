"""Before the first rollout: how many?

`plan_rate` and `plan_bound` plan one success rate, `plan_band` and `plan_mean` a score, `plan_comparison`,
`plan_paired_comparison` and `plan_sequential` two policies, `plan_ranking` many; all are names of `surefoot` too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

if TYPE_CHECKING:
    from surefoot.planning.bands import BandPlan as BandPlan
    from surefoot.planning.bands import plan_band as plan_band
    from surefoot.planning.bounds import BoundPlan as BoundPlan
    from surefoot.planning.bounds import plan_bound as plan_bound
    from surefoot.planning.comparisons import ComparisonPlan as ComparisonPlan
    from surefoot.planning.comparisons import plan_comparison as plan_comparison
    from surefoot.planning.comparisons import plan_paired_comparison as plan_paired_comparison
    from surefoot.planning.means import MeanPlan as MeanPlan
    from surefoot.planning.means import plan_mean as plan_mean
    from surefoot.planning.rankings import RankingPlan as RankingPlan
    from surefoot.planning.rankings import plan_ranking as plan_ranking
    from surefoot.planning.rates import RatePlan as RatePlan
    from surefoot.planning.rates import plan_rate as plan_rate
    from surefoot.planning.sequential import SequentialPlan as SequentialPlan
    from surefoot.planning.sequential import plan_sequential as plan_sequential
    from surefoot.planning.units import UnitsPlan as UnitsPlan
    from surefoot.planning.units import plan_units as plan_units

_HOMES = _lazy.homes(__name__, __file__)
__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
