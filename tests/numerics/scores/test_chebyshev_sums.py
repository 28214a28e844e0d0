"""Tests of `surefoot.numerics.scores.chebyshev_sums`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.numerics.scores.chebyshev_sums import CellColumns
from surefoot.numerics.scores.score_samples import pool


def column(z, scale, mean):
    cells = pool(z).cells
    scales = np.array([[scale]])
    return CellColumns(scales, scales * (cells.mids - mean), cells.sizes, cells.halves, cells.moments)


@given(
    st.integers(0, 1_000),
    st.floats(0.1, 10.0),
    st.floats(0.0, 1.0),
    st.complex_numbers(max_magnitude=5.0, allow_nan=False, allow_infinity=False),
)
def test_the_logarithm_is_within_its_remainder(seed, shape, mean, s):
    z = np.random.default_rng(seed).beta(shape, 1.0, 400)
    found, rest = column(z, 1.0, mean).logs(np.array([[s]]), np.ones(1))
    factors = 1.0 - s * (z - mean)
    wanted = -np.log(np.abs(factors)).sum()
    if np.abs(factors).min() > 1e-6 and rest[0, 0] < 10.0:
        assert abs(found[0, 0].real - wanted) <= rest[0, 0] + 1e-9
        if rest[0, 0] < 1e-9:
            turns = (found[0, 0].imag + np.angle(factors).sum()) / (2 * np.pi)
            assert turns == pytest.approx(round(turns), abs=1e-6)


def test_sums_and_powers():
    z = np.random.default_rng(4).beta(2, 3, 1_000)
    one = column(z, 0.7, 0.3)
    c = 0.7 * (z - 0.3)
    assert [float(part[0]) for part in one.sums()] == pytest.approx([c.sum(), (c * c).sum()], rel=1e-10)
    for t in (0.01, 0.5, 2.0):
        d = t * c / (1 + t * c)
        found = [float(part[0]) for part in one.powers(np.array([t]))]
        assert found == pytest.approx([(d**p).sum() for p in (1, 2, 3)], abs=2e-3)
    assert float(one.reach()[0]) > 0.0
    turned = one.times(np.array([-1.0]))
    assert float(turned.sums()[0][0]) == pytest.approx(-c.sum())
    assert turned.rows(slice(0, 1)).scales.shape == (1, 1)


def test_more_terms_only_where_they_are_needed():
    one = column(np.random.default_rng(4).random(500), 1.0, 0.5)
    near, far = (one._needed(np.array([u]), np.full(1, 1e-12)) for u in (0.01, 0.5))
    assert near < far <= one.moments.shape[1]
    assert one._needed(np.array([1.0]), np.full(1, 1e-12)) == one.moments.shape[1]
