"""Tests of `surefoot.stats.multiplicity`."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Verdict
from surefoot.reference import benjamini_hochberg, bonferroni, e_benjamini_hochberg, sidak
from surefoot.stats import holm
from surefoot.stats.multiplicity import Sides, Stepped, step_down
from tests.oracles import many as twin
from tests.reference import cases

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)
numbers = st.floats(1e-6, 1.0)


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


@given(values=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), margin=st.booleans())
@settings(max_examples=200)
def test_the_step_down_is_its_slow_twin(values, margin):
    """One hypothesis rejected at a time, the smallest p-value first."""
    sides = []
    for p, share in values:
        above, below = p, 1.0 if p < 0.5 else share
        sides.append(Sides(above, below, above * share, below * share) if margin else Sides(above, below, above, below))
    found = step_down(sides)
    rejected, error = set(), 1 - 0.95
    while True:
        level = error / max(1, 2 * len(sides) - len(rejected))
        fresh = [
            (i, side) for i, one in enumerate(sides) for side in ("better", "worse") if getattr(one, side) <= level
        ]
        fresh = [one for one in fresh if one not in rejected]
        if not fresh:
            break
        rejected.add(fresh[0])
    for i, (one, said) in enumerate(zip(sides, found, strict=True)):
        assert (said.verdict is Verdict.BETTER) == ((i, "better") in rejected)
        assert (said.p_value <= error) == ((i, "better") in rejected or (i, "worse") in rejected)
        assert said.not_worse == ((i, "better") in rejected or one.not_worse <= level)
        inside = margin and max(one.not_worse, one.not_better) <= level
        if said.p_value > error:
            assert (said.verdict is Verdict.SAME) == bool(inside or max(one.not_worse, one.not_better) <= level)
            if margin:
                assert (said.same_p_value <= error) == (said.verdict is Verdict.SAME)


def test_both_directions_of_every_pair_are_charged():
    # one pair: each side at half; the second of two pairs is charged for three sides
    assert step_down([Sides.of(0.05, 0.1)])[0] == Stepped(Verdict.BETTER, 0.05, True)
    assert step_down([Sides.of(0.05, -0.1)])[0].verdict is Verdict.WORSE
    assert step_down([Sides.of(0.05, 0.0)])[0].p_value == 1.0
    first, second = step_down([Sides.of(0.001, 0.1), Sides.of(0.033, 0.1)])
    assert (first.p_value, second.p_value) == pytest.approx((0.002, 0.0495))
    assert second.verdict is Verdict.BETTER
    assert step_down([Sides.of(0.03, 0.1), Sides.of(0.033, 0.1)])[1].verdict is Verdict.UNDECIDED
    assert step_down([Sides.of(0.03, 0.1)], confidence=0.99)[0].verdict is Verdict.UNDECIDED
    assert second.mirrored.verdict is Verdict.WORSE
    assert not second.mirrored.not_worse


@given(values=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
@settings(max_examples=100)
def test_the_smallest_error_of_sameness_is_searched_for_in_full(values):
    sides = [Sides(p, 1.0, p * share, share) for p, share in values]
    stepped, count = step_down(sides), 2 * len(sides)
    errors = [said.p_value for said in stepped]
    for one, said in zip(sides, stepped, strict=True):
        p = max(one.not_worse, one.not_better)
        tried = sorted({*errors, *(p * left for left in range(1, count + 1)), 1.0})
        right = (error for error in tried if p * (count - sum(q <= error for q in errors)) <= error)
        assert said.same_p_value == pytest.approx(min(1.0, next(right, 1.0)))
