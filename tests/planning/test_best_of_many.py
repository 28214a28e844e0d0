"""Tests of `surefoot.planning.best_of_many`."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.planning.best_of_many import BestPlan, pulled_together
from surefoot.sequential import Halve, Race

POINTS = (0.2, 0.35, 0.5, 0.6, 0.68, 0.74, 0.78, 0.80, 0.80, 0.70)
CURVE = np.interp(np.linspace(0, 9, 20), range(10), POINTS).tolist()
NAMES = tuple(f"p{i}" for i in range(20))


def test_halving_has_the_figures_of_the_reference():
    for budget, below, bound in ((500, 0.0146, 0.725), (1000, 0.0092, 0.749)):
        plan = sf.plan_best(Halve(NAMES, budget=budget, binary=True), CURVE, rng=1, runs=4000)
        assert plan.below == pytest.approx(below, abs=0.0016)
        assert plan.bound == pytest.approx(bound, abs=0.005)
        assert abs(plan.shown) < 0.003
        assert (plan.expected_rollouts, plan.named) == (budget, None)


def test_equal_numbers_have_the_figures_of_the_reference():
    plan = sf.plan_best(50, CURVE, rng=1, runs=2000)
    assert plan.below == pytest.approx(0.0144, abs=0.002)
    assert plan.bound == pytest.approx(0.682, abs=0.004)
    assert plan.shown == pytest.approx(0.079, abs=0.004)
    assert "20 x 50 takes 1,000 rollouts. It names one as the best with chance" in str(plan)
    assert BestPlan.from_dict(plan.to_dict()) == plan


def test_a_race_has_the_figures_of_the_reference():
    rates = [0.9, 0.7, 0.5, 0.3, 0.1]
    plan = sf.plan_best(Race(tuple("abcde"), 200, binary=True), rates, rng=1, runs=1500)
    assert plan.expected_rollouts == pytest.approx(172, abs=0.04 * 172 + 2 * plan.standard_error)
    assert plan.named is not None
    assert plan.named >= 0.99
    assert plan.right >= 0.99
    within = sf.plan_best(Race(NAMES, 900, within=0.1, binary=True), CURVE, rng=2, runs=150)
    assert within.expected_rollouts == pytest.approx(3310, abs=0.04 * 3310 + 2 * within.standard_error)
    assert "names one within 0.1 of the best" in str(within)


def test_scores_and_shared_conditions_are_planned_too():
    laws = [{0.0: 0.2, 0.5: 0.3, 1.0: 0.5}, {0.0: 0.5, 0.5: 0.3, 1.0: 0.2}, sf.Scores([0.1, 0.2, 0.9])]
    race = Race(("a", "b", "c"), 100, shared=True)
    apart = sf.plan_best(race, laws, rng=1, runs=100)
    tied = sf.plan_best(race, laws, rng=1, runs=100, correlation=0.8)
    assert apart.bound is None
    assert tied.expected_rollouts < apart.expected_rollouts
    assert sf.plan_best(Halve(("a", "b", "c"), budget=60), laws, rng=1, runs=50).bound is None
    assert sf.plan_best(20, laws, rng=1, runs=50).named is None


def test_rates_of_few_rollouts_are_pulled_together():
    wide = pulled_together([sf.Tally(k, 10) for k in (3, 5, 7, 9)])
    assert 0.3 < wide[0] < wide[1] < wide[-1] < 0.9
    sure = pulled_together([sf.Tally(k * 1000, 10_000) for k in (3, 5, 7, 9)])
    assert sure == pytest.approx((0.3, 0.5, 0.7, 0.9), abs=0.002)
    assert len(set(np.round(pulled_together([sf.Tally(5, 10), sf.Tally(6, 10), sf.Tally(5, 10)]), 9))) == 1


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"design": 0}, "`design` must be at least 1|design"),
        ({"design": "race"}, "`design` must be a Race, a Halve or a number of rollouts"),
        ({"policies": [0.5]}, "hold one for each of"),
        ({"policies": [0.5, 1.5]}, "policies"),
        ({"correlation": 1.0}, "`correlation` must be from 0 to below 1"),
    ],
)
def test_bad_plans_are_refused(told, words):
    asked = {"design": 10, "policies": [0.5, 0.6], "correlation": 0.0} | told
    with pytest.raises((ValueError, TypeError), match=words):
        sf.plan_best(asked["design"], asked["policies"], rng=1, runs=10, correlation=asked["correlation"])
