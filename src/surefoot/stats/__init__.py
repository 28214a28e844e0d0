"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "AgainstBaseline": "surefoot.stats.rankings",
    "Calibration": "surefoot.stats.judges",
    "Claim": "surefoot.stats.claims",
    "ClusterShape": "surefoot.stats.cluster_shapes",
    "ClusteredGain": "surefoot.stats.cluster_gains",
    "ClusteredMean": "surefoot.stats.clusters",
    "Components": "surefoot.stats.repeats",
    "CorrectedGain": "surefoot.stats.corrections",
    "CorrectedMean": "surefoot.stats.corrections",
    "DisjointBounds": "surefoot.stats.disjoints",
    "DistributionComparison": "surefoot.stats.distributions",
    "FamilyGain": "surefoot.stats.families",
    "GainTest": "surefoot.stats.rate_tests",
    "JointGain": "surefoot.stats.distributions",
    "JudgedRate": "surefoot.stats.judges",
    "LabelsNeeded": "surefoot.stats.labelling",
    "Letters": "surefoot.stats.letters",
    "MeanEvidence": "surefoot.stats.sequences",
    "MeanSequence": "surefoot.stats.sequences",
    "Outlook": "surefoot.stats.outlooks",
    "Power": "surefoot.stats.powers",
    "PredictionPowered": "surefoot.stats.predictions",
    "Ranking": "surefoot.stats.rankings",
    "RolloutsNeeded": "surefoot.stats.powers",
    "ScoreTest": "surefoot.stats.order_free",
    "Sides": "surefoot.stats.step_downs",
    "Stepped": "surefoot.stats.step_downs",
    "Strengths": "surefoot.stats.preferences",
    "against_baseline": "surefoot.stats.rankings",
    "agresti_caffo": "surefoot.stats.rate_gains",
    "agresti_coull": "surefoot.stats.rates",
    "all_cluster_gains": "surefoot.stats.many_clusters",
    "approximate_rollouts": "surefoot.stats.powers",
    "band": "surefoot.stats.bands",
    "barnard": "surefoot.stats.rate_tests",
    "barnard_unpooled": "surefoot.stats.rate_tests",
    "benjamini_hochberg": "surefoot.stats.multiplicity",
    "best_case_band": "surefoot.stats.bands",
    "betting_gain": "surefoot.stats.betting_gains",
    "betting_mean": "surefoot.stats.means",
    "betting_mean_lower": "surefoot.stats.means",
    "betting_mean_upper": "surefoot.stats.means",
    "betting_paired_gain": "surefoot.stats.betting_gains",
    "betting_sequence": "surefoot.stats.sequences",
    "bonferroni": "surefoot.stats.multiplicity",
    "bonferroni_gains": "surefoot.stats.families",
    "bootstrap_mean": "surefoot.stats.means",
    "boschloo": "surefoot.stats.rate_tests",
    "boschloo_two_sided": "surefoot.stats.rate_tests",
    "bradley_terry": "surefoot.stats.preferences",
    "central_gain": "surefoot.stats.one_sided_gains",
    "central_gains": "surefoot.stats.many_gains",
    "central_paired_gain": "surefoot.stats.one_sided_gains",
    "chance_first_higher": "surefoot.stats.orderings",
    "claim": "surefoot.stats.claims",
    "clopper_pearson": "surefoot.stats.rates",
    "clopper_pearson_lower": "surefoot.stats.rates",
    "clopper_pearson_upper": "surefoot.stats.rates",
    "cluster_bootstrap": "surefoot.stats.clusters",
    "cluster_gain": "surefoot.stats.cluster_gains",
    "cluster_mean": "surefoot.stats.clusters",
    "cluster_rate": "surefoot.stats.clusters",
    "cluster_shape": "surefoot.stats.cluster_shapes",
    "cohen_kappa": "surefoot.stats.agreements",
    "compact_letters": "surefoot.stats.letters",
    "compare_distributions": "surefoot.stats.distributions",
    "coverage": "surefoot.stats.coverages",
    "davidson": "surefoot.stats.preferences",
    "disjoint_bounds": "surefoot.stats.disjoints",
    "disjoint_optimal_bounds": "surefoot.stats.disjoints",
    "dkw": "surefoot.stats.bands",
    "draw_gap": "surefoot.stats.labelling",
    "e_benjamini_hochberg": "surefoot.stats.multiplicity",
    "empirical_bernstein": "surefoot.stats.means",
    "exact_gain": "surefoot.stats.exact_gains",
    "exact_paired_gain": "surefoot.stats.exact_gains",
    "expected_excess": "surefoot.stats.tightness",
    "expected_shortage": "surefoot.stats.tightness",
    "expected_width": "surefoot.stats.tightness",
    "fisher": "surefoot.stats.rate_tests",
    "gain_bounds": "surefoot.stats.one_sided_gains",
    "gain_sides": "surefoot.stats.one_sided_gains",
    "hoeffding": "surefoot.stats.means",
    "holm": "surefoot.stats.multiplicity",
    "holm_gains": "surefoot.stats.families",
    "jeffreys": "surefoot.stats.rates",
    "judge_corrected_gain": "surefoot.stats.corrections",
    "judge_corrected_mean": "surefoot.stats.corrections",
    "judge_corrected_rate": "surefoot.stats.judges",
    "judge_corrected_rate_lee": "surefoot.stats.judges",
    "ks": "surefoot.stats.bands",
    "ks_error": "surefoot.stats.bands",
    "ks_offset": "surefoot.stats.bands",
    "labels_expected": "surefoot.stats.labelling",
    "labels_needed": "surefoot.stats.labelling",
    "max_expected_excess": "surefoot.stats.tightness",
    "max_expected_shortage": "surefoot.stats.tightness",
    "max_expected_width": "surefoot.stats.tightness",
    "mcnemar": "surefoot.stats.pair_tests",
    "mcnemar_chi2": "surefoot.stats.pair_tests",
    "mcnemar_edwards": "surefoot.stats.pair_tests",
    "mcnemar_midp": "surefoot.stats.pair_tests",
    "mean_on_these_tasks": "surefoot.stats.repeats",
    "mean_over_tasks": "surefoot.stats.repeats",
    "mean_pass_all": "surefoot.stats.passes",
    "mean_pass_at": "surefoot.stats.passes",
    "miettinen_nurminen": "surefoot.stats.rate_gains",
    "miettinen_nurminen_score": "surefoot.stats.rate_tests",
    "moments_gain": "surefoot.stats.many_scores",
    "moments_mean": "surefoot.stats.many_scores",
    "moments_paired_gain": "surefoot.stats.many_scores",
    "newcombe": "surefoot.stats.rate_gains",
    "newcombe_paired": "surefoot.stats.rate_gains",
    "one_sided_bounds": "surefoot.stats.one_sided_gains",
    "optimal_interval": "surefoot.stats.optima",
    "optimal_lower": "surefoot.stats.optima",
    "optimal_upper": "surefoot.stats.optima",
    "outlook": "surefoot.stats.outlooks",
    "outlook_from": "surefoot.stats.outlooks",
    "paired_bca": "surefoot.stats.bootstraps",
    "paired_bootstrap": "surefoot.stats.bootstraps",
    "paired_gain_bounds": "surefoot.stats.one_sided_gains",
    "paired_gain_sides": "surefoot.stats.one_sided_gains",
    "paired_permutation": "surefoot.stats.permutations",
    "paired_power": "surefoot.stats.powers",
    "paired_score_gain": "surefoot.stats.score_gains",
    "paired_score_gain_bound": "surefoot.stats.score_gains",
    "paired_score_test": "surefoot.stats.score_gains",
    "pass_all": "surefoot.stats.passes",
    "pass_all_gain": "surefoot.stats.passes",
    "pass_at": "surefoot.stats.passes",
    "pass_at_gain": "surefoot.stats.passes",
    "pooled_score": "surefoot.stats.rate_tests",
    "population_rate": "surefoot.stats.finite_lists",
    "power": "surefoot.stats.powers",
    "prediction_powered_mean": "surefoot.stats.predictions",
    "prediction_powered_rate": "surefoot.stats.judges",
    "rank_intervals": "surefoot.stats.rankings",
    "rank_policies": "surefoot.stats.rankings",
    "score_gain": "surefoot.stats.score_gains",
    "score_gain_bound": "surefoot.stats.score_gains",
    "score_mean": "surefoot.stats.score_means",
    "score_mean_lower": "surefoot.stats.score_means",
    "score_mean_test": "surefoot.stats.score_means",
    "score_mean_upper": "surefoot.stats.score_means",
    "score_test": "surefoot.stats.score_gains",
    "sidak": "surefoot.stats.multiplicity",
    "step_down": "surefoot.stats.step_downs",
    "step_down_gains": "surefoot.stats.families",
    "stratified_gain": "surefoot.stats.strata",
    "stratified_hoeffding_gain": "surefoot.stats.strata",
    "stratified_rate_gain": "surefoot.stats.strata",
    "stratified_score_gain": "surefoot.stats.score_strata",
    "stratified_score_gain_bound": "surefoot.stats.score_strata",
    "stratified_score_mean": "surefoot.stats.score_strata",
    "stratified_score_test": "surefoot.stats.score_strata",
    "stratified_t_gain": "surefoot.stats.stratified_means",
    "student_t": "surefoot.stats.means",
    "surely_undecided": "surefoot.stats.score_gains",
    "tail_tight": "surefoot.stats.bands",
    "tango": "surefoot.stats.rate_gains",
    "two_sample_cluster_gain": "surefoot.stats.cluster_gains",
    "two_sided_band": "surefoot.stats.bands",
    "unpaired_bca": "surefoot.stats.bootstraps",
    "unpaired_bootstrap": "surefoot.stats.bootstraps",
    "variance_components": "surefoot.stats.repeats",
    "wald": "surefoot.stats.rates",
    "welch": "surefoot.stats.means_compared",
    "wilson": "surefoot.stats.rates",
    "wilson_lower": "surefoot.stats.rates",
    "wilson_upper": "surefoot.stats.rates",
    "wsr_evidence": "surefoot.stats.sequences",
    "wsr_mean": "surefoot.stats.means",
}

if TYPE_CHECKING:
    from surefoot.stats.agreements import cohen_kappa as cohen_kappa
    from surefoot.stats.bands import band as band
    from surefoot.stats.bands import best_case_band as best_case_band
    from surefoot.stats.bands import dkw as dkw
    from surefoot.stats.bands import ks as ks
    from surefoot.stats.bands import ks_error as ks_error
    from surefoot.stats.bands import ks_offset as ks_offset
    from surefoot.stats.bands import tail_tight as tail_tight
    from surefoot.stats.bands import two_sided_band as two_sided_band
    from surefoot.stats.betting_gains import betting_gain as betting_gain
    from surefoot.stats.betting_gains import betting_paired_gain as betting_paired_gain
    from surefoot.stats.bootstraps import paired_bca as paired_bca
    from surefoot.stats.bootstraps import paired_bootstrap as paired_bootstrap
    from surefoot.stats.bootstraps import unpaired_bca as unpaired_bca
    from surefoot.stats.bootstraps import unpaired_bootstrap as unpaired_bootstrap
    from surefoot.stats.claims import Claim as Claim
    from surefoot.stats.claims import claim as claim
    from surefoot.stats.cluster_gains import ClusteredGain as ClusteredGain
    from surefoot.stats.cluster_gains import cluster_gain as cluster_gain
    from surefoot.stats.cluster_gains import two_sample_cluster_gain as two_sample_cluster_gain
    from surefoot.stats.cluster_shapes import ClusterShape as ClusterShape
    from surefoot.stats.cluster_shapes import cluster_shape as cluster_shape
    from surefoot.stats.clusters import ClusteredMean as ClusteredMean
    from surefoot.stats.clusters import cluster_bootstrap as cluster_bootstrap
    from surefoot.stats.clusters import cluster_mean as cluster_mean
    from surefoot.stats.clusters import cluster_rate as cluster_rate
    from surefoot.stats.corrections import CorrectedGain as CorrectedGain
    from surefoot.stats.corrections import CorrectedMean as CorrectedMean
    from surefoot.stats.corrections import judge_corrected_gain as judge_corrected_gain
    from surefoot.stats.corrections import judge_corrected_mean as judge_corrected_mean
    from surefoot.stats.coverages import coverage as coverage
    from surefoot.stats.disjoints import DisjointBounds as DisjointBounds
    from surefoot.stats.disjoints import disjoint_bounds as disjoint_bounds
    from surefoot.stats.disjoints import disjoint_optimal_bounds as disjoint_optimal_bounds
    from surefoot.stats.distributions import DistributionComparison as DistributionComparison
    from surefoot.stats.distributions import JointGain as JointGain
    from surefoot.stats.distributions import compare_distributions as compare_distributions
    from surefoot.stats.exact_gains import exact_gain as exact_gain
    from surefoot.stats.exact_gains import exact_paired_gain as exact_paired_gain
    from surefoot.stats.families import FamilyGain as FamilyGain
    from surefoot.stats.families import bonferroni_gains as bonferroni_gains
    from surefoot.stats.families import holm_gains as holm_gains
    from surefoot.stats.families import step_down_gains as step_down_gains
    from surefoot.stats.finite_lists import population_rate as population_rate
    from surefoot.stats.judges import Calibration as Calibration
    from surefoot.stats.judges import JudgedRate as JudgedRate
    from surefoot.stats.judges import judge_corrected_rate as judge_corrected_rate
    from surefoot.stats.judges import judge_corrected_rate_lee as judge_corrected_rate_lee
    from surefoot.stats.judges import prediction_powered_rate as prediction_powered_rate
    from surefoot.stats.labelling import LabelsNeeded as LabelsNeeded
    from surefoot.stats.labelling import draw_gap as draw_gap
    from surefoot.stats.labelling import labels_expected as labels_expected
    from surefoot.stats.labelling import labels_needed as labels_needed
    from surefoot.stats.letters import Letters as Letters
    from surefoot.stats.letters import compact_letters as compact_letters
    from surefoot.stats.many_clusters import all_cluster_gains as all_cluster_gains
    from surefoot.stats.many_gains import central_gains as central_gains
    from surefoot.stats.many_scores import moments_gain as moments_gain
    from surefoot.stats.many_scores import moments_mean as moments_mean
    from surefoot.stats.many_scores import moments_paired_gain as moments_paired_gain
    from surefoot.stats.means import betting_mean as betting_mean
    from surefoot.stats.means import betting_mean_lower as betting_mean_lower
    from surefoot.stats.means import betting_mean_upper as betting_mean_upper
    from surefoot.stats.means import bootstrap_mean as bootstrap_mean
    from surefoot.stats.means import empirical_bernstein as empirical_bernstein
    from surefoot.stats.means import hoeffding as hoeffding
    from surefoot.stats.means import student_t as student_t
    from surefoot.stats.means import wsr_mean as wsr_mean
    from surefoot.stats.means_compared import welch as welch
    from surefoot.stats.multiplicity import benjamini_hochberg as benjamini_hochberg
    from surefoot.stats.multiplicity import bonferroni as bonferroni
    from surefoot.stats.multiplicity import e_benjamini_hochberg as e_benjamini_hochberg
    from surefoot.stats.multiplicity import holm as holm
    from surefoot.stats.multiplicity import sidak as sidak
    from surefoot.stats.one_sided_gains import central_gain as central_gain
    from surefoot.stats.one_sided_gains import central_paired_gain as central_paired_gain
    from surefoot.stats.one_sided_gains import gain_bounds as gain_bounds
    from surefoot.stats.one_sided_gains import gain_sides as gain_sides
    from surefoot.stats.one_sided_gains import one_sided_bounds as one_sided_bounds
    from surefoot.stats.one_sided_gains import paired_gain_bounds as paired_gain_bounds
    from surefoot.stats.one_sided_gains import paired_gain_sides as paired_gain_sides
    from surefoot.stats.optima import optimal_interval as optimal_interval
    from surefoot.stats.optima import optimal_lower as optimal_lower
    from surefoot.stats.optima import optimal_upper as optimal_upper
    from surefoot.stats.order_free import ScoreTest as ScoreTest
    from surefoot.stats.orderings import chance_first_higher as chance_first_higher
    from surefoot.stats.outlooks import Outlook as Outlook
    from surefoot.stats.outlooks import outlook as outlook
    from surefoot.stats.outlooks import outlook_from as outlook_from
    from surefoot.stats.pair_tests import mcnemar as mcnemar
    from surefoot.stats.pair_tests import mcnemar_chi2 as mcnemar_chi2
    from surefoot.stats.pair_tests import mcnemar_edwards as mcnemar_edwards
    from surefoot.stats.pair_tests import mcnemar_midp as mcnemar_midp
    from surefoot.stats.passes import mean_pass_all as mean_pass_all
    from surefoot.stats.passes import mean_pass_at as mean_pass_at
    from surefoot.stats.passes import pass_all as pass_all
    from surefoot.stats.passes import pass_all_gain as pass_all_gain
    from surefoot.stats.passes import pass_at as pass_at
    from surefoot.stats.passes import pass_at_gain as pass_at_gain
    from surefoot.stats.permutations import paired_permutation as paired_permutation
    from surefoot.stats.powers import Power as Power
    from surefoot.stats.powers import RolloutsNeeded as RolloutsNeeded
    from surefoot.stats.powers import approximate_rollouts as approximate_rollouts
    from surefoot.stats.powers import paired_power as paired_power
    from surefoot.stats.powers import power as power
    from surefoot.stats.predictions import PredictionPowered as PredictionPowered
    from surefoot.stats.predictions import prediction_powered_mean as prediction_powered_mean
    from surefoot.stats.preferences import Strengths as Strengths
    from surefoot.stats.preferences import bradley_terry as bradley_terry
    from surefoot.stats.preferences import davidson as davidson
    from surefoot.stats.rankings import AgainstBaseline as AgainstBaseline
    from surefoot.stats.rankings import Ranking as Ranking
    from surefoot.stats.rankings import against_baseline as against_baseline
    from surefoot.stats.rankings import rank_intervals as rank_intervals
    from surefoot.stats.rankings import rank_policies as rank_policies
    from surefoot.stats.rate_gains import agresti_caffo as agresti_caffo
    from surefoot.stats.rate_gains import miettinen_nurminen as miettinen_nurminen
    from surefoot.stats.rate_gains import newcombe as newcombe
    from surefoot.stats.rate_gains import newcombe_paired as newcombe_paired
    from surefoot.stats.rate_gains import tango as tango
    from surefoot.stats.rate_tests import GainTest as GainTest
    from surefoot.stats.rate_tests import barnard as barnard
    from surefoot.stats.rate_tests import barnard_unpooled as barnard_unpooled
    from surefoot.stats.rate_tests import boschloo as boschloo
    from surefoot.stats.rate_tests import boschloo_two_sided as boschloo_two_sided
    from surefoot.stats.rate_tests import fisher as fisher
    from surefoot.stats.rate_tests import miettinen_nurminen_score as miettinen_nurminen_score
    from surefoot.stats.rate_tests import pooled_score as pooled_score
    from surefoot.stats.rates import agresti_coull as agresti_coull
    from surefoot.stats.rates import clopper_pearson as clopper_pearson
    from surefoot.stats.rates import clopper_pearson_lower as clopper_pearson_lower
    from surefoot.stats.rates import clopper_pearson_upper as clopper_pearson_upper
    from surefoot.stats.rates import jeffreys as jeffreys
    from surefoot.stats.rates import wald as wald
    from surefoot.stats.rates import wilson as wilson
    from surefoot.stats.rates import wilson_lower as wilson_lower
    from surefoot.stats.rates import wilson_upper as wilson_upper
    from surefoot.stats.repeats import Components as Components
    from surefoot.stats.repeats import mean_on_these_tasks as mean_on_these_tasks
    from surefoot.stats.repeats import mean_over_tasks as mean_over_tasks
    from surefoot.stats.repeats import variance_components as variance_components
    from surefoot.stats.score_gains import paired_score_gain as paired_score_gain
    from surefoot.stats.score_gains import paired_score_gain_bound as paired_score_gain_bound
    from surefoot.stats.score_gains import paired_score_test as paired_score_test
    from surefoot.stats.score_gains import score_gain as score_gain
    from surefoot.stats.score_gains import score_gain_bound as score_gain_bound
    from surefoot.stats.score_gains import score_test as score_test
    from surefoot.stats.score_gains import surely_undecided as surely_undecided
    from surefoot.stats.score_means import score_mean as score_mean
    from surefoot.stats.score_means import score_mean_lower as score_mean_lower
    from surefoot.stats.score_means import score_mean_test as score_mean_test
    from surefoot.stats.score_means import score_mean_upper as score_mean_upper
    from surefoot.stats.score_strata import stratified_score_gain as stratified_score_gain
    from surefoot.stats.score_strata import stratified_score_gain_bound as stratified_score_gain_bound
    from surefoot.stats.score_strata import stratified_score_mean as stratified_score_mean
    from surefoot.stats.score_strata import stratified_score_test as stratified_score_test
    from surefoot.stats.sequences import MeanEvidence as MeanEvidence
    from surefoot.stats.sequences import MeanSequence as MeanSequence
    from surefoot.stats.sequences import betting_sequence as betting_sequence
    from surefoot.stats.sequences import wsr_evidence as wsr_evidence
    from surefoot.stats.step_downs import Sides as Sides
    from surefoot.stats.step_downs import Stepped as Stepped
    from surefoot.stats.step_downs import step_down as step_down
    from surefoot.stats.strata import stratified_gain as stratified_gain
    from surefoot.stats.strata import stratified_hoeffding_gain as stratified_hoeffding_gain
    from surefoot.stats.strata import stratified_rate_gain as stratified_rate_gain
    from surefoot.stats.stratified_means import stratified_t_gain as stratified_t_gain
    from surefoot.stats.tightness import expected_excess as expected_excess
    from surefoot.stats.tightness import expected_shortage as expected_shortage
    from surefoot.stats.tightness import expected_width as expected_width
    from surefoot.stats.tightness import max_expected_excess as max_expected_excess
    from surefoot.stats.tightness import max_expected_shortage as max_expected_shortage
    from surefoot.stats.tightness import max_expected_width as max_expected_width

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
