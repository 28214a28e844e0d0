"""Tests of `surefoot.cli.study_record`."""

from __future__ import annotations

import json

import pytest

from surefoot.cli.main import run
from surefoot.study.studies import Study
from tests.support.clips import GIF
from tests.support.studies import plan

# --- at the command line ---


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Study.create(plan(time_limit=1.5), "study.db")
    return tmp_path


def test_a_person_enters_results_by_hand(here, capsys):
    study = Study.open("study.db")
    turn = study.next_turn(holder="arm 1")
    assert run(["study", "record", "study.db", str(turn.number), "success"]) == 65
    assert "held by arm 1, not by you. Give a reason" in capsys.readouterr().err
    assert run(["study", "record", "study.db", "1", "success", "--holder", "arm 1", "--note", "by hand"]) == 0
    assert "Turn 1 is recorded. continue." in capsys.readouterr().out
    assert run(["study", "undo", "study.db", "1", "--reason", "wrong key"]) == 0
    assert (
        run(["study", "record", "study.db", "1", "failure", "--reason", "from the sheet", "--failure", "slipped"]) == 0
    )
    assert run(["study", "void", "study.db", "1", "--reason", "hardware fault", "--note", "gripper"]) == 0
    out = capsys.readouterr().out
    assert "Turn 1 and the rest of its pair are void" in out
    assert run(["study", "record", "study.db", "1", "perhaps"]) == 64
    kept = Study.open("study.db").fold
    assert kept.voids[1].body["note"] == "gripper"
    assert [event.body["reason"] for event in kept.history if event.kind == "recorded"] == ["", "from the sheet"]


def test_a_clip_is_kept_with_the_result_and_a_missing_one_is_told(here, capsys):
    (here / "1.gif").write_bytes(GIF)
    study = Study.open("study.db")
    for turn in ("1", "2"):
        study.next_turn(holder="arm 1")
        more = ["--holder", "arm 1", "--clip", f"{turn}.gif", "--clips", "films"]
        assert run(["study", "record", "study.db", turn, "success", *more]) == 0
    assert "The clip of turn 2 was not kept: there is no such file (2.gif)." in capsys.readouterr().err
    kept = Study.open("study.db").fold.results
    assert (kept[1].clip.kind, kept[2].clip.fault) == ("gif", "missing")
    assert [one.name for one in (here / "films").iterdir()] == [kept[1].clip.file]


def test_a_receipt_as_json_names_its_turn(here, capsys):
    Study.open("study.db").next_turn(holder="arm 1")
    assert run(["study", "record", "study.db", "1", "success", "--holder", "arm 1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["turns"], told["repeated"]) == ([1], False)
