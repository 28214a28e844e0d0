"""Tests of `surefoot.planning.means`."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.planning import means
from surefoot.planning.means import MeanPlan
from surefoot.reference import betting_mean


@pytest.mark.parametrize(("a", "b", "half"), [(1, 1, 0.1), (5, 1, 0.04), (10, 10, 0.05)])
def test_planned_mean_width_is_what_one_gets(a, b, half):
    mean, spread = a / (a + b), np.sqrt(a * b / (a + b) ** 2 / (a + b + 1))
    plan = sf.plan_mean(half, spread=float(spread), mean=mean)
    rng = np.random.default_rng(0)
    widths = [betting_mean(sf.Scores(rng.beta(a, b, plan.rollouts))).width / 2 for _ in range(60)]
    assert np.mean(widths) == pytest.approx(half, rel=0.08)
    assert MeanPlan.from_dict(plan.to_dict()) == plan


def test_mean_plan_moves_as_it_should():
    base = sf.plan_mean(0.08, spread=0.2).rollouts
    assert sf.plan_mean(0.04, spread=0.2).rollouts > base
    assert sf.plan_mean(0.08, spread=0.3).rollouts > base
    assert sf.plan_mean(0.08, spread=0.2, confidence=0.99).rollouts > base
    assert sf.plan_mean(8, spread=20, low=100, high=200).rollouts == base
    assert sf.plan_mean(0.08, spread=0.5).rollouts > sf.plan_mean(0.08, spread=0.3).rollouts  # two ends only
    assert sf.plan_mean(0.6, spread=0.2).rollouts == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sf.plan_band(0.0), "`offset` must be strictly between 0 and 1"),
        (lambda: sf.plan_band(0.1, confidence=95), "Write 0.95"),
        (lambda: sf.plan_band(1e-5), "`offset` must be reachable with 10,000,000 rollouts; got 1e-05"),
        (lambda: sf.plan_mean(0.0, spread=0.1), "`half_width` must be above 0"),
        (lambda: sf.plan_mean(0.1, spread=0.6), "`spread` must be at most 0.5"),
        (lambda: sf.plan_mean(0.1, spread=0.1, mean=1.0), r"`mean` must lie inside the range \[0, 1\]"),
        (lambda: sf.plan_mean(0.1, spread=0.1, low=1, high=0), "`low` must be below `high`"),
        (lambda: sf.plan_mean(0.1, spread=0.1, low=-1e308, high=1e308), "`high` must be finitely far from `low`"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_beyond_so_many_scores_the_width_shrinks_with_the_root(monkeypatch):
    monkeypatch.setattr(means, "_LARGEST", 16)
    wide, narrow = (means._expected.__wrapped__(count, 0.5, 0.2, 0.025) for count in (16, 64))
    assert narrow == pytest.approx(wide / 2)
    assert means._expected.__wrapped__(15, 0.5, 0.2, 0.025) > wide
