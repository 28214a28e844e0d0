"""Tests of `surefoot.study.clips`: where a clip is kept, and that a bad one never costs a result."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.study.clips import Clip, ClipFolder, clip_of, is_link, kind_of
from surefoot.study.recording import RefusedError
from surefoot.study.studies import Study
from tests.support.clips import GIF, HEADS, PNG
from tests.support.studies import begun, plan


@pytest.fixture
def film(tmp_path):
    path = tmp_path / "new-policy 7.gif"
    path.write_bytes(GIF)
    return path


@pytest.mark.parametrize(("kind", "head"), HEADS.items())
def test_a_clip_is_known_by_its_first_bytes(kind, head):
    assert kind_of(head) == kind
    assert kind_of(head[:2]) is None


@pytest.mark.parametrize("head", [b"", b"<svg>", b"<!DOCTYPE html>", b"\0\0\0\x18ftypheic", b"\x1aE\xdf\xa3matroska"])
def test_what_is_no_clip_is_none(head):
    assert kind_of(head) is None


@pytest.mark.parametrize("link", ["https://lab.example/7.mp4?t=3#a", "http://10.0.0.1:80/x"])
def test_a_link_is_http_or_https(link):
    assert is_link(link)
    assert clip_of(link) == Clip(link=link)


@pytest.mark.parametrize(
    "text", ["javascript:alert(1)", "ftp://a/b", "https://", "https://a/\"onload='x'", "https://a b", "file:///x"]
)
def test_nothing_else_is_a_link(text):
    assert not is_link(text)
    assert clip_of(text).fault == "missing"


def test_a_file_is_copied_under_its_hash_for_its_owner_only(film, tmp_path):
    folder = ClipFolder(tmp_path / "study.clips")
    clip = folder.kept(film)
    digest = hashlib.sha256(GIF).hexdigest()
    assert clip == Clip(name=film.name, sha256=digest, bytes=len(GIF), kind="gif")
    assert [one.name for one in folder.path.iterdir()] == [f"{digest}.gif"]
    assert folder.where(clip).read_bytes() == GIF
    assert stat.S_IMODE(folder.where(clip).stat().st_mode) == 0o600
    assert folder.kept(film) == clip
    assert folder.fault(clip) is None
    folder.where(clip).write_bytes(b"another")
    assert folder.fault(clip) == "changed"
    assert folder.kept(film) == clip
    assert folder.fault(clip) is None
    folder.where(clip).unlink()
    assert folder.fault(clip) == "missing"


def test_what_cannot_be_kept_says_why(film, tmp_path):
    folder = ClipFolder(tmp_path / "study.clips")
    text = tmp_path / "7.mp4"
    text.write_text("not a film", encoding="utf-8")
    assert folder.kept(tmp_path / "no.mp4") == Clip(name="no.mp4", fault="missing")
    assert folder.kept(text) == Clip(name="7.mp4", fault="unknown")
    assert folder.kept(tmp_path).fault == "unreadable"
    assert folder.kept("nul\0.mp4").fault == "unreadable"
    (tmp_path / "file").write_bytes(b"")
    assert ClipFolder(tmp_path / "file").kept(film) == Clip(name=film.name, fault="not kept")


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"sha256": "a" * 64},
        {"sha256": "A" * 64, "kind": "gif"},
        {"sha256": "a" * 64, "kind": "html"},
        {"sha256": "a" * 64, "kind": "gif", "link": "https://a/b"},
        {"sha256": "x", "link": "https://a/b"},
        {"link": "javascript:alert(1)"},
        {"fault": "a whim"},
        {"fault": "missing", "name": 7},
        {"fault": "missing", "bytes": -1},
        {"fault": "missing", "more": 1},
    ],
)
def test_a_log_that_tells_of_no_clip_makes_no_sense(told):
    with pytest.raises(StudyError, match="a clip must"):
        Clip.of(told)


def test_a_result_carries_its_clip(film, tmp_path):
    study = Study.create(plan(), tmp_path / "study.db")
    turn = study.next_turn()
    study.record(turn, True, clip=film, request="word")
    assert study.record(turn, True, clip=film, request="word").repeated
    again = Study.open(tmp_path / "study.db")
    clip = again.fold.results[turn.number].clip
    assert clip.said() == {
        "name": film.name,
        "sha256": hashlib.sha256(GIF).hexdigest(),
        "bytes": len(GIF),
        "kind": "gif",
    }
    assert again.clips.path == tmp_path / "study.clips"
    assert [one.name for one in again.clips.path.iterdir()] == [clip.file]


def test_a_clip_may_be_a_link_and_a_folder_may_be_named(film, tmp_path):
    study = Study.create(plan(), tmp_path / "study.db", clips=tmp_path / "films")
    study.record(study.next_turn(), True, clip="https://lab.example/1.mp4")
    study.record(study.next_turn(), True, clip=str(film))
    assert study.fold.results[1].clip.link == "https://lab.example/1.mp4"
    assert len(list((tmp_path / "films").iterdir())) == 1


def test_a_missing_clip_never_costs_the_result(caplog, tmp_path):
    study = begun()
    study.record(study.next_turn(), True, clip=tmp_path / "7.mp4")
    assert study.fold.results[1].score == 1.0
    assert study.fold.results[1].clip == Clip(name="7.mp4", fault="missing")
    assert "clip of turn 1 was not kept: there is no such file (7.mp4)" in caplog.text


def test_a_clip_may_come_after_its_result(film, tmp_path):
    study = begun()
    turn = study.next_turn()
    with pytest.raises(RefusedError, match="no such result"):
        study.clip(turn, film)
    study.record(turn, True, clip=tmp_path / "lost.mp4")
    assert not study.clip(turn, film).repeated
    assert study.clip(turn, film).repeated
    assert study.fold.results[1].clip.kind == "gif"
    other = tmp_path / "other.png"
    other.write_bytes(PNG)
    with pytest.raises(RefusedError, match="already has a clip") as refused:
        study.clip(turn, other)
    assert refused.value.why == "recorded"
    study.undo(turn, reason="the wrong clip")
    study.record(turn, True, clip=other)
    assert study.fold.results[1].clip.kind == "png"
    with pytest.raises(RefusedError, match="no such result"):
        study.clip(turn, other, attempt=1)
    study.record(study.next_turn(), True)
    with pytest.raises(RefusedError, match="there is no such file"):
        study.clip(2, tmp_path / "no.mp4")
    assert study.fold.results[2].clip is None


def test_a_line_about_another_result_makes_no_sense(film):
    study = begun()
    study.record(study.next_turn(), True)
    body = {"turn": 1, "attempt": 2, "clip": Clip(link="https://a/b").said(), "salt": ""}
    with pytest.raises(StudyError, match="has another result"):
        study._write(lambda _: ("attached", body))


@pytest.mark.parametrize("clip", [7, b"a.mp4", "", " ", True])
def test_a_clip_is_a_path_or_a_link(clip):
    with pytest.raises(TypeError, match="`clip` must be a file's path or a link"):
        sf.Outcome(success=True, clip=clip)


def test_a_pipe_is_no_clip_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "camera.gif")
    assert ClipFolder(tmp_path / "kept").kept(tmp_path / "camera.gif").fault == "unreadable"
    assert not (tmp_path / "kept").exists()
