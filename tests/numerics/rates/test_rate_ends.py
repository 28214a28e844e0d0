"""Tests of `surefoot.numerics.rates.rate_ends`."""

import numpy as np
import pytest

from surefoot import Tally, stats
from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import binomial, rate_ends


def test_kernels_take_arrays() -> None:
    counts, totals = np.array([0, 3, 38, 10]), np.array([10, 10, 50, 10])
    z = normal_quantiles.upper_quantile(0.025)
    low, high = binomial.wilson_ends(counts, totals, z)
    np.testing.assert_allclose(low, rate_ends.wilson_low(counts, totals, z), rtol=1e-15)
    np.testing.assert_allclose(high, rate_ends.wilson_high(counts, totals, z), rtol=1e-15)
    for i, (k, n) in enumerate(zip(counts, totals, strict=True)):
        tally = Tally(int(k), int(n))
        assert (low[i], high[i]) == pytest.approx((stats.wilson(tally).low, stats.wilson(tally).high), rel=1e-14)
        exact = stats.clopper_pearson(tally)
        ends = binomial.exact_low(counts, totals, 0.025)[i], binomial.exact_high(counts, totals, 0.025)[i]
        assert ends == pytest.approx((exact.low, exact.high), rel=1e-14)
