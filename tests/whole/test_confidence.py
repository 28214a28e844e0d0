"""What every interval does with the confidence it is asked for: one suite for all methods, one line for a new one."""

import inspect
from itertools import pairwise

import numpy as np
import pytest

from surefoot import Bound, Interval, PairTally, Scores, Tally, reference, stats
from surefoot.core.scores import Moments
from surefoot.stats.means import moments_mean

ONE, OTHER = Tally(27, 40), Tally(15, 36)
PAIRS = PairTally(9, 14, 6, 11)
DRAWN = np.random.default_rng(8)
FIRST, SECOND = Scores(DRAWN.beta(3, 2, 48).round(2)), Scores(DRAWN.beta(2, 3, 48).round(2))
LABELS = [i // 4 for i in range(48)]
TRIED = [Tally(k, 10) for k in range(2, 10)] * 3
RUNS = (DRAWN.random((5, 12)) < np.linspace(0.2, 0.9, 12)).astype(int).tolist()
KNOWN = stats.Calibration(true_pass=30, false_fail=6, false_pass=5, true_fail=29)
LEVELS = (0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99)


def moments(scores):
    values = np.array(scores.values)
    return Moments(len(values), float(values.mean()), float(values.var(ddof=1)), scores.low, scores.high)


METHODS = {
    "agresti_caffo": lambda c: reference.agresti_caffo(ONE, OTHER, confidence=c),
    "agresti_coull": lambda c: stats.agresti_coull(ONE, confidence=c),
    "betting_gain": lambda c: reference.betting_gain(FIRST, SECOND, confidence=c),
    "betting_mean": lambda c: reference.betting_mean(FIRST, confidence=c),
    "betting_mean_lower": lambda c: reference.betting_mean_lower(FIRST, confidence=c),
    "betting_mean_upper": lambda c: reference.betting_mean_upper(FIRST, confidence=c),
    "betting_paired_gain": lambda c: reference.betting_paired_gain(FIRST, SECOND, confidence=c),
    "bootstrap_mean": lambda c: reference.bootstrap_mean(FIRST, rng=1, resamples=4000, confidence=c),
    "chance_first_higher": lambda c: reference.chance_first_higher(FIRST, SECOND, confidence=c),
    "clopper_pearson": lambda c: stats.clopper_pearson(ONE, confidence=c),
    "clopper_pearson_lower": lambda c: stats.clopper_pearson_lower(ONE, confidence=c),
    "clopper_pearson_upper": lambda c: stats.clopper_pearson_upper(ONE, confidence=c),
    "cluster_bootstrap": lambda c: reference.cluster_bootstrap(FIRST, LABELS, rng=1, confidence=c),
    "cluster_gain": lambda c: stats.cluster_gain(FIRST, SECOND, LABELS, confidence=c),
    "cluster_mean": lambda c: stats.cluster_mean(FIRST, LABELS, confidence=c),
    "cluster_rate": lambda c: stats.cluster_rate([1, 0, 1, 1] * 6 + [0, 0, 1, 0] * 6, LABELS, confidence=c),
    "cohen_kappa": lambda c: stats.cohen_kappa([1, 0, 1, 1, 0, 0] * 6, [1, 0, 0, 1, 0, 1] * 6, confidence=c),
    "empirical_bernstein": lambda c: reference.empirical_bernstein(Scores(FIRST.values * 10), confidence=c),
    "central_gain": lambda c: reference.central_gain(ONE, OTHER, confidence=c),
    "central_paired_gain": lambda c: reference.central_paired_gain(PAIRS, confidence=c),
    "exact_gain": lambda c: stats.exact_gain(ONE, OTHER, confidence=c),
    "exact_paired_gain": lambda c: stats.exact_paired_gain(PAIRS, confidence=c),
    "hoeffding": lambda c: reference.hoeffding(FIRST, confidence=c),
    "jeffreys": lambda c: stats.jeffreys(ONE, confidence=c),
    "judge_corrected_rate": lambda c: stats.judge_corrected_rate(ONE, KNOWN, confidence=c),
    "judge_corrected_rate_lee": lambda c: reference.judge_corrected_rate_lee(ONE, KNOWN, confidence=c),
    "mean_on_these_tasks": lambda c: reference.mean_on_these_tasks(RUNS, confidence=c),
    "mean_over_tasks": lambda c: reference.mean_over_tasks(RUNS, confidence=c),
    "mean_pass_all": lambda c: stats.mean_pass_all([Tally(k, 10) for k in range(3, 11)] * 3, 2, confidence=c),
    "mean_pass_at": lambda c: stats.mean_pass_at([Tally(k, 10) for k in range(8)] * 3, 2, confidence=c),
    "population_rate": lambda c: stats.population_rate(ONE, population=90, confidence=c),
    "pass_all_gain": lambda c: stats.pass_all_gain(TRIED, TRIED[::-1], 2, confidence=c),
    "pass_at_gain": lambda c: stats.pass_at_gain(TRIED, TRIED[::-1], 2, confidence=c),
    "miettinen_nurminen": lambda c: stats.miettinen_nurminen(ONE, OTHER, confidence=c),
    "moments_mean": lambda c: moments_mean(Moments(30_000, 0.4, 0.05, 0.0, 1.0), confidence=c),
    "newcombe": lambda c: stats.newcombe(ONE, OTHER, confidence=c),
    "newcombe_paired": lambda c: stats.newcombe_paired(PAIRS, confidence=c),
    "optimal_interval": lambda c: stats.optimal_interval(ONE, draw=0.3, confidence=c),
    "optimal_lower": lambda c: stats.optimal_lower(ONE, draw=0.3, confidence=c),
    "optimal_upper": lambda c: stats.optimal_upper(ONE, draw=0.3, confidence=c),
    "paired_bca": lambda c: reference.paired_bca(FIRST, SECOND, rng=1, confidence=c),
    "paired_bootstrap": lambda c: reference.paired_bootstrap(FIRST, SECOND, rng=1, confidence=c),
    "paired_permutation": lambda c: reference.paired_permutation(FIRST, SECOND, rng=1, confidence=c),
    "paired_score_gain": lambda c: stats.paired_score_gain(FIRST, SECOND, confidence=c),
    "paired_score_gain_bound": lambda c: reference.paired_score_gain_bound(FIRST, SECOND, confidence=c),
    "prediction_powered_mean": lambda c: stats.prediction_powered_mean(FIRST, FIRST, SECOND, confidence=c),
    "prediction_powered_rate": lambda c: stats.prediction_powered_rate(ONE, KNOWN, confidence=c),
    "regret_bound": lambda c: stats.regret_bound({"x": ONE, "y": OTHER}, "y", confidence=c),
    "score_gain": lambda c: stats.score_gain(FIRST, SECOND, confidence=c),
    "score_gain_bound": lambda c: reference.score_gain_bound(FIRST, SECOND, confidence=c),
    "score_mean": lambda c: stats.score_mean(FIRST, confidence=c),
    "score_mean_lower": lambda c: reference.score_mean_lower(FIRST, confidence=c),
    "score_mean_upper": lambda c: reference.score_mean_upper(FIRST, confidence=c),
    "stratified_gain": lambda c: reference.stratified_gain({"x": (ONE, OTHER), "y": (OTHER, ONE)}, confidence=c),
    "stratified_hoeffding_gain": lambda c: reference.stratified_hoeffding_gain(
        {"x": (ONE, Tally(20, 40))}, confidence=c
    ),
    "stratified_rate_gain": lambda c: stats.stratified_rate_gain({"x": (ONE, OTHER), "y": (ONE, OTHER)}, confidence=c),
    "stratified_score_gain": lambda c: stats.stratified_score_gain({"x": (FIRST, SECOND)}, confidence=c),
    "stratified_score_gain_bound": lambda c: reference.stratified_score_gain_bound(
        {"x": (FIRST, SECOND)}, confidence=c
    ),
    "stratified_score_mean": lambda c: reference.stratified_score_mean({"x": FIRST, "y": SECOND}, confidence=c),
    "stratified_t_gain": lambda c: reference.stratified_t_gain(
        {"x": (FIRST, SECOND), "y": (SECOND, FIRST)}, confidence=c
    ),
    "stratified_rate": lambda c: stats.stratified_rate({"x": ONE, "y": OTHER}, confidence=c),
    "student_t": lambda c: reference.student_t(FIRST, confidence=c),
    "tango": lambda c: stats.tango(PAIRS, confidence=c),
    "two_sample_cluster_gain": lambda c: stats.two_sample_cluster_gain(FIRST, SECOND, (LABELS, LABELS), confidence=c),
    "unpaired_bca": lambda c: reference.unpaired_bca(FIRST, SECOND, rng=1, confidence=c),
    "unpaired_bootstrap": lambda c: reference.unpaired_bootstrap(FIRST, SECOND, rng=1, confidence=c),
    "wald": lambda c: stats.wald(ONE, confidence=c),
    "welch": lambda c: reference.welch(FIRST, SECOND, confidence=c),
    "wilson": lambda c: stats.wilson(ONE, confidence=c),
    "wilson_lower": lambda c: stats.wilson_lower(ONE, confidence=c),
    "wilson_upper": lambda c: stats.wilson_upper(ONE, confidence=c),
    "wsr_mean": lambda c: reference.wsr_mean(FIRST, confidence=c),
}


def shown(found):
    return found if isinstance(found, Interval | Bound) else found.interval


def reach(found):
    """How much is left open."""
    if isinstance(found, Bound):
        return found.estimate - found.value if found.side == "lower" else found.value - found.estimate
    return found.high - found.low


ABOVE_HALF = {"regret_bound"}
"""What is refused at a confidence of a half and below: it needs a bound on each side."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", METHODS)
def test_more_confidence_leaves_more_open_at_every_level(name):
    levels = [level for level in LEVELS if level > 0.5 or name not in ABOVE_HALF]
    found = [shown(METHODS[name](level)) for level in levels]
    assert [one.confidence for one in found] == levels
    for less, more in pairwise(found):
        assert reach(less) < reach(more)
        if isinstance(less, Interval):
            assert more.low <= less.low + 1e-9
            assert less.high <= more.high + 1e-9


def test_every_method_that_gives_an_interval_is_here():
    gives = {"Interval", "Bound", "Gain", "JudgedRate", "PredictionPowered", "ClusteredMean", "ClusteredGain"}
    public = {name: getattr(room, name) for room in (stats, reference) for name in room._HOMES}
    given = {
        name
        for name, thing in public.items()
        if inspect.isfunction(thing)
        and str(inspect.signature(thing).return_annotation) in gives
        and "confidence" in inspect.signature(thing).parameters
    }
    assert given - METHODS.keys() == set()


@pytest.mark.parametrize("confidence", [0.02, 0.5, 0.8, 0.95])
def test_few_rollouts_are_no_reason_to_leave_out_the_estimate(confidence):
    for one in (stats.jeffreys, stats.agresti_coull, stats.wilson):
        for trials, successes in ((1, 0), (5, 1), (20, 1), (100, 1)):
            found = one(Tally(successes, trials), confidence=confidence)
            assert found.low <= found.estimate <= found.high
    for other in (reference.agresti_caffo, stats.newcombe, stats.miettinen_nurminen):
        found = other(Tally(0, 1), Tally(1, 1), confidence=confidence)
        assert found.low <= found.estimate <= found.high  # Agresti and Caffo's own estimate where theirs leaves it out
