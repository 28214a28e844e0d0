"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "AgainstBaseline": "surefoot.stats.rankings",
    "Calibration": "surefoot.stats.judges",
    "Claim": "surefoot.stats.rate_claims",
    "ClusterShape": "surefoot.stats.cluster_shapes",
    "ClusteredGain": "surefoot.stats.cluster_gains",
    "ClusteredMean": "surefoot.stats.clusters",
    "Components": "surefoot.stats.repeated_runs",
    "CorrectedGain": "surefoot.stats.judge_corrected_gains",
    "CorrectedMean": "surefoot.stats.judge_corrected_gains",
    "DisjointBounds": "surefoot.stats.separate_bounds",
    "DistributionComparison": "surefoot.stats.distributions",
    "FamilyGain": "surefoot.stats.simultaneous_gains",
    "GainTest": "surefoot.stats.rate_tests",
    "JointGain": "surefoot.stats.distributions",
    "JudgedRate": "surefoot.stats.judges",
    "LabelsNeeded": "surefoot.stats.labelling",
    "Letters": "surefoot.stats.letters",
    "MeanEvidence": "surefoot.stats.confidence_sequences",
    "MeanSequence": "surefoot.stats.confidence_sequences",
    "Outlook": "surefoot.stats.detectable",
    "Power": "surefoot.stats.exact_power",
    "PredictionPowered": "surefoot.stats.prediction_powered",
    "Ranking": "surefoot.stats.rankings",
    "RolloutsNeeded": "surefoot.stats.exact_power",
    "ScoreTest": "surefoot.stats.order_free",
    "Sides": "surefoot.stats.step_down_tests",
    "Stepped": "surefoot.stats.step_down_tests",
    "Strengths": "surefoot.stats.preferences",
    "against_baseline": "surefoot.stats.rankings",
    "agresti_caffo": "surefoot.stats.rate_gains",
    "agresti_coull": "surefoot.stats.rates",
    "all_cluster_gains": "surefoot.stats.many_clusters",
    "approximate_rollouts": "surefoot.stats.exact_power",
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
    "betting_sequence": "surefoot.stats.confidence_sequences",
    "bonferroni": "surefoot.stats.multiplicity",
    "bonferroni_gains": "surefoot.stats.simultaneous_gains",
    "bootstrap_mean": "surefoot.stats.means",
    "boschloo": "surefoot.stats.rate_tests",
    "boschloo_two_sided": "surefoot.stats.rate_tests",
    "bradley_terry": "surefoot.stats.preferences",
    "central_gain": "surefoot.stats.one_sided_gains",
    "central_gains": "surefoot.stats.many_gains",
    "central_paired_gain": "surefoot.stats.one_sided_gains",
    "chance_first_higher": "surefoot.stats.superiority",
    "claim": "surefoot.stats.rate_claims",
    "clopper_pearson": "surefoot.stats.rates",
    "clopper_pearson_lower": "surefoot.stats.rates",
    "clopper_pearson_upper": "surefoot.stats.rates",
    "cluster_bootstrap": "surefoot.stats.clusters",
    "cluster_gain": "surefoot.stats.cluster_gains",
    "cluster_mean": "surefoot.stats.clusters",
    "cluster_rate": "surefoot.stats.clusters",
    "cluster_shape": "surefoot.stats.cluster_shapes",
    "cohen_kappa": "surefoot.stats.judge_agreement",
    "compact_letters": "surefoot.stats.letters",
    "compare_distributions": "surefoot.stats.distributions",
    "coverage": "surefoot.stats.exact_coverage",
    "davidson": "surefoot.stats.preferences",
    "disjoint_bounds": "surefoot.stats.separate_bounds",
    "disjoint_optimal_bounds": "surefoot.stats.separate_bounds",
    "dkw": "surefoot.stats.bands",
    "draw_gap": "surefoot.stats.labelling",
    "e_benjamini_hochberg": "surefoot.stats.multiplicity",
    "empirical_bernstein": "surefoot.stats.means",
    "exact_gain": "surefoot.stats.exact_gains",
    "exact_paired_gain": "surefoot.stats.exact_gains",
    "expected_excess": "surefoot.stats.bound_tightness",
    "expected_shortage": "surefoot.stats.bound_tightness",
    "expected_width": "surefoot.stats.bound_tightness",
    "fisher": "surefoot.stats.rate_tests",
    "gain_bounds": "surefoot.stats.one_sided_gains",
    "gain_sides": "surefoot.stats.one_sided_gains",
    "hoeffding": "surefoot.stats.means",
    "holm": "surefoot.stats.multiplicity",
    "holm_gains": "surefoot.stats.simultaneous_gains",
    "jeffreys": "surefoot.stats.rates",
    "judge_corrected_gain": "surefoot.stats.judge_corrected_gains",
    "judge_corrected_mean": "surefoot.stats.judge_corrected_gains",
    "judge_corrected_rate": "surefoot.stats.judges",
    "judge_corrected_rate_lee": "surefoot.stats.judges",
    "ks": "surefoot.stats.bands",
    "ks_error": "surefoot.stats.bands",
    "ks_offset": "surefoot.stats.bands",
    "labels_expected": "surefoot.stats.labelling",
    "labels_needed": "surefoot.stats.labelling",
    "max_expected_excess": "surefoot.stats.bound_tightness",
    "max_expected_shortage": "surefoot.stats.bound_tightness",
    "max_expected_width": "surefoot.stats.bound_tightness",
    "mcnemar": "surefoot.stats.pair_tests",
    "mcnemar_chi2": "surefoot.stats.pair_tests",
    "mcnemar_edwards": "surefoot.stats.pair_tests",
    "mcnemar_midp": "surefoot.stats.pair_tests",
    "mean_on_these_tasks": "surefoot.stats.repeated_runs",
    "mean_over_tasks": "surefoot.stats.repeated_runs",
    "mean_pass_all": "surefoot.stats.attempts",
    "mean_pass_at": "surefoot.stats.attempts",
    "miettinen_nurminen": "surefoot.stats.rate_gains",
    "miettinen_nurminen_score": "surefoot.stats.rate_tests",
    "moments_gain": "surefoot.stats.many_scores",
    "moments_mean": "surefoot.stats.many_scores",
    "moments_paired_gain": "surefoot.stats.many_scores",
    "newcombe": "surefoot.stats.rate_gains",
    "newcombe_paired": "surefoot.stats.rate_gains",
    "one_sided_bounds": "surefoot.stats.one_sided_gains",
    "optimal_interval": "surefoot.stats.optimal_bounds",
    "optimal_lower": "surefoot.stats.optimal_bounds",
    "optimal_upper": "surefoot.stats.optimal_bounds",
    "outlook": "surefoot.stats.detectable",
    "outlook_from": "surefoot.stats.detectable",
    "paired_bca": "surefoot.stats.bootstrap",
    "paired_bootstrap": "surefoot.stats.bootstrap",
    "paired_gain_bounds": "surefoot.stats.one_sided_gains",
    "paired_gain_sides": "surefoot.stats.one_sided_gains",
    "paired_permutation": "surefoot.stats.permutation_tests",
    "paired_power": "surefoot.stats.exact_power",
    "paired_score_gain": "surefoot.stats.score_gains",
    "paired_score_gain_bound": "surefoot.stats.score_gains",
    "paired_score_test": "surefoot.stats.score_gains",
    "pass_all": "surefoot.stats.attempts",
    "pass_all_gain": "surefoot.stats.attempts",
    "pass_at": "surefoot.stats.attempts",
    "pass_at_gain": "surefoot.stats.attempts",
    "pooled_score": "surefoot.stats.rate_tests",
    "population_rate": "surefoot.stats.finite_lists",
    "power": "surefoot.stats.exact_power",
    "prediction_powered_mean": "surefoot.stats.prediction_powered",
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
    "step_down": "surefoot.stats.step_down_tests",
    "step_down_gains": "surefoot.stats.simultaneous_gains",
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
    "unpaired_bca": "surefoot.stats.bootstrap",
    "unpaired_bootstrap": "surefoot.stats.bootstrap",
    "variance_components": "surefoot.stats.repeated_runs",
    "wald": "surefoot.stats.rates",
    "welch": "surefoot.stats.welch_intervals",
    "wilson": "surefoot.stats.rates",
    "wilson_lower": "surefoot.stats.rates",
    "wilson_upper": "surefoot.stats.rates",
    "wsr_evidence": "surefoot.stats.confidence_sequences",
    "wsr_mean": "surefoot.stats.means",
}

if TYPE_CHECKING:
    from surefoot.stats.attempts import mean_pass_all as mean_pass_all
    from surefoot.stats.attempts import mean_pass_at as mean_pass_at
    from surefoot.stats.attempts import pass_all as pass_all
    from surefoot.stats.attempts import pass_all_gain as pass_all_gain
    from surefoot.stats.attempts import pass_at as pass_at
    from surefoot.stats.attempts import pass_at_gain as pass_at_gain
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
    from surefoot.stats.bootstrap import paired_bca as paired_bca
    from surefoot.stats.bootstrap import paired_bootstrap as paired_bootstrap
    from surefoot.stats.bootstrap import unpaired_bca as unpaired_bca
    from surefoot.stats.bootstrap import unpaired_bootstrap as unpaired_bootstrap
    from surefoot.stats.bound_tightness import expected_excess as expected_excess
    from surefoot.stats.bound_tightness import expected_shortage as expected_shortage
    from surefoot.stats.bound_tightness import expected_width as expected_width
    from surefoot.stats.bound_tightness import max_expected_excess as max_expected_excess
    from surefoot.stats.bound_tightness import max_expected_shortage as max_expected_shortage
    from surefoot.stats.bound_tightness import max_expected_width as max_expected_width
    from surefoot.stats.cluster_gains import ClusteredGain as ClusteredGain
    from surefoot.stats.cluster_gains import cluster_gain as cluster_gain
    from surefoot.stats.cluster_gains import two_sample_cluster_gain as two_sample_cluster_gain
    from surefoot.stats.cluster_shapes import ClusterShape as ClusterShape
    from surefoot.stats.cluster_shapes import cluster_shape as cluster_shape
    from surefoot.stats.clusters import ClusteredMean as ClusteredMean
    from surefoot.stats.clusters import cluster_bootstrap as cluster_bootstrap
    from surefoot.stats.clusters import cluster_mean as cluster_mean
    from surefoot.stats.clusters import cluster_rate as cluster_rate
    from surefoot.stats.confidence_sequences import MeanEvidence as MeanEvidence
    from surefoot.stats.confidence_sequences import MeanSequence as MeanSequence
    from surefoot.stats.confidence_sequences import betting_sequence as betting_sequence
    from surefoot.stats.confidence_sequences import wsr_evidence as wsr_evidence
    from surefoot.stats.detectable import Outlook as Outlook
    from surefoot.stats.detectable import outlook as outlook
    from surefoot.stats.detectable import outlook_from as outlook_from
    from surefoot.stats.distributions import DistributionComparison as DistributionComparison
    from surefoot.stats.distributions import JointGain as JointGain
    from surefoot.stats.distributions import compare_distributions as compare_distributions
    from surefoot.stats.exact_coverage import coverage as coverage
    from surefoot.stats.exact_gains import exact_gain as exact_gain
    from surefoot.stats.exact_gains import exact_paired_gain as exact_paired_gain
    from surefoot.stats.exact_power import Power as Power
    from surefoot.stats.exact_power import RolloutsNeeded as RolloutsNeeded
    from surefoot.stats.exact_power import approximate_rollouts as approximate_rollouts
    from surefoot.stats.exact_power import paired_power as paired_power
    from surefoot.stats.exact_power import power as power
    from surefoot.stats.finite_lists import population_rate as population_rate
    from surefoot.stats.judge_agreement import cohen_kappa as cohen_kappa
    from surefoot.stats.judge_corrected_gains import CorrectedGain as CorrectedGain
    from surefoot.stats.judge_corrected_gains import CorrectedMean as CorrectedMean
    from surefoot.stats.judge_corrected_gains import judge_corrected_gain as judge_corrected_gain
    from surefoot.stats.judge_corrected_gains import judge_corrected_mean as judge_corrected_mean
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
    from surefoot.stats.optimal_bounds import optimal_interval as optimal_interval
    from surefoot.stats.optimal_bounds import optimal_lower as optimal_lower
    from surefoot.stats.optimal_bounds import optimal_upper as optimal_upper
    from surefoot.stats.order_free import ScoreTest as ScoreTest
    from surefoot.stats.pair_tests import mcnemar as mcnemar
    from surefoot.stats.pair_tests import mcnemar_chi2 as mcnemar_chi2
    from surefoot.stats.pair_tests import mcnemar_edwards as mcnemar_edwards
    from surefoot.stats.pair_tests import mcnemar_midp as mcnemar_midp
    from surefoot.stats.permutation_tests import paired_permutation as paired_permutation
    from surefoot.stats.prediction_powered import PredictionPowered as PredictionPowered
    from surefoot.stats.prediction_powered import prediction_powered_mean as prediction_powered_mean
    from surefoot.stats.preferences import Strengths as Strengths
    from surefoot.stats.preferences import bradley_terry as bradley_terry
    from surefoot.stats.preferences import davidson as davidson
    from surefoot.stats.rankings import AgainstBaseline as AgainstBaseline
    from surefoot.stats.rankings import Ranking as Ranking
    from surefoot.stats.rankings import against_baseline as against_baseline
    from surefoot.stats.rankings import rank_intervals as rank_intervals
    from surefoot.stats.rankings import rank_policies as rank_policies
    from surefoot.stats.rate_claims import Claim as Claim
    from surefoot.stats.rate_claims import claim as claim
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
    from surefoot.stats.repeated_runs import Components as Components
    from surefoot.stats.repeated_runs import mean_on_these_tasks as mean_on_these_tasks
    from surefoot.stats.repeated_runs import mean_over_tasks as mean_over_tasks
    from surefoot.stats.repeated_runs import variance_components as variance_components
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
    from surefoot.stats.separate_bounds import DisjointBounds as DisjointBounds
    from surefoot.stats.separate_bounds import disjoint_bounds as disjoint_bounds
    from surefoot.stats.separate_bounds import disjoint_optimal_bounds as disjoint_optimal_bounds
    from surefoot.stats.simultaneous_gains import FamilyGain as FamilyGain
    from surefoot.stats.simultaneous_gains import bonferroni_gains as bonferroni_gains
    from surefoot.stats.simultaneous_gains import holm_gains as holm_gains
    from surefoot.stats.simultaneous_gains import step_down_gains as step_down_gains
    from surefoot.stats.step_down_tests import Sides as Sides
    from surefoot.stats.step_down_tests import Stepped as Stepped
    from surefoot.stats.step_down_tests import step_down as step_down
    from surefoot.stats.strata import stratified_gain as stratified_gain
    from surefoot.stats.strata import stratified_hoeffding_gain as stratified_hoeffding_gain
    from surefoot.stats.strata import stratified_rate_gain as stratified_rate_gain
    from surefoot.stats.stratified_means import stratified_t_gain as stratified_t_gain
    from surefoot.stats.superiority import chance_first_higher as chance_first_higher
    from surefoot.stats.welch_intervals import welch as welch

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
