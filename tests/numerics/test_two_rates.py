"""Tests of `surefoot.numerics.two_rates`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics import chebyshev, gain_scores, two_rates


@settings(max_examples=25)
@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.floats(-0.95, -0.01),
    st.floats(1e-5, 0.3),
    st.floats(0.3, 4.0),
    st.integers(1, 12),
)
def test_the_sets_of_a_piece_hold_those_of_every_difference_in_it(n1, n2, left, width, level, pieces):
    """Joined over the cuts, started afresh or from staircases near by; the observed z stands in as a falling level."""
    cuts = np.linspace(left, left + width, pieces + 1)
    levels = level * (1.0 - 0.3 * (cuts[1:] - left) / width)
    up, down = two_rates.TwoCounts(n1, n2).sets(cuts, levels)
    for turned, again in zip(
        (up, down), two_rates.TwoCounts(n1, n2).sets(cuts, levels, (np.maximum(up - 1, 0), down)), strict=True
    ):
        assert (again == turned).all()
    for d, bar in zip(np.linspace(left, left + width, 25), level * (1.0 - 0.3 * np.linspace(0, 1, 25)), strict=True):
        assert (gain_scores.staircase(n1, n2, d, bar) >= up).all()
        assert (gain_scores.staircase(n2, n1, -d, bar) >= down).all()


@settings(max_examples=25)
@given(st.integers(2, 40), st.integers(2, 40), st.floats(-0.9, -0.05), st.floats(1e-4, 0.05), st.floats(0.5, 3.0))
def test_the_bound_of_a_piece_is_above_every_point_of_it(n1, n2, left, width, level):
    """Two fixed sets: at no difference between the ends, and no nuisance, are they likelier than the bound."""
    right = min(left + width, 0.0)
    both = two_rates.TwoCounts(n1, n2).sets(np.array([left, right]), np.array([level]))
    high = two_rates.TwoCounts(n1, n2).beyond(left, right, both, chebyshev.Need(1e-12)).high
    t = np.linspace(0.0, 1.0, 301)
    found = []
    for d in np.linspace(left, right, 21):
        p1, q1, p2, q2 = two_rates.rates(d, t)
        up = two_rates.above(n1, n2, (p1, q1, p2, q2), both[0], 1e-14)
        found.append(float((up + two_rates.above(n2, n1, (p2, q2, p1, q1), both[1], 1e-14)).max()))
    assert max(found) <= high * (1 + 1e-12)
    assert high <= max(found) + (max(n1, n2) * width) ** 2 + 1e-3
