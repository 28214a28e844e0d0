"""Published methods that no answer of surefoot uses: to compare against, to teach, or to keep a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

if TYPE_CHECKING:
    from surefoot.reference.bootstrap import bootstrap_mean as bootstrap_mean
    from surefoot.reference.bootstrap import cluster_bootstrap as cluster_bootstrap
    from surefoot.reference.bootstrap import paired_bca as paired_bca
    from surefoot.reference.bootstrap import paired_bootstrap as paired_bootstrap
    from surefoot.reference.bootstrap import unpaired_bca as unpaired_bca
    from surefoot.reference.bootstrap import unpaired_bootstrap as unpaired_bootstrap
    from surefoot.reference.distributions import DistributionComparison as DistributionComparison
    from surefoot.reference.distributions import JointGain as JointGain
    from surefoot.reference.distributions import compare_distributions as compare_distributions
    from surefoot.reference.mean_gains import betting_gain as betting_gain
    from surefoot.reference.mean_gains import betting_paired_gain as betting_paired_gain
    from surefoot.reference.mean_gains import chance_first_higher as chance_first_higher
    from surefoot.reference.mean_gains import stratified_t_gain as stratified_t_gain
    from surefoot.reference.mean_gains import welch as welch
    from surefoot.reference.permutation_tests import paired_permutation as paired_permutation
    from surefoot.reference.repeated_runs import Components as Components
    from surefoot.reference.repeated_runs import mean_on_these_tasks as mean_on_these_tasks
    from surefoot.reference.repeated_runs import mean_over_tasks as mean_over_tasks
    from surefoot.reference.repeated_runs import variance_components as variance_components
    from surefoot.reference.separate_bounds import DisjointBounds as DisjointBounds
    from surefoot.reference.separate_bounds import disjoint_bounds as disjoint_bounds
    from surefoot.reference.separate_bounds import disjoint_optimal_bounds as disjoint_optimal_bounds
    from surefoot.stats.attempts import pass_all as pass_all
    from surefoot.stats.attempts import pass_at as pass_at
    from surefoot.stats.bands import best_case_band as best_case_band
    from surefoot.stats.bands import dkw as dkw
    from surefoot.stats.bands import ks as ks
    from surefoot.stats.bands import ks_error as ks_error
    from surefoot.stats.bands import ks_offset as ks_offset
    from surefoot.stats.bands import tail_tight as tail_tight
    from surefoot.stats.bands import two_sided_band as two_sided_band
    from surefoot.stats.bound_tightness import expected_excess as expected_excess
    from surefoot.stats.bound_tightness import expected_width as expected_width
    from surefoot.stats.bound_tightness import max_expected_excess as max_expected_excess
    from surefoot.stats.bound_tightness import max_expected_width as max_expected_width
    from surefoot.stats.judges import judge_corrected_rate_lee as judge_corrected_rate_lee
    from surefoot.stats.means import MeanEvidence as MeanEvidence
    from surefoot.stats.means import betting_mean as betting_mean
    from surefoot.stats.means import betting_mean_lower as betting_mean_lower
    from surefoot.stats.means import betting_mean_upper as betting_mean_upper
    from surefoot.stats.means import empirical_bernstein as empirical_bernstein
    from surefoot.stats.means import hoeffding as hoeffding
    from surefoot.stats.means import student_t as student_t
    from surefoot.stats.means import wsr_evidence as wsr_evidence
    from surefoot.stats.means import wsr_mean as wsr_mean
    from surefoot.stats.multiplicity import benjamini_hochberg as benjamini_hochberg
    from surefoot.stats.multiplicity import bonferroni as bonferroni
    from surefoot.stats.multiplicity import e_benjamini_hochberg as e_benjamini_hochberg
    from surefoot.stats.multiplicity import sidak as sidak
    from surefoot.stats.one_sided_gains import central_gain as central_gain
    from surefoot.stats.one_sided_gains import central_gains as central_gains
    from surefoot.stats.one_sided_gains import central_paired_gain as central_paired_gain
    from surefoot.stats.one_sided_gains import one_sided_bounds as one_sided_bounds
    from surefoot.stats.preferences import davidson as davidson
    from surefoot.stats.rate_gains import agresti_caffo as agresti_caffo
    from surefoot.stats.rate_tests import barnard_unpooled as barnard_unpooled
    from surefoot.stats.rate_tests import boschloo_two_sided as boschloo_two_sided
    from surefoot.stats.rate_tests import mcnemar_chi2 as mcnemar_chi2
    from surefoot.stats.rate_tests import mcnemar_edwards as mcnemar_edwards
    from surefoot.stats.rate_tests import miettinen_nurminen_score as miettinen_nurminen_score
    from surefoot.stats.rate_tests import pooled_score as pooled_score
    from surefoot.stats.score_gains import paired_score_gain_bound as paired_score_gain_bound
    from surefoot.stats.score_gains import paired_score_test as paired_score_test
    from surefoot.stats.score_gains import score_gain_bound as score_gain_bound
    from surefoot.stats.score_gains import score_test as score_test
    from surefoot.stats.score_means import score_mean_lower as score_mean_lower
    from surefoot.stats.score_means import score_mean_test as score_mean_test
    from surefoot.stats.score_means import score_mean_upper as score_mean_upper
    from surefoot.stats.score_strata import stratified_score_gain_bound as stratified_score_gain_bound
    from surefoot.stats.score_strata import stratified_score_mean as stratified_score_mean
    from surefoot.stats.score_strata import stratified_score_test as stratified_score_test
    from surefoot.stats.selection import simultaneous_lower_bounds as simultaneous_lower_bounds
    from surefoot.stats.simultaneous_gains import bonferroni_gains as bonferroni_gains
    from surefoot.stats.simultaneous_gains import holm_gains as holm_gains
    from surefoot.stats.simultaneous_gains import step_down_gains as step_down_gains
    from surefoot.stats.strata import stratified_gain as stratified_gain
    from surefoot.stats.strata import stratified_hoeffding_gain as stratified_hoeffding_gain

_HOMES = _lazy.homes(__name__, __file__)
__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
