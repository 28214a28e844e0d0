"""Tests of `surefoot.numerics.staircase_sets`."""

import numpy as np
import pytest

from surefoot.numerics import staircase_sets

MOST = np.full(6, 9)
STEPS = np.array([2, 3, 3, 5, 8, 10])  # 10: no table of this row is inside


def inside(x1, x2):
    return x1 >= STEPS[x2]


def test_a_staircase_near_by_is_moved_to_the_one_asked_for():
    for near in (STEPS, np.maximum(STEPS - 2, 0), np.minimum(STEPS + 2, 10)):
        assert staircase_sets.moved(near, MOST, inside).tolist() == STEPS.tolist()


def test_one_too_far_away_is_not_moved():
    assert staircase_sets.moved(np.zeros(6, np.int64), MOST, inside) is None


def test_lowering_goes_as_far_as_there_are_tables_inside():
    assert staircase_sets.lowered(np.full(6, 10), inside).tolist() == STEPS.tolist()
    assert staircase_sets.lowered(np.ones(6, np.int64), lambda x1, x2: np.ones(len(x1), bool)).tolist() == [0] * 6


def test_each_change_of_side_is_found_where_it_happens():
    """Table (x1, x2) comes in at the difference x1 / 10 + x2 / 100."""
    one, other = np.array([3, 3]), np.array([1, 3])

    def side(x1, x2, d):
        return d >= x1 / 10 + x2 / 100

    found = staircase_sets.changes(one, other, 0.0, 1.0, side)
    assert np.sort(found) == pytest.approx([0.1, 0.2], abs=1e-7)
    assert staircase_sets.changes(one, one, 0.0, 1.0, side).size == 0
    assert staircase_sets.changes(np.zeros(3, np.int64), np.full(3, 100), 0.0, 1.0, side).size == 0
