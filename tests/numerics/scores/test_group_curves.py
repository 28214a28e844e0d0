"""Tests of `surefoot.numerics.scores.group_curves`."""

import math

import numpy as np
import pytest

from surefoot.numerics.scores import group_tails
from surefoot.numerics.scores.group_curves import Curves
from tests.support.score_strata import pooled


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
