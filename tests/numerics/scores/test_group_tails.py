"""Tests of `surefoot.numerics.scores.group_tails`."""

import numpy as np
import pytest
from scipy.stats import norm

from surefoot.numerics.scores import group_tails, score_samples
from tests.oracles import score_tails as twin


@pytest.mark.parametrize("seed", range(4))
def test_the_p_values_of_a_null_point_by_partial_fractions(seed):
    rng = np.random.default_rng(seed)
    z = [rng.random(3 + seed).round(2), rng.random(5).round(2)]
    weights, means = np.array([0.3, 0.7]), rng.random(2).round(3)
    pooled = [score_samples.pool(one) for one in z]
    wanted = twin.p_joint([one.tolist() for one in z], weights.tolist(), means.tolist())
    found = group_tails.log_joint(pooled, weights, means[None])[0]
    assert found == pytest.approx(float(twin.mp.log(wanted / twin.mp.mpf("0.95"))), rel=1e-9)
    for one, sample, mean in zip(z, pooled, means.tolist(), strict=True):
        mirrored = [1 - twin.number(x) for x in one.tolist()]
        low, high = twin.p_low(one.tolist(), mean), twin.p_low(mirrored, 1 - twin.number(mean))
        tail = min(0.5, float(low if mean < sample.mean else high))
        found = group_tails.distances(sample, np.array([mean]))[0]
        assert found == pytest.approx(norm.ppf(tail) ** 2, rel=1e-7, abs=1e-9)
    for count, distance in ((2, 3.0), (5, 40.0), (8, 1_500.0), (2, 2_000.0)):
        found = group_tails.log_alone(np.array([distance]), count)[0]
        wanted = twin.mp.log(twin.mp.gammainc(count / 2, distance / 2, regularized=True) / twin.mp.mpf("0.05"))
        assert found == pytest.approx(float(wanted), rel=1e-6)
        assert found >= float(wanted) - 1e-9  # where it is not the tail, it is above it
