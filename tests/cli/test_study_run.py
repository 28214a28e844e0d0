"""Tests of `surefoot.cli.study_run`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.console.authentication import Tokens
from surefoot.runners import functions
from surefoot.study.stores import StoreError
from surefoot.study.studies import Study
from tests.support.clips import GIF
from tests.support.studies import plan
from tests.support.study_commands import ROBOT, create
from tests.support.study_commands import said as study_said

# --- at the command line ---


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Study.create(plan(time_limit=1.5), "study.db")
    return tmp_path


def test_a_function_is_named_on_the_command_line(here, capsys):
    (here / "my_lab_1.py").write_text("def rollout(turn):\n    return turn.policy == 'new'\n")
    assert run(["study", "run", "study.db", "--runner", "my_lab_1:rollout", "--workers", "2"]) == 0
    assert capsys.readouterr().out.endswith("stop: decided\n")
    for wrong, said in (("my_lab_1", "module:function"), ("my_lab_1:other", "cannot be used"), ("no_lab:x", "cannot")):
        assert run(["study", "run", "study.db", "--runner", wrong]) == 64
        assert said in capsys.readouterr().err


def test_turns_are_handed_back_for_whoever_has_left(here, capsys):
    study = Study.open("study.db")
    for holder, most in (("arm 1", 1), ("arm 2", 2)):
        study.next_turns(most, holder=holder)
    assert run(["study", "release", "study.db", "--holder", "arm 1"]) == 0
    assert capsys.readouterr().out == "Handed back 1 turn: whoever asks next gets it.\n"
    assert run(["study", "release", "study.db", "--holder", "arm 2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recorded"] == 0


def test_a_run_in_a_thread_of_a_program_hears_no_signal(here, monkeypatch):
    """A robot's own program may start it beside other work, from a folder that Python does not know yet."""
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(here)])
    (here / "my_lab_2.py").write_text("def rollout(turn):\n    return True\n")
    before, ended = signal.getsignal(signal.SIGTERM), []
    words = ["study", "run", "study.db", "--runner", "my_lab_2:rollout", "--turns", "1"]
    worker = threading.Thread(target=lambda: ended.append(run(words)))
    worker.start()
    worker.join(30)
    assert (ended, signal.getsignal(signal.SIGTERM)) == ([0], before)


def test_sigterm_hands_the_turn_back(here):
    words = [sys.executable, "-m", "surefoot", "study", "run", "study.db", "--holder", "arm 1", "--time-limit", "60"]
    script = subprocess.Popen([*words, "--command", "sleep 60"], stderr=subprocess.PIPE)
    while not Study.open("study.db").fold.leases:
        time.sleep(0.05)
    time.sleep(0.3)
    script.send_signal(signal.SIGTERM)
    _, err = script.communicate(timeout=30)
    assert script.returncode == 130
    assert b"the turn was handed back" in err
    study = Study.open("study.db")
    assert study.next_turn(holder="arm 2", wait=False).number == 1


@pytest.fixture
def study_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path


COMMAND = f"{sys.executable} robot.py"


def test_a_store_that_is_away_is_waited_for(study_here, capsys, monkeypatch):
    create(capsys)
    monkeypatch.setattr(functions, "PAUSE", 0.0)
    record, calls = sf.Study.record, []

    def away(self, *words, **more):
        calls.append(more["request"])
        if len(calls) < 3:
            raise StoreError("The disk is full.")
        return record(self, *words, **more)

    monkeypatch.setattr(sf.Study, "record", away)
    code, _, err = study_said(capsys, "run", "--command", "echo true", "--turns", "1")
    assert code == 0
    assert err.count("Trying again.") == 2
    assert len(calls) == 3
    assert len(set(calls)) == 1


@pytest.fixture
def served(study_here, capsys, monkeypatch):
    """The address of a study that is being served, whose runner we are."""
    pytest.importorskip("uvicorn", reason="needs the extra `console`")
    from tests.support.consoles import threaded

    create(capsys)
    tokens = Tokens.fresh()
    monkeypatch.setenv("SUREFOOT_TOKEN", tokens.runner.reveal())
    with threaded(sf.Study.open("study.db"), tokens) as address:
        yield address


def test_a_served_study_is_run_by_its_address(served, capsys):
    code, out, _ = study_said(capsys, "run", served, "--command", COMMAND)
    assert code == 0
    assert out.rstrip().endswith("stop: decided")


def test_a_turn_of_a_served_study_is_handed_back_too(served, capsys):
    code, _, err = study_said(capsys, "run", served, "--command", "exit 127")
    assert code == 65
    assert "The command cannot be run" in err
    study = sf.Study.open("study.db")
    assert study.next_turn(holder="another").number == 1


# --- a Gymnasium environment ---

LAB = """
def new(state):
    return int(state[2] + state[3] > 0)

class Old:
    def reset(self, seed):
        self.seed = seed

    def act(self, state):
        return int(state[2] > 0)

def balanced(end):
    return end.truncated

old = None
"""
POLES = ["study", "run", "study.db", "--gym", "CartPole-v1"]


def test_an_environment_is_named_on_the_command_line(here, capsys):
    pytest.importorskip("gymnasium")
    pytest.importorskip("pygame")
    (here / "my_poles.py").write_text(LAB)
    words = [*POLES, "--policy", "new=my_poles:new", "--policy", "old=my_poles:Old", "--max-steps", "60"]
    assert (
        run([*words, "--success", "my_poles:balanced", "--turns", "2", "--video", "clips", "--time-limit", "60"]) == 0
    )
    assert len(list((here / "clips").iterdir())) == 2
    assert run([*words, "--success", "my_poles:balanced", "--workers", "2"]) == 0
    assert capsys.readouterr().out.endswith("stop: decided\n")
    study = Study.open("study.db")
    assert {result.steps for result in study.fold.results.values() if result.score} == {60}


def test_a_runner_of_ones_own_is_named_on_the_command_line(here, capsys):
    pytest.importorskip("gymnasium")
    made = "runner = sf.GymnasiumRunner('CartPole-v1', {'new': new, 'old': Old}, success=balanced, max_steps=60)"
    (here / "my_runner.py").write_text(f"import surefoot as sf\n{LAB}\n{made}\n")
    assert run(["study", "run", "study.db", "--runner", "my_runner:runner", "--time-limit", "60"]) == 0
    assert capsys.readouterr().out.endswith("stop: decided\n")


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ([], 64, "`--policy` must be given for each policy"),
        (["--policy", "my_polls:new"], 64, "`--policy` must be name=module:thing"),
        (["--policy", "new=my_polls"], 64, "`--policy` must name module:function"),
        (["--policy", "new=my_polls:none"], 64, "`--policy` my_polls:none cannot be used"),
        (["--policy", "new=my_polls:old"], 64, "a policy for 'new'; got None"),
        (["--policy", "new=my_polls:new", "--success", "my_polls:old"], 64, "`--success` must name a function"),
        (["--policy", "new=my_polls:new", "--max-steps", "0"], 64, "must be at least 1"),
        (
            ["--policy", "new=my_polls:new", "--batch", "2"],
            64,
            "`--gym` must be left out with `--batch`",
        ),
        (["--policy", "new=my_polls:new", "--command", "true"], 64, "`--command` and `--gym` must not be given"),
        (["--policy", "new=my_polls:new"], 65, "'old' is not among them"),
    ],
)
def test_what_is_wrong_with_an_environment_is_told_before_the_first_turn(here, capsys, more, code, told):
    pytest.importorskip("gymnasium")
    (here / "my_polls.py").write_text(LAB)
    assert run([*POLES, *more]) == code
    assert told in capsys.readouterr().err
    assert Study.open("study.db").fold.results == {}


def test_what_belongs_to_an_environment_is_refused_without_one(here, capsys):
    assert run(["study", "run", "study.db", "--command", "echo true", "--video", "clips"]) == 64
    assert "`--video` needs `--gym`" in capsys.readouterr().err


# --- at the command line ---


@pytest.fixture
def lab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Study.create(plan(time_limit=1.5), "study.db")
    return tmp_path


def test_a_person_enters_results_by_hand(lab, capsys):
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


def test_a_clip_is_kept_with_the_result_and_a_missing_one_is_told(lab, capsys):
    (lab / "1.gif").write_bytes(GIF)
    study = Study.open("study.db")
    for turn in ("1", "2"):
        study.next_turn(holder="arm 1")
        more = ["--holder", "arm 1", "--clip", f"{turn}.gif", "--clips", "films"]
        assert run(["study", "record", "study.db", turn, "success", *more]) == 0
    assert "The clip of turn 2 was not kept: there is no such file (2.gif)." in capsys.readouterr().err
    kept = Study.open("study.db").fold.results
    assert (kept[1].clip.kind, kept[2].clip.fault) == ("gif", "missing")
    assert [one.name for one in (lab / "films").iterdir()] == [kept[1].clip.file]


def test_a_receipt_as_json_names_its_turn(lab, capsys):
    Study.open("study.db").next_turn(holder="arm 1")
    assert run(["study", "record", "study.db", "1", "success", "--holder", "arm 1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["turns"], told["repeated"]) == ([1], False)
