"""Tests of `surefoot.reference.mean_gains`."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot import Scores, Verdict
from surefoot.core.gain import decide
from surefoot.core.scores import Moments
from surefoot.reference import (
    betting_gain,
    betting_mean,
    betting_paired_gain,
    chance_first_higher,
    paired_bca,
    paired_bootstrap,
    paired_permutation,
    stratified_t_gain,
    student_t,
    unpaired_bca,
    unpaired_bootstrap,
    welch,
)
from tests.oracles.clusters import floor
from tests.oracles.clusters import welch as shared_freedom
from tests.reference import cases
from tests.support.betting_gains import pairs, split

PAIRED = [
    betting_paired_gain,
    lambda a, b, **more: paired_bootstrap(a, b, rng=1, resamples=500, **more),
    lambda a, b, **more: paired_permutation(a, b, rng=1, resamples=500, **more),
]


def test_chance_first_higher_against_brute_force_and_scipy():
    from scipy.stats import brunnermunzel

    rng = np.random.default_rng(9)
    x, y = np.round(rng.beta(3, 2, 25), 1), np.round(rng.beta(2, 2, 18), 1)
    found = chance_first_higher(Scores(x), Scores(y))
    brute = np.mean([(a > b) + 0.5 * (a == b) for a in x for b in y])
    assert found.estimate == pytest.approx(brute, abs=1e-14)
    # scipy's statistic tells the standard error that the interval on the log-odds scale is made of
    peer = brunnermunzel(x, y)
    error = (0.5 - brute) / peer.statistic
    lengths = np.log([found.high / (1 - found.high), found.low / (1 - found.low)])
    from scipy.special import stdtrit

    one = np.var([np.mean((y < a) + 0.5 * (y == a)) for a in x], ddof=1) / 25
    other = np.var([np.mean((x < b) + 0.5 * (x == b)) for b in y], ddof=1) / 18
    freedom = (one + other) ** 2 / (one**2 / 24 + other**2 / 17)
    wanted = 2 * stdtrit(freedom, 0.975) * abs(error) / (brute * (1 - brute))
    assert lengths[0] - lengths[1] == pytest.approx(wanted, rel=1e-9)


@given(data=pairs)
@settings(max_examples=40)
def test_chance_first_higher_mirrors_and_stays_inside(data):
    first, second = split(data)
    here, there = chance_first_higher(first, second), chance_first_higher(second, first)
    assert here.estimate + there.estimate == pytest.approx(1)
    assert here.low == pytest.approx(1 - there.high, abs=1e-9)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    assert here.width > 0


def test_chance_first_higher_where_samples_do_not_overlap():
    found = chance_first_higher(Scores([0.9] * 10), Scores([0.1] * 10))
    assert (found.method, found.high) == ("Newcombe", 1.0)
    assert 0.7 < found.low < 0.95
    assert chance_first_higher(Scores([0.9]), Scores([0.1])).width > 0.5


@pytest.mark.parametrize("confidence", [1e-15, 1e-9, 1e-4])
@pytest.mark.parametrize("other", [0.1, 0.9])
def test_chance_first_higher_at_hardly_any_confidence_is_hardly_wider_than_the_estimate(confidence, other):
    found = chance_first_higher(Scores([0.9] * 4), Scores([other] * 5), confidence=confidence)
    assert found.low <= found.estimate <= found.high
    assert found.width < 1e-3


@pytest.mark.parametrize("case", cases("welch_and_t"))
def test_welch_of_the_reference(case):
    asked, wanted = case
    first, second = Scores(asked["a"], -10, 20), Scores(asked["b"], -10, 20)
    found = welch(first, second)
    assert found.p_value == pytest.approx(wanted["p_two_sided"], rel=1e-9)
    assert f"{wanted['t']:.4g}" in found.notes[0]
    half = (found.interval.high - found.interval.low) / 2
    error = found.estimate / wanted["t"]
    from scipy.special import stdtrit

    assert half == pytest.approx(stdtrit(wanted["df"], 0.975) * error, rel=1e-9)
    interval = student_t(first)
    assert (interval.low, interval.high) == pytest.approx(tuple(wanted["a_t_interval_95"]), rel=1e-9)


# --- Scores


def test_stratified_t_adds_cells():
    rng = np.random.default_rng(3)
    data = {str(t): (Scores(rng.random(10 + t) ** 2), Scores(rng.random(12))) for t in range(4)}
    found = stratified_t_gain(data, weights="tasks")
    parts = [np.var(side.values, ddof=1) / len(side) / 16 for pair in data.values() for side in pair]
    freedom = shared_freedom(parts, [len(side) - 1 for pair in data.values() for side in pair])
    half = scipy_stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts))
    assert found.estimate == pytest.approx(np.mean([a.mean - b.mean for a, b in data.values()]))
    assert found.interval.high == pytest.approx(found.estimate + half)
    assert found.p_value == pytest.approx(2 * scipy_stats.t.sf(abs(found.estimate) / math.sqrt(sum(parts)), freedom))
    moments = {
        task: tuple(Moments(len(s), float(np.mean(s.values)), float(np.var(s.values, ddof=1))) for s in pair)
        for task, pair in data.items()
    }
    assert stratified_t_gain(moments, weights="tasks").interval.high == pytest.approx(found.interval.high)
    one = {"x": next(iter(data.values()))}
    assert stratified_t_gain(one).interval.low == pytest.approx(welch(*one["x"]).interval.low)


def test_alike_scores_are_given_the_spread_of_alike_successes():
    found = stratified_t_gain({"x": (Scores([5.0] * 10, 0, 5), Scores([0.0] * 10, 0, 5))})
    half = scipy_stats.t.ppf(0.975, 18) * math.sqrt(2 * floor((1,) * 10, 5.0))
    assert (found.interval.low, found.interval.high) == (pytest.approx(5 - half), 5.0)


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs, margin=st.sampled_from([0.0, 0.1]))
@settings(max_examples=25)
def test_swapping_policies_mirrors_everything(method, data, margin):
    first, second = split(data)
    here, there = method(first, second, margin=margin), method(second, first, margin=margin)
    assert here.verdict == there.verdict.mirrored
    # which pattern is called flipped is a coin of its own, so a Monte Carlo p-value mirrors only exactly when exact
    assert here.interval.low == pytest.approx(-there.interval.high, abs=0.08 if "bootstrap" in here.method else 1e-9)
    assert here.mirrored.mirrored == here


@pytest.mark.parametrize("method", PAIRED)
@given(data=pairs)
@settings(max_examples=25)
def test_verdict_interval_and_p_value_agree(method, data):
    found = method(*split(data))
    excluded = 0.0 not in found.interval
    assert excluded == (found.verdict is not Verdict.UNDECIDED)
    if found.p_value is not None:
        assert excluded == (found.p_value <= 0.05 if "permutation" in found.method else found.p_value < 0.05)
    assert found.interval.low <= found.estimate <= found.interval.high


@given(data=pairs)
@settings(max_examples=25)
def test_more_confidence_is_wider(data):
    first, second = split(data)
    for method in PAIRED:
        narrow, wide = method(first, second, confidence=0.8).interval, method(first, second, confidence=0.98).interval
        assert wide.low <= narrow.low + 1e-12
        assert narrow.high <= wide.high + 1e-12


def test_betting_gain_is_the_betting_mean_of_the_differences():
    rng = np.random.default_rng(0)
    first, second = Scores(rng.random(40) * 3, 0, 3), Scores(rng.random(43) * 2, 0, 3)
    gaps = Scores(np.subtract(first.values, second.values[:40]), -3, 3)
    mean, found = betting_mean(gaps), betting_gain(first, second)
    assert (found.interval.low, found.interval.high) == (mean.low, mean.high)
    assert found.notes == ("3 rollouts of the second had no counterpart and were left out.",)
    assert found.p_value is None
    assert found.interval.scale == "score gain"
    assert betting_paired_gain(first, Scores(second.values[:40], 0, 3)).interval.low == mean.low


def test_order_matters_to_bets_and_is_kept():
    climbing = Scores([0.0] * 20 + [1.0] * 20)
    falling = Scores([1.0] * 20 + [0.0] * 20)
    level = Scores([0.5] * 40)
    assert betting_paired_gain(climbing, level).interval != betting_paired_gain(falling, level).interval


@pytest.mark.parametrize(
    ("low", "high", "margin", "wanted"),
    [
        (0.01, 0.2, 0.0, Verdict.BETTER),
        (0.0, 0.2, 0.0, Verdict.UNDECIDED),
        (-0.2, -0.01, 0.0, Verdict.WORSE),
        (0.01, 0.2, 0.05, Verdict.UNDECIDED),
        (0.06, 0.2, 0.05, Verdict.BETTER),
        (-0.04, 0.04, 0.05, Verdict.SAME),
        (-0.05, 0.04, 0.05, Verdict.UNDECIDED),
        (-0.2, -0.06, 0.05, Verdict.WORSE),
        (0.0, 0.0, 0.0, Verdict.UNDECIDED),
    ],
)
def test_margin(low, high, margin, wanted):
    assert decide(low, high, margin) is wanted


def test_margin_reaches_the_verdict_and_the_words():
    first, second = Scores([0.52, 0.5, 0.51] * 60), Scores([0.5, 0.52, 0.51] * 60)
    found = betting_paired_gain(first, second, margin=0.1)
    assert found.verdict is Verdict.SAME
    assert found.not_worse
    assert str(found).endswith("the two are the same (margin 0.100).")


REFUSALS = [
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1]), rng=1), "A score without its partner is no pair"),
    (lambda: betting_paired_gain(Scores([1, 0]), Scores([1])), "A score without its partner is no pair"),
    (lambda: betting_gain(Scores([1]), Scores([1], 0, 2)), "Scores on two scales have no gain"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=None), "`rng` must be"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, resamples=10), "`resamples` must be at least 40"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, 1]), "at least 2 clusters; got 1"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1]), "one cluster per observation, 2"),
    (lambda: paired_bca(Scores([1] * 10), Scores([1] * 10), rng=1), "must vary for a bootstrap"),
    (lambda: paired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "got the same gain from every resample"),
    (lambda: paired_bootstrap(Scores([0.3, 0.4, 0.5]), Scores([0.2, 0.3, 0.4]), rng=1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5]), Scores([0.1]), rng=1), "must vary for a bootstrap"),
    (
        lambda: paired_bootstrap(Scores([0.1, 0.3] * 3), Scores([0.0] * 6), rng=1, clusters="aabbcc"),
        "must vary for a bootstrap",
    ),
    (lambda: paired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: unpaired_bootstrap(Scores([0.5] * 9), Scores([0.5] * 9), rng=1, margin=0.1), "must vary for a bootstrap"),
    (lambda: welch(Scores([1]), Scores([1, 0])), "`first` must hold at least 2 scores"),
    (lambda: welch(Scores([1, 1]), Scores([0, 0])), "must vary; got equal scores"),
    (lambda: betting_gain(Scores([1, 0]), Scores([1, 0]), margin=-0.1), "`margin` must be 0 or more"),
    (
        lambda: betting_gain(Scores([4, 0], 0, 5), Scores([3, 1], 0, 5), margin=5),
        "`margin` must be below 5, the largest",
    ),
    (lambda: welch(Scores([1, 0]), Scores([1, 0]), confidence=95), "Write 0.95 for 95%"),
    (lambda: paired_bootstrap(Scores([1, 0]), Scores([1, 0]), rng=1, clusters=[1, math.nan]), "got NaN for some"),
]


@pytest.mark.parametrize("method", [betting_gain, betting_paired_gain, welch, chance_first_higher, unpaired_bca])
def test_what_is_no_scores_is_refused_with_what_to_write(method):
    given = {"rng": 1} if method is unpaired_bca else {}
    with pytest.raises(TypeError, match=r"`second` must be a Scores; got a list\. Write Scores\(values"):
        method(Scores([0.5, 0.6]), [0.1, 0.2], **given)


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
