"""Tests of `surefoot.cli.plan_rank`."""

import json
import sys

import pytest

import surefoot as sf
from tests.support.command_line import said

QUICK = ("--horizon", "20", "--runs", "20")


def test_json_is_the_plan(capsys):
    code, out, _ = said(capsys, "plan", "rank", "--rates", "0.9,0.5,0.2", *QUICK, "--seed", "3", "--json")
    rule = sf.sequential.ClosedRanking(("policy 1", "policy 2", "policy 3"), 20, binary=True)
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(sf.plan_ranking(rule, [0.9, 0.5, 0.2], rng=3, runs=20).to_dict()))


def test_neighbours_are_shown_and_the_plan_is_marked(capsys):
    code, out, _ = said(capsys, "plan", "rank", "--rates", "0.95,0.5,0.1", *QUICK, "--futility", "0.1")
    rows = [line.split() for line in out.splitlines() if "%" in line]
    assert code == 0
    assert [row[:2] for row in rows if row[-1] == "plan"] == [["20", "0.1"]]
    assert {row[0] for row in rows} >= {"10", "20", "40"}


def test_a_pilot_takes_the_place_of_rates(capsys, tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("policy,success\n" + "new,1\nold,0\npoor,0\n" * 6)
    code, out, _ = said(capsys, "plan", "rank", "--from", str(path), *QUICK, "--json")
    assert code == 0
    assert json.loads(out)["rule"]["names"] == ["new", "old", "poor"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "One of `--rates` and `--from`"),
        (("--rates", "0.5,0.4"), "three policies or more"),
        (("--rates", "0.5,x"), "three or more rates"),
        (("--rates", "0.5,1.5"), "--rates"),
        (("--rates", ",".join(["0.5"] * 8), "--futility", "0.5"), "must be from 0 (never) to below 0.5"),
        (("--rates", "0.9,0.5,0.4", "--question", "top 3"), "ask for fewer than the 3 first policies"),
        (("--rates", "0.5,0.5,0.5", "--rule", "savi"), "Use 'closed' or 'holm'"),
    ],
)
def test_refusals(capsys, words, text):
    code, _, err = said(capsys, "plan", "rank", *words, *QUICK)
    assert code != 0
    assert text in err


def test_several_processes_need_joblib(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    code, _, err = said(capsys, "plan", "rank", "--rates", "0.9,0.5,0.2", *QUICK, "--jobs", "2")
    assert code == 64
    assert "`--jobs` must be 1 without joblib; got 2. Install it: pip install joblib." in err


def test_scores_of_a_pilot_are_planned_in_their_range(capsys, tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("policy,progress\n" + "new,9\nold,4\npoor,0\n" * 6)
    words = ("--from", str(path), "--score", "progress", "--high", "10", "--runs", "5", "--horizon", "10")
    code, out, _ = said(capsys, "plan", "rank", *words, "--json")
    assert code == 0
    assert json.loads(out)["rule"]["high"] == 10.0


def test_very_many_policies_are_told_what_fewer_would_have(capsys):
    code, out, _ = said(capsys, "plan", "rank", "--rates", ",".join(["0.5"] * 17), "--runs", "2", "--horizon", "2")
    assert code == 0
    assert "More than 16 policies are ranked by Holm's ranking. Up to 16, by closed ranking" in out
