"""Are shortage, excess and width right, and is the certified maximum really the maximum?"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Bound, Interval, Tally, reference, stats
from surefoot.numerics.rates import binomial, randomised_counts
from surefoot.stats import bound_tightness
from tests.oracles import one_rate
from tests.oracles import shortage as twin
from tests.reference import cases

exact = stats.clopper_pearson_lower
PLAIN = "wilson wald agresti_coull jeffreys clopper_pearson wilson_lower wilson_upper"


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


PLAIN += " clopper_pearson_lower clopper_pearson_upper"
DRAWN = "optimal_lower optimal_upper optimal_interval"


def ends_of(result):
    return bound_tightness._pair(result)


@pytest.mark.parametrize("name", PLAIN.split())
def test_all_counts_at_once_are_the_counts_one_by_one(name):
    method, counts = getattr(stats, name), np.arange(13)
    low, high = bound_tightness.ends(method, counts, 12, 0.9)
    for k in counts:
        assert (low[k], high[k]) == pytest.approx(ends_of(method(Tally(int(k), 12), confidence=0.9)))
    assert bound_tightness.smooth(method)
    assert not bound_tightness.randomised(method)


@pytest.mark.parametrize("name", DRAWN.split())
def test_a_draw_at_each_count(name):
    method, counts, draws = getattr(stats, name), np.arange(7), np.linspace(0.05, 0.95, 7)
    low, high = bound_tightness.ends(method, counts, 6, 0.8, draws)
    for k, draw in zip(counts, draws, strict=True):
        one = ends_of(method(Tally(int(k), 6), confidence=0.8, draw=float(draw)))
        assert (low[k], high[k]) == pytest.approx(one, abs=1e-9)
    assert bound_tightness.randomised(method)


def test_a_method_of_ones_own_is_called_count_by_count():
    asked = []

    def mine(tally, *, confidence):
        asked.append((tally.successes, confidence))
        return stats.wilson(tally, confidence=confidence)

    low, high = bound_tightness.ends(mine, np.arange(4).reshape(2, 2), 3, 0.9)
    expected = bound_tightness.ends(stats.wilson, np.arange(4).reshape(2, 2), 3, 0.9)
    assert (low, high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))
    assert asked == [(k, 0.9) for k in range(4)]
    assert not bound_tightness.smooth(mine)


def test_a_method_says_what_it_gives_and_is_called():
    assert [bound_tightness.kind(m, 0.9) for m in (stats.wilson, stats.wilson_lower, stats.optimal_upper)] == [
        "interval",
        "lower",
        "upper",
    ]
    assert bound_tightness.name(stats.wilson, 0.9) == "Wilson"


def test_refusals_of_all_counts():
    with pytest.raises(TypeError, match="`using` must be a function"):
        bound_tightness.kind("wilson", 0.9)
    with pytest.raises(TypeError, match="`method` must give an Interval or a Bound"):
        bound_tightness.ends(lambda tally, *, confidence: 0.5, [1], 2, 0.9)


def test_every_stored_coverage() -> None:
    for given_, wanted in cases("exact_coverage"):
        for name, value in wanted.items():
            method = getattr(stats, name)
            found = stats.coverage(method, trials=given_["n"], rate=given_["p"], confidence=given_["conf"])
            assert found == pytest.approx(value, abs=1e-10), (name, given_)


@pytest.mark.sample(3)
@pytest.mark.parametrize("trials", [1, 2, 6, 17, 30])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_optimal_methods_cover_exactly_what_they_say(trials: int, confidence: float) -> None:
    for rate in (0.003, 0.5, 0.77):
        for method in (stats.optimal_lower, stats.optimal_upper, stats.optimal_interval):
            found = stats.coverage(method, trials=trials, rate=rate, confidence=confidence)
            assert found == pytest.approx(confidence, abs=1e-9), (method.__name__, rate)


@pytest.mark.parametrize("trials", [1, 3, 10])
def test_at_a_certain_rate_the_draw_alone_decides(trials: int) -> None:
    # without a success the lower bound is 0 unless the draw is above .95; with none but successes it never exceeds 1
    for method, certain, sure in ((stats.optimal_lower, 0.0, 1.0), (stats.optimal_upper, 1.0, 0.0)):
        assert stats.coverage(method, trials=trials, rate=certain) == pytest.approx(0.95, abs=1e-12)
        assert stats.coverage(method, trials=trials, rate=sure) == 1.0
    assert stats.coverage(stats.optimal_interval, trials=trials, rate=0.0) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("trials", range(1, 31))
def test_the_unbiased_interval_covers_exactly_what_it_says_on_a_grid(trials: int, confidence: float) -> None:
    for rate in (0.003, *np.linspace(0.1, 0.9, 5), 0.998):
        found = stats.coverage(stats.optimal_interval, trials=trials, rate=float(rate), confidence=confidence)
        assert found == pytest.approx(confidence, abs=1e-9)


def test_the_unbiased_interval_holds_no_wrong_rate_more_often_than_the_true_one() -> None:
    from surefoot.stats.bound_tightness import _share_of_draws

    trials, counts = 8, np.arange(9.0)
    for true in (0.3, 0.7):
        chances = binomial.pmf(counts, trials, true)
        for wrong in (0.1, 0.4, 0.75, 0.9):
            share = _share_of_draws(stats.optimal_interval, counts, trials, float(wrong), 0.9)
            assert float((chances * share).sum()) <= 0.9 + 1e-9


@settings(max_examples=25)
@given(st.integers(1, 25), st.floats(0.01, 0.99), st.sampled_from([0.8, 0.95]))
def test_coverage_agrees_with_its_slow_twin(trials: int, rate: float, confidence: float) -> None:
    found = stats.coverage(stats.wilson, trials=trials, rate=rate, confidence=confidence)
    assert found == pytest.approx(one_rate.coverage(one_rate.wilson, trials, rate, confidence), abs=1e-10)


@settings(max_examples=40)
@given(st.integers(1, 60), st.floats(0.001, 0.999))
def test_coverage_is_the_same_for_the_mirrored_rate(trials: int, rate: float) -> None:
    counts = np.arange(trials + 1)
    ends = np.concatenate([binomial.exact_low(counts, trials, 0.025), binomial.exact_high(counts, trials, 0.025)])
    if np.abs(ends - rate).min() > 1e-9:
        one = stats.coverage(stats.clopper_pearson, trials=trials, rate=rate)
        assert one == pytest.approx(stats.coverage(stats.clopper_pearson, trials=trials, rate=1 - rate), abs=1e-12)


def test_a_method_of_ones_own_is_counted_like_ours() -> None:
    def mine(tally: Tally, *, confidence: float) -> Interval:
        return stats.wilson(tally, confidence=confidence)

    def drawn(tally: Tally, *, draw: float, confidence: float) -> Any:
        return stats.optimal_lower(tally, draw=draw, confidence=confidence)

    for rate in (0.1, 0.63):
        ours = stats.coverage(stats.wilson, trials=15, rate=rate)
        assert stats.coverage(mine, trials=15, rate=rate) == pytest.approx(ours, abs=1e-14)
        assert stats.coverage(drawn, trials=4, rate=rate) == pytest.approx(0.95, abs=1e-9)


def test_wilson_is_at_its_worst_far_below_what_it_says() -> None:
    worst = min(stats.coverage(stats.wilson, trials=10, rate=rate) for rate in np.linspace(0.001, 0.999, 999))
    assert worst == pytest.approx(0.84, abs=0.01)


def test_certain_rates_and_many_rollouts() -> None:
    assert stats.coverage(stats.wilson, trials=10, rate=0.0) == 1.0
    assert stats.coverage(stats.wilson, trials=10, rate=1.0) == 1.0
    assert stats.coverage(stats.wald, trials=1, rate=0.3) == 0.0
    for method in (stats.wilson, stats.clopper_pearson, stats.optimal_lower):
        assert stats.coverage(method, trials=1_000_000, rate=0.3) == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize(
    ("given_", "error", "text"),
    [
        ({"trials": 0, "rate": 0.5}, ValueError, "`trials` must be at least 1; got 0"),
        ({"trials": 1_000_001, "rate": 0.5}, ValueError, "`trials` must be at most 1,000,000; got 1000001"),
        ({"trials": 10, "rate": 1.1}, ValueError, "`rate` must be between 0 and 1; got 1.1"),
        ({"trials": 10, "rate": float("nan")}, ValueError, "`rate` must be finite"),
        ({"trials": 10, "rate": 0.5, "confidence": 1.0}, ValueError, "strictly between 0 and 1; got 1.0"),
    ],
)
def test_refusals_of_exact_coverage(given_: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        stats.coverage(stats.wilson, **given_)


def test_a_method_is_a_function_that_gives_an_interval_or_a_bound() -> None:
    with pytest.raises(TypeError, match="`method` must be a function such as `wilson`; got 'wilson'"):
        stats.coverage("wilson", trials=10, rate=0.5)  # type: ignore[arg-type]

    def number(tally: Tally, *, confidence: float) -> float:
        return tally.rate * confidence

    with pytest.raises(TypeError, match="`method` must give an Interval or a Bound"):
        stats.coverage(number, trials=10, rate=0.5)  # type: ignore[arg-type]
