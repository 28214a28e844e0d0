"""Tests of `surefoot.runners.camera_folders`: the newest clip that appeared during a turn is the turn's."""

from __future__ import annotations

import os

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.runners import camera_folders
from surefoot.runners.camera_folders import CameraFolder
from surefoot.study.studies import Study
from tests.support.clips import GIF, PNG
from tests.support.studies import begun, plan


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(camera_folders, "SETTLES", 0.001)


def written(path, content, when):
    path.write_bytes(content)
    os.utime(path, ns=(when, when))


def test_the_newest_clip_of_the_turn_is_found(tmp_path):
    folder = CameraFolder(tmp_path)
    written(tmp_path / "old.gif", GIF, 1_000)
    before = folder.seen()
    assert folder.newest(before) is None
    written(tmp_path / "a.gif", GIF, 3_000)
    written(tmp_path / "b.png", PNG, 2_000)
    written(tmp_path / "log.txt", b"newer, and no clip", 4_000)
    (tmp_path / "folder").mkdir()
    assert folder.newest(before) == tmp_path / "a.gif"
    written(tmp_path / "old.gif", PNG, 5_000)
    assert folder.newest(before) == tmp_path / "old.gif"


def test_a_folder_that_went_away_costs_no_result(tmp_path):
    study, camera = begun(), tmp_path / "camera"
    camera.mkdir()
    sf.run_study(study, lambda _: not camera.rmdir(), turns=1, clips_from=camera)
    assert (study.fold.results[1].score, study.fold.results[1].clip) == (1.0, None)


def test_a_study_takes_its_clips_from_a_folder(tmp_path):
    study, filmed = begun(), {1: GIF + b"1", 3: GIF + b"3"}

    def rollout(turn):
        if turn.number in filmed:
            (tmp_path / f"{turn.number}.gif").write_bytes(filmed[turn.number])
        clip = "https://lab.example/3.mp4" if turn.number == 3 else None
        return sf.Outcome(success=True, clip=clip)

    sf.run_study(study, rollout, turns=3, clips_from=tmp_path)
    assert [study.fold.results[turn].clip and study.fold.results[turn].clip.name for turn in (1, 2, 3)] == [
        "1.gif",
        None,
        "",
    ]


def test_one_worker_has_one_camera_and_the_folder_must_exist(tmp_path):
    for more in ({"workers": 2}, {"clips_from": tmp_path / "none"}):
        with pytest.raises(ValueError, match="`clips_from` must"):
            sf.run_study(begun(), lambda _: True, **{"clips_from": tmp_path, **more})


def test_the_command_line_names_the_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "camera").mkdir()
    (tmp_path / "one.gif").write_bytes(GIF)
    Study.create(plan(), "study.db")
    command = "cp one.gif camera/$SUREFOOT_TURN.gif; echo true"
    words = ["study", "run", "study.db", "--command", command, "--turns", "2", "--clips-from", "camera"]
    assert run(words) == 0, capsys.readouterr().err
    assert [one.clip.name for one in Study.open("study.db").fold.results.values()] == ["1.gif", "2.gif"]
