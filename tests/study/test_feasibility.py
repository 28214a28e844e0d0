"""What a budget can answer: the chance of every question, hours for 80%, and what to ask instead."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from surefoot.core.scores import Scores
from surefoot.core.verdict import Verdict
from surefoot.study.decision import decision_of
from surefoot.study.expectations import shares
from surefoot.study.feasibility import Feasibility, feasible, table
from surefoot.study.plans import Plan
from tests.support.studies import LAB

THREE = {"policies": ("a", "b", "c"), "horizon": 60}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fields", "rates"),
    [
        ({**THREE, "question": "ranking"}, (0.8, 0.65, 0.5)),
        ({**THREE, "question": "best"}, (0.8, 0.65, 0.5)),
        ({**THREE, "question": "against a"}, (0.8, 0.65, 0.5)),
        ({**THREE, "question": "best", "within": 0.1}, (0.8, 0.78, 0.5)),
        ({"policies": ("new", "old")}, (0.7, 0.6)),
        ({"policies": ("new", "old"), "measure": "score"}, (0.7, 0.6)),
    ],
)
def test_every_question_that_is_hopeless_is_called_too_small(fields, rates):
    """Finding U13: a plan that decides with chance 3.6% passed without a word."""
    found = feasible(Plan(**fields), rates, runs=200)
    assert found.chance < 0.8
    assert found.too_small
    assert "Too small: for 80%: about" in str(found)
    assert not feasible(Plan(**{**fields, "horizon": 200}), (0.99, 0.5, 0.01)[: len(rates)], runs=200).too_small


def test_hours_are_told_in_one_sentence():
    found = feasible(Plan.from_toml(LAB), (0.8, 0.65, 0.5), runs=400)
    said = str(found)
    assert said.startswith("6 hours are 180 rollouts: finds the best of 3 with chance ")
    assert "ranks all 3 with chance " in said
    assert " hours (about " in said
    assert found.drop == "act"  # what is left, pi0 and dp, differs most
    assert found.needed_hours == pytest.approx(found.needed * 2 / 60)


@pytest.mark.slow
def test_so_many_rollouts_are_enough():
    plan = Plan(**THREE, question="best")
    found = feasible(plan, (0.8, 0.65, 0.5), runs=1000)
    longer = Plan(**{**THREE, "horizon": found.needed // 3}, question="best")
    chance = feasible(longer, (0.8, 0.65, 0.5)).chance
    assert abs(chance - 0.8) < 0.06
    pair = feasible(Plan(policies=("new", "old")), (0.8, 0.6))
    assert abs(feasible(Plan(policies=("new", "old"), horizon=pair.needed // 2), (0.8, 0.6)).chance - 0.8) < 0.03


def test_the_question_that_can_be_answered_is_proposed():
    found = feasible(Plan(**THREE, question="ranking"), (0.95, 0.5, 0.45), runs=400)
    assert found.too_small
    assert found.instead == "best"
    assert "ask question = 'best'" in str(found)
    pair = feasible(Plan(policies=("new", "old")), (0.7, 0.6))
    assert pair.gain == 0.3
    assert "look for a gain of 30 points or more" in str(pair)


@pytest.mark.parametrize(
    ("fields", "rates"),
    [
        (THREE, (0.8, 0.8, 0.5)),
        ({**THREE, "question": "best"}, (0.8, 0.8, 0.5)),
        ({"policies": ("new", "old")}, (0.7, 0.7)),
        ({"policies": ("new", "old"), "claim": "first better"}, (0.6, 0.7)),
        ({"policies": ("new", "old"), "margin": 0.1, "rule": "mixture"}, (0.75, 0.7)),
    ],
)
def test_what_cannot_be_found_by_any_number_is_not_too_small(fields, rates):
    found = feasible(Plan(**fields), rates, runs=100)
    assert not found.findable
    assert not found.too_small
    assert "there is nothing to find" in str(found)
    assert found.needed is None


def test_pilot_scores_are_planned_for():
    plan = Plan(policies=("new", "old"), measure="score", rule="mixture")
    steady = Scores(np.repeat([0.4, 0.5, 0.6], 5), low=0.0, high=1.0), Scores(np.repeat([0.3, 0.4, 0.5], 5), 0.0, 1.0)
    assert shares(plan, steady) == pytest.approx((0.5, 0.4))
    assert feasible(plan, steady, runs=400).chance > feasible(plan, (0.5, 0.4), runs=400).chance + 0.3


def test_a_table_for_who_has_no_idea():
    plan = Plan(**THREE, question="best", time_budget={"rollout_minutes": 2, "hours_a_day": 6})
    rows = [feasible(plan, rates, runs=200) for rates in ((0.9, 0.8, 0.7), (0.9, 0.5, 0.1), (0.8, 0.8, 0.1))]
    lines = table(rows).splitlines()
    assert len(lines) == 4
    assert "finds the best of 3" in lines[0]
    assert "too small: about" in lines[1]
    assert "hours" in lines[1]
    assert lines[2].endswith("enough")
    assert lines[3].endswith("nothing to find")
    assert table([]) == ""


def test_it_is_read_back_from_json():
    found = feasible(Plan(policies=("new", "old")), (0.8, 0.6))
    assert Feasibility.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def simulated(plan, rates, studies, seed):
    """The share of studies that decide what is asked, each fed to the study's own decision block by block."""
    rng = np.random.default_rng(seed)
    decided = 0
    for _ in range(studies):
        decision = decision_of(plan)
        while not decision.finished:
            drawn = {name: rng.random(often) for name, often in decision.turns.items()}
            decision = decision.after({name: (one < rates[name]).astype(float).tolist() for name, one in drawn.items()})
        right = Verdict.BETTER if rates[plan.policies[0]] > rates[plan.policies[1]] else Verdict.WORSE
        decided += decision.verdict is right if plan.in_pairs else decision.state.complete
    return decided / studies


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "rates"),
    [
        ({**THREE, "question": "best"}, (0.85, 0.65, 0.5)),
        ({**THREE, "question": "ranking"}, (0.9, 0.6, 0.3)),
        ({"policies": ("new", "old"), "horizon": 60}, (0.8, 0.6)),
    ],
)
def test_the_chance_is_that_of_simulated_studies(fields, rates):
    plan = Plan(**fields)
    other = simulated(plan, dict(zip(plan.policies, rates, strict=True)), 400, seed=5)
    found = feasible(plan, rates, rng=1).chance
    assert binomtest(round(400 * other), 400, found).pvalue > 1e-4


def test_of_many_policies_only_what_is_asked_is_simulated():
    eight = Plan(policies=tuple("abcdefgh"), horizon=5)
    found = feasible(eight, tuple(0.9 - 0.1 * at for at in range(8)), runs=5)
    assert list(found.chances) == ["ranking"]
    assert str(found).endswith("Too small: that chance is below 80%.")
