"""Tests of `surefoot items`."""

import json

from surefoot.cli.main import run
from tests.analysis.test_items import table


def test_the_command_writes_a_row_for_each_item(tmp_path, capsys):
    path, out = tmp_path / "results.csv", tmp_path / "items.csv"
    table({"a": [1.0, 0.0, 0.5], "b": [1.0, 0.0, 0.5], "c": [1.0, 0.0, 0.5]}).polars().write_csv(path)
    assert run(["items", str(path), "-o", str(out)]) == 0
    assert "1 always pass: q0" in capsys.readouterr().out
    assert [line.split(",")[:2] for line in out.read_text().splitlines()[1:]] == [
        ["q0", "24"],
        ["q1", "24"],
        ["q2", "24"],
    ]
    assert run(["items", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "Items"
