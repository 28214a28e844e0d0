"""Tests of `surefoot.stats.items`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot.stats.items import excess_p_values, reversal_p_values
from tests.oracles import items as twin

cells = st.integers(0, 3).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=2, max_size=3))
def test_excess_counts_every_placement(rows):
    marked, drawn = ([[cell[place] for cell in row] for row in rows] for place in (0, 1))
    found = excess_p_values(marked, drawn)
    for item, value in enumerate(found):
        assert value == pytest.approx(twin.excess(marked, drawn, item), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4), st.integers(0, 4))
def test_reversal_counts_every_placement(weak, strong):
    others = [[0, 4], [1, 4]]
    found = reversal_p_values([[weak, strong], *others], [[4, 4]] * 3)
    assert found[0] == pytest.approx(twin.reversal((weak, 4), (strong, 4)), rel=1e-9)


def test_the_order_of_an_item_is_that_of_the_others():
    """Alone in the world, or with equal policies elsewhere, nothing is stronger, so nothing is reversed."""
    assert reversal_p_values([[0, 9]], [[9, 9]]).tolist() == [1.0]
    assert reversal_p_values([[0, 9], [5, 5]], [[9, 9]] * 2)[0] == 1.0
    assert reversal_p_values([[9, 0], [2, 5]], [[9, 9]] * 2)[0] < 1e-4


@pytest.mark.parametrize("rates", [(0.2, 0.5, 0.5), (0.5, 0.5, 0.5), (0.1, 0.4, 0.8), (0.3, 0.3, 0.9)])
def test_excess_errs_no_more_than_promised_counted_exactly(rates):
    """The first item's chance is at most the others': every table of three items with four draws is summed."""
    weights = [binom.pmf(np.arange(5), 4, rate) for rate in rates]
    for level in (0.05, 0.1, 0.3):
        error = sum(
            weights[0][a] * weights[1][b] * weights[2][c]
            for a in range(5)
            for b in range(5)
            for c in range(5)
            if excess_p_values([[a], [b], [c]], [[4]] * 3)[0] <= level
        )
        assert error <= level + 1e-12


@pytest.mark.parametrize(("weak", "strong"), [(0.5, 0.5), (0.2, 0.2), (0.3, 0.6)])
def test_reversal_errs_no_more_than_promised_counted_exactly(weak, strong):
    others = [[0, 6], [1, 6]]
    table = np.outer(binom.pmf(np.arange(7), 6, weak), binom.pmf(np.arange(7), 6, strong))
    p = np.array([[reversal_p_values([[i, j], *others], [[6, 6]] * 3)[0] for j in range(7)] for i in range(7)])
    for level in (0.05, 0.2):
        assert table[p <= level].sum() <= level + 1e-12
