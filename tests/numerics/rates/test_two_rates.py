"""Tests of `surefoot.numerics.rates.two_rates`."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot.numerics.rates import two_rates
from surefoot.numerics.rates.inversion import Order


def test_staircase_probabilities_are_the_sums_of_their_terms():
    first = np.array([2, 3, 3, 6, 8])
    for p, q in ((0.0, 0.2), (0.3, 0.3), (0.85, 0.5), (1.0, 1.0)):
        wanted = sum(
            math.comb(7, a) * p**a * (1 - p) ** (7 - a) * math.comb(4, b) * q**b * (1 - q) ** (4 - b)
            for a in range(8)
            for b in range(5)
            if a >= first[b]
        )
        assert two_rates.above(7, 4, p, q, first) == pytest.approx(wanted, abs=1e-14)


@settings(max_examples=30)
@given(
    st.integers(1, 60),
    st.integers(1, 25),
    st.floats(-0.9, 0.9).map(lambda d: round(d, 9)),
    st.floats(0.1, 4.0),
    st.booleans(),
)
def test_tails_are_the_sums_over_all_tables(n1, n2, d, level, both):
    tables = two_rates.TwoCounts(n1, n2, np.array([0]), np.array([0]), 5e-5)
    rates = np.linspace(max(0.0, -d), min(1.0, 1.0 - d), 7)
    found = tables.tails(np.array([d]), rates[None, :], Order(np.array([d]), np.array([level])), 1e-12, both=both)[0]
    x1, x2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
    z = two_rates.statistic(x1, n1, x2, n2, d)
    inside = (z >= level * (1 - two_rates.TIE)) | (both & (z <= -level * (1 - two_rates.TIE)))
    for q, chance in zip(rates, found, strict=True):
        mass = binom.pmf(x1, n1, min(max(q + d, 0.0), 1.0)) * binom.pmf(x2, n2, q)
        assert chance == pytest.approx(float(mass[inside].sum()), abs=1e-10)


def test_tails_one_by_one_are_those_of_the_window(monkeypatch):
    tables = two_rates.TwoCounts(5000, 30, np.array([0]), np.array([0]), 5e-5)
    ask = np.array([0.1]), np.linspace(0.2, 0.8, 9)[None, :], Order(np.array([0.1]), np.array([1.7])), 1e-10
    found = []
    for wide in (1, 10**9):
        monkeypatch.setattr(two_rates, "_WIDE", wide)
        found.append(tables.tails(*ask, both=True))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@settings(max_examples=30)
@given(st.integers(1, 400), st.integers(1, 400), st.data(), st.floats(-0.5, 0.5), st.floats(0.05, 1.5))
def test_no_probability_is_larger_than_its_growth_says(n1, n2, data, d, v):
    tables = two_rates.TwoCounts(n1, n2, np.array([0]), np.array([0]), 5e-5)
    low = data.draw(st.floats(max(0.0, -d), min(1.0, 1.0 - d)))
    high = data.draw(st.floats(low, min(1.0, 1.0 - d)))
    angles = np.exp(1j * np.linspace(0.0, math.pi, 9)) / math.cos(math.pi / 16)
    corners = (low + high) / 2 + (high - low) / 2 * (math.cosh(v) * angles.real + 1j * math.sinh(v) * angles.imag)
    bound = float(tables.growth(corners[None, None, :], np.array([d]))[0, 0])
    u = np.linspace(0.0, math.pi, 33)
    t = (low + high) / 2 + (high - low) / 2 * np.cos(u + 1j * v)
    largest = n1 * np.log(np.abs(t + d) + np.abs(1 - t - d)) + n2 * np.log(np.abs(t) + np.abs(1 - t))
    assert largest.max() <= bound + 1e-9


def test_the_score_statistic_rises_and_falls_as_proved():
    for n1, n2 in [(7, 7), (5, 11), (12, 3)]:
        x1, x2 = np.arange(n1 + 1)[:, None], np.arange(n2 + 1)[None, :]
        grid = [-0.97, -0.5, -0.1, -1e-6, 0.0, 1e-6, 0.2, 0.7, 0.99]
        z = np.array([two_rates.statistic(x1, n1, x2, n2, d) for d in grid])
        assert (np.diff(z, axis=1) >= -1e-9).all()
        assert (np.diff(z, axis=2) <= 1e-9).all()
        assert (np.diff(z, axis=0) <= 1e-9).all()


@settings(max_examples=40)
@given(st.integers(1, 150), st.integers(1, 150), st.floats(-0.99, 0.99), st.floats(0.01, 8.0))
def test_a_staircase_holds_exactly_the_extreme_tables(n1, n2, difference, level):
    z = two_rates.statistic(np.arange(n1 + 1)[:, None], n1, np.arange(n2 + 1)[None, :], n2, difference)
    column = np.array([[difference]]), np.array([[level]])
    steps = two_rates.thresholds(n1, n2, np.arange(n2 + 1)[None, :], *column)
    inside = np.arange(n1 + 1)[:, None] >= steps
    clear = np.abs(z - level) > 2e-8 * level
    assert (inside == (z >= level))[clear].all()
