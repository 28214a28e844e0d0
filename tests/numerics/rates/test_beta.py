"""Tests of `surefoot.numerics.rates.beta`."""

import numpy as np
import pytest
from scipy import special

from surefoot.numerics.rates import beta, binomial


@pytest.mark.parametrize("trials", range(1, 31))
def test_clopper_pearson_never_covers_less_than_it_says(trials: int) -> None:
    # A fine grid, and just inside and outside every end, where coverage is at its lowest.
    counts = np.arange(trials + 1)
    for confidence in (0.8, 0.95):
        tail = (1 - confidence) / 2
        low, high = beta.exact_low(counts, trials, tail), beta.exact_high(counts, trials, tail)
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
    low, high = beta.exact_low(counts, trials, tail), beta.exact_high(counts, trials, tail)
    np.testing.assert_allclose(special.betainc(counts, trials - counts + 1, low), tail, rtol=1e-9)
    np.testing.assert_allclose(special.betaincc(counts + 1, trials - counts, high), tail, rtol=1e-9)
