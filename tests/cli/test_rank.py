"""Tests of `surefoot.cli.rank`."""

import json

import surefoot as sf
from surefoot.cli.main import run


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
