"""Tests of `surefoot slices`."""

import json

from surefoot.cli.main import run
from tests.analysis.test_slices import grid, table


def test_the_command_names_slices_and_writes_json(tmp_path, capsys):
    path = tmp_path / "results.csv"
    table(*grid()).polars().write_csv(path)
    assert run(["slices", str(path), "--first", "new", "--second", "old"]) == 0
    assert "Worse in  lighting=dim & clutter=some" in capsys.readouterr().out
    assert run(["slices", str(path), "--only", "new", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Slices"


def test_what_is_not_named_is_refused(tmp_path, capsys):
    path = tmp_path / "results.csv"
    table(*grid()).polars().write_csv(path)
    assert run(["slices", str(path)]) == 64
    assert "--only" in capsys.readouterr().err
    assert run(["slices", str(path), "--only", "new", "--first", "old"]) == 64
