"""Tests of `surefoot.cli.plan`."""

from __future__ import annotations

import json

import surefoot as sf
from tests.support.command_line import said


def test_plans_show_what_other_sizes_buy(capsys):
    _, out, _ = said(capsys, "plan", "rate", "0.05")
    assert out.startswith("381 rollouts: ")
    assert "What n buys you" in out
    _, out, _ = said(capsys, "plan", "bound", "--tightness", "0.1")
    assert out.startswith("69 rollouts: ")


def test_a_sequential_plan_stands_beside_the_fixed_one(capsys):
    _, out, _ = said(capsys, "plan", "compare", "--first", "0.9", "--second", "0.6", "--sequential", "--json")
    found = json.loads(out)
    fixed, stopping = found["fixed"], found["sequential"]
    assert stopping["rule"]["horizon"] >= fixed["rollouts"]
    assert stopping["expected_pairs"] < fixed["rollouts"]
    assert stopping["power"] > 0.8


def test_a_plan_answers_each_of_its_questions(capsys):
    assert said(capsys, "plan", "compare", "--first", "0.95", "--second", "0.5")[1].startswith(
        f"{sf.plan_comparison(0.95, 0.5).rollouts} rollouts of each policy"
    )
    assert "true gain is +" in said(capsys, "plan", "compare", "--second", "0.5", "--rollouts", "30")[1]
    assert "19.7%" in said(capsys, "plan", "compare", "--first", "0.85", "--second", "0.7", "--rollouts", "20")[1]
    assert "pairs" in said(capsys, "plan", "compare", "--first-only", "0.5", "--second-only", "0.05")[1]
