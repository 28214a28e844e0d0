"""Stop the moment the evidence is in: sequential rules, their states, and runs of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "FiniteHorizonMixture": "surefoot.sequential.finite_horizon_mixture",
    "NScore": "surefoot.sequential.nscores",
    "Rule": "surefoot.sequential.rules",
    "Savi": "surefoot.sequential.savis",
    "Simulation": "surefoot.sequential.runs",
    "State": "surefoot.sequential.rules",
    "Wsr": "surefoot.sequential.wsrs",
    "admit": "surefoot.sequential.admission",
    "run": "surefoot.sequential.runs",
    "simulate": "surefoot.sequential.runs",
}

if TYPE_CHECKING:
    from surefoot.sequential.admission import admit as admit
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture as FiniteHorizonMixture
    from surefoot.sequential.nscores import NScore as NScore
    from surefoot.sequential.rules import Rule as Rule
    from surefoot.sequential.rules import State as State
    from surefoot.sequential.runs import Simulation as Simulation
    from surefoot.sequential.runs import run as run
    from surefoot.sequential.runs import simulate as simulate
    from surefoot.sequential.savis import Savi as Savi
    from surefoot.sequential.wsrs import Wsr as Wsr

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
