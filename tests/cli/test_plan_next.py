"""Tests of `surefoot plan next`."""

import json

import numpy as np

from surefoot.cli.main import run
from tests.analysis.test_purchases import drawn


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
