"""Tests of `surefoot.reference.separate_bounds`."""

import pytest

from surefoot import Tally, Verdict, reference
from tests.reference import cases
from tests.support.two_rates import tallies_of


def test_disjoint_bounds_match_the_reference():
    for asked, wanted in cases("disjoint_bounds"):
        pair = tallies_of(asked)
        confidence = 1.0 - asked["alpha"]
        plain = reference.disjoint_bounds(*pair, confidence=confidence)
        drawn = reference.disjoint_optimal_bounds(*pair, draw=0.5, confidence=confidence)
        assert plain.first.value == pytest.approx(wanted["cp_lower_1"], rel=1e-9)
        assert plain.second.value == pytest.approx(wanted["cp_upper_2"], rel=1e-9)
        assert (plain.verdict is Verdict.BETTER) == wanted["cp_disjoint"]
        assert drawn.first.value == pytest.approx(wanted["uma_lower_1_u_half"], rel=1e-9)
        assert drawn.second.value == pytest.approx(wanted["uma_upper_2_u_half"], rel=1e-9)
        assert (drawn.verdict is Verdict.BETTER) == wanted["uma_disjoint_u_half"]


def test_a_seed_is_kept_and_repeats_the_bounds():
    one, two = (reference.disjoint_optimal_bounds(Tally(4, 9), Tally(2, 9), rng=7) for _ in range(2))
    assert one == two
    assert one.seed == 7
    assert one.first.draw != one.second.draw
    with pytest.raises(TypeError, match="Chance enters this result"):
        reference.disjoint_optimal_bounds(Tally(4, 9), Tally(2, 9))
    with pytest.raises(TypeError, match="`rng` and `draw` must not both be given"):
        reference.disjoint_optimal_bounds(Tally(4, 9), Tally(2, 9), rng=7, draw=0.5)
