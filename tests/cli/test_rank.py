"""Tests of `surefoot.cli.rank`."""

from __future__ import annotations

import json
import re

import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.support.command_line import said
from tests.support.reports import rollouts


def test_preferences_are_ranked_from_a_file(capsys, tmp_path):
    path = tmp_path / "preferences.csv"
    rows = ["x,y,0", "y,x,1", "x,z,0", "z,x,0.5", "y,z,1", "z,y,1", "x,y,1"] * 6
    path.write_text("A,B,preference\n" + "\n".join(rows) + "\n")
    found = sf.rank_preferences(sf.read_preferences(path), rng=3)
    assert found.names[0] == "x"
    assert found.seed == 3
    assert run(["rank", str(path), "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert f"{found.elos[0]:.0f}" in out
    assert "seed 3" in out
    assert run(["rank", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Strengths"


def test_a_policy_that_never_lost_needs_a_prior_and_the_command_says_how(capsys, tmp_path):
    path = tmp_path / "preferences.csv"
    path.write_text("A,B,preference\nx,y,0\nx,z,0\ny,z,0\ny,z,1\n")
    assert run(["rank", str(path)]) == 64
    assert "Give --prior 1" in capsys.readouterr().err
    assert run(["rank", str(path), "--prior", "1"]) == 0


def test_the_ranking_command_prints_letters(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rollouts().polars().write_csv(path)
    assert run(["rank", str(path), "--figure", str(tmp_path / "r.svg")]) == 0
    out = capsys.readouterr().out
    assert re.search(r"new\s+\S+%\s+\[.*\]\s+40\s+1\s+a", out)


def test_a_ranking_names_the_policies_of_which_nothing_is_known(capsys, tmp_path):
    (tmp_path / "results.csv").write_text("policy,success\na,1\na,1\nb,0\nb,1\nc,\n")
    code, out, _ = said(capsys, "rank", str(tmp_path / "results.csv"))
    assert code == 0
    assert "Left out, because their success is not known: c." in out


def test_tasks_that_weigh_alike_are_shown_so(capsys, tmp_path):
    """The rates beside the ranks are those that the ranks go by."""
    rows = [f"{name},easy,{int(n < 36)}" for name in ("new", "old") for n in range(40)]
    rows += [f"{name},hard,{int(n < k)}" for name, k in (("new", 8), ("old", 2)) for n in range(10)]
    (tmp_path / "results.csv").write_text("policy,task,success\n" + "\n".join(rows) + "\n")
    for words, rates in (((), [0.85, 0.55]), (("--weights", "rollouts"), [44 / 50, 38 / 50])):
        code, out, _ = said(capsys, "rank", str(tmp_path / "results.csv"), *words, "--json")
        assert code == 0
        assert [one["estimate"] for one in json.loads(out)["intervals"]] == pytest.approx(rates)
    _, out, err = said(capsys, "rank", str(tmp_path / "results.csv"), "--weigh", "tasks")  # the old words
    assert "note: --weights tasks is old: say --weights units." in err
    assert any(line.startswith("For these 2 settings (task): new is better") for line in out.splitlines())
    assert out.startswith(
        "The gain differs between levels of task (p = "
    )  # +60 points on the hard one, none on the easy


def test_several_pairs_hold_together_and_preferences_have_no_figure(capsys, tmp_path):
    rows = [f"{name},{int(n % 4 < level)}" for name, level in (("a", 4), ("b", 2), ("c", 0)) for n in range(12)]
    (tmp_path / "results.csv").write_text("policy,success\n" + "\n".join(rows))
    code, out, _ = said(capsys, "rank", str(tmp_path / "results.csv"))
    assert (code, "All 3 pairs hold together at 95%." in out) == (0, True)
    (tmp_path / "preferences.csv").write_text("A,B,preference\nx,y,0\nx,y,1\n")
    code, _, err = said(capsys, "rank", str(tmp_path / "preferences.csv"), "--figure", "f.svg")
    assert (code, "`--figure` needs a file of results; it does nothing with preferences." in err) == (64, True)


def test_intervals_hold_for_all_rows_unless_each_is_asked_for(capsys, tmp_path):
    rows = [f"{name},{int(n < k)}" for name, k in (("new", 18), ("mid", 17), ("old", 15)) for n in range(20)]
    path = tmp_path / "results.csv"
    path.write_text("policy,success\n" + "\n".join(rows) + "\n")
    _, together, _ = said(capsys, "rank", str(path))
    assert "Intervals: 95% for all rows together." in together
    assert "new: its 90.0% is probably about" in together
    code, own, _ = said(capsys, "rank", str(path), "--own-intervals", "--figure", str(tmp_path / "own.svg"))
    assert code == 0
    assert "Intervals: 95% for each row by itself." in own
    assert "[69.8%, 97.3%]" in own  # Wilson's
    assert "[69.8%, 97.3%]" not in together
    assert "for all rows together" not in (tmp_path / "own.svg").read_text()
    games = tmp_path / "preferences.csv"
    games.write_text("A,B,preference\n" + "x,y,0\ny,x,0\n" * 4)
    code, _, err = said(capsys, "rank", str(games), "--own-intervals")
    assert code == 64
    assert "--own-intervals" in err


def test_rates_of_unlike_questions_are_not_what_ranks_follow(capsys, tmp_path):
    path = tmp_path / "results.csv"
    rows = [f"new,q{n},{int(n < 50 or n % 3 == 0)}" for n in range(100)] + [
        f"old,q{n},{int(n % 5 > 0)}" for n in range(50)
    ]
    path.write_text("\n".join(["model,question,correct", *rows]) + "\n")
    out = said(capsys, "rank", str(path))[1]
    assert re.search(r"new +67.0%.* 1 .*\n old +80.0%.* 2 ", out)
    assert "met: samples without a partner, in 1 of 1 pair, count in the rates only." in out
