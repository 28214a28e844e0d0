"""Tests of `surefoot.cli.demo`."""

from __future__ import annotations

import surefoot as sf
from tests.support.command_line import said


def test_the_demo_writes_its_rollouts_for_other_commands(capsys, tmp_path):
    data, page = tmp_path / "results.csv", tmp_path / "demo.html"
    code, out, _ = said(capsys, "demo", "-o", str(page), "--data", str(data))
    assert (code, page.exists()) == (0, True)
    assert f"Wrote {data}" in out
    assert sf.read(data).where(policy="new").tally() == sf.Tally(105, 120)
    code, _, err = said(capsys, "demo", "--data", str(tmp_path / "nowhere" / "results.csv"))
    assert (code, err.startswith("surefoot: `--data` must be in a folder that exists")) == (64, True)
