"""Tests of `surefoot.numerics.scores.cluster_tails`."""

import math

import numpy as np
import pytest

from surefoot.numerics.scores import score_samples, score_tails
from surefoot.numerics.scores.cluster_tails import WeighedSample


def test_clusters_of_one_size_are_one_sample():
    z = np.array([0.2, 0.9, 0.5, 0.7, 1.0, 0.4])
    weighed, plain = WeighedSample.of(z, np.full(6, 8.0)), score_tails.OneSample(score_samples.pool(z))
    for mean in (0.1, 0.3, 0.5):
        assert weighed.log_p(mean) == pytest.approx(plain.log_p(mean), rel=1e-9)
    assert weighed.low_end(0.05) == pytest.approx(plain.low_end(0.05), abs=1e-9)
    assert weighed.estimate == pytest.approx(z.mean())
    assert weighed.mirrored.estimate == pytest.approx(1 - z.mean())


def test_the_chance_of_weighted_clusters_by_drawing():
    z, sizes, mean = np.array([0.9, 0.6, 0.8, 0.4]), np.array([10.0, 4.0, 4.0, 1.0]), 0.45
    rng = np.random.default_rng(5)
    draws = rng.exponential(size=(400_000, 5))
    seen = (draws[:, :4] @ (sizes / 10 * (z - mean)) <= mean * draws[:, 4]).mean()
    found = math.exp(WeighedSample.of(z, sizes).log_p(mean))
    assert found == pytest.approx(seen, abs=5 * math.sqrt(seen / 400_000))


def test_without_any_success_nothing_is_refused():
    nothing = WeighedSample.of(np.zeros(4), np.array([3.0, 2.0, 2.0, 1.0]))
    assert (nothing.low_end(0.05), nothing.log_p(0.0)) == (0.0, 0.0)
    assert WeighedSample.of(np.ones(4), np.ones(4)).log_p(0.0) == -math.inf
