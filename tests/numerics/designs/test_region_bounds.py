"""Tests of `surefoot.numerics.designs.region_bounds`."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surefoot.numerics.designs import region_bounds
from surefoot.sequential import ExactBinary, design_properties
from tests.support.exact_rules import every_rule

# --- bounds over regions ---


@every_rule
@given(data=st.data())
@settings(max_examples=30)
def test_a_region_is_called_below_only_when_it_is(make, data):
    rule = make(20, claim="either")
    space = design_properties.space(rule.design.declared, 0.0)
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    chosen = space.counted.chosen(rng.random(len(space.endings.n)) < data.draw(st.sampled_from([0.02, 0.1, 0.5])))
    low = data.draw(st.floats(0.0, 0.9))
    high = data.draw(st.floats(low, 1.0))
    shares = np.sin(np.linspace(0.001, np.pi / 2 - 0.001, 60)) ** 2
    largest = max(region_bounds.chances(chosen, gain, shares).max() for gain in np.linspace(low, min(high, 0.9999), 60))
    assume(largest > 0.0)  # an empty set is at most 0
    for rising in (False, True):
        assert not region_bounds.is_below(chosen, (low, high), 0.98 * largest, rising=rising)
        assert region_bounds.is_below(chosen, (low, high), 1.05 * largest + 1e-6, rising=rising)


def test_an_empty_set_is_below_everything():
    space = design_properties.space(ExactBinary(20).design.declared, 0.0)
    assert region_bounds.is_below(space.counted.chosen(space.endings.n < 0), (0.0, 1.0), 1e-9)


def test_what_is_not_settled_is_not_called_below(monkeypatch):
    space = design_properties.space(ExactBinary(20).design.declared, 0.0)
    better = space.counted.chosen(space.endings.verdict > 0)
    level = 1.02 * region_bounds.peak(better, 0.1)[0]
    assert region_bounds.is_below(better, (0.1, 0.1), level)
    monkeypatch.setattr(region_bounds, "_SPLITS", 1)
    assert not region_bounds.is_below(better, (0.1, 0.1), level)
