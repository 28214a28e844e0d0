"""Plans of a joint gate."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import plan_gate
from surefoot.analysis.gate_plans import Expected
from surefoot.stats import clopper_pearson_upper, power

TWELVE = [{"measure": "success", "by": "benchmark", "not_worse_by": 0.05}]
MORE = [
    *TWELVE,
    {"measure": "collision", "rate_at_most": 0.01},
    {"measure": "duration", "at_most_times": 1.1, "limit": 9},
]
EXPECT = {"success": 0.8, "collision": 0.002, "duration": Expected(4.0, spread=2.0)}


def test_twelve_benchmarks_pass_together_in_seven_of_ten():
    """Each passes in .97, all in .70; were each charged for the others, all would pass in .09."""
    plan = plan_gate(TWELVE, {"success": 0.8}, levels={"benchmark": 12}, rollouts=1600)
    assert plan.needs[0].power == pytest.approx(0.97, abs=0.005)
    assert plan.chance == pytest.approx(0.70, abs=0.03)
    charged = power(0.8, 0.8, 1600, margin=0.05, confidence=1 - 0.05 / 12, claim="first not worse")
    assert charged.not_worse**12 == pytest.approx(0.09, abs=0.02)


def test_the_chance_lies_between_what_needs_lack_and_the_weakest():
    plan = plan_gate(MORE, EXPECT, levels={"benchmark": 3}, rollouts=700)
    each = [one.together for one in plan.needs]
    assert plan.at_least == pytest.approx(1 - sum(1 - one for one in each))
    assert plan.chance == pytest.approx(math.prod(each))
    assert plan.at_least <= plan.chance <= plan.least == min(each)


def test_so_many_rollouts_have_the_power_and_one_less_has_not():
    plan = plan_gate(MORE, EXPECT, levels={"benchmark": 3})
    assert plan.at_least >= 0.8
    assert plan_gate(MORE, EXPECT, levels={"benchmark": 3}, rollouts=plan.rollouts - 1).at_least < 0.8
    assert plan.needs[0].rollouts == max(one.rollouts for one in plan.needs)
    assert "Costs most: success on every benchmark" in str(plan)


def test_the_power_of_a_rate_is_that_of_clopper_and_pearsons_bound():
    plan = plan_gate([MORE[1]], {"collision": 0.002}, rollouts=500)
    hits = [k for k in range(501) if clopper_pearson_upper(sf.Tally(k, 500)).value < 0.01]
    by_hand = sum(math.comb(500, k) * 0.002**k * 0.998 ** (500 - k) for k in hits)
    assert plan.chance == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("needs", "expect", "says"),
    [
        (TWELVE, {}, "expected of 'success'"),
        ([{"measure": "time", "mean_at_most": 9.0, "limit": 60.0}], {}, "time=45,20"),
        (TWELVE, {"success": 0.8}, "levels 'benchmark' has"),
        ([MORE[2]], {"duration": 4.0}, "standard deviation"),
        ([{"rate_at_least": 0.9}], {"success": 0.8}, "No number of rollouts"),
        ([{"rate_at_least": 0.9}], {"success": 80}, "expect"),
    ],
)
def test_what_cannot_be_planned_is_refused(needs, expect, says):
    with pytest.raises(ValueError, match=says):
        plan_gate(needs, expect)


def test_only_all_is_planned():
    with pytest.raises(ValueError, match="rule"):
        plan_gate(sf.Gate(needs=(sf.Need(not_worse_by=0.1),), rule="at least 1"), {"success": 0.8})


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("need", "expect"),
    [
        ({"measure": "duration", "at_most_times": 1.15, "limit": 90}, Expected(22.0, spread=9.0)),
        ({"measure": "duration", "mean_at_most": 25, "limit": 90}, Expected(22.0, spread=9.0)),
        ({"measure": "duration", "not_worse_by": 4, "better": "lower", "limit": 90}, Expected(22.0, spread=9.0)),
    ],
)
def test_the_planned_power_of_a_mean_is_that_of_the_gate(need, expect, tmp_path):
    """The bound of the gate pays for a limit far from the mean; a normal test's plan asked for half the rollouts."""
    size, runs = plan_gate([need], {"duration": expect}).rollouts, 40
    deviation = math.sqrt(math.log(1 + (9 / 22) ** 2))
    passed = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        seconds = np.minimum(90.0, rng.lognormal(math.log(22) - deviation**2 / 2, deviation, (2, size)))
        poses = [f"pose {at}" for at in range(size)]
        rows = {"policy": ["new"] * size + ["old"] * size, "pose": poses * 2, "success": [1] * (2 * size)}
        table = sf.read(pl.DataFrame({**rows, "duration": seconds.ravel()}))
        passed += sf.gate(table, [need], first="new", second="old").code == 0
    assert 0.65 <= passed / runs <= 0.95


def test_no_plan_is_sure_to_pass():
    plan = plan_gate([{"measure": "success", "rate_at_least": 0.5}], {"success": 0.95}, rollouts=500)
    assert 0.999 < plan.chance < 1.0
    assert "the gate passes in 99.9% of releases" in str(plan)
