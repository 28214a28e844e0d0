"""Tests of `surefoot.numerics.scores.group_tails`."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from surefoot.numerics.scores import group_tails, score_tails
from surefoot.numerics.scores.group_tails import WeighedSample
from tests.oracles import score_tails as twin


@pytest.mark.parametrize("seed", range(4))
def test_the_p_values_of_a_null_point_by_partial_fractions(seed):
    rng = np.random.default_rng(seed)
    z = [rng.random(3 + seed).round(2), rng.random(5).round(2)]
    weights, means = np.array([0.3, 0.7]), rng.random(2).round(3)
    pooled = [score_tails.pool(one) for one in z]
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


def test_clusters_of_one_size_are_one_sample():
    z = np.array([0.2, 0.9, 0.5, 0.7, 1.0, 0.4])
    weighed, plain = WeighedSample.of(z, np.full(6, 8.0)), score_tails.OneSample(score_tails.pool(z))
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


@pytest.mark.parametrize("groups", [2, 3])
def test_groups_of_few_values_are_looked_at_together_and_say_what_each_says_alone(groups, monkeypatch):
    rng, looked, made = np.random.default_rng(groups), [], score_tails.log_tails
    samples = [score_tails.pool(rng.random(40)) for _ in range(groups)]
    means, weights = rng.random((30, groups)), np.full(groups, 1.0 / groups)
    means[:2], means[2] = [[0.0], [1.0]], [sample.mean for sample in samples]
    monkeypatch.setattr(score_tails, "log_tails", lambda *given: looked.append(given) or made(*given))
    joint, away = group_tails.log_parts(samples, weights, means)
    assert len(looked) == 1
    assert joint == pytest.approx(group_tails.log_joint(samples, weights, means), rel=1e-12)
    for g, sample in enumerate(samples):
        assert away[:, g] == pytest.approx(group_tails.distances(sample, means[:, g]), rel=1e-10)
