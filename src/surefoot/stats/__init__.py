"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = _lazy.homes(
    __name__,
    {
        "attempts": "mean_pass_all mean_pass_at pass_all pass_all_gain pass_at pass_at_gain",
        "bands": "band best_case_band dkw ks ks_error ks_offset tail_tight two_sided_band",
        "betting_gains": "betting_gain betting_paired_gain",
        "bootstrap": "paired_bca paired_bootstrap unpaired_bca unpaired_bootstrap",
        "bound_tightness": "expected_excess expected_shortage expected_width max_expected_excess "
        "max_expected_shortage max_expected_width",
        "cluster_gains": "ClusteredGain cluster_gain two_sample_cluster_gain",
        "cluster_shapes": "ClusterShape cluster_shape",
        "clusters": "ClusteredMean cluster_bootstrap cluster_mean cluster_rate",
        "confidence_sequences": "MeanEvidence MeanSequence betting_sequence wsr_evidence",
        "detectable": "Outlook outlook outlook_from",
        "distributions": "DistributionComparison JointGain compare_distributions",
        "exact_coverage": "coverage",
        "exact_gains": "exact_gain exact_paired_gain",
        "exact_power": "Power RolloutsNeeded approximate_rollouts paired_power power",
        "finite_lists": "population_rate",
        "judge_agreement": "cohen_kappa",
        "judge_corrected_gains": "CorrectedGain CorrectedMean judge_corrected_gain judge_corrected_mean",
        "judges": "Calibration JudgedRate judge_corrected_rate judge_corrected_rate_lee prediction_powered_rate",
        "labelling": "LabelsNeeded draw_gap labels_expected labels_needed",
        "letters": "Letters compact_letters",
        "many_clusters": "all_cluster_gains",
        "many_gains": "central_gains",
        "many_scores": "moments_gain moments_mean moments_paired_gain",
        "means": "betting_mean betting_mean_lower betting_mean_upper bootstrap_mean empirical_bernstein hoeffding "
        "student_t wsr_mean",
        "multiplicity": "benjamini_hochberg bonferroni e_benjamini_hochberg holm sidak",
        "one_sided_gains": "central_gain central_paired_gain gain_bounds gain_sides one_sided_bounds "
        "paired_gain_bounds paired_gain_sides",
        "optimal_bounds": "optimal_interval optimal_lower optimal_upper",
        "order_free": "ScoreTest",
        "pair_tests": "mcnemar mcnemar_chi2 mcnemar_edwards mcnemar_midp",
        "permutation_tests": "paired_permutation",
        "prediction_powered": "PredictionPowered prediction_powered_mean",
        "preferences": "Strengths bradley_terry davidson",
        "rankings": "AgainstBaseline Ranking against_baseline rank_intervals rank_policies",
        "rate_claims": "Claim claim",
        "rate_gains": "agresti_caffo miettinen_nurminen newcombe newcombe_paired tango",
        "rate_tests": "GainTest barnard barnard_unpooled boschloo boschloo_two_sided fisher miettinen_nurminen_score "
        "pooled_score",
        "rates": "agresti_coull clopper_pearson clopper_pearson_lower clopper_pearson_upper jeffreys wald wilson "
        "wilson_lower wilson_upper",
        "repeated_runs": "Components mean_on_these_tasks mean_over_tasks variance_components",
        "score_gains": "paired_score_gain paired_score_gain_bound paired_score_test score_gain score_gain_bound "
        "score_test surely_undecided",
        "score_means": "score_mean score_mean_lower score_mean_test score_mean_upper",
        "score_strata": "stratified_score_gain stratified_score_gain_bound stratified_score_mean stratified_score_test",
        "separate_bounds": "DisjointBounds disjoint_bounds disjoint_optimal_bounds",
        "simultaneous_gains": "FamilyGain bonferroni_gains holm_gains step_down_gains",
        "step_down_tests": "Sides Stepped step_down",
        "strata": "stratified_gain stratified_hoeffding_gain stratified_rate_gain",
        "stratified_means": "stratified_t_gain",
        "superiority": "chance_first_higher",
        "welch_intervals": "welch",
    },
)

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
