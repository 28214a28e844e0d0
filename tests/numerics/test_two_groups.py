"""Tests of `surefoot.numerics.two_groups`."""

import numpy as np
import pytest

from surefoot.numerics import exponential_sums
from surefoot.numerics.two_groups import RAISED, TwoGroups


def groups(first, second):
    """The test of two lists of scores."""
    pooled = exponential_sums.pool(np.asarray(first, float)), exponential_sums.pool(1 - np.asarray(second, float))
    return TwoGroups(pooled, (0.5, 0.5))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([1, 0.5, 0.75, 1, 1, 0.25], [0, 0.5, 0.25, 0.5]),
        ([1] * 9 + [0], [0] * 5),
        ([0.4], [0.3]),
        ([1] * 40 + [0] * 10, [1] * 30 + [0] * 20),
        (np.linspace(0.2, 1, 60), np.linspace(0, 0.9, 7)),
    ],
)
def test_no_null_point_has_a_larger_p_value_than_the_one_proved(first, second):
    test = groups(first, second)
    for share in (0.02, 0.2, 0.5, 0.9):
        target = share * test.estimate
        left, right = test._range(target)
        near = test._scan(target)
        places = np.concatenate((np.linspace(left, right, 1_500), np.linspace(near[1], near[-2], 1_500)))
        most = float(test._heights(target, places).max())
        proved = test._proved(target)
        assert most <= proved <= max(most, test._largest(target)[1]) + RAISED + 1e-9
        assert test._largest(target)[1] >= most - 2e-5
