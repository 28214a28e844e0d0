"""Are shortage, excess and width right, and is the certified maximum really the maximum?"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Bound, Tally, reference, stats
from surefoot.numerics.rates import randomised_counts
from tests.oracles import shortage as twin
from tests.reference import cases

exact = stats.clopper_pearson_lower


def test_every_stored_shortage() -> None:
    for given_, wanted in cases("expected_shortage"):
        sure = 1 - given_["alpha"]
        best = stats.expected_shortage(given_["n"], given_["p"], confidence=sure)
        plain = stats.expected_shortage(given_["n"], given_["p"], using=exact, confidence=sure)
        assert best == pytest.approx(wanted["uma"], abs=1e-8), given_
        assert plain == pytest.approx(wanted["cp"], abs=1e-8), given_


def test_every_stored_maximum() -> None:
    for given_, wanted in cases("max_expected_shortage"):
        sure = 1 - given_["alpha"]
        for using, name in ((stats.optimal_lower, "uma"), (exact, "cp")):
            found = stats.max_expected_shortage(given_["n"], using=using, confidence=sure)
            true = wanted[f"{name}_mes"]
            # The stored value at n = 1 is 6.4e-11 too high: (1 - a) + a ln a is 0.80021338632230.
            assert found.low - 1e-10 <= true <= found.high + 1e-10, given_
            assert found.value == pytest.approx(true, abs=1e-6), given_
            assert found.high - found.low <= 1e-6, given_
            assert found.at == pytest.approx(wanted[f"{name}_argmax"], abs=1e-4), given_


def test_one_rollout_has_a_closed_form() -> None:
    for error in (0.5, 0.05, 1e-3, 1e-6):
        closed = (1 - error) + error * np.log(error)
        assert stats.expected_shortage(1, 1.0, confidence=1 - error) == pytest.approx(closed, abs=1e-14)
        if error <= 0.05:  # otherwise the largest is inside
            found = stats.max_expected_shortage(1, confidence=1 - error, tolerance=1e-11)
            assert found.low <= closed <= found.high


def test_published_maxima() -> None:
    # peers.md, true values at 95%
    wanted = {10: 0.25753154, 20: 0.18405957, 50: 0.11721976, 100: 0.08308535, 200: 0.05882131, 500: 0.03722903}
    for trials, value in wanted.items():
        assert stats.max_expected_shortage(trials, tolerance=1e-9).value == pytest.approx(value, abs=6e-9)
    assert reference.max_expected_width(10).value == pytest.approx(0.571033, abs=1e-6)
    assert reference.max_expected_width(50).value == pytest.approx(0.271550, abs=1e-6)


@pytest.mark.parametrize(("trials", "rate", "confidence"), [(3, 0.4, 0.9), (7, 0.93, 0.95), (12, 0.31, 0.99)])
def test_shortage_agrees_with_both_slow_twins(trials: int, rate: float, confidence: float) -> None:
    best = stats.expected_shortage(trials, rate, confidence=confidence)
    assert best == pytest.approx(twin.optimal_shortage(rate, trials, confidence), abs=1e-11)
    plain = stats.expected_shortage(trials, rate, using=exact, confidence=confidence)
    assert plain == pytest.approx(twin.exact_shortage(rate, trials, confidence), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("trials", "rate"), [(1, 0.7), (4, 0.5), (9, 0.85)])
def test_shortage_is_the_mean_over_counts_and_draws(trials: int, rate: float) -> None:
    best = stats.expected_shortage(trials, rate)
    assert best == pytest.approx(twin.optimal_shortage_from_draws(rate, trials), abs=1e-6)


def test_shortage_from_the_bound_itself() -> None:
    # The mean over counts and a fine grid of draws of what the bound really gives.
    draws = (np.arange(5000) + 0.5) / 5000
    for trials, rate in ((5, 0.8), (20, 0.35)):
        chances = np.array([1.0])
        for _ in range(trials):
            chances = np.convolve(chances, [1 - rate, rate])
        short = sum(
            chance * np.maximum(rate - randomised_counts.low(k, draws, trials, 0.05), 0.0).mean()
            for k, chance in enumerate(chances)
        )
        assert stats.expected_shortage(trials, rate) == pytest.approx(short, abs=1e-6)


@settings(max_examples=20)
@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from([0.6, 0.9, 0.95, 0.999]))
def test_no_rate_has_more_shortage_than_the_certificate(trials: int, rate: float, confidence: float) -> None:
    for using in (stats.optimal_lower, exact, stats.wilson_lower):
        found = stats.max_expected_shortage(trials, using=using, confidence=confidence, tolerance=1e-4)
        assert stats.expected_shortage(trials, rate, using=using, confidence=confidence) <= found.high
        reached = stats.expected_shortage(trials, found.at, using=using, confidence=confidence)
        assert found.low <= reached + 1e-12
        assert found.high - found.low <= 1e-4


@settings(max_examples=15)
@given(st.integers(1, 80), st.floats(0, 1))
def test_the_optimal_bound_is_never_further_off(trials: int, rate: float) -> None:
    assert stats.expected_shortage(trials, rate) <= stats.expected_shortage(trials, rate, using=exact) + 1e-13
    assert stats.expected_shortage(trials + 1, rate) <= stats.expected_shortage(trials, rate) + 1e-13


@settings(max_examples=15)
@given(st.integers(1, 50), st.floats(0, 1))
def test_excess_is_the_mirrored_shortage(trials: int, rate: float) -> None:
    assert reference.expected_excess(trials, rate) == pytest.approx(
        stats.expected_shortage(trials, 1 - rate), abs=1e-13
    )
    upper = reference.expected_excess(trials, rate, using=stats.clopper_pearson_upper)
    assert upper == pytest.approx(stats.expected_shortage(trials, 1 - rate, using=exact), abs=1e-12)


def test_max_excess_mirrors_max_shortage() -> None:
    up, down = reference.max_expected_excess(20), stats.max_expected_shortage(20)
    assert (up.low, up.high) == (down.low, down.high)
    assert up.at == pytest.approx(1 - down.at)
    plain = reference.max_expected_excess(20, using=stats.clopper_pearson_upper)
    assert plain.value == pytest.approx(stats.max_expected_shortage(20, using=exact).value, abs=1e-6)


@settings(max_examples=5)
@given(st.integers(1, 60), st.floats(0, 1))
def test_width_is_summed_over_counts_and_never_above_its_certificate(trials: int, rate: float) -> None:
    for using in (stats.optimal_interval, stats.clopper_pearson, stats.wilson):
        width = reference.expected_width(trials, rate, using=using)
        assert width <= reference.max_expected_width(trials, using=using, tolerance=1e-5).high
    interval = stats.clopper_pearson
    wanted = twin.expected_width(
        lambda k, n, c: (interval(Tally(k, n), confidence=c).low, interval(Tally(k, n), confidence=c).high),
        rate,
        trials,
    )
    assert reference.expected_width(trials, rate, using=interval) == pytest.approx(wanted, abs=1e-11)


def test_the_unbiased_interval_is_narrower_than_clopper_pearson() -> None:
    for trials in (5, 20, 50):
        best, plain = (
            reference.max_expected_width(trials),
            reference.max_expected_width(trials, using=stats.clopper_pearson),
        )
        assert best.high < plain.low


def test_less_confidence_is_a_narrower_interval_below_one_half_too() -> None:
    found = [reference.expected_width(12, 0.4, confidence=confidence) for confidence in (0.1, 0.3, 0.6, 0.9)]
    assert found == sorted(set(found))


def test_ends_of_the_rate() -> None:
    assert stats.expected_shortage(10, 0.0) == 0.0
    assert stats.expected_shortage(10, 1.0, using=exact) == pytest.approx(1 - 0.05**0.1)
    assert reference.expected_excess(10, 1.0) == 0.0


def test_a_method_of_ones_own() -> None:
    def half(tally: Tally, *, confidence: float) -> Bound:
        return Bound(side="lower", value=tally.rate / 2, estimate=tally.rate, confidence=confidence, method="half")

    # E (p - X / 2n)+ = p / 2 when the bound can never pass the rate
    assert stats.expected_shortage(4, 1.0, using=half) == pytest.approx(0.5)
    assert stats.max_expected_shortage(4, using=half).at == pytest.approx(1.0)


def test_the_tolerance_is_met_and_matters() -> None:
    coarse, fine = (stats.max_expected_shortage(50, tolerance=t) for t in (1e-2, 1e-9))
    assert fine.high - fine.low <= 1e-9
    for usual in (stats.max_expected_shortage(50), reference.max_expected_excess(50), reference.max_expected_width(50)):
        assert usual.high - usual.low <= 1e-6
    assert coarse.high > fine.high
    assert coarse.low <= fine.low + 1e-9


def test_a_thousand_and_a_hundred_thousand_rollouts() -> None:
    found = stats.max_expected_shortage(1000, tolerance=1e-8)
    assert found.value == pytest.approx(0.02633133, abs=6e-9)
    # The normal limit at one half: (z Phi(z) + phi(z)) / (2 sqrt(n))
    assert stats.expected_shortage(100_000, 0.5) == pytest.approx(0.832904 / 100_000**0.5, rel=2e-3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: stats.expected_shortage(0, 0.5), ValueError, "`trials` must be at least 1; got 0"),
        (lambda: stats.expected_shortage(2.5, 0.5), TypeError, "`trials` must be a whole number; got 2.5"),
        (lambda: stats.expected_shortage(100_001, 0.5), ValueError, "`trials` must be at most 100,000; got 100001"),
        (lambda: reference.max_expected_width(2001), ValueError, "`trials` must be at most 2,000; got 2001"),
        (lambda: stats.expected_shortage(5, 1.5), ValueError, "`rate` must be between 0 and 1; got 1.5"),
        (lambda: stats.expected_shortage(5, 0.5, confidence=95), ValueError, "Write 0.95 for 95%"),
        (lambda: stats.max_expected_shortage(5, tolerance=0), ValueError, "`tolerance` must be above 0"),
        (lambda: stats.max_expected_shortage(5, tolerance=1e-12), ValueError, "`tolerance` must be at least 1e-11"),
        (
            lambda: stats.expected_shortage(5, 0.5, using=stats.clopper_pearson_upper),
            ValueError,
            "`using` must give a lower bound; got `clopper_pearson_upper`, which gives an upper bound",
        ),
        (lambda: reference.expected_excess(5, 0.5, using=stats.optimal_lower), ValueError, "must give an upper bound"),
        (lambda: reference.expected_width(5, 0.5, using=exact), ValueError, "must give an interval"),
        (lambda: stats.expected_shortage(5, 0.5, using=stats.wilson), ValueError, "which gives an interval"),
        (lambda: stats.expected_shortage(5, 0.5, using="wilson"), TypeError, "`using` must be a function"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
