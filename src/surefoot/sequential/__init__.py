"""Stop the moment the evidence is in: sequential rules, their states, and runs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "ClosedRanking": "surefoot.sequential.closed_ranking",
    "ClosedRankingState": "surefoot.sequential.closed_ranking",
    "ExactBinary": "surefoot.sequential.exact_binary",
    "ExactPairedBinary": "surefoot.sequential.exact_paired_binary",
    "FiniteHorizonMixture": "surefoot.sequential.finite_horizon_mixture",
    "FixedSize": "surefoot.sequential.fixed_sizes",
    "NScore": "surefoot.sequential.nscores",
    "RankingRule": "surefoot.sequential.ranking",
    "RankingSimulation": "surefoot.sequential.ranking_runs",
    "RankingState": "surefoot.sequential.ranking",
    "Rule": "surefoot.sequential.rules",
    "Savi": "surefoot.sequential.savis",
    "Simulation": "surefoot.sequential.runs",
    "State": "surefoot.sequential.rules",
    "Wsr": "surefoot.sequential.wsrs",
    "admit": "surefoot.sequential.admission",
    "interval_kind": "surefoot.sequential.after_stop",
    "run": "surefoot.sequential.runs",
    "run_ranking": "surefoot.sequential.ranking",
    "simulate": "surefoot.sequential.runs",
    "simulate_ranking": "surefoot.sequential.ranking_runs",
}

if TYPE_CHECKING:
    from surefoot.sequential.admission import admit as admit
    from surefoot.sequential.after_stop import interval_kind as interval_kind
    from surefoot.sequential.closed_ranking import ClosedRanking as ClosedRanking
    from surefoot.sequential.closed_ranking import ClosedRankingState as ClosedRankingState
    from surefoot.sequential.exact_binary import ExactBinary as ExactBinary
    from surefoot.sequential.exact_paired_binary import ExactPairedBinary as ExactPairedBinary
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture as FiniteHorizonMixture
    from surefoot.sequential.fixed_sizes import FixedSize as FixedSize
    from surefoot.sequential.nscores import NScore as NScore
    from surefoot.sequential.ranking import RankingRule as RankingRule
    from surefoot.sequential.ranking import RankingState as RankingState
    from surefoot.sequential.ranking import run_ranking as run_ranking
    from surefoot.sequential.ranking_runs import RankingSimulation as RankingSimulation
    from surefoot.sequential.ranking_runs import simulate_ranking as simulate_ranking
    from surefoot.sequential.rules import Rule as Rule
    from surefoot.sequential.rules import State as State
    from surefoot.sequential.runs import Simulation as Simulation
    from surefoot.sequential.runs import run as run
    from surefoot.sequential.runs import simulate as simulate
    from surefoot.sequential.savis import Savi as Savi
    from surefoot.sequential.wsrs import Wsr as Wsr

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
