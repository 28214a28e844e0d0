"""Tests of `surefoot.numerics.many_groups`."""

import numpy as np
import pytest

from surefoot.numerics.many_groups import ManyGroups, _Search
from tests.support.score_strata import pooled


def test_slopes_are_differences():
    rng = np.random.default_rng(2)
    test = ManyGroups(tuple(pooled(rng.random(6), rng.choice(3, 8) / 2, rng.random(4))), (0.3, 0.5, 0.2))
    search = _Search(test)
    search.largest(test.estimate - 0.15)
    point, owner = np.array([[0.3, 0.4, 0.5]]), np.array([0])
    slopes = search._with_slopes(point, owner)[1][0]
    for g in range(3):
        step = np.zeros((1, 3))
        step[0, g] = 1e-6
        both = [search._with_slopes(point + sign * step, owner)[0][0] for sign in (1, -1)]
        assert (both[0] - both[1]) / 2e-6 == pytest.approx(slopes[:, g], rel=1e-4, abs=1e-4)
