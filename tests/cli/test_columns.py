"""Tests of `surefoot.cli.columns`."""

import json
import tomllib
from pathlib import Path

import pytest

from surefoot.cli.main import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{p},s{s},{t},{(s * t + (p == 'a')) % 3 % 2}" for p in "ab" for s in range(24) for t in range(3)]
    Path("r.csv").write_text("\n".join(("policy,scene,trial,success", *rows)) + "\n", encoding="utf-8")
    return tmp_path


def test_every_column_is_shown_with_its_role_and_why(folder, capsys):
    assert run(["columns", "r.csv"]) == 0
    scene, trial, read_as = capsys.readouterr().out.splitlines()
    assert scene.split()[:4] == ["scene", "unit", "24", "levels"]
    assert trial.split()[:4] == ["trial", "repeat", "3", "levels"]
    assert read_as == "Read as: unit scene (24), repeat trial (3)."


def test_json_is_the_design(folder, capsys):
    assert run(["columns", "r.csv", "--unit", "trial", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["roles"]["trial"] == "unit"
    assert found["declared"]


def test_saved_roles_are_used_the_next_time_and_options_win(folder, capsys):
    assert run(["columns", "r.csv", "--unit", "scene", "--ignore", "trial", "--save"]) == 0
    assert tomllib.loads(Path("surefoot.toml").read_text())["columns"] == {"unit": "scene", "ignore": ["trial"]}
    capsys.readouterr()
    assert run(["columns", "r.csv"]) == 0
    out, err = capsys.readouterr()
    assert "trial  nothing" in out
    assert "note: columns as surefoot.toml says: unit scene, ignore trial." in err
    assert run(["columns", "r.csv", "--unit", "trial"]) == 0  # it was refused: two roles for one column
    out, err = capsys.readouterr()
    assert "trial  unit" in out
    assert "surefoot.toml" not in err
    assert run(["columns", "r.csv", "--repeat", "trial"]) == 0
    out, err = capsys.readouterr()
    assert "Read as: unit scene (24), repeat trial (3)." in out
    assert "surefoot.toml says: unit scene." in err


def test_an_unknown_column_and_a_broken_file_are_refused(folder, capsys):
    assert run(["columns", "r.csv", "--unit", "nothing"]) == 65
    assert "there must be a column 'nothing'; these are there:\nscene" in capsys.readouterr().err
    Path("surefoot.toml").write_text("[columns]\nboss = 'scene'\n", encoding="utf-8")
    assert run(["columns", "r.csv"]) == 65
    assert "got 'boss'" in capsys.readouterr().err
