"""Where names of 0.2.0 are now: they answer in 0.3 with a warning, and go in 0.4.

`tools/moved_names.py` writes them into docs/migrating-0.3.md.
"""

from __future__ import annotations

import importlib
from functools import cache

TYPES = {
    "surefoot.analysis.attempts": "Attempts AttemptsCompared",
    "surefoot.analysis.best": "Best",
    "surefoot.analysis.comparison_data": "Reading Subject",
    "surefoot.analysis.fronts": "Dominance Front",
    "surefoot.analysis.gate_plans": "Expected GatePlan NeedPlan",
    "surefoot.analysis.gates": "Gated NeedFound",
    "surefoot.analysis.items": "Item ItemDraw Items",
    "surefoot.analysis.judge_corrections": "Correction",
    "surefoot.analysis.judged_gains": "JudgedGain",
    "surefoot.analysis.list_and_ranking_replays": "ListComparison RankingReplay",
    "surefoot.analysis.measurements": "Measurement",
    "surefoot.analysis.pilots": "PilotPlan",
    "surefoot.analysis.purchases": "NextPlan Purchase",
    "surefoot.analysis.replays": "Replay",
    "surefoot.analysis.slices": "Slice Slices",
    "surefoot.auditing.audits": "Audit",
    "surefoot.core.assumptions": "Assumption",
    "surefoot.core.interval": "Certified",
    "surefoot.core.notes": "Note",
    "surefoot.core.sample": "Sample",
    "surefoot.core.words": "Words",
    "surefoot.files.preferences": "Preferences",
    "surefoot.planning.bands": "BandPlan",
    "surefoot.planning.best_of_many": "BestPlan",
    "surefoot.planning.bounds": "BoundPlan RatePlan",
    "surefoot.planning.comparisons": "ComparisonPlan",
    "surefoot.planning.means": "MeanPlan",
    "surefoot.planning.rankings": "RankingPlan",
    "surefoot.planning.sequential": "SequentialPlan",
    "surefoot.planning.units": "UnitsPlan",
    "surefoot.reporting.reports": "ProgressReport",
    "surefoot.runners.gymnasium": "Episode",
    "surefoot.sequential.acceptance": "AcceptanceState",
    "surefoot.sequential.closed_ranking": "ClosedRankingState",
    "surefoot.sequential.exact_binary": "ExactBinaryState ExactPairedBinaryState",
    "surefoot.sequential.exact_rules": "Counts Standing",
    "surefoot.sequential.fixed_size": "FixedSizeState",
    "surefoot.sequential.list_mean": "ListMeanState",
    "surefoot.sequential.halving": "HalveState",
    "surefoot.sequential.race": "RaceState",
    "surefoot.sequential.ranking": "RankingState",
    "surefoot.sequential.simulation": "ListSimulation RankingSimulation Simulation",
    "surefoot.sequential.savi": "SaviState",
    "surefoot.stats.cluster_gains": "ClusteredGain",
    "surefoot.stats.clusters": "ClusterShape ClusteredMean",
    "surefoot.stats.means": "MeanSequence",
    "surefoot.stats.detectable": "Outlook",
    "surefoot.stats.exact_power": "Power RolloutsNeeded",
    "surefoot.stats.judge_corrected_gains": "CorrectedGain CorrectedMean",
    "surefoot.stats.judges": "JudgedRate",
    "surefoot.stats.labelling": "LabelsNeeded",
    "surefoot.stats.letters": "Letters",
    "surefoot.stats.score_means": "ScoreTest",
    "surefoot.stats.prediction_powered": "PredictionPowered",
    "surefoot.stats.preferences": "Strengths",
    "surefoot.stats.rankings": "AgainstBaseline",
    "surefoot.stats.rates": "Claim",
    "surefoot.stats.rate_tests": "GainTest",
    "surefoot.stats.selection": "SelectionBias Shortlist",
    "surefoot.stats.simultaneous_gains": "FamilyGain",
    "surefoot.stats.slices": "SliceTests",
    "surefoot.stats.multiplicity": "Sides Stepped",
    "surefoot.study.plan_parts": "Policy Stage Task TimeBudget",
    "surefoot.study.events": "Event Line",
    "surefoot.study.protocol": "StudyOperations",
    "surefoot.study.schedules": "Turn",
    "surefoot.study.status": "Receipt Status",
    "surefoot.study.stores": "Store",
    "surefoot.study.verification": "Verification",
    "surefoot.table.design": "Column",
    "surefoot.table.findings": "Finding",
    "surefoot.table.label_draws": "LabelDraw",
    "surefoot.table.labelling": "Labelling",
    "surefoot.table.pairs": "Pairing Pairs",
    "surefoot.table.summaries": "Group",
}
"""Types of results, by module: returned, never called, so that they have no shorter name."""

INSIDE = {
    "surefoot.stats.clusters": "cluster_shape least_gain_shown",
    "surefoot.stats.detectable": "outlook_from",
    "surefoot.stats.exact_power": "approximate_rollouts",
    "surefoot.stats.judge_corrected_gains": "judge_corrected_rates",
    "surefoot.stats.labelling": "draw_gap labels_expected",
    "surefoot.stats.means": "moments_mean",
    "surefoot.stats.one_sided_gains": "gain_sides paired_gain_sides",
    "surefoot.stats.score_gains": "surely_undecided",
    "surefoot.stats.multiplicity": "step_down",
}
"""Functions of `surefoot.stats` that answers are made of, by module."""

HELD = {"surefoot.study.deviations": "Deviation", "surefoot.study.status": "Account"}
"""Types that other results hold, by module; a report of a table imports nothing of a study."""

PACKAGES = ("surefoot.sequential", "surefoot.reference")
"""The other packages with types of results."""

OTHERS = {
    "surefoot.compare_tasks": "surefoot.compare_by",
    "surefoot.planning": "surefoot",
    "surefoot.stats.Ranking": "surefoot.Ranking",
}

NEW = (
    "Best BestPlan Column Dominance Expected Front GatePlan Gated HalveState Item ItemDraw Items NeedFound NeedPlan"
    " NextPlan Policy Purchase RaceState Reading SelectionBias Shortlist Slice SliceTests Slices Stage Subject Task"
    " TimeBudget UnitsPlan judge_corrected_rates least_gain_shown"
    " plan_best plan_units simultaneous_lower_bounds"
)
"""What the tables above hold and 0.2.0 had not."""


@cache
def moved() -> dict[str, str]:
    """The full name that each old one has now."""
    public, published = (importlib.import_module(package)._HOMES for package in ("surefoot", "surefoot.reference"))
    found = {f"{_package(home)}.{name}": f"{home}.{name}" for home, name in _each(TYPES) | _each(INSIDE)}
    found |= {old.replace("surefoot.", "surefoot.planning."): new for old, new in found.items() if "planning" in new}
    plans = [name for name, home in public.items() if home.startswith("surefoot.planning.")]
    found |= {f"surefoot.planning.{name}": f"surefoot.{name}" for name in plans}
    found |= {f"surefoot.stats.{name}": f"surefoot.reference.{name}" for name in published}
    found = {old: new for old, new in found.items() if old.rpartition(".")[2] not in NEW.split()}
    return dict(sorted((found | OTHERS).items()))


def import_type(kind: str) -> None:
    """Import the module of a type of results, by its name."""
    homes = [home for home, name in _each(TYPES) | _each(HELD) if name == kind]
    if not homes:
        tables = (importlib.import_module(name)._HOMES for name in ("surefoot", *PACKAGES))
        homes = [table[kind] for table in tables if kind in table]
    for home in homes:
        importlib.import_module(home)


def _each(table: dict[str, str]) -> set[tuple[str, str]]:
    return {(home, name) for home, names in table.items() for name in names.split()}


def _package(home: str) -> str:
    """Whose public name it was."""
    room = ".".join(home.split(".")[:2])
    return room if room in ("surefoot.stats", "surefoot.sequential") else "surefoot"
