"""Tests of `surefoot.analysis.slice_p_values`."""

from functools import partial

import pytest

from surefoot import Tally, stats
from surefoot.analysis.slice_p_values import sides_of
from surefoot.analysis.targets import weakest
from surefoot.stats.strata import least_p


def test_every_way_of_a_slice_must_say_it():
    """The pooled way shows a loss, the way within a column does not: the larger p-value counts."""
    pooled = partial(stats.exact_gain, Tally(10, 40), Tally(30, 40))
    within = partial(stats.exact_gain, Tally(5, 10), Tally(6, 10))
    alone, both = (sides_of(make, 0.05, 1.0) for make in (within, weakest([within, pooled])))
    assert sides_of(pooled, 0.05, 1.0).worse < 0.001
    assert both.worse == alone.worse > 0.2


def test_a_lower_bound_stands_for_a_p_value_until_it_is_asked_for():
    parts = {"a": (Tally(9, 20), Tally(14, 20)), "b": (Tally(12, 30), Tally(18, 30))}
    make = partial(stats.stratified_rate_gain, parts, weights={"a": 0.5, "b": 0.5})
    rough, exact = sides_of(make, 0.001, 0.001), sides_of(make, 0.001, 1.0)
    assert rough.worse <= exact.worse
    assert rough.worse == pytest.approx(least_p(parts, weights={"a": 0.5, "b": 0.5}, error=0.001) / 2)
    assert exact.worse == pytest.approx(make(confidence=0.999, margin=0.0).p_value / 2)
