"""Tests of `surefoot.numerics.rates.gain_scores`."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.rates import gain_scores


def test_the_score_statistic_rises_and_falls_as_proved():
    for n1, n2 in [(7, 7), (5, 11), (12, 3)]:
        x1, x2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
        grid = [-0.97, -0.5, -0.1, -1e-6, 0.0, 1e-6, 0.2, 0.7, 0.99]
        z = np.array([gain_scores.statistic(x1, n1, x2, n2, d) for d in grid])
        assert (np.diff(z, axis=1) >= -1e-9).all()
        assert (np.diff(z, axis=2) <= 1e-9).all()
        assert (np.diff(z, axis=0) <= 1e-9).all()


@settings(max_examples=40)
@given(st.integers(1, 150), st.integers(1, 150), st.floats(-0.99, 0.99), st.floats(0.01, 8.0))
def test_a_staircase_holds_exactly_the_extreme_tables(n1, n2, difference, level):
    z = gain_scores.statistic(np.arange(n1 + 1)[:, None], n1, np.arange(n2 + 1)[None, :], n2, difference)
    column = np.array([[difference]]), np.array([[level]])
    steps = gain_scores.thresholds(n1, n2, np.arange(n2 + 1)[None, :], *column)
    inside = np.arange(n1 + 1)[:, None] >= steps
    clear = np.abs(z - level) > 2e-8 * level
    assert (inside == (z >= level))[clear].all()
