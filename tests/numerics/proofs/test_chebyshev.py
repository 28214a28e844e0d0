"""Tests of `surefoot.numerics.proofs.chebyshev`."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.numerics.proofs import chebyshev


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

    peak = chebyshev.maximise(f, n)
    grid = f(np.linspace(0, 1, 3001)).max()
    assert peak.high >= grid * (1 - 1e-12)
    assert peak.value <= peak.high
    assert peak.high - max(peak.value, grid) < 1e-6
