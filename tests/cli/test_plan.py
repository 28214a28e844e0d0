"""Tests of `surefoot.cli.plan`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.analysis.test_purchases import drawn
from tests.support.command_line import said


def test_plans_show_what_other_sizes_buy(capsys):
    _, out, _ = said(capsys, "plan", "rate", "0.05")
    assert out.startswith("381 rollouts: ")
    assert "With more or fewer" in out
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


def test_a_sequential_plan_counts_the_futility_that_a_new_study_would_declare(capsys):
    words = ["plan", "compare", "--first", "0.9", "--second", "0.6", "--sequential", "--horizon", "60"]
    code, out, _ = said(capsys, *words)
    assert code == 0
    assert "If both were like the second: 38.7 pairs. Stopping for futility costs 0.4 points of power." in out
    one_sided = json.loads(said(capsys, *words, "--claim", "better", "--json")[1])["sequential"]
    assert (one_sided["rule"]["claim"], one_sided["rule"]["futility"]) == ("first better", 0.005)
    assert "futility" not in said(capsys, *words, "--futility", "0")[1]
    code, _, err = said(capsys, *words[:6], "--futility", "0.02")
    assert code == 64
    assert "`--futility` needs `--sequential`;" in err
    code, _, err = said(capsys, *words, "--futility", "0.5")
    assert code == 64
    assert "between 0 and 0.2" in err


def test_a_pilot_may_have_columns_of_its_own(capsys, tmp_path):
    pilot = tmp_path / "pilot.csv"
    rows = [
        f"{arm},{ok},{room}"
        for arm, good in (("a", 9), ("b", 3))
        for ok in "1" * good + "0" * (10 - good)
        for room in "xy"
    ]
    pilot.write_text("\n".join(["arm,worked,room", *rows]))
    words = ["plan", "compare", "--from", str(pilot), "--column", "policy=arm", "--column", "success=worked"]
    _, out, _ = said(capsys, *words, "--first", "a", "--second", "b")
    assert out.startswith("In the pilot a has 90.0% and b 30.0%, on 20 rollouts of each policy.")
    _, out, _ = said(capsys, *words, "--first", "a", "--second", "b", "--where", "room=x")
    assert "on 10 rollouts of each policy." in out


def test_plans_as_json_are_the_plans(capsys):
    assert json.loads(said(capsys, "plan", "rate", "0.1", "--json")[1]) == sf.plan_rate(0.1).to_dict()
    bound = sf.plan_bound(tightness=0.2)
    assert json.loads(said(capsys, "plan", "bound", "--tightness", "0.2", "--json")[1]) == json.loads(
        json.dumps(bound.to_dict())
    )


def test_a_pilot_with_epochs_says_what_more_of_them_buy(capsys, tmp_path):
    rows = [
        f"{model},q{item},{epoch},{int((item * 7 + epoch * 3) % 10 < level)}"
        for model, level in (("new", 8), ("old", 4))
        for item in range(20)
        for epoch in (1, 2)
    ]
    (tmp_path / "pilot.csv").write_text("model,question,epoch,correct\n" + "\n".join(rows))
    words = ["plan", "compare", "--from", str(tmp_path / "pilot.csv"), "--first", "new", "--second", "old"]
    code, out, err = said(capsys, *words)
    assert code == 0, err
    assert "With more epochs:" in out
    assert "questions" in out.split("With more epochs:")[1]


@pytest.fixture
def needs(tmp_path):
    path = tmp_path / "release.toml"
    path.write_text("[gate]\n[[gate.need]]\nby = 'benchmark'\nnot_worse_by = 0.1\n")
    return str(path)


def test_it_says_how_many_and_what_costs_most(needs, capsys):
    asked = ("plan", "gate", needs, "--expect", "success=0.8", "--levels", "benchmark=4")
    code, out, _ = said(capsys, *asked)
    assert code == 0
    assert "of each policy, on each of 4 benchmarks: the gate passes in 80." in out
    assert "Costs most: success on every benchmark not worse by 10 points" in out
    body = json.loads(said(capsys, *asked, "--rollouts", "100", "--json")[1])
    assert (body["type"], body["rollouts"]) == ("GatePlan", 100)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--expect", "success"), "--expect"),
        (("--expect", "success=high"), "--expect"),
        (("--expect", "success=0.8", "--levels", "benchmark=x"), "--levels"),
        (("--expect", "success=0.8"), "--levels"),
    ],
)
def test_what_is_wrong_is_refused(needs, capsys, words, says):
    code, _, err = said(capsys, "plan", "gate", needs, *words)
    assert code == 64
    assert says in err


def test_the_command_ranks_the_purchases(tmp_path, capsys):
    path = tmp_path / "results.csv"
    drawn(np.random.default_rng(1), 0.3, [6] * 30).polars().write_csv(path)
    words = ["plan", "next", str(path), "--first", "new", "--second", "old", "--budget", "200"]
    assert run(words) == 0
    assert "Buy 100 more levels of" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    widths = [one["half_width"] for one in found["purchases"]]
    assert widths == sorted(widths)
    assert run(words[:-2]) == 64
