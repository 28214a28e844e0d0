"""Chance of a verdict over units that are met several times."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot import Scores, stats


def test_the_chance_is_that_of_the_test_which_compare_runs():
    plan = sf.plan_units(0.75, 0.5, units=25, repeats=4, spread=0.15)
    generator, shown = np.random.default_rng(5), 0
    for _ in range(300):
        sides = []
        for rate in (0.75, 0.5):
            number = rate * (1 - rate) / (0.15**2 / 2) - 1
            chances = generator.beta(rate * number, (1 - rate) * number, 25)
            sides.append(Scores(generator.binomial(4, chances) / 4))
        shown += stats.cluster_gain(*sides, range(25)).verdict is sf.Verdict.BETTER
    assert plan.chance == pytest.approx(shown / 300, abs=0.09)  # three standard errors of 300


def test_few_units_cannot_show_small_gains_however_many_tries():
    plan = sf.plan_units(0.6, 0.5, units=20, repeats=1000, spread=0.0)
    assert plan.least == pytest.approx(0.05 ** (-1 / 20) - 1)
    assert plan.chance == 0.0
    assert plan.needed is not None
    assert 0.05 ** (-1 / plan.needed) - 1 < 0.11  # the chance of an unmet cluster is all of p only without spread


def test_more_units_are_needed_for_less_gain_and_for_more_spread():
    few = sf.plan_units(0.7, 0.5, units=20, repeats=5, spread=0.1).needed
    less = sf.plan_units(0.65, 0.5, units=20, repeats=5, spread=0.1).needed
    wide = sf.plan_units(0.7, 0.5, units=20, repeats=5, spread=0.3).needed
    assert few is not None
    assert less is not None
    assert wide is not None
    assert few < less
    assert few < wide


def test_it_says_what_units_cannot_show():
    assert "20 units cannot show less than 16.2 points" in str(sf.plan_units(0.7, 0.5, units=20, repeats=5))


@pytest.mark.parametrize(("name", "value"), [("units", 1), ("repeats", 1), ("spread", 0.8), ("power", 1.0)])
def test_nonsense_is_refused(name, value):
    given = {"units": 20, "repeats": 5, "spread": 0.2, "power": 0.8, name: value}
    with pytest.raises(ValueError, match=name):
        sf.plan_units(0.7, 0.5, **given)
