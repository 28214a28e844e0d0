"""surefoot: know where your policy stands, in the fewest rollouts.

Names are imported when they are first used, so that a command which needs little loads little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from surefoot import _lazy

__version__ = "0.3.0"

if TYPE_CHECKING:
    from surefoot import reference as reference
    from surefoot import sequential as sequential
    from surefoot import stats as stats
    from surefoot.analysis.attempts import compare_pass_rates as compare_pass_rates
    from surefoot.analysis.attempts import pass_rates as pass_rates
    from surefoot.analysis.best import best as best
    from surefoot.analysis.comparisons import Comparison as Comparison
    from surefoot.analysis.comparisons import compare as compare
    from surefoot.analysis.comparisons import compare_by as compare_by
    from surefoot.analysis.fronts import pareto as pareto
    from surefoot.analysis.gate_plans import plan_gate as plan_gate
    from surefoot.analysis.gates import gate as gate
    from surefoot.analysis.items import items as items
    from surefoot.analysis.judge_corrections import human_corrections as human_corrections
    from surefoot.analysis.judged_gains import judged_gain as judged_gain
    from surefoot.analysis.list_and_ranking_replays import compare_on_list as compare_on_list
    from surefoot.analysis.list_and_ranking_replays import replay_ranking as replay_ranking
    from surefoot.analysis.measurements import mean_score as mean_score
    from surefoot.analysis.measurements import measure as measure
    from surefoot.analysis.measurements import success_rate as success_rate
    from surefoot.analysis.needs import Gate as Gate
    from surefoot.analysis.needs import Need as Need
    from surefoot.analysis.needs import read_gate as read_gate
    from surefoot.analysis.pilots import plan_from_pilot as plan_from_pilot
    from surefoot.analysis.purchases import plan_next as plan_next
    from surefoot.analysis.rankings import rank as rank
    from surefoot.analysis.rankings import rank_preferences as rank_preferences
    from surefoot.analysis.replays import replay as replay
    from surefoot.analysis.slices import slices as slices
    from surefoot.analysis.slices import slices_against as slices_against
    from surefoot.auditing.audits import audit as audit
    from surefoot.console.client import Client as Client
    from surefoot.core.bands import Band as Band
    from surefoot.core.gain import Gain as Gain
    from surefoot.core.interval import Bound as Bound
    from surefoot.core.interval import Interval as Interval
    from surefoot.core.record import Record as Record
    from surefoot.core.scores import Moments as Moments
    from surefoot.core.scores import Scores as Scores
    from surefoot.core.tally import PairTally as PairTally
    from surefoot.core.tally import Tally as Tally
    from surefoot.core.verdict import Verdict as Verdict
    from surefoot.errors import ArgumentError as ArgumentError
    from surefoot.errors import ArgumentTypeError as ArgumentTypeError
    from surefoot.errors import DataError as DataError
    from surefoot.errors import StudyError as StudyError
    from surefoot.errors import SurefootError as SurefootError
    from surefoot.files.label_files import label as label
    from surefoot.files.preferences import read_preferences as read_preferences
    from surefoot.files.reading import read as read
    from surefoot.integrations.tracking import log as log
    from surefoot.planning.bands import plan_band as plan_band
    from surefoot.planning.best_of_many import plan_best as plan_best
    from surefoot.planning.bounds import plan_bound as plan_bound
    from surefoot.planning.bounds import plan_rate as plan_rate
    from surefoot.planning.comparisons import plan_comparison as plan_comparison
    from surefoot.planning.comparisons import plan_paired_comparison as plan_paired_comparison
    from surefoot.planning.means import plan_mean as plan_mean
    from surefoot.planning.rankings import plan_ranking as plan_ranking
    from surefoot.planning.sequential import plan_sequential as plan_sequential
    from surefoot.planning.units import plan_units as plan_units
    from surefoot.reporting.reports import Report as Report
    from surefoot.reporting.reports import report as report
    from surefoot.runners.functions import run_study as run_study
    from surefoot.runners.gymnasium import GymnasiumRunner as GymnasiumRunner
    from surefoot.runners.outcomes import Outcome as Outcome
    from surefoot.stats.rankings import Ranking as Ranking
    from surefoot.study.plans import Plan as Plan
    from surefoot.study.stores import open_store as open_store
    from surefoot.study.studies import Study as Study
    from surefoot.study.verification import verify as verify
    from surefoot.table.design import Design as Design
    from surefoot.table.design_of import design as design
    from surefoot.table.label_draws import draw_labels as draw_labels
    from surefoot.table.rollouts import Rollouts as Rollouts


def _shown() -> Any:
    """How results are shown in notebooks, as frames and as figures."""
    return importlib.import_module("surefoot.reporting.notebooks")


def _imported(kind: str) -> None:
    """Import the module of a type of results, by its name."""
    importlib.import_module("surefoot._moved").import_type(kind)


_lazy.PROVIDED.update(shown=_shown, imported=_imported)
_HOMES = _lazy.homes(__name__, __file__)
__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
