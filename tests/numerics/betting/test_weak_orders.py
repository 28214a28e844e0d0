"""Tests of `surefoot.numerics.betting.weak_orders`."""

import numpy as np

from surefoot.numerics.betting import weak_orders


def test_what_a_newcomer_makes_of_rejected_orders():
    """Every order of three goes on from its restriction to two; what was rejected stays so."""
    small, large = weak_orders.weak_orders(2), weak_orders.weak_orders(3)
    for row, parent in zip(large.ranks, large.parent, strict=True):
        a, b = small.ranks[parent]
        assert np.sign(row[0] - row[1]) == np.sign(int(a) - int(b))
    sets = weak_orders.best_sets(3)
    alone = [parent for row, parent in zip(sets.ranks, sets.parent, strict=True) if row.tolist() == [1, 1, 0]]
    assert alone == [-1]  # the newcomer alone is best: which of the old ones is best is open
    assert (sets.parent >= 0).sum() == 6
