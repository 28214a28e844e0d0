"""Tests of `surefoot.numerics.inversion`."""

import numpy as np
import pytest
from scipy.stats import binom

from surefoot.numerics import gain_scores, inversion
from surefoot.numerics.score_intervals import family
from surefoot.numerics.staircase_sets import Observed

GRID = np.round(np.arange(-0.98, 0.981, 0.02), 10)


def p_values(x1, n1, x2, n2, grid=GRID):
    """sup over the nuisance of P(|Z_d| >= |z_d|), by trying every table at many rates, for each d of the grid."""
    one, two = (each.ravel() for each in np.meshgrid(np.arange(n1 + 1), np.arange(n2 + 1), indexing="ij"))
    found = []
    for d in grid:
        here = np.full(len(one), d)
        z = abs(gain_scores.statistic(one, n1, two, n2, here))
        own = abs(gain_scores.statistic(np.array([x1]), n1, np.array([x2]), n2, np.array([d])))[0]
        extreme = z >= own - 1e-9
        rates = np.linspace(max(0.0, -d), min(1.0, 1.0 - d), 101)[:, None]
        chances = binom.pmf(one, n1, rates + d) * binom.pmf(two, n2, rates)
        found.append(chances[:, extreme].sum(axis=1).max())
    return np.array(found)


@pytest.mark.parametrize("table", [(4, 5, 1, 4), (5, 5, 0, 5), (2, 6, 2, 6)])
@pytest.mark.parametrize("a", [0.05, 0.2])
def test_all_that_is_accepted_is_inside_and_the_ends_are_near_it(table, a):
    low, high, tail = inversion.invert(family(table), a)
    p = p_values(*table)
    accepted = GRID[p > a + 1e-9]
    assert low <= accepted.min()
    assert accepted.max() <= high
    assert accepted.min() - low < 0.021
    assert high - accepted.max() < 0.021
    assert tail >= p[GRID <= 0.0].max() - 1e-9 or table[0] * table[3] == table[2] * table[1]
    assert (low > 0.0) == (tail <= a)


def test_equal_rates_have_tail_1_and_swapping_mirrors():
    assert inversion.invert(family((2, 6, 2, 6)), 0.05).tail == 1.0
    low, high, tail = inversion.invert(family((4, 5, 1, 4)), 0.05)
    assert inversion.invert(family((1, 4, 4, 5)), 0.05) == pytest.approx((-high, -low, tail))


class Cornerless(Observed):
    """A table of which nothing is known near -1 beforehand."""

    def corner(self, width, error):
        return 1.0


@pytest.mark.parametrize("table", [(4, 5, 1, 4), (1, 1, 0, 1), (0, 2, 0, 3)])
def test_the_corner_saves_work_and_changes_no_end(table):
    one = family(table)
    wanted = inversion.invert(one, 0.2)
    found = inversion.invert(Cornerless(one.design, one.first, one.second), 0.2)
    assert found == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize("table", [(1, 1, 0, 1), (0, 2, 1, 3)])
def test_hardly_any_confidence_leaves_hardly_more_than_the_estimate(table):
    low, high, _ = inversion.invert(family(table), 0.9999)
    estimate = table[0] / table[1] - table[2] / table[3]
    assert low <= estimate <= high
    outside = GRID[(low > GRID) | (high < GRID)]
    assert len(outside) > 60
    assert p_values(*table, outside).max() <= 0.9999


@pytest.mark.parametrize("n", [12, 30])
def test_the_p_value_of_successes_against_failures_in_closed_form(n):
    tail, exact = inversion.invert(family((n, n, 0, n)), 0.05).tail, 2.0 * 0.25**n
    assert exact <= tail <= exact * (1.0 + 1e-6)


def test_a_p_value_that_cannot_be_proved_at_once_is_given_as_one_in_a_billion():
    tail = inversion.invert(family((9, 10, 0, 50)), 0.05).tail
    found = p_values(9, 10, 0, 50, (0.0, -0.02, -0.1, -0.3))
    assert found.max() < tail == inversion.TINY


class Unproved(inversion.Side):
    """Every single p-value lies below the ceiling, and yet no piece can be proved to."""

    asked = 0

    def bound(self, cuts, ceiling, settled=np.inf):
        self.asked += 1
        assert self.asked < 1000
        return 0.5 * ceiling if len(cuts) == 1 else 2.0 * ceiling


@pytest.mark.parametrize("start", [-0.99, -0.5])
def test_what_cannot_be_proved_is_left_and_not_tried_for_ever(start):
    side = Unproved(family((18, 20, 2, 20)))
    assert side.clear(start, 0.2, 0.05) == start
    assert side.asked < 100
