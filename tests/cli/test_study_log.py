"""Tests of `surefoot.cli.study_log`."""

from __future__ import annotations

import sqlite3
import sys

import pytest

import surefoot as sf
from surefoot.reporting import pages
from tests.support.clip_studies import filmed
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
    code, out, err = said(capsys, "anchor")
    assert (code, out, "was changed by hand" in err) == (65, "", True)
    code, out, _ = said(capsys, "report", "-o", "report.html")
    assert "does not verify" in out
    assert "was changed by hand" in (here / "report.html").read_text()
    code, _, err = said(capsys, "status")
    assert code == 65
    assert "was changed by hand" in err


def test_verify_tells_of_clips_that_are_missing_or_changed(here, capsys):
    study = filmed(here, unblinded=False)
    clips = [one.clip.file for one in study.fold.results.values() if one.clip is not None and one.clip.file]
    code, out, _ = said(capsys, "verify", "study.db")
    assert (code, f"Clips: {len(clips)}, each as it was recorded." in out) == (0, True)
    (here / "study.clips" / clips[0]).write_bytes(b"another")
    (here / "study.clips" / clips[1]).unlink()
    code, out, _ = said(capsys, "verify", "study.db")
    assert code == 65
    assert f"The clip of turn 1 (study.clips/{clips[0]}) is not the one that was recorded" in out
    assert f"The clip of turn 2 (study.clips/{clips[1]}) is missing." in out
    assert said(capsys, "anchor", "study.db")[0] == 0  # the log itself is whole
    (here / "study.clips").rename(here / "films")
    assert f"{clips[2]}) is missing" not in said(capsys, "verify", "study.db", "--clips", "films")[1]


def test_a_sealed_backup_tells_nothing_of_clips(here, capsys):
    study = filmed(here, unblinded=False)
    code, out, _ = said(capsys, "backup", "study.db", "-o", "monday.backup")
    assert (code, "The clips are not in it: copy the folder study.clips too." in out) == (0, True)
    text = (here / "monday.backup").read_text(encoding="utf-8")
    assert ".gif" not in text  # "gif" alone turns up by chance in one sealed text of fifteen
    assert not any(one.clip.sha256 in text for one in study.fold.results.values() if one.clip and one.clip.sha256)
    said(capsys, "restore", "monday.backup", "again.db", "--key", "study.db.key")
    assert said(capsys, "verify", "again.db")[0] == 65
    assert said(capsys, "verify", "again.db", "--clips", "study.clips")[0] == 0


def test_a_report_of_a_blinded_study_brings_no_clips_and_no_clips_leaves_them_out(here, capsys, monkeypatch):
    monkeypatch.setattr(pages, "drawn_twice", lambda _: {})
    study = filmed(here, unblinded=False, tasks=())
    assert said(capsys, "report", "study.db", "-o", "page.html")[0] == 0
    study.unblind(reason="done")
    assert said(capsys, "report", "study.db", "-o", "page.html", "--no-clips")[0] == 0
    assert not (here / "page.clips").exists()
    assert said(capsys, "report", "study.db", "-o", "page.html")[0] == 0
    assert len(list((here / "page.clips").iterdir())) == 13
