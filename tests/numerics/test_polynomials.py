"""Tests of `surefoot.numerics.polynomials`."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics import polynomials


@settings(max_examples=30)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=400))
def test_the_certified_maximum_is_above_a_fine_grid_and_attained(weights):
    """Any mixture of binomial chances with weights in [0, 1] is a probability of the kind that is bounded."""
    n = len(weights) - 1
    logs = np.array([math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)])

    def f(t, _=0.0):
        t = np.clip(t, 1e-300, 1 - 1e-16)[:, None]
        k = np.arange(n + 1)
        return np.exp(logs + k * np.log(t) + (n - k) * np.log1p(-t)) @ np.array(weights)

    peak = polynomials.maximise(f, n)
    grid = f(np.linspace(0, 1, 3001)).max()
    assert peak.high >= grid * (1 - 1e-12)
    assert peak.value <= peak.high
    assert peak.high - max(peak.value, grid) < 1e-6


def exact(coefficients: list[float], place: float) -> float:
    """The polynomial in rational arithmetic."""
    p, d = Fraction(place), len(coefficients) - 1
    return float(sum(Fraction(c) * comb(d, m) * p**m * (1 - p) ** (d - m) for m, c in enumerate(coefficients)))


coefficient_lists = st.lists(st.floats(-3, 3), min_size=1, max_size=25)


@given(coefficient_lists, st.floats(0, 1))
def test_no_point_is_above_the_certificate(coefficients: list[float], place: float) -> None:
    low, high, at = polynomials.polynomial_maximum(coefficients, 1e-6)
    assert exact(coefficients, place) <= high
    assert low <= exact(coefficients, at)
    assert high - low <= 1e-6


@given(coefficient_lists, st.floats(0, 1))
def test_value_is_that_of_rational_arithmetic(coefficients: list[float], place: float) -> None:
    assert polynomials.value_at(coefficients, place) == pytest.approx(exact(coefficients, place), abs=1e-12)


@given(coefficient_lists)
def test_mirrored_coefficients_have_the_same_maximum(coefficients: list[float]) -> None:
    low, high, _ = polynomials.polynomial_maximum(coefficients, 1e-9)
    other_low, other_high, _ = polynomials.polynomial_maximum(coefficients[::-1], 1e-9)
    assert low <= other_high
    assert other_low <= high


@pytest.mark.parametrize("degree", [10, 100, 1000, 2100])
def test_a_maximum_known_in_closed_form(degree: int) -> None:
    # sum over m of (m/d)(1 - m/d) Bin(m; d, p) = (1 - 1/d) p (1 - p), largest at one half
    share = np.arange(degree + 1) / degree
    low, high, at = polynomials.polynomial_maximum(share * (1 - share), 1e-7)
    true = (1 - 1 / degree) / 4
    assert low <= true <= high
    assert high - low <= 1e-7
    assert at == pytest.approx(0.5, abs=1e-3)


def test_both_ways_of_halving_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).random((4, 61))
    by_matrix = polynomials._halve(rows)
    monkeypatch.setattr(polynomials, "_MATRIX_DEGREE", 0)
    by_loop = polynomials._halve(rows)
    np.testing.assert_allclose(by_matrix, by_loop, rtol=1e-13)


@pytest.mark.parametrize("coefficients", [[0.3], [0.3] * 40, [0.0, 0.0], [-1.0, -2.0]])
def test_flat_and_single_coefficients(coefficients: list[float]) -> None:
    low, high, _ = polynomials.polynomial_maximum(coefficients, 1e-12)
    assert low <= max(coefficients) <= high
    assert high - low < 1e-12


def test_a_tolerance_below_rounding_still_ends_and_is_right() -> None:
    share = np.arange(301) / 300
    low, high, _ = polynomials.polynomial_maximum(share * (1 - share), 0.0)
    assert low <= (1 - 1 / 300) / 4 <= high
    assert high - low < 1e-10


@pytest.mark.parametrize("bad", [[], [0.1, float("nan")], [float("inf")]])
def test_refuses_what_is_no_polynomial(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="`coefficients` must be finite numbers, at least one"):
        polynomials.polynomial_maximum(bad)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_search_cut_short_is_wider_and_still_right(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    coefficients = [0.0, 1.0, -0.5, 0.3, 0.8, -1.0, 0.2]
    low, high, _ = polynomials.polynomial_maximum(coefficients, 1e-12)
    monkeypatch.setattr(polynomials, "_ROUNDS", rounds)
    least, most, at = polynomials.polynomial_maximum(coefficients, 1e-12)
    assert least <= low <= high <= most
    assert most - least > 1e-6
    assert polynomials.value_at(coefficients, at) >= least
