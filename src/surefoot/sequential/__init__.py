"""Stop the moment the evidence is in: sequential rules, their states, and runs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "AcceptanceState": "surefoot.sequential.acceptance",
    "AcceptanceTest": "surefoot.sequential.acceptance",
    "ClosedRanking": "surefoot.sequential.closed_ranking",
    "ClosedRankingState": "surefoot.sequential.closed_ranking",
    "Counts": "surefoot.sequential.exact_rules",
    "ExactBinary": "surefoot.sequential.exact_binary",
    "ExactBinaryState": "surefoot.sequential.exact_binary",
    "ExactPairedBinary": "surefoot.sequential.exact_paired_binary",
    "ExactPairedBinaryState": "surefoot.sequential.exact_paired_binary",
    "FiniteHorizonMixture": "surefoot.sequential.finite_horizon_mixture",
    "FixedSize": "surefoot.sequential.fixed_size",
    "FixedSizeState": "surefoot.sequential.fixed_size",
    "ListMean": "surefoot.sequential.list_mean",
    "ListMeanState": "surefoot.sequential.list_mean",
    "ListSimulation": "surefoot.sequential.list_simulation",
    "NScore": "surefoot.sequential.nscore",
    "RankingRule": "surefoot.sequential.ranking",
    "RankingSimulation": "surefoot.sequential.ranking_simulation",
    "RankingState": "surefoot.sequential.ranking",
    "Rule": "surefoot.sequential.rules",
    "Savi": "surefoot.sequential.savi",
    "SaviState": "surefoot.sequential.savi",
    "Setting": "surefoot.sequential.registry",
    "Simulation": "surefoot.sequential.simulation",
    "Standing": "surefoot.sequential.exact_rules",
    "State": "surefoot.sequential.rules",
    "Wsr": "surefoot.sequential.wsr",
    "admit": "surefoot.sequential.validity",
    "interval_kind": "surefoot.sequential.after_stop",
    "run": "surefoot.sequential.simulation",
    "run_list": "surefoot.sequential.list_mean",
    "run_ranking": "surefoot.sequential.round_rules",
    "simulate": "surefoot.sequential.simulation",
    "simulate_list": "surefoot.sequential.list_simulation",
    "simulate_ranking": "surefoot.sequential.ranking_simulation",
}

if TYPE_CHECKING:
    from surefoot.sequential.acceptance import AcceptanceState as AcceptanceState
    from surefoot.sequential.acceptance import AcceptanceTest as AcceptanceTest
    from surefoot.sequential.after_stop import interval_kind as interval_kind
    from surefoot.sequential.closed_ranking import ClosedRanking as ClosedRanking
    from surefoot.sequential.closed_ranking import ClosedRankingState as ClosedRankingState
    from surefoot.sequential.exact_binary import ExactBinary as ExactBinary
    from surefoot.sequential.exact_binary import ExactBinaryState as ExactBinaryState
    from surefoot.sequential.exact_paired_binary import ExactPairedBinary as ExactPairedBinary
    from surefoot.sequential.exact_paired_binary import ExactPairedBinaryState as ExactPairedBinaryState
    from surefoot.sequential.exact_rules import Counts as Counts
    from surefoot.sequential.exact_rules import Standing as Standing
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture as FiniteHorizonMixture
    from surefoot.sequential.fixed_size import FixedSize as FixedSize
    from surefoot.sequential.fixed_size import FixedSizeState as FixedSizeState
    from surefoot.sequential.list_mean import ListMean as ListMean
    from surefoot.sequential.list_mean import ListMeanState as ListMeanState
    from surefoot.sequential.list_mean import run_list as run_list
    from surefoot.sequential.list_simulation import ListSimulation as ListSimulation
    from surefoot.sequential.list_simulation import simulate_list as simulate_list
    from surefoot.sequential.nscore import NScore as NScore
    from surefoot.sequential.ranking import RankingRule as RankingRule
    from surefoot.sequential.ranking import RankingState as RankingState
    from surefoot.sequential.ranking_simulation import RankingSimulation as RankingSimulation
    from surefoot.sequential.ranking_simulation import simulate_ranking as simulate_ranking
    from surefoot.sequential.registry import Setting as Setting
    from surefoot.sequential.round_rules import run_ranking as run_ranking
    from surefoot.sequential.rules import Rule as Rule
    from surefoot.sequential.rules import State as State
    from surefoot.sequential.savi import Savi as Savi
    from surefoot.sequential.savi import SaviState as SaviState
    from surefoot.sequential.simulation import Simulation as Simulation
    from surefoot.sequential.simulation import run as run
    from surefoot.sequential.simulation import simulate as simulate
    from surefoot.sequential.validity import admit as admit
    from surefoot.sequential.wsr import Wsr as Wsr

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
