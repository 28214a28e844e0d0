"""Tests of `surefoot.sequential.history`."""

import pytest

from surefoot.sequential.history import Trail


def test_a_trail_grows_without_changing_and_branches_apart():
    empty = Trail()
    one = empty.grown(1.0)
    left, right = one.grown(2.0), one.grown(3.0)
    assert (list(empty), list(one), list(left), list(right)) == ([], [1.0], [1.0, 2.0], [1.0, 3.0])
    assert left == Trail([1.0, 2.0])
    assert hash(left) == hash(Trail([1.0, 2.0]))
    assert (left[0], left[-1], left[:1], left[::-1]) == (1.0, 2.0, (1.0,), (2.0, 1.0))
    assert left.array().tolist() == [1.0, 2.0]
    assert left[-2] == 1.0
    for beyond in (1, -2):
        with pytest.raises(IndexError):
            one[beyond]
