"""Tests of `surefoot slices`."""

import json

import polars as pl

from surefoot.cli.main import run
from tests.analysis.test_slices import grid, table


def test_the_command_names_slices_and_writes_json(tmp_path, capsys):
    path = tmp_path / "results.csv"
    table(*grid()).polars().write_csv(path)
    assert run(["slices", str(path), "--first", "new", "--second", "old"]) == 0
    assert "Worse in  lighting=dim & clutter=some" in capsys.readouterr().out
    assert run(["slices", str(path), "--only", "new", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Slices"


def test_two_runs_and_two_policies_need_no_names(tmp_path, capsys):
    """`compare` took both, and `slices` refused them."""
    both = table(*grid()).polars()
    both.write_csv(tmp_path / "results.csv")
    assert run(["slices", str(tmp_path / "results.csv")]) == 0
    said = capsys.readouterr()
    assert "Worse in  lighting=dim & clutter=some" in said.out
    assert "'new' is first and 'old' second, in alphabetical order" in said.err
    for name, policy in (("pr.csv", "new"), ("main.csv", "old")):
        one = both.filter(both["policy"] == policy).with_columns(policy=pl.lit("bot"))
        one.write_csv(tmp_path / name)
    assert run(["slices", str(tmp_path / "pr.csv"), str(tmp_path / "main.csv")]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("pr.csv v main.csv, ")
    assert "Worse in  lighting=dim & clutter=some" in said.out
    assert "'bot' is compared with itself" in said.err


def test_what_is_not_named_is_refused(tmp_path, capsys):
    path = tmp_path / "results.csv"
    table(*grid(policies=("new", "old"))).polars().write_csv(path)
    assert run(["slices", str(path), "--first", "neu", "--second", "old"]) == 65
    assert "'new', 'old'; got 'neu'" in capsys.readouterr().err
    assert run(["slices", str(path), "--only", "new", "--first", "old"]) == 64


def test_one_of_two_policies_may_be_named(tmp_path, capsys):
    """Of two policies the other one is meant: `slices` knew it, `compare` refused."""
    path = tmp_path / "results.csv"
    table(*grid()).polars().write_csv(path)
    for command in ("slices", "compare"):
        for asked in (["--first", "old"], ["--second", "new"]):
            assert run([command, str(path), *asked]) == 0
            assert "old v new" in (said := capsys.readouterr().out) or "old - new" in said
