"""Are binomial probabilities, tails and vectorised roots right to the last digits?"""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from surefoot.numerics.rates import binomial


def exact(k: int, n: int, p: float) -> float:
    share = Fraction(p)
    return float(comb(n, k) * share**k * (1 - share) ** (n - k))


@given(st.integers(0, 200), st.integers(0, 200), st.floats(1e-6, 1 - 1e-6))
def test_pmf_in_rational_arithmetic(k: int, more: int, p: float) -> None:
    wanted = exact(k, k + more, p)
    if wanted > 1e-290:
        assert float(binomial.pmf(k, k + more, p)) == pytest.approx(wanted, rel=1e-11)


@pytest.mark.parametrize(
    ("k", "n", "p", "wanted"),
    [  # 40-digit mpmath
        (760_000_000, 10**9, 0.76, 2.95389331776e-05),
        (5, 10**9, 1e-9, 0.0030656620),
        (500_123, 10**6, 0.5, 0.00077410),
    ],
)
def test_pmf_of_many(k: int, n: int, p: float, wanted: float) -> None:
    assert float(binomial.pmf(k, n, p)) == pytest.approx(wanted, rel=1e-4)
    # and its neighbours by the exact ratio
    ratio = float(binomial.pmf(k + 1, n, p) / binomial.pmf(k, n, p))
    assert ratio == pytest.approx((n - k) / (k + 1) * p / (1 - p), rel=1e-12)


def test_certain_outcomes_and_impossible_ones() -> None:
    counts = np.arange(-1, 5)
    np.testing.assert_array_equal(binomial.pmf(counts, 3, 0.0), [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(binomial.pmf(counts, 3, 1.0), [0, 0, 0, 0, 1, 0])
    assert float(binomial.pmf(0, 0, 0.3)) == 1.0
    np.testing.assert_array_equal(binomial.at_most([-1, 3, 4], 3, 0.4), [0, 1, 1])
    np.testing.assert_array_equal(binomial.at_least([0, 4, -2], 3, 0.4), [1, 0, 1])


@given(st.integers(1, 80), st.floats(0.001, 0.999))
def test_tails_are_sums(n: int, p: float) -> None:
    masses = binomial.pmf(np.arange(n + 1), n, p)
    np.testing.assert_allclose(binomial.at_most(np.arange(n + 1), n, p), np.cumsum(masses), rtol=1e-10)
    np.testing.assert_allclose(binomial.at_least(np.arange(n + 1), n, p), np.cumsum(masses[::-1])[::-1], rtol=1e-10)


def test_tiny_tails_keep_their_digits() -> None:
    assert float(binomial.at_least(50, 50, 1e-6)) == pytest.approx(1e-300, rel=1e-10)
    assert float(binomial.at_most(0, 50, 1 - 1e-6)) == pytest.approx(1e-300, rel=1e-8)


@given(st.integers(1, 3000), st.floats(0, 1))
def test_likely_counts_leave_almost_nothing_out(n: int, p: float) -> None:
    first, last = binomial.likely(n, p)
    left_out = float(binomial.at_most(first - 1, n, p) + binomial.at_least(last + 1, n, p))
    assert 0 <= first <= last <= n
    assert left_out <= 1e-21


@pytest.mark.parametrize("trials", range(1, 31))
def test_clopper_pearson_never_covers_less_than_it_says(trials: int) -> None:
    # A fine grid, and just inside and outside every end, where coverage is at its lowest.
    counts = np.arange(trials + 1)
    for confidence in (0.8, 0.95):
        tail = (1 - confidence) / 2
        low, high = binomial.exact_low(counts, trials, tail), binomial.exact_high(counts, trials, tail)
        ends = np.concatenate([low, high])
        grid = np.concatenate([np.linspace(0, 1, 2001), ends - 1e-9, ends + 1e-9])
        rates = np.unique(np.clip(grid, 0, 1))
        held = (low[:, None] <= rates) & (rates <= high[:, None])
        covered = (binomial.pmf(counts[:, None], trials, rates) * held).sum(axis=0)
        assert covered.min() >= confidence - 1e-12
        lower = (binomial.pmf(counts[:, None], trials, rates) * (low[:, None] <= rates)).sum(axis=0)
        assert lower.min() >= 1 - tail - 1e-12


@pytest.mark.parametrize("tail", [0.5, 0.05, 0.005, 1e-6])
@pytest.mark.parametrize("trials", [10**6, 10**8, 10**9])
def test_exact_ends_invert_the_tail_at_any_size(trials: int, tail: float) -> None:
    # scipy's inverse is off by half at 1000 of 1e9, and for many counts at smaller errors
    counts = np.unique(np.geomspace(1, trials / 2, 200).round())
    counts = np.append(counts, 1000.0)
    low, high = binomial.exact_low(counts, trials, tail), binomial.exact_high(counts, trials, tail)
    np.testing.assert_allclose(special.betainc(counts, trials - counts + 1, low), tail, rtol=1e-9)
    np.testing.assert_allclose(special.betaincc(counts + 1, trials - counts, high), tail, rtol=1e-9)
