"""Hours and the rollouts that fit into them."""

from __future__ import annotations

import pytest

from surefoot.study.budgets import TimeBudget
from surefoot.study.plans import Plan


def test_six_hours_of_two_minutes_are_180_rollouts():
    budget = TimeBudget(rollout_minutes=1.5, reset_minutes=0.5, hours_a_day=6)
    assert budget.rollouts == 180
    assert budget.hours_for(180) == 6.0
    assert TimeBudget(rollout_minutes=2, hours_a_day=3, days=2, rigs_at_once=2).rollouts == 360


@pytest.mark.parametrize("minutes", [0.1, 0.3, 0.7, 1.1, 7.0])
def test_as_many_as_fit(minutes):
    budget = TimeBudget(rollout_minutes=minutes, hours_a_day=7)
    assert budget.hours_for(budget.rollouts) <= 7.0 + 1e-9 < budget.hours_for(budget.rollouts + 1)


def test_hours_set_the_horizon():
    fields = {"policies": ("a", "b", "c"), "time_budget": {"rollout_minutes": 2, "hours_a_day": 6}}
    assert Plan(**fields).horizon == 60
    assert Plan(**fields, horizon=20).horizon == 20
    with pytest.raises(ValueError, match="allow one round, of 3 rollouts"):
        Plan(**{**fields, "time_budget": {"rollout_minutes": 30, "hours_a_day": 1}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"rollout_minutes": 0},
        {"rollout_minutes": 1, "reset_minutes": -1},
        {"rollout_minutes": 1, "hours_a_day": 25},
        {"rollout_minutes": 1, "days": 0},
        {"rollout_minutes": 1, "rigs_at_once": 0},
    ],
)
def test_no_such_time(wrong):
    with pytest.raises(ValueError, match="must be"):
        TimeBudget(**wrong)
