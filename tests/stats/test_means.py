"""Intervals of the mean of a bounded score: betting and the rest."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.numerics.betting import mean_bets
from surefoot.reference import (
    betting_mean,
    betting_mean_lower,
    betting_mean_upper,
    bootstrap_mean,
    empirical_bernstein,
    hoeffding,
    student_t,
    wsr_evidence,
    wsr_mean,
)
from surefoot.stats import betting_sequence
from surefoot.stats.means import MeanSequence, moments_mean
from tests.oracles import means as twin
from tests.reference import cases

GUARANTEED = [betting_mean, wsr_mean, empirical_bernstein, hoeffding]
scores = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=15)


@pytest.mark.parametrize("seed", range(4))
def test_published_methods_are_their_twins(seed):
    values = np.random.default_rng(seed).beta(3, 1 + seed, 12) * 4 - 1
    data = sf.Scores(values, low=-1, high=3)
    pairs = [
        (wsr_mean(data), twin.hedged_interval(values, -1, 3, horizon=12, cells=200)),
        (betting_sequence(data).latest, twin.hedged_interval(values, -1, 3, cells=200)),
        (hoeffding(data, confidence=0.9), twin.hoeffding_interval(values, -1, 3, 0.9)),
        (
            empirical_bernstein(sf.Scores(np.tile(values, 20), -1, 3)),
            twin.bernstein_interval(np.tile(values, 20), -1, 3),
        ),
        (student_t(data), twin.student_interval(values.tolist())),
    ]
    for found, wanted in pairs:
        assert (found.low, found.high) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("levels", [(0.0, 1.0), (0.0, 0.6, 1.0)])
@pytest.mark.parametrize("interval", [betting_mean, wsr_mean])
def test_coverage_counted_over_all_outcomes(interval, levels):
    """Every sequence of scores, weighted by its chance, over a grid of laws: the promise holds without simulation."""
    n = 8 if len(levels) == 2 else 5
    outcomes = list(itertools.product(range(len(levels)), repeat=n))
    found = [interval(sf.Scores([levels[i] for i in outcome]), confidence=0.8) for outcome in outcomes]
    ends = np.array([(x.low, x.high) for x in found])
    counts = np.array([[outcome.count(i) for i in range(len(levels))] for outcome in outcomes])
    laws = [law for law in itertools.product(np.linspace(0, 1, 26), repeat=len(levels) - 1) if sum(law) <= 1]
    worst = 1.0
    for law in laws:
        law = np.array([*law, max(0.0, 1 - sum(law))])
        mean = float(law @ levels)
        inside = (ends[:, 0] <= mean + 1e-12) & (mean - 1e-12 <= ends[:, 1])
        worst = min(worst, float((np.prod(law**counts, axis=1) * inside).sum()))
    assert worst >= 0.8 - 1e-12
    assert worst < 0.99  # not by being the whole range


def test_each_side_keeps_its_own_promise():
    outcomes = list(itertools.product((0.0, 1.0), repeat=9))
    lows = np.array([betting_mean_lower(sf.Scores(z), confidence=0.9).value for z in outcomes])
    highs = np.array([betting_mean_upper(sf.Scores(z), confidence=0.9).value for z in outcomes])
    ones = np.array([sum(z) for z in outcomes])
    assert highs == pytest.approx(1 - lows[::-1], abs=1e-12)  # the mirror of every outcome
    for rate in np.linspace(0.01, 0.99, 99):
        assert (rate**ones * (1 - rate) ** (9 - ones) * (lows <= rate)).sum() >= 0.9 - 1e-12


@settings(max_examples=30)
@given(values=scores)
def test_mirrored_scores_mirror_the_interval(values):
    for interval in GUARANTEED:
        plain, mirrored = interval(sf.Scores(values)), interval(sf.Scores([1 - v for v in values]))
        assert mirrored.low == pytest.approx(1 - plain.high, abs=1e-9)
        assert mirrored.high == pytest.approx(1 - plain.low, abs=1e-9)


@settings(max_examples=30)
@given(values=scores)
def test_units_do_not_matter(values):
    for interval in GUARANTEED:
        plain = interval(sf.Scores(values))
        scaled = interval(sf.Scores([10 * v - 5 for v in values], low=-5, high=5))
        assert (scaled.low, scaled.high) == pytest.approx((10 * plain.low - 5, 10 * plain.high - 5), abs=1e-6)


@pytest.mark.parametrize("interval", GUARANTEED)
def test_more_confidence_is_wider_on_average(interval):
    draws = [sf.Scores(np.random.default_rng(i).beta(2, 1, 30)) for i in range(20)]
    widths = [[interval(d, confidence=c).width for d in draws] for c in (0.8, 0.95, 0.99)]
    assert np.mean(widths[0]) < np.mean(widths[1]) <= np.mean(widths[2])


@pytest.mark.parametrize("interval", [*GUARANTEED, lambda s, **c: betting_sequence(s, **c).latest])
def test_one_score_and_equal_scores_are_legal(interval):
    for values in ([0.3], [0.0], [1.0], [0.5] * 40, [0.0] * 40, [1.0] * 40):
        found = interval(sf.Scores(values))
        assert 0.0 <= found.low <= values[0] <= found.high <= 1.0
        assert found.width > 0.0


def test_order_counts_and_is_kept():
    values = [*np.linspace(0.3, 1.0, 40)]
    shuffled = list(np.random.default_rng(0).permutation(values))
    assert betting_mean(sf.Scores(values)).low != betting_mean(sf.Scores(shuffled)).low
    assert betting_mean(sf.Scores(shuffled)).data[0].values == tuple(shuffled)


def test_drifting_scores_are_named():
    found = betting_mean(sf.Scores([0.0] * 300 + [1.0] * 300))
    assert found.notes[0].kind == "scores drift"
    assert found.low < found.high == found.estimate == 0.5  # no verdict on one side of what was seen
    late = betting_sequence(sf.Scores([0.0] * 300 + [1.0] * 300))
    assert late.latest.notes[0].kind == "scores drift"
    assert late.latest.low < late.latest.high == 0.5
    assert not late.after(300).notes


def test_many_scores_are_no_trouble():
    z = np.random.default_rng(5).beta(5, 1, 50_000)
    found = betting_mean(sf.Scores(z))
    assert found.low < 5 / 6 < found.high
    assert found.width < 0.004


def test_default_is_narrower_than_hedged_wsr():
    for law, n in itertools.product(("uniform", "beta", "fat"), (20, 120)):
        gaps = []
        for i in range(60):
            rng = np.random.default_rng([n, i])
            z = {"uniform": rng.random(n), "beta": rng.beta(5, 1, n)}.get(law)
            z = np.where(rng.random(n) < 0.9, 1.0, rng.random(n) * 0.6) if z is None else z
            data = sf.Scores(z)
            gaps.append(betting_mean(data).width - wsr_mean(data).width)
        assert np.mean(gaps) < 0


def test_bootstrap_keeps_its_seed_and_agrees_with_scipy():
    from scipy import stats

    values = np.random.default_rng(3).beta(5, 1, 40)
    found = bootstrap_mean(sf.Scores(values), rng=7)
    assert found == bootstrap_mean(sf.Scores(values), rng=7)
    assert (found.seed, found.notes) == (7, ("10,000 resamples.",))
    assert bootstrap_mean(sf.Scores(values), rng=8) != found
    assert bootstrap_mean(sf.Scores(values), rng=np.random.default_rng(7)).seed is None
    theirs = stats.bootstrap((values,), np.mean, rng=np.random.default_rng(1)).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: student_t(sf.Scores([0.5])), "at least two scores for Student t; got one"),
        (lambda: student_t(sf.Scores([0.5] * 9)), "must differ for Student t; got 9 equal scores"),
        (lambda: bootstrap_mean(sf.Scores([0.5]), rng=1), "at least two scores for the bootstrap"),
        (lambda: bootstrap_mean(sf.Scores([1.0] * 10), rng=1), "must differ for the bootstrap; got 10 equal"),
        (lambda: bootstrap_mean(sf.Scores([0.0, 1.0]), rng=1, resamples=10), "`resamples` must be at least 40"),
        (lambda: betting_mean(sf.Scores([0.5]), confidence=0.0), "`confidence` must be strictly between"),
        (lambda: wsr_evidence(sf.Scores([0.5]), 1.5), r"`mean` must lie in the range \[0, 1\]"),
        (lambda: betting_sequence(sf.Scores([0.5])).after(2), "`count` must be at most 1"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="`scores` must be a Scores; got a list"):
        betting_mean([0.5, 0.6])
    with pytest.raises(TypeError, match="`rng` must be"):
        bootstrap_mean(sf.Scores([0.0, 1.0]), rng=None)


@pytest.mark.parametrize("interval", [betting_mean, wsr_mean, empirical_bernstein, hoeffding, student_t])
def test_results_travel(interval):
    found = interval(sf.Scores([0.2, 0.9, 0.8]))
    assert sf.Interval.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found.scale == "score"
    assert found.trials == 3


# --- From moments

UNIT = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=3, max_size=60)


def moments(values, low=0.0, high=1.0) -> sf.Moments:
    return sf.Moments.of_sums(len(values), float(np.sum(values)), float(np.sum(np.square(values))), low, high)


@settings(max_examples=60)
@given(UNIT, st.sampled_from([0.5, 0.9, 0.99]))
def test_the_mean_from_moments_is_empirical_bernsteins(values, confidence):
    one = moments_mean(moments(values), confidence=confidence)
    other = sf.reference.empirical_bernstein(sf.Scores(values), confidence=confidence)
    assert one.low == pytest.approx(other.low, abs=2e-6)
    assert one.high == pytest.approx(other.high, abs=2e-6)
    assert one.method == other.method
    assert one.assumptions == other.assumptions


def test_the_range_scales_the_interval():
    rng = np.random.default_rng(3)
    values = rng.random(200)
    unit = moments_mean(moments(values))
    wide = moments_mean(moments(100 * values - 50, -50.0, 50.0))
    assert wide.low == pytest.approx(100 * unit.low - 50)
    assert wide.high == pytest.approx(100 * unit.high - 50)
    assert moments_mean(sf.Moments(1, 0.5, 0.0)).width == 1.0


@pytest.mark.parametrize("case", [case for case in cases("wsr_trace") if "running" in case[0]["variance_mean"]])
def test_wsr_trace_of_the_reference(case):
    asked, wanted = case
    z = (np.array(asked["z"]) - asked["L"]) / (asked["U"] - asked["L"])
    mean, variance = mean_bets.wsr_moments(z)
    bets = mean_bets.wsr_bets(z, asked["alpha"] / 2)
    assert bets == pytest.approx(wanted["lam"], rel=1e-10)
    assert mean == pytest.approx(wanted["mu_hat"], rel=1e-10)
    assert variance == pytest.approx(wanted["sigma2_hat"], rel=1e-10)
    given_scores = sf.Scores(asked["z"], low=asked["L"], high=asked["U"])
    for m, plus, minus in zip(asked["m"], wanted["Mplus_final"], wanted["Mminus_final"], strict=True):
        up, down = mean_bets.log_capital(z, bets, m)[-1], mean_bets.log_capital(1 - z, bets, 1 - m)[-1]
        assert (math.exp(up), math.exp(down)) == (pytest.approx(plus, rel=1e-10), pytest.approx(minus, rel=1e-10))
        candidate = asked["L"] + m * (asked["U"] - asked["L"])
        found = wsr_evidence(given_scores, candidate, confidence=1 - asked["alpha"])
        assert (found.above, found.below) == (pytest.approx(plus, rel=1e-10), pytest.approx(minus, rel=1e-10))
        assert found.evidence == max(found.above, found.below) / 2


def test_sequence_holds_and_never_widens():
    z = np.random.default_rng(2).beta(4, 2, 150)
    found = betting_sequence(sf.Scores(z))
    lows, highs = np.array(found.lows), np.array(found.highs)
    assert len(found) == 150
    assert np.all(np.diff(lows) >= 0)
    assert np.all(np.diff(highs) <= 0)
    assert np.all((lows <= 2 / 3) & (highs >= 2 / 3))
    for count in (1, 40, 150):  # the same end, solved afresh for the first scores
        bets = mean_bets.wsr_bets(z[:count], 0.025)
        assert lows[count - 1] == pytest.approx(mean_bets.low_end(z[:count], bets, 0.025), abs=1e-12)
    assert MeanSequence.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert str(found).startswith("After each of 150 rollouts; the latest: ")
