"""Tests of `surefoot.stats.multiplicity`."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.reference import benjamini_hochberg, bonferroni, e_benjamini_hochberg, sidak
from surefoot.stats import holm
from tests.oracles import many as twin
from tests.reference import cases

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("case", cases("multiplicity"))
def test_adjusted_p_values_of_the_reference(case):
    asked, wanted = case
    for name, adjust in (("bonferroni", bonferroni), ("sidak", sidak), ("holm", holm), ("bh", benjamini_hochberg)):
        assert adjust(asked["p"]) == pytest.approx(wanted[name], rel=1e-12)


@given(p=p_values)
@settings(max_examples=60)
def test_adjusted_p_values_are_their_twins(p):
    assert holm(p) == pytest.approx(twin.holm(p), rel=1e-12)
    assert benjamini_hochberg(p) == pytest.approx(twin.benjamini_hochberg(p), rel=1e-12)
    assert sidak(p) == pytest.approx(twin.sidak(p), rel=1e-9, abs=1e-15)
    assert all(h <= b for h, b in zip(holm(p), bonferroni(p), strict=True))


@given(p=p_values, data=st.data())
@settings(max_examples=30)
def test_adjusting_does_not_depend_on_the_order(p, data):
    order = data.draw(st.permutations(range(len(p))))
    for adjust in (bonferroni, sidak, holm, benjamini_hochberg):
        straight, moved = adjust(p), adjust([p[i] for i in order])
        assert tuple(straight[i] for i in order) == moved


@given(e=st.lists(st.floats(0, 1e6), min_size=1, max_size=10), error=st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=60)
def test_e_values_stand_as_in_the_published_procedure(e, error):
    adjusted = e_benjamini_hochberg(e)
    wanted = twin.e_benjamini_hochberg(e, error)
    # a tie with the threshold may fall either way by rounding
    assert all(stands == (p <= error) for p, stands in zip(adjusted, wanted, strict=True) if abs(p - error) > 1e-12)


def test_e_values_at_their_edges():
    assert e_benjamini_hochberg([math.inf, 0.0]) == (0.0, 1.0)
