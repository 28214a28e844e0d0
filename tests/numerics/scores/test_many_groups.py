"""Tests of `surefoot.numerics.scores.many_groups`."""

import math

import numpy as np
import pytest

from surefoot.numerics.scores import group_tails
from surefoot.numerics.scores.many_groups import RAISED, Curves, ManyGroups, _Search
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
    heights, slopes = search._with_slopes(np.ones((1, 3)), owner)  # nothing is above these means
    assert math.exp(heights[0, 0]) == pytest.approx(1 / 0.95)
    assert not slopes[0, 0].any()


FEW = ManyGroups(tuple(pooled([1.0, 0.5, 0.75], [1.0, 1.0], [0.5, 1.0, 0.25, 1.0])), (0.2, 0.5, 0.3))


def test_nothing_speaks_against_the_estimate_and_all_against_0():
    assert FEW.log_p(FEW.estimate) == FEW.log_p(1.0) == 0.0
    assert FEW.log_p(0.0) == -math.inf
    none = ManyGroups(tuple(pooled([0.0, 0.0], [0.0], [0.0])), FEW.weights)
    assert (none.low_end(0.025), none.log_p(0.0)) == (0.0, 0.0)


def test_what_one_null_point_keeps_is_kept():
    assert not FEW.may_refuse(FEW.estimate, 0.5)
    target = 0.5 * FEW.estimate
    log_p = FEW.log_p(target)
    tails = [math.exp(log_p + step) for step in (-0.1, 0.001)]
    assert FEW.may_refuse(target, tails[1])
    for tail in (*tails, 1e-6):  # a tail below the p-value of one point is refused by none
        assert FEW.may_refuse(target, tail) or tail < math.exp(log_p)
    point = group_tails.projected(FEW.samples, np.array(FEW.weights), target)
    height = float(_Search(FEW).heights(point[None])[0]) + RAISED
    assert height <= log_p + 1e-12
    assert [FEW.may_refuse(target, math.exp(height + step)) for step in (-1e-9, 1e-9)] == [False, True]


def test_groups_that_exchange_their_means_stay_on_the_plane_and_within_their_ends():
    search = _Search(FEW)
    search.largest(FEW.estimate - 0.2)
    point = np.clip(search.best, search.curves.lows + 1e-3, search.curves.highs - 1e-3)
    points = search._exchanged(point)
    assert points @ np.array(FEW.weights) == pytest.approx(float(point @ np.array(FEW.weights)), abs=1e-12)
    assert (points >= search.curves.lows - 1e-12).all()
    assert (points <= search.curves.highs + 1e-12).all()
    assert len(np.unique(points.round(9), axis=0)) > 6  # and each moves somewhere else


def test_tables_of_quantiles_are_close():
    rng = np.random.default_rng(4)
    samples = pooled(rng.random(6), [0.0] * 5 + [1.0] * 3, [1.0] * 4, [0.5] * 9, rng.beta(5, 1, 30))
    curves = Curves.of(samples, 5.0)
    for share in (0.05, 0.3, 0.6, 0.95):
        for points in (
            curves.lows + share * (curves.means - curves.lows),
            curves.highs - share * (curves.highs - curves.means),
        ):
            exact = [math.sqrt(group_tails.distances(s, points[g : g + 1])[0]) for g, s in enumerate(samples)]
            assert curves.at(points[None])[0][0] == pytest.approx(exact, abs=0.02)
