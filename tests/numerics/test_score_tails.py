"""Tests of `surefoot.numerics.score_tails`."""

import math

import numpy as np
import pytest

from surefoot.numerics import exponential_sums, score_tails
from tests.support.score_strata import pooled


def test_cells_with_power_sums_are_the_scores_themselves():
    rng = np.random.default_rng(3)
    samples = [rng.beta(5, 1, 4_000), np.append(rng.beta(50, 50, 6_000), [0.0, 1.0]), rng.random(3_000) ** 8]
    for z in samples:
        pooled = exponential_sums.pool(z)
        assert pooled.sums is not None
        for one in (pooled, score_tails.mirror(pooled)):
            single = one
            while single.sums is not None:
                single = single.finer
            away = np.linspace(-0.4, 0.4, 33) * math.sqrt(z.var())
            means = np.clip(one.mean + away, 1e-3, 1 - 1e-3)
            near, exact = score_tails.log_above(one, means), score_tails.log_above(single, means)
            assert near == pytest.approx(exact, rel=1e-10, abs=1e-10)


def test_mirrored_samples_are_samples_of_failures():
    sample = pooled([0.25, 0.5, 1.0])[0]
    assert score_tails.mirror(sample).values.tolist() == [0.0, 0.5, 0.75]


def test_mirrored_cells_hold_the_power_sums_of_the_mirrored_scores():
    z = np.random.default_rng(5).beta(3, 1, 3_000)
    turned = score_tails.mirror(exponential_sums.pool(z))
    values, sizes = turned.raw[0], turned.counts.astype(int)
    assert np.array_equal(values, 1.0 - np.sort(z)[::-1])
    cell = np.repeat(np.arange(sizes.size), sizes)  # no score occurs twice, and cells follow one another
    away = values - turned.values[cell]
    sums = np.stack([np.bincount(cell, weights=away**power) for power in (2, 3, 4)], axis=1)
    assert turned.sums[:, 1:4] == pytest.approx(sums, rel=1e-9, abs=1e-14)
    assert np.abs(sums[:, 1]).max() > 1e-6  # odd powers change their sign, and are not 0


def test_an_end_where_the_p_value_jumps_is_refused():
    def log_p(mean):
        return math.log(0.01 if mean < 0.3 else 0.5)

    for guess in (0.05, 0.299, 0.6):
        end = score_tails.root(log_p, 0.05, 1.0, guess, 0.1)
        assert log_p(end) < math.log(0.05)
        assert end == pytest.approx(0.3, abs=1e-14)
    near = score_tails.root(log_p, 0.05, 1.0, 0.6, 0.1, near=0.02)
    assert 0.28 <= near < 0.3
    assert score_tails.root(lambda _: 0.0, 0.05, 1.0, 0.6, 0.1) == 0.0
