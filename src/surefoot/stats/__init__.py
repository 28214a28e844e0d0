"""Numbers in, results out: every statistic of surefoot, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot import _lazy

_HOMES = {
    "Claim": "surefoot.stats.claims",
    "DistributionComparison": "surefoot.stats.distributions",
    "JointGain": "surefoot.stats.distributions",
    "MeanEvidence": "surefoot.stats.sequences",
    "MeanSequence": "surefoot.stats.sequences",
    "agresti_coull": "surefoot.stats.rates",
    "band": "surefoot.stats.bands",
    "best_case_band": "surefoot.stats.bands",
    "betting_mean": "surefoot.stats.means",
    "betting_mean_lower": "surefoot.stats.means",
    "betting_mean_upper": "surefoot.stats.means",
    "betting_sequence": "surefoot.stats.sequences",
    "bootstrap_mean": "surefoot.stats.means",
    "claim": "surefoot.stats.claims",
    "clopper_pearson": "surefoot.stats.rates",
    "clopper_pearson_lower": "surefoot.stats.rates",
    "clopper_pearson_upper": "surefoot.stats.rates",
    "compare_distributions": "surefoot.stats.distributions",
    "coverage": "surefoot.stats.coverages",
    "dkw": "surefoot.stats.bands",
    "empirical_bernstein": "surefoot.stats.means",
    "expected_excess": "surefoot.stats.tightness",
    "expected_shortage": "surefoot.stats.tightness",
    "expected_width": "surefoot.stats.tightness",
    "hoeffding": "surefoot.stats.means",
    "jeffreys": "surefoot.stats.rates",
    "ks": "surefoot.stats.bands",
    "ks_error": "surefoot.stats.bands",
    "ks_offset": "surefoot.stats.bands",
    "max_expected_excess": "surefoot.stats.tightness",
    "max_expected_shortage": "surefoot.stats.tightness",
    "max_expected_width": "surefoot.stats.tightness",
    "optimal_interval": "surefoot.stats.optima",
    "optimal_lower": "surefoot.stats.optima",
    "optimal_upper": "surefoot.stats.optima",
    "student_t": "surefoot.stats.means",
    "tail_tight": "surefoot.stats.bands",
    "two_sided_band": "surefoot.stats.bands",
    "wald": "surefoot.stats.rates",
    "wilson": "surefoot.stats.rates",
    "wilson_lower": "surefoot.stats.rates",
    "wilson_upper": "surefoot.stats.rates",
    "wsr_evidence": "surefoot.stats.sequences",
    "wsr_mean": "surefoot.stats.means",
}

if TYPE_CHECKING:
    from surefoot.stats.bands import band as band
    from surefoot.stats.bands import best_case_band as best_case_band
    from surefoot.stats.bands import dkw as dkw
    from surefoot.stats.bands import ks as ks
    from surefoot.stats.bands import ks_error as ks_error
    from surefoot.stats.bands import ks_offset as ks_offset
    from surefoot.stats.bands import tail_tight as tail_tight
    from surefoot.stats.bands import two_sided_band as two_sided_band
    from surefoot.stats.claims import Claim as Claim
    from surefoot.stats.claims import claim as claim
    from surefoot.stats.coverages import coverage as coverage
    from surefoot.stats.distributions import DistributionComparison as DistributionComparison
    from surefoot.stats.distributions import JointGain as JointGain
    from surefoot.stats.distributions import compare_distributions as compare_distributions
    from surefoot.stats.means import betting_mean as betting_mean
    from surefoot.stats.means import betting_mean_lower as betting_mean_lower
    from surefoot.stats.means import betting_mean_upper as betting_mean_upper
    from surefoot.stats.means import bootstrap_mean as bootstrap_mean
    from surefoot.stats.means import empirical_bernstein as empirical_bernstein
    from surefoot.stats.means import hoeffding as hoeffding
    from surefoot.stats.means import student_t as student_t
    from surefoot.stats.means import wsr_mean as wsr_mean
    from surefoot.stats.optima import optimal_interval as optimal_interval
    from surefoot.stats.optima import optimal_lower as optimal_lower
    from surefoot.stats.optima import optimal_upper as optimal_upper
    from surefoot.stats.rates import agresti_coull as agresti_coull
    from surefoot.stats.rates import clopper_pearson as clopper_pearson
    from surefoot.stats.rates import clopper_pearson_lower as clopper_pearson_lower
    from surefoot.stats.rates import clopper_pearson_upper as clopper_pearson_upper
    from surefoot.stats.rates import jeffreys as jeffreys
    from surefoot.stats.rates import wald as wald
    from surefoot.stats.rates import wilson as wilson
    from surefoot.stats.rates import wilson_lower as wilson_lower
    from surefoot.stats.rates import wilson_upper as wilson_upper
    from surefoot.stats.sequences import MeanEvidence as MeanEvidence
    from surefoot.stats.sequences import MeanSequence as MeanSequence
    from surefoot.stats.sequences import betting_sequence as betting_sequence
    from surefoot.stats.sequences import wsr_evidence as wsr_evidence
    from surefoot.stats.tightness import expected_excess as expected_excess
    from surefoot.stats.tightness import expected_shortage as expected_shortage
    from surefoot.stats.tightness import expected_width as expected_width
    from surefoot.stats.tightness import max_expected_excess as max_expected_excess
    from surefoot.stats.tightness import max_expected_shortage as max_expected_shortage
    from surefoot.stats.tightness import max_expected_width as max_expected_width

__all__ = list(_HOMES)
__getattr__, __dir__ = _lazy.attach(__name__, _HOMES)
