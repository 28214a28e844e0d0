"""Tests of `surefoot.numerics.scores.exponential_sums`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from surefoot.numerics.scores import exponential_sums
from surefoot.numerics.scores.exponential_sums import CellColumns
from surefoot.numerics.scores.score_tails import pool
from tests.oracles import score_tails as twin


def _log_at_most_zero(coefficients, counts):
    """The logarithm of P(W <= 0), one for each row of coefficients."""
    c = np.atleast_2d(coefficients)
    sums = exponential_sums.Sums(
        c, np.asarray(counts, float), np.minimum(c.min(axis=1), 0.0), np.maximum(c.max(axis=1), 0.0)
    )
    return exponential_sums.log_chance(sums)


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 20, 137, 3_000, 20_000])
def test_the_binomial_tail_to_ten_digits(trials):
    for k in sorted({1, trials // 3, trials // 2, 9 * trials // 10, trials} - {0}):
        for m in (1e-6, 0.01, 0.2, 0.5, 0.8, 0.99):
            counts = np.array([k, trials - k, 1.0])
            found = _log_at_most_zero(np.array([[1 - m, -m, -m]]), counts)[0]
            wanted = special.betainc(k, trials - k + 1, m)
            if wanted > 1e-250:
                assert math.exp(found) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_any_coefficients_by_partial_fractions(seed):
    rng = np.random.default_rng(seed)
    c = rng.normal(0.3 * (seed % 3), 1, 3 + 3 * seed) * rng.choice([1e-3, 1, 30])
    c[-1] = c[-2] if seed % 2 else c[-1]  # a tie
    wanted = float(twin.mp.log(twin.at_most_zero(c.tolist())))
    assert _log_at_most_zero(c, np.ones(c.size))[0] == pytest.approx(wanted, rel=1e-10)
    values, counts = np.unique(c, return_counts=True)
    assert _log_at_most_zero(values, counts)[0] == pytest.approx(wanted, rel=1e-10)


def test_sums_of_one_sign_are_certain():
    assert _log_at_most_zero([[-1.0, -2.0], [1.0, 2.0], [0.0, 0.0]], [1, 3]).tolist() == [0.0, -math.inf, 0.0]


def test_rows_taken_in_parts_have_the_slopes_of_all_at_once(monkeypatch):
    c = np.random.default_rng(6).normal(0.2, 1, (5, 6))
    counts, starts = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0]), np.array([0, 2, 5])
    sums = exponential_sums.Sums(c, counts, c.min(axis=1), c.max(axis=1))
    logs, slopes = exponential_sums.log_chance_and_slopes(sums, starts)
    assert logs == pytest.approx(exponential_sums.log_chance(sums), abs=1e-6)
    for block, columns in enumerate((slice(0, 2), slice(2, 5), slice(5, 6))):
        moved = []
        for step in (1e-5, -1e-5):
            d = c.copy()
            d[:, columns] += step
            moved.append(_log_at_most_zero(d, counts))
        assert (moved[0] - moved[1]) / 2e-5 == pytest.approx(slopes[:, block], rel=1e-4, abs=1e-6)
    monkeypatch.setattr(exponential_sums, "ELEMENTS", 1)
    for part, whole in zip(exponential_sums.log_chance_and_slopes(sums, starts), (logs, slopes), strict=True):
        assert part == pytest.approx(whole, rel=1e-12)


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
