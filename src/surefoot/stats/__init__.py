"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

if TYPE_CHECKING:
    from surefoot.stats.attempts import mean_pass_all as mean_pass_all
    from surefoot.stats.attempts import mean_pass_at as mean_pass_at
    from surefoot.stats.attempts import pass_all_gain as pass_all_gain
    from surefoot.stats.attempts import pass_at_gain as pass_at_gain
    from surefoot.stats.bands import band as band
    from surefoot.stats.bound_tightness import coverage as coverage
    from surefoot.stats.bound_tightness import expected_shortage as expected_shortage
    from surefoot.stats.bound_tightness import max_expected_shortage as max_expected_shortage
    from surefoot.stats.cluster_gains import cluster_gain as cluster_gain
    from surefoot.stats.cluster_gains import two_sample_cluster_gain as two_sample_cluster_gain
    from surefoot.stats.clusters import cluster_mean as cluster_mean
    from surefoot.stats.clusters import cluster_rate as cluster_rate
    from surefoot.stats.detectable import outlook as outlook
    from surefoot.stats.exact_power import paired_power as paired_power
    from surefoot.stats.exact_power import power as power
    from surefoot.stats.gates import GateTest as GateTest
    from surefoot.stats.gates import gate_test as gate_test
    from surefoot.stats.gates import paired_ratio_test as paired_ratio_test
    from surefoot.stats.gates import ratio_test as ratio_test
    from surefoot.stats.items import population_rate as population_rate
    from surefoot.stats.judge_corrected_gains import judge_corrected_gain as judge_corrected_gain
    from surefoot.stats.judge_corrected_gains import judge_corrected_mean as judge_corrected_mean
    from surefoot.stats.judges import Calibration as Calibration
    from surefoot.stats.judges import judge_corrected_rate as judge_corrected_rate
    from surefoot.stats.judges import prediction_powered_rate as prediction_powered_rate
    from surefoot.stats.labelling import cohen_kappa as cohen_kappa
    from surefoot.stats.labelling import labels_needed as labels_needed
    from surefoot.stats.letters import compact_letters as compact_letters
    from surefoot.stats.means import betting_sequence as betting_sequence
    from surefoot.stats.multiplicity import holm as holm
    from surefoot.stats.one_sided_gains import gain_bounds as gain_bounds
    from surefoot.stats.one_sided_gains import paired_gain_bounds as paired_gain_bounds
    from surefoot.stats.optimal_bounds import optimal_interval as optimal_interval
    from surefoot.stats.optimal_bounds import optimal_lower as optimal_lower
    from surefoot.stats.optimal_bounds import optimal_upper as optimal_upper
    from surefoot.stats.prediction_powered import prediction_powered_mean as prediction_powered_mean
    from surefoot.stats.preferences import bradley_terry as bradley_terry
    from surefoot.stats.rankings import against_baseline as against_baseline
    from surefoot.stats.rankings import rank_intervals as rank_intervals
    from surefoot.stats.rankings import rank_policies as rank_policies
    from surefoot.stats.rate_gains import exact_gain as exact_gain
    from surefoot.stats.rate_gains import exact_paired_gain as exact_paired_gain
    from surefoot.stats.rate_gains import miettinen_nurminen as miettinen_nurminen
    from surefoot.stats.rate_gains import newcombe as newcombe
    from surefoot.stats.rate_gains import newcombe_paired as newcombe_paired
    from surefoot.stats.rate_gains import tango as tango
    from surefoot.stats.rate_tests import barnard as barnard
    from surefoot.stats.rate_tests import boschloo as boschloo
    from surefoot.stats.rate_tests import fisher as fisher
    from surefoot.stats.rate_tests import mcnemar as mcnemar
    from surefoot.stats.rate_tests import mcnemar_midp as mcnemar_midp
    from surefoot.stats.rates import agresti_coull as agresti_coull
    from surefoot.stats.rates import claim as claim
    from surefoot.stats.rates import clopper_pearson as clopper_pearson
    from surefoot.stats.rates import clopper_pearson_lower as clopper_pearson_lower
    from surefoot.stats.rates import clopper_pearson_upper as clopper_pearson_upper
    from surefoot.stats.rates import jeffreys as jeffreys
    from surefoot.stats.rates import wald as wald
    from surefoot.stats.rates import wilson as wilson
    from surefoot.stats.rates import wilson_lower as wilson_lower
    from surefoot.stats.rates import wilson_upper as wilson_upper
    from surefoot.stats.score_gains import paired_score_gain as paired_score_gain
    from surefoot.stats.score_gains import score_gain as score_gain
    from surefoot.stats.score_means import score_mean as score_mean
    from surefoot.stats.score_strata import stratified_score_gain as stratified_score_gain
    from surefoot.stats.selection import regret_bound as regret_bound
    from surefoot.stats.selection import selection_bias as selection_bias
    from surefoot.stats.selection import shortlist as shortlist
    from surefoot.stats.selection import simultaneous_intervals as simultaneous_intervals
    from surefoot.stats.slices import slice_gains as slice_gains
    from surefoot.stats.strata import stratified_rate as stratified_rate
    from surefoot.stats.strata import stratified_rate_gain as stratified_rate_gain

_HOMES = _lazy.homes(__name__, __file__)
__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
