"""Tests of `surefoot.numerics.rates.score_intervals`."""

import numpy as np
import pytest

from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import score_intervals


def test_the_published_interval():
    """Newcombe (1998), Statistics in Medicine 17, 873-890, Table II, 56/70 - 48/80, method 6: 0.0528 to 0.3382."""
    low, high, p = score_intervals.ends((56, 70, 48, 80), 0.05)
    assert (round(low, 4), round(high, 4)) == (0.0528, 0.3382)
    assert p < 0.05


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (9, 4, 40)])
def test_swapping_mirrors(table):
    swapped = (*table[2:], *table[:2]) if len(table) == 4 else (table[1], table[0], table[2])
    low, high, p = score_intervals.ends(table, 0.05)
    assert score_intervals.ends(swapped, 0.05) == pytest.approx((-high, -low, p))


def test_the_pooled_statistic_of_no_difference():
    """z = (p1 - p2) / sqrt(p (1 - p) (1 / n1 + 1 / n2)), with the factor N / (N - 1)."""
    x1, n1, x2, n2 = 14, 20, 6, 18
    pooled = (x1 + x2) / (n1 + n2)
    z = (x1 / n1 - x2 / n2) / np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    shrunk = z * np.sqrt(1 - 1 / (n1 + n2))
    p = score_intervals.ends((x1, n1, x2, n2), 0.05)[2]
    assert p == pytest.approx(2.0 * normal_quantiles.tail(float(shrunk)))


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (9, 4, 40), (10, 10, 10, 10)])
def test_an_end_at_the_error_of_the_test_is_0(table):
    p = score_intervals.ends(table, 0.05)[2]
    low, high, _ = score_intervals.ends(table, min(p, 0.999))
    assert min(abs(low), abs(high)) == pytest.approx(0.0, abs=1e-6) or p == 1.0
