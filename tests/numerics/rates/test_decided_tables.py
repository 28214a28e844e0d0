"""Tests of `surefoot.numerics.rates.decided_tables`."""

import numpy as np
import pytest

from surefoot import PairTally, Tally, stats
from surefoot.numerics.rates import decided_tables


@pytest.mark.parametrize(("n1", "n2", "edge"), [(12, 9, 0.0), (9, 12, 0.1), (14, 3, -0.2)])
@pytest.mark.parametrize("both", [True, False])
def test_decided_tables_are_those_that_every_single_comparison_decides(n1, n2, edge, both):
    steps = decided_tables.decided((n1, n2), 0.05, edge, np.arange(n2 + 1), both=both)
    for x1 in range(n1 + 1):
        for x2 in range(n2 + 1):
            tallies = Tally(x1, n1), Tally(x2, n2)
            low = stats.exact_gain(*tallies).interval.low if both else stats.gain_bounds(*tallies)[0].value
            assert (low > edge) == (x1 >= steps[x2])


def test_decided_tables_are_those_the_gain_decides_on_a_larger_design():
    n1, n2 = 160, 145
    steps = decided_tables.decided((n1, n2), 0.05, 0.0, np.arange(n2 + 1), both=True)
    for x2 in (0, 3, 20, 31, 72, 130):
        x1 = int(steps[x2])
        assert stats.exact_gain(Tally(x1, n1), Tally(x2, n2)).p_value <= 0.05
        assert stats.exact_gain(Tally(x1 - 1, n1), Tally(x2, n2)).p_value > 0.05


@pytest.mark.parametrize("both", [True, False])
def test_decided_pairs_are_those_that_every_single_comparison_decides(both):
    n = 14
    steps = decided_tables.decided((n,), 0.05, 0.0, np.arange(n + 1), both=both)
    for b in range(n + 1):
        for c in range(n + 1 - b):
            pairs = PairTally(n - b - c, b, c, 0)
            gain = stats.exact_paired_gain(pairs).interval.low if both else stats.paired_gain_bounds(pairs)[0].value
            assert (gain > 0.0) == (b >= steps[c])


def test_the_interpolated_critical_value_is_close():
    second = np.arange(150, 260)
    exact, rough = (
        decided_tables.decided((400, 400), 0.05, 0.0, second, both=True, rough=rough) for rough in (False, True)
    )
    assert np.abs(exact - rough).max() <= 1
    assert (exact != rough).mean() < 0.05


def test_many_against_few_are_decided_as_every_single_comparison_is():
    n1, n2 = 2000, 12
    steps = decided_tables.decided((n1, n2), 0.05, 0.0, np.arange(n2 + 1), both=True)
    for x2 in (0, 1, 4, 9):
        x1 = int(steps[x2])
        assert stats.exact_gain(Tally(x1, n1), Tally(x2, n2)).p_value <= 0.05
        assert stats.exact_gain(Tally(x1 - 1, n1), Tally(x2, n2)).p_value > 0.05


@pytest.mark.parametrize(
    ("design", "rates", "least"),
    [((4, 24), (0.9, 0.207), 0.88), ((5, 33), (0.568, 0.1), 0.70), ((23, 3), (0.5, 0.01), 0.32)],
)
def test_one_side_of_unequal_sizes_decides_as_often_as_in_version_0_2(design, rates, least):
    """Ordered by the statistic at each difference, these had .658, .516 and .102."""
    assert stats.power(*rates, design[0], second_rollouts=design[1], claim="first better").better >= least
