"""Stop the moment the evidence is in: sequential rules, their states, and runs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

if TYPE_CHECKING:
    from surefoot.sequential.acceptance import AcceptanceTest as AcceptanceTest
    from surefoot.sequential.after_stop import interval_kind as interval_kind
    from surefoot.sequential.closed_ranking import ClosedRanking as ClosedRanking
    from surefoot.sequential.exact_binary import ExactBinary as ExactBinary
    from surefoot.sequential.exact_binary import ExactPairedBinary as ExactPairedBinary
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture as FiniteHorizonMixture
    from surefoot.sequential.fixed_size import FixedSize as FixedSize
    from surefoot.sequential.halving import Halve as Halve
    from surefoot.sequential.list_mean import ListMean as ListMean
    from surefoot.sequential.list_mean import run_list as run_list
    from surefoot.sequential.nscore import NScore as NScore
    from surefoot.sequential.race import Race as Race
    from surefoot.sequential.ranking import RankingRule as RankingRule
    from surefoot.sequential.registry import Setting as Setting
    from surefoot.sequential.round_rules import run_ranking as run_ranking
    from surefoot.sequential.rules import Rule as Rule
    from surefoot.sequential.rules import State as State
    from surefoot.sequential.savi import Savi as Savi
    from surefoot.sequential.simulation import run as run
    from surefoot.sequential.simulation import simulate as simulate
    from surefoot.sequential.simulation import simulate_list as simulate_list
    from surefoot.sequential.simulation import simulate_ranking as simulate_ranking
    from surefoot.sequential.validity import admit as admit
    from surefoot.sequential.wsr import Wsr as Wsr

_HOMES = _lazy.homes(__name__, __file__)
__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
