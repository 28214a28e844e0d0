"""A joint gate in a pull request."""

from __future__ import annotations

import polars as pl

import surefoot as sf
from surefoot.reporting.gate_reviews import junit, markdown


def test_names_from_files_are_shown_and_never_rendered():
    level = "a|b `x` @all <script>"
    rows = [(policy, level, int(at < 50)) for policy in ("new", "old") for at in range(100)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "benchmark", "success"], orient="row"))
    found = sf.gate(table, [{"by": "benchmark", "not_worse_by": 0.01}], first="new", second="old")
    row = next(line for line in markdown(found).splitlines() if line.startswith("| open"))
    assert '``success on "a\\|b `x` @all <script>" not worse by 1 points``' in row
    assert "<script>" not in junit(found)
    assert "more rollouts of each" in row
