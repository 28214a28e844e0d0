"""Tests of `surefoot.numerics.scores.score_samples`."""

import numpy as np
import pytest
from scipy import special

from surefoot.numerics.scores import score_samples
from surefoot.numerics.scores.score_samples import exact, mirror, pool


def sums(z, low, high):
    x = (z - (low + high) / 2) / ((high - low) / 2)
    return [special.eval_chebyt(j, x).sum() for j in range(1, score_samples.TERMS + 1)]


def test_the_whole_sample_is_one_cell_with_its_chebyshev_sums():
    z = np.random.default_rng(5).beta(3, 1, 20_000)
    found = pool(z)
    assert found.cells.moments[0] == pytest.approx(sums(z, z.min(), z.max()), abs=1e-7)
    assert (found.size, found.mean) == (z.size, pytest.approx(z.mean()))
    assert found.spread == pytest.approx(((z - z.mean()) ** 2).sum())
    assert found.counts.sum() == z.size


def test_mirrored_samples_are_samples_of_failures():
    assert mirror(pool(np.array([0.25, 0.5, 1.0]))).values.tolist() == [0.0, 0.5, 0.75]
    z = np.random.default_rng(5).beta(3, 1, 3_000)
    for turned, made in ((mirror(pool(z)), pool(1 - z)), (mirror(pool(z)).finer, pool(1 - z).finer)):
        assert np.sort(turned.cells.mids) == pytest.approx(np.sort(made.cells.mids))
        assert turned.cells.moments.sum(axis=0) == pytest.approx(made.cells.moments.sum(axis=0), abs=1e-8)


def test_a_finer_cut_shrinks_towards_both_ends_and_ends_with_the_values():
    z = np.random.default_rng(2).random(5_000) ** 3
    sample, seen = pool(z), []
    while sample.cells is not None:
        cells = sample.cells
        seen.append(cells.sizes.size)
        assert cells.sizes.sum() == z.size
        room = np.minimum(cells.mids - z.min(), z.max() - cells.mids)
        assert len(seen) == 1 or (cells.halves <= room + 1e-12).all()
        assert sample.finer is sample.finer
        sample = sample.finer
    assert seen == sorted(seen)
    assert np.array_equal(sample.values, np.unique(z))
    assert exact(sample) is sample
    assert sample.finer is sample


def test_few_values_or_few_scores_stand_for_themselves():
    rng = np.random.default_rng(1)
    assert pool(rng.choice(5, 100_000) / 4).cells is None
    assert pool(rng.random(score_samples.SMALL)).cells is None
    assert pool(rng.random(score_samples.SMALL + 1)).cells is not None


def test_the_order_of_the_scores_is_gone():
    z = np.random.default_rng(1).random(3_000)
    one, other = pool(z), pool(z[::-1])
    assert np.array_equal(one.cells.moments, other.cells.moments)
