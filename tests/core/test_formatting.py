"""Tests of `surefoot.core.formatting`."""

import pytest
from hypothesis import given
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
