"""Is the mean width of the unbiased randomised interval that of its own draws?"""

import numpy as np
import pytest

from surefoot.numerics.rates import randomised_counts


@pytest.mark.sample(3)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("tail", [1e-3, 0.05, 0.5, 0.9, 0.999])
def test_the_mean_over_the_draw(n: int, tail: float) -> None:
    draws = (np.arange(2000) + 0.5) / 2000
    counts = np.arange(n + 1)[:, None]
    low, high = randomised_counts.unbiased(counts, draws, n, tail)
    np.testing.assert_allclose(randomised_counts.unbiased_widths(n, tail), (high - low).mean(axis=1), atol=2e-5)


@pytest.mark.sample(2)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("trials", [1, 2, 7])
def test_mean_widths_over_the_draw(trials: int, confidence: float) -> None:
    draws = (np.arange(1500) + 0.5) / 1500
    found = randomised_counts.unbiased_widths(trials, 1 - confidence)
    for k in range(trials + 1):
        low, high = randomised_counts.unbiased(k, draws, trials, 1 - confidence)
        assert found[k] == pytest.approx(float((high - low).mean()), abs=4e-4)
