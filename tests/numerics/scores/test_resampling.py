"""Tests of `surefoot.numerics.scores.resampling`."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from surefoot.numerics.scores import resampling


def test_every_pattern_of_signs_is_there_once():
    values = np.array([1.0, 2.0, 4.0])
    counts, totals = resampling.sign_flips(values, 0, None)
    expected = sorted((sum(pattern), float(np.dot(pattern, values))) for pattern in product((0, 1), repeat=3))
    assert sorted(zip(counts.tolist(), totals.tolist(), strict=True)) == expected


def test_random_signs_are_fair_and_belong_to_their_values():
    values = np.array([1.0, 2.0, 4.0])
    counts, totals = resampling.sign_flips(values, 8000, np.random.default_rng(2))
    seen = np.unique(totals, return_counts=True)
    assert seen[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert chisquare(seen[1]).pvalue > 1e-3
    assert all(bin(int(total)).count("1") == count for count, total in zip(counts, totals, strict=True))


@pytest.mark.parametrize("spread", [1, 1000], ids=["few levels", "every value its own"])
def test_means_of_resamples_have_the_mean_and_variance_of_the_bootstrap(spread):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 2 if spread == 1 else 10**6, 50).astype(float)
    means = resampling.resampled_means(values, 20_000, np.random.default_rng(6))
    error = values.std() / np.sqrt(50)
    assert abs(means.mean() - values.mean()) < 4 * error / np.sqrt(20_000)
    assert means.std() == pytest.approx(error, rel=0.03)


def test_ties_with_nothing_are_ties():
    values = np.array([0.1, 0.2, -0.3])
    means = resampling.resampled_means(values, 2000, np.random.default_rng(1))
    near = abs(means) < 1e-12
    assert near.any()
    assert (means[near] == 0.0).all()


def test_whole_clusters_are_drawn():
    sums, sizes = np.array([0.0, 6.0, 2.0]), np.array([1.0, 3.0, 2.0])
    possible = {round(sum(sums[list(drawn)]) / sum(sizes[list(drawn)]), 12) for drawn in product(range(3), repeat=3)}
    ratios = resampling.resampled_ratios(sums, sizes, 3000, np.random.default_rng(3))
    assert {round(ratio, 12) for ratio in ratios.tolist()} == possible
    assert resampling.resampled_ratios(sizes, sizes, 5, np.random.default_rng(3)).tolist() == [1.0] * 5
