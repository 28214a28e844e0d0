"""Tests of `surefoot.numerics.exponential_sums`."""

import math

import numpy as np
import pytest
from scipy import special

from surefoot.numerics import exponential_sums
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
