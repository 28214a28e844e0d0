"""Tests of `surefoot.numerics.score_intervals`."""

import numpy as np
import pytest

from surefoot.numerics import normal_quantiles, score_intervals


def test_the_published_interval():
    """Newcombe (1998), Statistics in Medicine 17, 873-890, Table II, 56/70 - 48/80, method 6: 0.0528 to 0.3382."""
    low, high, p = score_intervals.ends((56, 70, 48, 80), 0.05)
    assert (round(low, 4), round(high, 4)) == (0.0528, 0.3382)
    assert p < 0.05


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (0, 5, 5, 5), (9, 4, 40), (0, 0, 7), (10, 10, 10, 10)])
def test_ends_are_where_a_one_sided_test_has_half_the_error(table):
    low, high, p = score_intervals.ends(table, 0.1)
    if low > -1.0:
        assert score_intervals.tails(table, low)[0] == pytest.approx(0.05, abs=1e-6)
    if high < 1.0:
        assert score_intervals.tails(table, high)[1] == pytest.approx(0.05, abs=1e-6)
    assert p == pytest.approx(min(1.0, 2.0 * min(score_intervals.tails(table, 0.0))))


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (9, 4, 40)])
def test_swapping_mirrors(table):
    swapped = (*table[2:], *table[:2]) if len(table) == 4 else (table[1], table[0], table[2])
    low, high, p = score_intervals.ends(table, 0.05)
    assert score_intervals.ends(swapped, 0.05) == pytest.approx((-high, -low, p))


@pytest.mark.parametrize("size", [3, 4])
def test_many_at_once_are_those_one_by_one(size):
    rng = np.random.default_rng(size)
    if size == 4:
        n = rng.integers(1, 40, (20, 2))
        x = rng.integers(0, n + 1)
        tables = np.column_stack([x[:, 0], n[:, 0], x[:, 1], n[:, 1]])
    else:
        tables = np.column_stack([rng.integers(0, 9, (20, 2)), rng.integers(20, 40, 20)])
    low, high = score_intervals.many_ends(tables, 0.05)
    above, below = score_intervals.many_tails(tables, 0.1)
    for place, table in enumerate(tables.tolist()):
        one = score_intervals.ends(tuple(table), 0.05)
        assert (low[place], high[place]) == pytest.approx(one[:2], abs=1e-9)
        assert (above[place], below[place]) == pytest.approx(score_intervals.tails(tuple(table), 0.1))
    assert above + below == pytest.approx(np.ones(20))


def test_the_pooled_statistic_of_no_difference():
    """z = (p1 - p2) / sqrt(p (1 - p) (1 / n1 + 1 / n2)), with the factor N / (N - 1)."""
    x1, n1, x2, n2 = 14, 20, 6, 18
    pooled = (x1 + x2) / (n1 + n2)
    z = (x1 / n1 - x2 / n2) / np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    shrunk = z * np.sqrt(1 - 1 / (n1 + n2))
    assert score_intervals.tails((x1, n1, x2, n2), 0.0)[0] == pytest.approx(normal_quantiles.tail(float(shrunk)))
