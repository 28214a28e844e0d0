"""Tests of `surefoot.core.interval`."""

import pytest

from surefoot.core.interval import Certified
from surefoot.core.record import Record


def test_the_value_is_the_middle_and_shown_ends_are_on_the_safe_side():
    found = Certified(0.123456784, 0.123456786, at=0.5, what="The largest excess")
    assert found.value == pytest.approx(0.123456785)
    assert str(found) == "The largest excess is between 0.12345678 and 0.12345679 (attained near 0.5)."
    assert str(Certified(0.0, 1.0, at=0.25)).startswith("between 0.0")


def test_ends_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Certified(0.2, 0.1, at=0.5)


def test_it_travels():
    found = Certified(0.1, 0.2, at=0.3)
    assert Record.from_dict(found.to_dict()) == found
