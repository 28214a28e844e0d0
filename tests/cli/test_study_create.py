"""Tests of `surefoot.cli.study_create`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from tests.support.study_commands import create, said


def test_a_plan_is_written_and_shown_before_anything_is_fixed(here, capsys):
    assert "Nothing is fixed yet" in create(capsys, "--check")
    assert not (here / "study.db").exists()
    text = (here / "plan.toml").read_text().replace("horizon = 20", "horizon = 30")
    (here / "plan.toml").write_text(text)
    code, out, _ = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 0
    assert "at most 30 pairs" in out
    assert sf.Study.open("study.db").plan.horizon == 30
    code, _, err = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 65
    assert "already holds a study" in err


def test_a_person_is_asked_before_the_plan_is_fixed(here, capsys, monkeypatch):
    asked = []

    def answered(question, **more):
        asked.append((question, more))

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", answered)
    (here / "study.db").touch()  # an empty file holds no study
    create(capsys)
    assert asked == [("Fix this plan and begin the study in study.db?", {"default": True, "abort": True})]
    assert said(capsys, "unblind", "--reason", "curious")[0] == 0
    assert asked[1:] == [("Unblind it anyway? It cannot be undone.", {"default": False, "abort": True})]


def test_every_part_of_a_plan_can_be_given(here, capsys):
    words = [
        "--futility",
        "0.01",
        "--tasks",
        "mug,towel",
        "--conditions",
        "left, right",
        "--claim",
        "first better",
        "--levels",
        "0,0.5,1",
    ]
    create(capsys, *words, "--environments", "shared", "--title", "Mugs", "-c", "0.9", "--json")
    plan = sf.Plan.from_toml((here / "plan.toml").read_text())
    assert plan == sf.Plan(
        policies=("new", "old"), title="Mugs", horizon=20, claim="first better", confidence=0.9,
        measure="score", futility=0.01, levels=(0.0, 0.5, 1.0), environments="shared",
        tasks=("mug", "towel"), conditions=("left", "right"),
    )  # fmt: skip


def test_a_plan_of_three_speaks_of_rounds(here, capsys):
    said(capsys, "create", "plan.toml", "--policies", "a,b,c", "--horizon", "9", "--check")
    assert "pair" not in (here / "plan.toml").read_text()
    assert "# The most rounds that will be run." in (here / "plan.toml").read_text()


def test_halving_asks_for_the_best_unsaid(here, capsys):
    words = ("--policies", "a,b,c,d", "--rule", "halve", "--budget", "90", "--assume", "0.9,0.5,0.4,0.3", "--check")
    code, out, err = said(capsys, "create", "plan.toml", *words)
    assert code == 0, err
    assert "at most 90; picks a best one with chance" in out
    assert "90 rollouts: finds the best of 4" in out


@pytest.mark.slow
def test_a_ranking_names_its_question_and_what_futility_costs(here, capsys):
    words = ("--policies", "a,b,c,d", "--horizon", "20", "--question", "best", "--futility", "0.1", "--check")
    code, out, err = said(capsys, "create", "plan.toml", *words)
    assert code == 0, err
    assert "closed rule at 95%" in out
    assert "decides all that is asked with chance" in out
    assert "Pausing for futility costs" in out
    text = (here / "plan.toml").read_text()
    assert 'question = "best"' in text
    assert "0.05 is careful,\n# 0.1 saves more, 0 for never" in text
    code, _, err = said(capsys, "create", "other.toml", "--policies", "a,b,c", "--question", "against d", "--check")
    assert code == 65
    assert "`--question` must be one of ranking, best, best or tied, top M, against a, against b, against c" in err


def test_more_than_sixteen_policies_are_ranked_by_holm_and_told_so(here, capsys):
    many = ",".join(f"p{place}" for place in range(17))
    code, out, err = said(capsys, "create", "plan.toml", "--policies", many, "--horizon", "5", "--check")
    assert code == 0, err
    assert "holm rule at 95%" in out
    assert "More than 16 policies are ranked by Holm's ranking. Up to 16, by closed ranking: ranks three to" in out


def listed(here, count=40, more=""):
    (here / "items.csv").write_text("item\n" + "".join(f"issue {number}\n" for number in range(count)) + more)


def test_a_declared_list_is_drawn_fixed_and_shown(here, capsys):
    listed(here)
    words = ("create", "plan.toml", "--policies", "new,old", "--items", "items.csv", "--assume", "0.9,0.3")
    code, out, err = said(capsys, *words)
    assert code == 0, err
    study = sf.Study.open("study.db")
    fixed = study.fold.history[0].body["list"]
    assert study.plan.items == tuple(f"issue {number}" for number in range(40))
    assert f"of a list of 40 items (SHA-256 {fixed['items'][:16]})" in out
    assert f"Drew the order of the 40 items and fixed it: SHA-256 {fixed['order'][:16]}." in out
    code, _, err = said(capsys, "run", "study.db", "--command", "python robot.py", "--workers", "2")
    assert code == 0, err
    code, out, _ = said(capsys, "unblind", "study.db", "--reason", "decided")
    assert "On these 40 items new is better (" in out
    assert "It says nothing about other items." in out
    code, out, _ = said(capsys, "amend", "study.db", "items=[]", "--reason", "more came in")
    assert code != 0


def test_a_declared_list_in_json(here, capsys):
    listed(here)
    code, out, _ = said(
        capsys, "create", "--policies", "new,old", "--items", "items.csv", "--assume", "0.9,0.3", "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["list"]["length"] == found["plan"]["horizon"] == 40
    assert len(found["list"]["order"]) == len(found["list"]["items"]) == 64


def test_a_list_that_names_an_item_twice_begins_nothing(here, capsys):
    listed(here, more="issue 3\n")
    code, _, err = said(capsys, "create", "--policies", "new,old", "--items", "items.csv")
    assert code == 65
    assert "items.csv, row 41: each item must be listed once; 'issue 3' is in row 4 too." in err
    assert not (here / "plan.toml").exists()
    assert not (here / "study.db").exists()


@pytest.mark.parametrize("word", ["simulated", "predictions.csv"])
def test_predictions_come_from_a_column_or_a_file(here, capsys, word):
    rows = [(f"issue {number}", number / 40) for number in range(40)]
    (here / "items.csv").write_text("item,simulated\n" + "".join(f"{item},{value}\n" for item, value in rows))
    (here / "predictions.csv").write_text("item,p\n" + "".join(f"{item},{value}\n" for item, value in rows[::-1]))
    words = ("--policies", "new,old", "--items", "items.csv", "--helped-by", word, "--assume", "0.9,0.3")
    code, _, err = said(capsys, "create", *words)
    assert code == 0, err
    study = sf.Study.open("study.db")
    assert study.plan.helped_by == tuple(value for _, value in rows)
    assert len(study.fold.history[0].body["list"]["helped_by"]) == 64


@pytest.mark.parametrize(
    ("text", "word", "code", "hint"),
    [
        ("item,p\na,1\nb,1\n", "p2", 65, "must have a column 'p2'; got 'p'"),
        ("item,p\na,1\nb,\n", "p", 65, "row 2: there must be a number"),
        ("item,p\na,1\nb,7\n", "p", 65, "must lie between 0 and 1; got 7 for 'b'"),
        ("item,p\na,1\nc,1\n", "others.csv", 65, "others.csv, row 2: an item must be on the declared list; 'b' is not"),
    ],
)
def test_predictions_that_do_not_fit_begin_nothing(here, capsys, text, word, code, hint):
    (here / "items.csv").write_text(text)
    (here / "others.csv").write_text("item,p\na,1\nb,1\n")
    found, _, err = said(capsys, "create", "--policies", "new,old", "--items", "items.csv", "--helped-by", word)
    assert found == code
    assert hint in err
    assert not (here / "study.db").exists()
    assert not (here / "plan.toml").exists()


def test_predictions_need_a_list(here, capsys):
    code, _, err = said(capsys, "create", "--policies", "new,old", "--helped-by", "p")
    assert code == 64
    assert "`--helped-by` needs `--items`" in err
