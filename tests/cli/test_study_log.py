"""Tests of `surefoot.cli.study_log`."""

from __future__ import annotations

import sqlite3
import sys

import pytest

import surefoot as sf
from tests.support.study_commands import ROBOT, create, said


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path


COMMAND = f"{sys.executable} robot.py"


def test_an_amendment_is_kept_with_its_reason(here, capsys):
    create(capsys)
    assert said(capsys, "amend", "study.db", "time_limit=90", 'reset="Home it"', "--reason", "clearer")[0] == 0
    plan = sf.Study.open("study.db").plan
    assert (plan.time_limit, plan.reset) == (90.0, "Home it")


def test_tampering_is_found_by_verify_and_by_the_report(here, capsys):
    create(capsys)
    said(capsys, "run", "--command", COMMAND)
    said(capsys, "unblind", "--reason", "decided")
    with sqlite3.connect("study.db") as link:
        link.execute(
            "update log set event = replace(event, '\"result\":true', '\"result\":false') where number = "
            "(select min(number) from log where event like '%\"result\":true%')"
        )
    link.close()
    code, out, _ = said(capsys, "verify")
    assert code == 65
    assert "was changed by hand" in out
    code, out, _ = said(capsys, "report", "-o", "report.html")
    assert "does not verify" in out
    assert "was changed by hand" in (here / "report.html").read_text()
    code, _, err = said(capsys, "status")
    assert code == 65
    assert "was changed by hand" in err
