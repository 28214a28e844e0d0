"""Tests of `surefoot.numerics.rates.melding`."""

import numpy as np
import pytest
from scipy.special import betaincinv

from surefoot.numerics.rates import melding


def test_bound_quantiles_are_clopper_pearson_bounds():
    levels = melding._nodes()[0]
    for k, n in ((0, 5), (3, 5), (5, 5), (0, 0)):
        low, high = melding.bound_quantiles(k, n, upper=False), melding.bound_quantiles(k, n, upper=True)
        assert low == pytest.approx(np.zeros(len(levels)) if k == 0 else betaincinv(k, n - k + 1, levels))
        assert high == pytest.approx(np.ones(len(levels)) if k == n else betaincinv(k + 1, n - k, levels))
