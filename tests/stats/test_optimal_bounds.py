"""Are the randomised bounds right, exactly as sure as they say, and honest about their draw?"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Tally, stats
from tests.oracles import one_rate
from tests.reference import cases
from tests.support.strategies import confidences, draws, tallies


def test_every_stored_bound() -> None:
    for given_, wanted in cases("uma_bounds"):
        tally, sure = Tally(given_["k"], given_["n"]), 1 - given_["alpha"]
        lower = stats.optimal_lower(tally, draw=given_["u"], confidence=sure)
        upper = stats.optimal_upper(tally, draw=given_["u"], confidence=sure)
        assert lower.value == pytest.approx(wanted["lower"], rel=1e-9, abs=1e-12), given_
        assert upper.value == pytest.approx(wanted["upper"], rel=1e-9, abs=1e-12), given_


def test_every_stored_unbiased_interval() -> None:
    for given_, wanted in cases("umau_two_sided"):
        tally, sure = Tally(given_["k"], given_["n"]), 1 - given_["alpha"]
        interval = stats.optimal_interval(tally, draw=given_["u"], confidence=sure)
        assert (interval.low, interval.high) == pytest.approx((wanted["lo"], wanted["hi"]), abs=1e-10), given_


def test_published_ranges() -> None:
    # methods.md section 2: 4/50 and 38/50 at 95% give bounds anywhere in these ranges
    few, many = stats.optimal_lower(Tally(4, 50), draw=0.5), stats.optimal_lower(Tally(38, 50), draw=0.5)
    assert few.range == pytest.approx((0.0278, 0.0402), abs=5e-5)
    assert many.range == pytest.approx((0.6403, 0.6622), abs=5e-5)
    # peers.md: UMAU(38/50, 95%, U = .5)
    interval = stats.optimal_interval(Tally(38, 50), draw=0.5)
    assert (interval.low, interval.high) == pytest.approx((0.6286819, 0.8651652), abs=5e-8)


@settings(max_examples=40)
@given(tallies(25), st.sampled_from([0.0, 0.1, 0.5, 0.93, 0.97, 1.0]), st.sampled_from([0.8, 0.95, 0.99]))
def test_bounds_agree_with_their_slow_twin(tally: Tally, draw: float, confidence: float) -> None:
    k, n = tally.successes, tally.trials
    lower = stats.optimal_lower(tally, draw=draw, confidence=confidence).value
    upper = stats.optimal_upper(tally, draw=draw, confidence=confidence).value
    assert lower == pytest.approx(one_rate.optimal_lower(k, n, draw, confidence), rel=1e-9, abs=1e-12)
    assert upper == pytest.approx(one_rate.optimal_upper(k, n, draw, confidence), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=15)
@given(tallies(15), st.sampled_from([0.02, 0.3, 0.5, 0.98]), st.sampled_from([0.8, 0.95]))
def test_the_interval_agrees_with_its_slow_twin(tally: Tally, draw: float, confidence: float) -> None:
    interval = stats.optimal_interval(tally, draw=draw, confidence=confidence)
    wanted = one_rate.unbiased_interval(tally.successes, tally.trials, draw, confidence)
    assert (interval.low, interval.high) == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=40)
@given(tallies(), confidences)
def test_no_draw_is_clopper_pearson_and_a_full_draw_the_next_count(tally: Tally, confidence: float) -> None:
    bound = stats.optimal_lower(tally, draw=0.0, confidence=confidence)
    plain = stats.clopper_pearson_lower(tally, confidence=confidence).value
    assert bound.value == pytest.approx(plain, rel=1e-12, abs=1e-300)
    assert bound.range is not None
    assert bound.range[0] == bound.value
    full = stats.optimal_lower(tally, draw=1.0, confidence=confidence).value
    after = Tally(tally.successes + 1, tally.trials) if tally.failures else None
    wanted = stats.clopper_pearson_lower(after, confidence=confidence).value if after else 1.0
    assert full == pytest.approx(wanted, rel=1e-12)
    assert bound.range[1] == full


@settings(max_examples=40)
@given(tallies(), draws, draws, confidences)
def test_a_larger_draw_gives_a_tighter_bound(tally: Tally, one: float, other: float, confidence: float) -> None:
    small, large = sorted((one, other))
    low = [stats.optimal_lower(tally, draw=u, confidence=confidence).value for u in (0.0, small, large, 1.0)]
    high = [stats.optimal_upper(tally, draw=u, confidence=confidence).value for u in (0.0, small, large, 1.0)]
    assert all(a <= b + 1e-13 for a, b in pairwise(low))
    assert all(a >= b - 1e-13 for a, b in pairwise(high))


@settings(max_examples=40)
@given(tallies(), draws, confidences)
def test_swapping_success_and_failure_mirrors_the_bound(tally: Tally, draw: float, confidence: float) -> None:
    mirrored = Tally(tally.failures, tally.trials)
    lower = stats.optimal_lower(tally, draw=draw, confidence=confidence).value
    assert lower == pytest.approx(1 - stats.optimal_upper(mirrored, draw=draw, confidence=confidence).value, abs=1e-12)


@settings(max_examples=20)
@given(tallies(60), draws, confidences)
def test_swapping_success_and_failure_and_the_draw_mirrors_the_interval(
    tally: Tally, draw: float, confidence: float
) -> None:
    one = stats.optimal_interval(tally, draw=draw, confidence=confidence)
    other = stats.optimal_interval(Tally(tally.failures, tally.trials), draw=1 - draw, confidence=confidence)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@settings(max_examples=20)
@given(tallies(60), draws)
def test_more_confidence_is_wider(tally: Tally, draw: float) -> None:
    assert (
        stats.optimal_lower(tally, draw=draw, confidence=0.99).value
        <= stats.optimal_lower(tally, draw=draw, confidence=0.9).value
    )
    narrow = stats.optimal_interval(tally, draw=draw, confidence=0.9)
    wide = stats.optimal_interval(tally, draw=draw, confidence=0.99)
    if narrow.width > 0:
        assert wide.low <= narrow.low + 1e-12
        assert wide.high >= narrow.high - 1e-12


# --- The draw --------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bound_for_ever() -> None:
    bound = stats.optimal_lower(Tally(38, 50), rng=7)
    assert (bound.seed, bound.draw) == (7, 0.625095466604667)
    assert bound.value == pytest.approx(0.652665224529, abs=1e-11)
    assert bound.value == pytest.approx(one_rate.optimal_lower(38, 50, bound.draw), abs=1e-12)
    assert bound == stats.optimal_lower(Tally(38, 50), rng=7)
    assert bound.value != stats.optimal_lower(Tally(38, 50), rng=8).value
    interval = stats.optimal_interval(Tally(38, 50), rng=7)
    assert (interval.seed, interval.draw) == (7, bound.draw)


def test_a_generator_moves_on_and_its_draw_is_kept() -> None:
    rng = np.random.default_rng(7)
    first, second = (stats.optimal_upper(Tally(4, 50), rng=rng) for _ in range(2))
    assert first.seed is None
    assert first.draw == 0.625095466604667
    assert first.draw != second.draw
    assert stats.optimal_upper(Tally(4, 50), draw=first.draw).value == first.value


def test_the_draw_is_printed_with_what_it_could_have_been() -> None:
    bound = stats.optimal_lower(Tally(38, 50), draw=0.3)
    assert str(bound) == (
        "at least 64.5% n=50 (95% optimal bound, draw 0.3; any draw gives a bound in [64.0%, 66.3%])."
    )
    assert bound.notes == ("Without a draw (Clopper-Pearson): at least 64.0%.",)


@pytest.mark.parametrize("method", [stats.optimal_lower, stats.optimal_upper, stats.optimal_interval])
@pytest.mark.parametrize(
    ("given_", "error", "text"),
    [
        ({}, TypeError, "`rng` must be a numpy Generator or a whole-number seed; got None. Chance enters this result"),
        ({"rng": 0.5}, TypeError, "`rng` must be a whole number; got 0.5"),
        ({"rng": True}, TypeError, "`rng` must be a whole number; got True"),
        ({"rng": -1}, ValueError, "`rng` must be at least 0; got -1"),
        ({"rng": 7, "draw": 0.3}, TypeError, "`rng` and `draw` must not both be given"),
        ({"draw": 1.5}, ValueError, "`draw` must be between 0 and 1; got 1.5"),
        ({"draw": float("nan")}, ValueError, "`draw` must be finite; got nan"),
        ({"draw": "0.3"}, TypeError, "`draw` must be a number; got '0.3'"),
    ],
)
def test_refusals(method: Any, given_: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        method(Tally(38, 50), **given_)


@pytest.mark.parametrize("draw", [1e-300, 1e-17, 1e-9, 1 - 1e-9, 1 - 1e-16])
def test_a_draw_next_to_its_ends_gives_a_bound_next_to_its_ends(draw: float) -> None:
    for tally in (Tally(1, 2), Tally(38, 50), Tally(999, 1000)):
        lower, upper = stats.optimal_lower(tally, draw=draw), stats.optimal_upper(tally, draw=draw)
        assert lower.range is not None
        assert upper.range is not None
        end = 0 if draw < 0.5 else 1
        assert lower.value == pytest.approx(lower.range[end], abs=3e-9)
        assert upper.value == pytest.approx(upper.range[end], abs=3e-9)


# --- Edges -----------------------------------------------------------------------------------------------------------


def test_all_successes_and_a_late_draw_give_1_and_say_so() -> None:
    bound = stats.optimal_lower(Tally(10, 10), draw=0.97)
    assert bound.value == 1.0
    assert bound.notes[0] == "Without a draw (Clopper-Pearson): at least 74.1%."
    assert "one of the 5% at which the bound is 100% exactly" in bound.notes[1]
    assert stats.optimal_lower(Tally(10, 10), draw=0.94).value < 1.0
    assert stats.optimal_upper(Tally(0, 10), draw=0.97).value == 0.0
    assert "0% exactly" in stats.optimal_upper(Tally(0, 10), draw=0.97).notes[1]


def test_no_success_and_a_late_draw_give_a_positive_bound_and_say_so() -> None:
    bound = stats.optimal_lower(Tally(0, 10), draw=0.97)
    assert bound.value == pytest.approx(1 - (0.95 / 0.97) ** 0.1, rel=1e-12)
    assert "without one success" in bound.notes[1]
    assert stats.optimal_lower(Tally(0, 10), draw=0.94).value == 0.0
    upper = stats.optimal_upper(Tally(10, 10), draw=0.97)
    assert upper.value == pytest.approx((0.95 / 0.97) ** 0.1, rel=1e-12)
    assert "without one failure" in upper.notes[1]


def test_the_unbiased_interval_can_be_a_point_and_says_so() -> None:
    early, late = (stats.optimal_interval(Tally(k, 10), draw=u) for k, u in ((0, 0.03), (10, 0.97)))
    assert (early.low, early.high, late.low, late.high) == (0.0, 0.0, 1.0, 1.0)
    assert any("0% exactly" in note for note in early.notes)
    assert any("Without a draw (Clopper-Pearson)" in note for note in late.notes)


def test_at_a_few_percent_the_unbiased_interval_is_one_point() -> None:
    # unbiased acceptance regions this small slide over the draw at a rate of exactly k / n
    interval = stats.optimal_interval(Tally(1, 3), draw=0.3, confidence=0.01)
    assert (interval.low, interval.high) == pytest.approx((1 / 3, 1 / 3), abs=1e-12)  # and it holds its estimate
    assert not any("exactly" in note for note in interval.notes)  # nearly every draw gives it


def test_one_rollout() -> None:
    assert stats.optimal_lower(Tally(1, 1), draw=0.5).value == pytest.approx(0.05 / 0.5)
    assert stats.optimal_upper(Tally(0, 1), draw=0.5).value == pytest.approx(1 - 0.05 / 0.5)
    middle = stats.optimal_interval(Tally(1, 1), draw=0.5)
    assert (middle.low, middle.high) == (0.0, 1.0)


@pytest.mark.parametrize("successes", [0, 1, 1000, 76 * 10**7, 10**9 - 1, 10**9])
def test_a_billion_rollouts(successes: int) -> None:
    tally = Tally(successes, 10**9)
    lower, upper = stats.optimal_lower(tally, draw=0.4), stats.optimal_upper(tally, draw=0.4)
    plain = stats.clopper_pearson_lower(tally).value, stats.clopper_pearson_upper(tally).value
    assert plain[0] <= lower.value <= tally.rate <= upper.value <= plain[1]
    interval = stats.optimal_interval(tally, draw=0.4)
    assert 0.0 <= interval.low <= tally.rate <= interval.high <= 1.0
    assert interval.width < 7e-5


def test_rare_events_among_a_billion_follow_poisson() -> None:
    # The upper bound of t = 1 + u: exp(-m)(1 + m(1 - u)) = 0.05 with m = n p
    mean = stats.optimal_upper(Tally(1, 10**9), draw=0.4).value * 1e9
    assert np.exp(-mean) * (1 + mean * 0.6) == pytest.approx(0.05, rel=1e-6)
