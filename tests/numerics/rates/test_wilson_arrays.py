"""Tests of `surefoot.numerics.rates.binomial`."""

import numpy as np

from surefoot.numerics.rates import binomial


def test_long_arrays_are_the_same_as_their_pieces() -> None:
    rng = np.random.default_rng(5)
    totals = rng.integers(1, 1000, 20_000)
    counts = rng.binomial(totals, 0.3)
    low, high = binomial.wilson_ends(counts, totals, 1.96)
    np.testing.assert_array_equal(low[9000:], binomial.wilson_ends(counts[9000:], totals[9000:], 1.96)[0])
    assert ((low >= 0) & (low <= counts / totals) & (counts / totals <= high) & (high <= 1)).all()
