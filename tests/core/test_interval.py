"""Tests of `surefoot.core.interval`."""

import math

import pytest

from surefoot import Bound, Interval
from surefoot.core.interval import Certified


def test_intervals_and_bounds_refuse_impossible_ends() -> None:
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Interval(low=0.6, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`; got nan"):
        Interval(low=math.nan, high=0.4, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`side` must be 'lower' or 'upper'; got 'larger'"):
        Bound(side="larger", value=0.5, estimate=0.5, confidence=0.95, method="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`value` must be a number; got NaN"):
        Bound(side="lower", value=math.nan, estimate=0.5, confidence=0.95, method="none")
    with pytest.raises(ValueError, match="`low` must be at most `high`"):
        Certified(low=0.2, high=0.1, at=0.5)


def test_an_interval_knows_its_width_and_what_it_holds() -> None:
    interval = Interval(low=0.25, high=0.75, estimate=0.5, confidence=0.95, method="none")
    assert interval.width == 0.5
    assert 0.25 in interval
    assert 0.8 not in interval
    assert Certified(0.1, 0.3, 0.5).value == pytest.approx(0.2)


@pytest.mark.parametrize("estimate", [0.1, 0.7, math.nan])
def test_no_interval_leaves_out_its_estimate(estimate):
    with pytest.raises(ValueError, match=r"`estimate` must lie between `low` and `high`, 0\.2 and 0\.6; got"):
        Interval(0.2, 0.6, estimate, 0.95, "made up")
    assert Interval(0.2, 0.6, 0.2 - 1e-12, 0.95, "made up").low == 0.2  # rounding alone is no matter
