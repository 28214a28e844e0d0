"""Tests of `surefoot.study.expectations`."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.study.expectations import expect, usual
from surefoot.study.feasibility import feasible
from surefoot.study.plans import Plan


def test_what_a_plan_will_take_is_shown_beforehand():
    plan = Plan(policies=("new", "old"), horizon=50)
    found = [expect(plan, rates) for rates in usual(plan)]
    assert all(one.exact and one.most == 100 for one in found)
    assert [one.power for one in found] == sorted(one.power for one in found)
    assert expect(plan, (0.6, 0.9)).power == pytest.approx(expect(plan, (0.9, 0.6)).power, abs=1e-12)
    assert expect(plan, (0.6, 0.6)).power >= 0.95
    assert "; correctly decides nothing with chance 95" in str(expect(plan, (0.6, 0.6)))
    assert "rollouts on average" in str(found[0])
    plain = [expect(plan.amended({"futility": 0}), rates) for rates in usual(plan)]
    for one, other, rates in zip(found, plain, usual(plan), strict=True):
        assert one.power_lost == pytest.approx(other.power - one.power, abs=1e-12)
        assert one.rollouts_when_equal == expect(plan, (rates[1], rates[1])).rollouts < 66
        assert (other.power_lost, other.rollouts_when_equal) == (None, None)
        assert "futility" not in str(other)
    assert " If both were 0.6: 64 rollouts. Stopping for futility costs 1.0 points of that chance." in str(found[1])
    assert "futility" not in str(expect(plan, (0.6, 0.6)))
    with pytest.raises(ValueError, match="one for each policy"):
        expect(plan, (0.5,))


@pytest.mark.parametrize(
    ("fields", "rates", "verdict"),
    [
        ({}, (0.6, 0.9), "worse"),
        ({"claim": "first better"}, (0.9, 0.6), "better"),
        ({"claim": "first better"}, (0.6, 0.9), "undecided"),
        ({"margin": 0.1}, (0.7, 0.6), "undecided"),
        ({"margin": 0.1}, (0.9, 0.6), "better"),
        ({"margin": 0.5, "measure": "score", "high": 5.0}, (0.7, 0.6), "undecided"),
        ({"margin": 0.5, "measure": "score", "high": 5.0}, (0.9, 0.6), "better"),
    ],
)
def test_the_chance_of_a_wrong_verdict_is_never_called_that_of_the_right_one(fields, rates, verdict):
    found = expect(Plan(policies=("new", "old"), horizon=50, **fields), rates)
    assert found.verdict == verdict
    assert found.power > (0.9 if verdict == "undecided" else 0.3)
    assert ("correctly decides nothing" in str(found)) == (verdict == "undecided")


def test_what_scores_and_rankings_will_take_is_simulated():
    scored = expect(Plan(policies=("new", "old"), measure="score", horizon=30), (0.9, 0.4))
    assert not scored.exact
    assert 0.5 < scored.power <= 1.0
    assert scored.rollouts < 60
    ranked = expect(Plan(policies=("a", "b", "c"), horizon=20), (0.95, 0.5, 0.05))
    assert ranked.runs >= 10
    assert ranked.rollouts <= 60
    assert expect(Plan(policies=("a", "b", "c"), horizon=20), (0.95, 0.5, 0.05)) == ranked


def test_rates_worth_looking_at_are_spread_over_all_policies():
    assert usual(Plan(policies=("a", "b", "c"), horizon=20)) == ((0.9, 0.8, 0.7), (0.9, 0.7, 0.5), (0.9, 0.5, 0.1))
    assert usual(Plan(policies=tuple("abcde"), horizon=20))[-1] == (0.9, 0.7, 0.5, 0.3, 0.1)


def test_a_plan_that_is_too_small_says_so_and_which_horizon_would_do():
    small = expect(sf.Plan(policies=("new", "old"), horizon=20), (0.8, 0.6))
    assert small.too_small
    assert small.would_do == 100
    assert str(small).endswith("The horizon is too small: that chance is under 80%; a horizon of 100 is enough.")
    assert expect(sf.Plan(policies=("new", "old"), horizon=100), (0.8, 0.6)).power >= 0.8
    enough = expect(sf.Plan(policies=("new", "old"), horizon=100), (0.9, 0.6))
    assert not enough.too_small
    assert "too small" not in str(enough)
    never = expect(sf.Plan(policies=("new", "old"), horizon=100), (0.61, 0.6))
    assert never.would_do is None
    assert str(never).endswith(
        "The horizon is too small: that chance is under 80%; a horizon of 500 is too small as well."
    )
    alike = expect(sf.Plan(policies=("new", "old"), horizon=50), (0.6, 0.6))
    assert not alike.too_small


def test_no_plan_claims_that_shared_needs_the_fewest():
    """Outcomes that do not go together make pairs no better than separate rollouts."""
    shared, independent = (
        expect(sf.Plan(policies=("new", "old"), horizon=50, environments=kind), (0.8, 0.6))
        for kind in ("shared", "independent")
    )
    assert shared.power < independent.power
    assert "fewest" not in sf.Plan(policies=("new", "old"), environments="shared").to_toml()


def of_list(size, **more):
    return Plan(policies=("new", "old"), items=tuple(f"issue {number}" for number in range(size)), **more)


def test_what_a_list_will_take_is_less_than_without_one():
    listed, plain = of_list(120), Plan(policies=("new", "old"), horizon=120, rule="mixture", environments="shared")
    found, other = expect(listed, (0.7, 0.55)), expect(plain.amended({"futility": 0}), (0.7, 0.55))
    assert found.rollouts < other.rollouts
    assert found.power > other.power
    assert usual(listed) == ((0.65, 0.6), (0.7, 0.6))


def test_a_list_on_which_both_do_equally_well_is_rightly_not_decided():
    found = expect(of_list(60), (0.5, 0.5))
    assert found.verdict is sf.Verdict.UNDECIDED
    assert found.power >= 0.93  # 0.95, less 4 standard errors
    assert "; correctly decides nothing with chance " in str(found)


def test_a_horizon_too_short_for_a_list_says_what_would_do():
    assert expect(of_list(60, horizon=10), (0.9, 0.6)).would_do == 50
    assert expect(of_list(45, horizon=10), (0.8, 0.6)).would_do == 45
    assert not expect(of_list(45), (0.8, 0.6)).too_small


def test_long_lists_are_simulated_less_often():
    assert expect(of_list(2_000), (0.9, 0.1)).runs == 500


def test_what_a_race_or_halving_will_take_is_its_own_most_and_its_own_chance():
    many = tuple(f"p{place}" for place in range(8))
    rates = tuple(0.9 - 0.1 * place for place in range(8))
    halve = expect(sf.Plan(policies=many, question="best", rule="halve", budget=300), rates)
    assert (halve.most, halve.rollouts, halve.runs) == (300, 300.0, 400)
    assert 0.5 < halve.power < 1.0  # that the pick is a best one: nothing is ever claimed
    assert "at most 300; picks a best one with chance" in str(halve)
    race = expect(sf.Plan(policies=many, question="best", horizon=150), rates)
    assert race.most == 150 * 9  # the leader runs twice a round
    assert race.rollouts < race.most
    assert "names one as the best with chance" in str(race)
    capped = sf.Plan(policies=many, question="best", budget=300, within=0.1)
    assert "at most 300; names one within 0.1 of the best" in str(expect(capped, rates))
    assert feasible(capped, rates).rollouts == 300
