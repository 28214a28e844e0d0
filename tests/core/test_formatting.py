"""Tests of `surefoot.core.formatting`."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surefoot import Tally
from surefoot.core import formatting
from surefoot.stats import wilson
from tests.support.strategies import confidences, tallies


@given(tallies(), confidences)
def test_shown_ends_are_on_the_safe_side(tally: Tally, confidence: float) -> None:
    interval = wilson(tally, confidence=confidence)
    low, high = (float(part.strip("[]%")) / 100 for part in formatting.span(interval.low, interval.high).split(", "))
    assert low <= interval.low + 1e-12
    assert high >= interval.high - 1e-12
    assert interval.low - low < 0.0010001
    assert high - interval.high < 0.0010001


@pytest.mark.parametrize("rest", [0.5, 0.05, 0.0167, 1e-4, 1e-5, 3e-9, 1e-12, 1e-15])
def test_a_shown_confidence_is_never_more_than_it_is(rest: float) -> None:
    for share in (rest, 1.0 - rest):
        shown = float(formatting.percent(share).removesuffix("%"))
        assert 0.0 < shown < 100.0
        assert shown <= 100.0 * share * (1 + 1e-12)
        assert shown == pytest.approx(100.0 * share, abs=0.01)


def test_numbers_too_large_for_decimals_are_shown_as_they_are() -> None:
    assert formatting.rounded(1e306, 3, "down") == formatting.rounded(1e306, 3, "up") == 1e306


@given(st.floats(1e-12, 1.0))
def test_a_shown_p_value_is_never_smaller_than_it_is(value: float) -> None:
    shown = formatting.p_value(value)
    number = float(shown.split()[-1])
    assert value <= number * (1 + 1e-9)


rates = st.one_of(st.floats(0.0, 1.0), st.floats(-9.0, -1.0).map(lambda power: 10.0**power))
towards = st.sampled_from(("down", "nearest", "up"))


@given(rates, st.booleans(), towards)
@example(9.99999999995449e-06, False, "down")
def test_a_rate_that_is_neither_0_nor_1_is_not_shown_as_if_it_were(
    rate: float, near_one: bool, toward: formatting.Toward
) -> None:
    rate = 1.0 - rate if near_one else rate
    shown = float(formatting.number(rate, toward=toward).removesuffix("%")) / 100
    rest = min(rate, 1.0 - rate)
    if rest >= 2e-9:
        assert 0.0 < shown < 1.0
        assert abs(shown - rate) <= min(0.001, rest) + 1e-11  # at least the first digit is right
    assert toward != "down" or shown <= rate + 1e-11
    assert toward != "up" or shown >= rate - 1e-11


@given(rates, st.floats(1e-8, 0.5), st.sampled_from(("rate", "gain")))
def test_the_decimals_follow_the_width_of_the_interval(low: float, width: float, scale: formatting.Scale) -> None:
    high = min(1.0, low + width)
    if high - low < 1e-8:
        return
    text = formatting.estimate((low + high) / 2, low, high, scale).replace("%", "").replace(" points", "")
    middle, ends = text.split(" ", 1)
    shown = [float(part) / 100 for part in ends.strip("[]()").split(", ")]
    assert shown[0] <= low + 1e-11
    assert shown[1] >= high - 1e-11
    assert shown[1] - shown[0] <= 2.0 * (high - low) + 1e-11  # each end is off by less than half the width
    assert shown[0] <= float(middle) / 100 <= shown[1]


@pytest.mark.parametrize(
    ("value", "toward", "says"),
    [
        (3e-5, "nearest", "0.003%"),
        (0.99995256, "down", "99.995%"),
        (0.0, "down", "0.0%"),
        (1.0, "up", "100.0%"),
        (0.76, "nearest", "76.0%"),
        (0.003, "nearest", "0.3%"),
        (1e-17, "down", "0.0%"),
    ],
)
def test_digits_by_need(value: float, toward: formatting.Toward, says: str) -> None:
    assert formatting.number(value, toward=toward) == says


def test_small_gains_and_narrow_intervals() -> None:
    assert formatting.estimate(-0.00027, -0.00045, -0.00012, "gain") == "-0.03 points [-0.05, -0.01]"
    assert formatting.estimate(0.02, -0.1, 0.14, "gain") == "+2.0 points [-10.0, +14.0]"
    assert formatting.estimate(0.76043, 0.75959, 0.76127) == "76.04% [75.95%, 76.13%]"
    assert formatting.number(0.0, "gain") == "+0.0"
    assert formatting.number(0.00004, "score") == "0.00004"
