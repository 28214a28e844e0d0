"""Judges: corrected rates, prediction-powered means, agreement; and how often their intervals hold the truth.

Tests of `surefoot.stats.judges`, `surefoot.stats.prediction_powered`.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, betaincinv

from surefoot import Scores, Tally
from surefoot.core.assumptions import JUDGE_NEARLY, SIMULATED
from surefoot.core.record import Record
from surefoot.reference import judge_corrected_rate_lee
from surefoot.stats import (
    Calibration,
    clopper_pearson,
    cohen_kappa,
    judge_corrected_rate,
    judges,
    prediction_powered_mean,
    prediction_powered_rate,
)
from tests.oracles import structure as twin
from tests.reference import cases
from tests.support.judges import least

SETTINGS = [(labels, rate) for labels in (20, 50, 200) for rate in (0.5, 0.9, 0.98)]
JUDGES = [(0.9, 0.8), (0.97, 0.95)]


# --- The reference


@pytest.mark.parametrize("case", cases("rogan_gladen"))
def test_corrected_rates_of_the_reference(case):
    asked, wanted = case
    judged = Tally(asked["k"], asked["n"])
    calibration = Calibration(
        true_pass=asked["tp"],
        false_fail=asked["m1"] - asked["tp"],
        false_pass=asked["m0"] - asked["tn"],
        true_fail=asked["tn"],
    )
    found = judge_corrected_rate(judged, calibration, confidence=asked["conf"])
    assert found.raw == pytest.approx(wanted["theta_raw"], rel=1e-10)
    assert found.interval.estimate == pytest.approx(wanted["theta_clipped"], rel=1e-10)
    assert found.standard_error == pytest.approx(wanted["se_delta"], rel=1e-10)
    z = 1.959963984540054
    assert found.raw - z * found.standard_error == pytest.approx(wanted["wald_lo"], rel=1e-10)
    lee = judge_corrected_rate_lee(judged, calibration, confidence=asked["conf"]).interval
    assert (lee.low, lee.high) == pytest.approx((wanted["lee_lo"], wanted["lee_hi"]), rel=1e-10)
    # the melded interval is the wider of two good ones, not a different answer
    assert found.interval.low <= lee.low + 0.02
    assert found.interval.width < 1.6 * lee.width


def test_a_perfect_judge_gives_nearly_the_exact_interval():
    sure = Calibration(100_000, 0, 0, 100_000)
    found = judge_corrected_rate(Tally(38, 50), sure).interval
    exact = clopper_pearson(Tally(38, 50))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-3)


def test_melding_is_what_drawing_the_bounds_gives():
    """The double integral against a plain simulation of the same three beta variables."""
    rng = np.random.default_rng(4)
    size = 400_000
    q = rng.beta(290, 111, size)  # lower bounds of 290/400
    s = rng.beta(96, 5, size)  # upper bounds of 95/100
    f = rng.beta(11, 90, size)  # upper bounds of 10/100
    drawn = np.quantile((q - f) / (s - f), 0.025)
    found = judge_corrected_rate(Tally(290, 400), Calibration(95, 5, 10, 90)).interval.low
    assert found == pytest.approx(drawn, abs=6e-4)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999, 0.999999])
def test_the_error_of_the_low_end_is_the_one_asked_for(confidence):
    """The same double integral by the trapezoidal rule in the log odds, far into both tails."""
    s = np.linspace(-40.0, 40.0, 801)
    levels = 1.0 / (1.0 + np.exp(-s))
    weights = 0.1 * levels / (1.0 + np.exp(s))
    hit, alarm = betaincinv(96, 5, levels), betaincinv(11, 90, levels)  # upper bounds of 95/100 and 10/100
    low = judge_corrected_rate(Tally(290, 400), Calibration(95, 5, 10, 90), confidence=confidence).interval.low
    missed = betainc(290, 111, low * hit[:, None] + (1.0 - low) * alarm)  # lower bounds of 290/400
    assert weights @ missed @ weights == pytest.approx((1.0 - confidence) / 2.0, rel=2e-3)


# --- What the calibration can and cannot show


def test_a_pass_rate_that_no_rate_explains_is_named():
    found = judge_corrected_rate(Tally(400, 400), Calibration(50, 50, 0, 100))
    assert (found.interval.low, found.interval.high, found.raw) == (0.0, 1.0, 2.0)
    assert "No rate explains" in found.interval.notes[0]
    assert judge_corrected_rate(Tally(200, 400), Calibration(50, 50, 0, 100)).interval.notes == ()


@pytest.mark.parametrize("passed", [0, 1])
def test_one_judged_item_is_explained_by_any_rate(passed):
    """The correction of 1/1 ends above 1 and that of 0/1 below 0, but one item contradicts no calibration."""
    found = judge_corrected_rate(Tally(passed, 1), Calibration(95, 5, 10, 90))
    assert not 0.0 <= found.raw <= 1.0
    assert (found.interval.low, found.interval.high, found.interval.notes) == (0.0, 1.0, ())
    (note,) = judge_corrected_rate(Tally(9, 10), Calibration(2, 1, 1, 2)).interval.notes
    assert "better than chance" in note


def test_only_the_melded_interval_claims_what_its_simulations_showed():
    data = Tally(290, 400), Calibration(95, 5, 10, 90)
    assert SIMULATED in judge_corrected_rate(*data).interval.assumptions
    assert JUDGE_NEARLY in judge_corrected_rate_lee(*data).interval.assumptions
    assert SIMULATED not in judge_corrected_rate_lee(*data).interval.assumptions


def test_a_calibration_that_shows_nothing_gives_the_whole_range():
    found = judge_corrected_rate(Tally(60, 100), Calibration(3, 1, 1, 2))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert "does not show a judge better than chance" in found.interval.notes[0]
    empty = judge_corrected_rate(Tally(60, 100), Calibration(20, 0, 0, 0))
    assert (empty.interval.low, empty.interval.high, empty.raw) == (0.0, 1.0, None)
    assert "no true failure" in empty.interval.notes[1]


@pytest.mark.parametrize("counts", [(5, 5, 5, 5), (1, 9, 9, 1), (0, 10, 10, 0), (10, 0, 10, 0)])
def test_a_judge_no_better_than_chance_is_refused(counts):
    for correct in (judge_corrected_rate, judge_corrected_rate_lee):
        with pytest.raises(ValueError, match="A judge no better than chance cannot be corrected"):
            correct(Tally(60, 100), Calibration(*counts))


def test_the_same_judge_is_no_obstacle_to_a_random_sample_of_labels():
    found = prediction_powered_rate(Tally(60, 100), Calibration(10, 10, 10, 10)).interval
    assert found.estimate == pytest.approx(0.5)
    assert 0.3 < found.low < 0.4


def test_what_the_labels_never_met_is_said_and_nothing_else():
    met = {"true_pass": 6, "false_fail": 2, "false_pass": 2, "true_fail": 4}
    assert prediction_powered_rate(Tally(5, 10), Calibration(**met)).interval.notes == ()
    for unmet, said in ((("false_fail", "true_fail"), "failed"), (("true_pass", "false_pass"), "passed")):
        (note,) = prediction_powered_rate(Tally(5, 10), Calibration(**met | dict.fromkeys(unmet, 0))).interval.notes
        assert note == f"No labelled item was {said} by the judge, so nothing is known about such items."


@pytest.mark.parametrize(("passed", "end"), [(5000, 1.0), (0, 0.0)])
def test_a_corrected_rate_stays_a_rate(passed, end):
    """More passes than a judge who misses 40% could give: the correction alone would end above 1."""
    hard = Calibration(true_pass=600, false_fail=400, false_pass=400, true_fail=600)
    found = judge_corrected_rate_lee(Tally(passed, 5000), hard)
    assert (found.interval.low, found.interval.high) == (end, end)


counts = st.tuples(*[st.integers(0, 12)] * 4).filter(any)


@given(counts=counts, passed=st.integers(0, 80))
@settings(max_examples=12)
def test_prediction_powered_rate_mirrors_and_keeps_a_width(counts, passed):
    tp, ff, fp, tf = counts
    here = prediction_powered_rate(Tally(passed, 80), Calibration(tp, ff, fp, tf)).interval
    there = prediction_powered_rate(Tally(80 - passed, 80), Calibration(tf, fp, ff, tp)).interval
    assert here.low == pytest.approx(1 - there.high, abs=1e-7)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    assert here.width > 0.005


@given(counts=counts, passed=st.integers(0, 80))
@settings(max_examples=12)
def test_corrected_rate_mirrors_and_keeps_a_width(counts, passed):
    tp, ff, fp, tf = counts
    calibration = Calibration(tp, ff, fp, tf)
    sens, spec = calibration.sensitivity, calibration.specificity
    if sens is not None and spec is not None and sens + spec <= 1 + 1e-12:
        return
    here = judge_corrected_rate(Tally(passed, 80), calibration).interval
    there = judge_corrected_rate(Tally(80 - passed, 80), Calibration(tf, fp, ff, tp)).interval
    assert here.low == pytest.approx(1 - there.high, abs=1e-7)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    raw = judge_corrected_rate(Tally(passed, 80), calibration).raw
    if raw is not None and not 0.0 <= raw <= 1.0:
        return  # no rate explains these passes: few candidates are left, or none and then the interval is whole
    assert here.width > 0.005
    wider = judge_corrected_rate(Tally(passed, 80), calibration, confidence=0.99).interval
    assert wider.low <= here.low + 1e-9
    assert wider.high >= here.high - 1e-9


@pytest.mark.parametrize(("passed", "counts"), [(0, (5, 0, 2, 9)), (80, (9, 2, 0, 5))])
def test_the_interval_is_whole_where_no_rate_explains_the_passes(passed, counts):
    """No pass in 80 from a judge that passes 2 of 11 failures: at 95% nothing is left, at 99% the edge is."""
    found = judge_corrected_rate(Tally(passed, 80), Calibration(*counts))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert any("No rate explains" in note for note in found.interval.notes)
    edge = judge_corrected_rate(Tally(passed, 80), Calibration(*counts), confidence=0.99).interval
    assert edge.width < 0.1


def test_more_labels_narrow_both_intervals():
    few, more = Calibration(18, 2, 4, 16), Calibration(180, 20, 40, 160)
    for method in (judge_corrected_rate, prediction_powered_rate):
        assert method(Tally(600, 1000), more).interval.width < method(Tally(600, 1000), few).interval.width


def test_calibration_counts_pairs_of_labels():
    found = Calibration.of([True, True, False, False, True], [True, False, True, False, True])
    assert found == Calibration(2, 1, 1, 1)
    assert "5 items labelled" in str(found)
    result = judge_corrected_rate(Tally(60, 100), Calibration(40, 4, 3, 30))
    assert Record.from_dict(json.loads(json.dumps(result.to_dict()))) == result


# --- Coverage


def judge_draws(rng, labels, rate, judge, draws, items=1000):
    sens, spec = judge
    true = rng.binomial(labels, rate, draws)
    hit, alarm = rng.binomial(true, sens), rng.binomial(labels - true, 1 - spec)
    return true, hit, alarm, rng.binomial(items, rate * sens + (1 - rate) * (1 - spec), draws)


def corrected_coverage(labels, rate, judge, draws, seed, balanced):
    """Draws in which the melded interval holds the rate: the candidate is tested as each end in turn."""
    rng = np.random.default_rng(seed)
    true, hit, alarm, passed = judge_draws(rng, labels, rate, judge, draws)
    if balanced:  # the labelled items were chosen to hold as many failures as successes
        true = np.full(draws, labels // 2)
        hit, alarm = rng.binomial(true, judge[0]), rng.binomial(labels - true, 1 - judge[1])
    data = (passed, np.full(draws, 1000)), (hit, true), (alarm, labels - true)
    at = np.full(draws, rate)
    inside = (judges.mixture_error(at, *data, above=True) > 0.025) & (
        judges.mixture_error(at, *data, above=False) > 0.025
    )
    unknown = judges.order_error(data[1], data[2]) > 0.025  # [0, 1] is given, or the judge is refused
    return int(np.count_nonzero(inside | unknown))


def powered_coverage(labels, rate, judge, draws, seed):
    true, hit, alarm, passed = judge_draws(np.random.default_rng(seed), labels, rate, judge, draws)
    seen = hit + alarm
    data = (passed + seen, np.full(draws, 1000 + labels)), (hit, seen), (true - hit, labels - seen)
    at = np.full(draws, rate)
    return int(
        np.count_nonzero(
            (judges.strata_error(at, *data, above=True) > 0.025) & (judges.strata_error(at, *data, above=False) > 0.025)
        )
    )


def mean_coverage(labels, rate, kind, draws, seed):
    rng = np.random.default_rng(seed)
    covered = 0
    for _ in range(draws):
        if kind == "success":
            y = (rng.random(labels + 400) < rate).astype(float)
            f = np.where(y == 1, rng.random(y.size) < 0.9, rng.random(y.size) < 0.2).astype(float)
        else:
            y = rng.beta(2 * rate, 2 * (1 - rate), labels + 400)
            f = (y + 0.2 * rng.standard_normal(y.size)).clip(0, 1)
        interval = prediction_powered_mean(Scores(y[:labels]), Scores(f[:labels]), Scores(f[labels:])).interval
        assert interval.width > 0
        covered += rate in interval
    return covered


@pytest.mark.sample(4)
@pytest.mark.parametrize(("labels", "rate"), SETTINGS)
def test_intervals_hold_the_rate_often_enough(labels, rate):
    draws = 150
    for balanced in (False, True):
        assert corrected_coverage(labels, rate, JUDGES[0], draws, 17, balanced) >= least(draws)
    assert powered_coverage(labels, rate, JUDGES[0], draws, 18) >= least(draws)


@pytest.mark.parametrize(("labels", "rate"), [(20, 0.98), (50, 0.9)])
def test_prediction_powered_mean_holds_the_mean_often_enough(labels, rate):
    assert mean_coverage(labels, rate, "success", 300, 19) >= least(300)


def test_the_kernel_that_is_simulated_is_the_interval_that_is_given():
    rng = np.random.default_rng(6)
    for _ in range(4):
        true, hit, alarm, passed = (int(v[0]) for v in judge_draws(rng, 60, 0.7, (0.9, 0.8), 1))
        calibration = Calibration(hit, true - hit, alarm, 60 - true - alarm)
        data = (passed, 1000), (hit, true), (alarm, 60 - true)
        interval = judge_corrected_rate(Tally(passed, 1000), calibration).interval
        for rate in np.linspace(0.02, 0.98, 25):
            errors = [float(judges.mixture_error(rate, *data, above=side)) for side in (True, False)]
            assert (min(errors) > 0.025) == (rate in interval)
        seen = hit + alarm
        data = (passed + seen, 1060), (hit, seen), (true - hit, 60 - seen)
        interval = prediction_powered_rate(Tally(passed, 1000), calibration).interval
        for rate in np.linspace(0.02, 0.98, 25):
            errors = [float(judges.strata_error(rate, *data, above=side)) for side in (True, False)]
            assert (min(errors) > 0.025) == (rate in interval)


@pytest.mark.slow
@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(("labels", "rate"), SETTINGS)
def test_coverage_of_rates_in_full(labels, rate, judge):
    draws = 2000
    for balanced in (False, True):
        assert corrected_coverage(labels, rate, judge, draws, 27, balanced) >= least(draws)
    assert powered_coverage(labels, rate, judge, draws, 28) >= least(draws)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["success", "score"])
@pytest.mark.parametrize(("labels", "rate"), SETTINGS)
def test_coverage_of_means_in_full(labels, rate, kind):
    assert mean_coverage(labels, rate, kind, 2000, 29) >= least(2000)


REFUSALS = [
    (lambda: judge_corrected_rate((5, 10), Calibration(5, 0, 0, 5)), "`judged` must be a Tally; got a tuple"),
    (lambda: judge_corrected_rate_lee(Tally(5, 10), (5, 0, 0, 5)), "`calibration` must be a Calibration; got a tuple"),
    (lambda: prediction_powered_rate((5, 10), Calibration(5, 0, 0, 5)), "`judged` must be a Tally; got a tuple"),
    (lambda: prediction_powered_rate(Tally(5, 10), (5, 0, 0, 5)), "`labelled` must be a Calibration; got a tuple"),
    (lambda: Calibration(0, 0, 0, 0), "at least one item"),
    (lambda: Calibration(1, -1, 0, 0), "`false_fail` must be at least 0"),
    (lambda: Calibration.of([True, 2], [True, False]), "`label` must be True or False"),
    (lambda: Calibration.of([True, False], [True]), "`judge` must label the 2 items of `human`; got 1"),
    (lambda: judge_corrected_rate_lee(Tally(5, 10), Calibration(5, 0, 0, 0)), "a true success and a true failure"),
    (lambda: prediction_powered_mean(Scores([1, 0]), Scores([1]), Scores([1, 0])), "in their order; got 1"),
    (lambda: prediction_powered_mean(Scores([1]), Scores([1]), Scores([1, 0])), "at least 2 scores each"),
    (
        lambda: prediction_powered_mean(Scores([1, 0]), Scores([1, 0], 0, 2), Scores([1, 0])),
        "`judge` must have the range of",
    ),
    (lambda: prediction_powered_mean(Scores([1, 0]), Scores([1, 0]), Scores([1, 0], 0, 2)), "`judge_only` must have"),
    (lambda: cohen_kappa([1, 1], [1, 1]), "at least 2 labels; got one"),
    (lambda: cohen_kappa([1, 0], [1]), "must label the 2 items"),
    (lambda: cohen_kappa([1], [0]), "at least 2 items"),
    (lambda: cohen_kappa([1, 0, math.nan], [1, 1, math.nan]), "must label every item; got NaN for some"),
    (lambda: judge_corrected_rate(Tally(5, 10), Calibration(9, 1, 1, 9), confidence=95), "Write 0.95"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


# --- Prediction-powered mean


@pytest.mark.parametrize("seed", range(5))
def test_prediction_powered_mean_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    y = rng.beta(2, 1, 30)
    f = (y + 0.2 * rng.standard_normal(30)).clip(0, 1)
    other = (rng.beta(2, 1, 200) + 0.2 * rng.standard_normal(200)).clip(0, 1)
    found = prediction_powered_mean(Scores(y), Scores(f), Scores(other))
    wanted = twin.ppi_mean(y.tolist(), f.tolist(), other.tolist())
    assert found.interval.estimate == pytest.approx(wanted["estimate"], rel=1e-10)
    assert found.trust == pytest.approx(wanted["power"], rel=1e-10)
    assert found.standard_error == pytest.approx(wanted["se"], rel=1e-10)
    assert found.interval.width > 2 * 1.96 * wanted["se"]
    again = prediction_powered_mean(Scores(y * 4, 0, 4), Scores(f * 4, 0, 4), Scores(other * 4, 0, 4))
    assert again.interval.low == pytest.approx(4 * found.interval.low)


def test_a_useless_or_silent_judge_is_not_trusted():
    rng = np.random.default_rng(0)
    y = Scores((rng.random(40) < 0.8).astype(float))
    silent = prediction_powered_mean(y, Scores([0.5] * 40), Scores([0.5] * 100))
    assert silent.trust == 0.0
    assert silent.interval.estimate == pytest.approx(y.mean)
    contrary = prediction_powered_mean(y, Scores(1 - np.array(y.values)), Scores([0.2] * 50 + [0.9] * 50))
    assert contrary.trust == 0.0
    shy = 0.4 + 0.2 * np.array(y.values)  # right, but with a fifth of the spread: trusted whole and no more
    assert prediction_powered_mean(y, Scores(shy), Scores([0.4] * 20 + [0.6] * 80)).trust == 1.0
    sure = prediction_powered_mean(Scores([1.0] * 20), Scores([1.0] * 20), Scores([1.0] * 100)).interval
    assert (sure.estimate, sure.high) == (1.0, 1.0)
    assert sure.low < 0.9


def test_a_good_judge_narrows_the_interval():
    rng = np.random.default_rng(1)
    y, other = rng.random(300), rng.random(3000)
    good = prediction_powered_mean(Scores(y), Scores(y), Scores(other)).interval
    bad = prediction_powered_mean(Scores(y), Scores(rng.random(300)), Scores(other)).interval
    assert good.width < 0.6 * bad.width


def test_bound_quantiles_are_clopper_pearson_bounds():
    levels = judges._nodes()[0]
    for k, n in ((0, 5), (3, 5), (5, 5), (0, 0)):
        low, high = judges.bound_quantiles(k, n, upper=False), judges.bound_quantiles(k, n, upper=True)
        assert low == pytest.approx(np.zeros(len(levels)) if k == 0 else betaincinv(k, n - k + 1, levels))
        assert high == pytest.approx(np.ones(len(levels)) if k == n else betaincinv(k + 1, n - k, levels))
