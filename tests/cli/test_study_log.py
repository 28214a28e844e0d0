"""Tests of `surefoot.cli.study_log`."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.reporting import pages
from tests.support.clip_studies import filmed
from tests.support.studies import plan
from tests.support.study_commands import create, said

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
    pytest.importorskip("cryptography", reason="needs the extra `seal`")
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
    monkeypatch.setattr(pages, "drawn_for_page", lambda _: {})
    study = filmed(here, unblinded=False, tasks=())
    assert said(capsys, "report", "study.db", "-o", "page.html")[0] == 0
    study.unblind(reason="done")
    assert said(capsys, "report", "study.db", "-o", "page.html", "--no-clips")[0] == 0
    assert not (here / "page.clips").exists()
    assert said(capsys, "report", "study.db", "-o", "page.html")[0] == 0
    assert len(list((here / "page.clips").iterdir())) == 13


def test_status_tells_who_holds_turns_and_that_a_verdict_is_exploratory(here, capsys):
    study = sf.Study.create(plan(), "study.db")
    study.record(study.next_turn(holder="arm 1"), True, holder="arm 1")
    study.next_turn(holder="arm 1")
    assert "Turns are held by arm 1." in said(capsys, "status")[1]
    code, out, err = said(capsys, "amend", "study.db", "confidence=0.9", "--reason", "a smaller lab")
    assert code == 0, err
    assert "The verdict is exploratory: a binding part of the plan was amended after the first result." in out


def test_a_backup_has_one_key_and_a_report_its_figures(here, capsys, monkeypatch):
    pytest.importorskip("cryptography", reason="needs the extra `seal`")
    monkeypatch.setattr(pages, "drawn_for_page", lambda _: {})
    study = sf.Study.create(plan(), "study.db")
    code, out, _ = said(capsys, "backup", "-o", "monday.backup")
    assert (code, "Made its key study.db.key" in out, "clips" in out) == (0, True, False)
    assert "Its key is study.db.key" in said(capsys, "backup", "-o", "tuesday.backup")[1]
    for good in (True, False):
        study.record(study.next_turn(), good)
    study.unblind(reason="enough")
    asked = []
    monkeypatch.setattr("surefoot.cli.study_log.save_figures", lambda made, *more: asked.append(more))
    assert said(capsys, "report", "-o", "a.md", "--figures", "f", "--width", "86mm")[0] == 0
    assert asked == [(Path("f"), "86mm", None)]


def test_a_file_without_a_study_and_a_log_that_cannot_be_followed(here, capsys):
    (here / "empty.db").touch()
    code, _, err = said(capsys, "report", "empty.db")
    assert (code, "empty.db: there is no study here. Make one with `surefoot study create`." in err) == (65, True)
    sf.Study.create(plan(), "study.db").next_turn()
    with sqlite3.connect("study.db") as link:
        link.execute("delete from log where number = 1")
    link.close()
    code, _, err = said(capsys, "report", "-o", "a.md")
    assert (code, "study.db: no report can be made. " in err) == (65, True)


def test_without_the_extra_no_key_is_left_behind(here, capsys, monkeypatch):
    sf.Study.create(plan(), "study.db")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    code, _, err = said(capsys, "backup", "-o", "monday.backup")
    assert (code, "pip install '.[seal]'" in err) == (65, True)
    assert [path.name for path in here.iterdir() if path.suffix in (".key", ".backup")] == []
