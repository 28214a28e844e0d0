"""Tests of `surefoot.cli.demo`."""

from __future__ import annotations

import json

import surefoot as sf
from surefoot.cli import demo
from tests.support.command_line import said


def test_the_demo_writes_its_rollouts_for_other_commands(capsys, tmp_path):
    data, page = tmp_path / "results.csv", tmp_path / "demo.html"
    code, out, _ = said(capsys, "demo", "-o", str(page), "--data", str(data))
    assert (code, page.exists()) == (0, True)
    assert f"Wrote {data}" in out
    assert f"Wrote {page}: open it in a browser." in out
    assert sf.read(data).where(policy="new").tally() == sf.Tally(105, 120)
    code, _, err = said(capsys, "demo", "--data", str(tmp_path / "nowhere" / "results.csv"))
    assert (code, err.startswith("surefoot: `--data` must be in a folder that exists")) == (64, True)


def test_the_demo_is_printed_or_given_as_json(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "CONDITIONS", 4)
    page = tmp_path / "demo.md"
    code, out, _ = said(capsys, "demo", "-o", str(page))
    assert code == 0
    assert out.endswith(f"\nWrote {page}.\n")  # only a page of HTML is for a browser
    code, out, _ = said(capsys, "demo", "-o", str(page), "--json")
    assert (code, json.loads(out)["overview"]["rollouts"]) == (0, 24)


def test_the_demo_writes_checkpoints_of_which_the_last_has_lost_a_slice(capsys, tmp_path):
    page, table = str(tmp_path / "demo.md"), tmp_path / "checkpoints.csv"
    code, out, _ = said(capsys, "demo", "-o", page, "--checkpoints", str(table))
    assert (code, out.endswith(f"Wrote {table}: try `surefoot best {table}`.\n")) == (0, True)
    rollouts = sf.read(table)
    assert sf.best(rollouts).pick == "100k"
    assert sf.slices(rollouts, "120k", "80k").claimed[0].name == "task=pour ice & lighting=dim"
    code, _, err = said(capsys, "demo", "--checkpoints", str(tmp_path / "nowhere" / "results.csv"))
    assert (code, err.startswith("surefoot: `--checkpoints` must be in a folder that exists")) == (64, True)
