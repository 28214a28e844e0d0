"""Tests of `surefoot.cli.study_create`."""

from __future__ import annotations

import pytest

import surefoot as sf
from tests.support.study_commands import ROBOT, create, said


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path


def test_a_plan_is_written_and_shown_before_anything_is_fixed(here, capsys):
    assert "Nothing is fixed yet" in create(capsys, "--check")
    assert not (here / "study.db").exists()
    text = (here / "plan.toml").read_text().replace("horizon = 20", "horizon = 30")
    (here / "plan.toml").write_text(text)
    code, out, _ = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 0
    assert "at most 30 pairs" in out
    assert sf.Study.open("study.db").plan.horizon == 30
    code, _, err = said(capsys, "create", "--assume", "0.9,0.3")
    assert code == 65
    assert "already holds a study" in err


def test_every_part_of_a_plan_can_be_given(here, capsys):
    words = [
        "--futility",
        "0.01",
        "--tasks",
        "mug,towel",
        "--conditions",
        "left, right",
        "--claim",
        "first better",
        "--levels",
        "0,0.5,1",
    ]
    create(capsys, *words, "--environments", "shared", "--title", "Mugs", "-c", "0.9", "--json")
    plan = sf.Plan.from_toml((here / "plan.toml").read_text())
    assert plan == sf.Plan(
        policies=("new", "old"), title="Mugs", horizon=20, claim="first better", confidence=0.9,
        measure="score", futility=0.01, levels=(0.0, 0.5, 1.0), environments="shared",
        tasks=("mug", "towel"), conditions=("left", "right"),
    )  # fmt: skip


def test_a_plan_of_three_speaks_of_rounds(here, capsys):
    said(capsys, "create", "plan.toml", "--policies", "a,b,c", "--horizon", "9", "--check")
    assert "pair" not in (here / "plan.toml").read_text()
    assert "# The most rounds that will be run." in (here / "plan.toml").read_text()
