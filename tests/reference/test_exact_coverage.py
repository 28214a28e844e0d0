"""Is the coverage counted right, and do the methods keep what they promise?"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Interval, Tally, stats
from surefoot.numerics.rates import binomial
from tests.oracles import one_rate
from tests.reference import cases


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
    from surefoot.reference.exact_coverage import _share_of_draws

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
def test_refusals(given_: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        stats.coverage(stats.wilson, **given_)


def test_a_method_is_a_function_that_gives_an_interval_or_a_bound() -> None:
    with pytest.raises(TypeError, match="`method` must be a function such as `wilson`; got 'wilson'"):
        stats.coverage("wilson", trials=10, rate=0.5)  # type: ignore[arg-type]

    def number(tally: Tally, *, confidence: float) -> float:
        return tally.rate * confidence

    with pytest.raises(TypeError, match="`method` must give an Interval or a Bound"):
        stats.coverage(number, trials=10, rate=0.5)  # type: ignore[arg-type]
