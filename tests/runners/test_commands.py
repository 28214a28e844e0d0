"""Tests of `surefoot.runners.commands`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.study.studies import Study
from tests.support.studies import plan
from tests.support.study_commands import ROBOT, create, said

# --- at the command line ---


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Study.create(plan(time_limit=1.5), "study.db")
    return tmp_path


def test_a_command_that_hangs_is_ended_with_all_that_it_started(here, capsys):
    assert run(["study", "run", "study.db", "--command", "sleep 600 & echo $! > pid; wait", "--turns", "1"]) == 0
    assert Study.open("study.db").fold.results[1].ended == "time-out"
    process = int(Path("pid").read_text())
    for _ in range(50):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        stat = Path(f"/proc/{process}/stat").read_text()
        assert stat.split()[2] == "Z"


@pytest.fixture
def study_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.py").write_text(ROBOT)
    return tmp_path


# --- what a command says ---


def test_a_result_can_be_said_in_many_ways(study_here, capsys):
    create(capsys, "--levels", "0,0.5,1")
    for text in ("0.5", "1", '{"result": 0.5, "note": "slow", "failure": "dropped"}'):
        (study_here / "say.py").write_text(f"print('hello'); print('''{text}'''); print()")
        assert said(capsys, "run", "--command", f"{sys.executable} say.py", "--turns", "1")[0] == 0
    results = sf.Study.open("study.db").fold.results
    assert [results[n].score for n in (1, 2, 3)] == [0.5, 1.0, 0.5]
    assert (results[3].note, results[3].failure) == ("slow", "dropped")
    assert results[3].duration > 0


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("import sys; sys.exit(3)", "crash: the command ended with exit code 3"),
        ("raise RuntimeError", "crash: the command ended with exit code 1"),
        ("pass", "unreadable: the last line must be the result"),
        ("print('[1]')", "unreadable: the last line must be the result"),
        ("print('2')", "unreadable: `result` must be true or false"),
        ('print(\'{"result": true, "nte": 3}\')', "unreadable: the last line must be the result"),
    ],
)
def test_what_is_no_result_is_a_failure_and_the_run_goes_on(study_here, capsys, program, hint):
    create(capsys)
    (study_here / "bad.py").write_text(program)
    code, _, _ = said(capsys, "run", "--command", f"{sys.executable} bad.py", "--holder", "arm 1", "--turns", "2")
    assert code == 0
    results = sf.Study.open("study.db").fold.results
    assert [result.score for result in results.values()] == [0.0, 0.0]
    assert f"{results[1].ended}: {results[1].note}".startswith(hint)


def test_a_command_that_is_not_there_ends_the_run_and_hands_the_turn_back(study_here, capsys):
    create(capsys)
    code, _, err = said(capsys, "run", "--command", "pyhton3.99 rollout.py", "--holder", "arm 1")
    assert (code, "The command cannot be run: exit code 127" in err) == (65, True)
    study = sf.Study.open("study.db")
    assert study.fold.results == {}
    assert study.next_turn(holder="arm 2").number == 1


def test_bytes_that_are_no_text_lose_no_result(study_here, capsys):
    create(capsys)
    (study_here / "bytes.py").write_text("import sys; sys.stdout.buffer.write(b'\\xff\\xfe noise\\ntrue\\n')")
    assert said(capsys, "run", "--command", f"{sys.executable} bytes.py", "--turns", "1")[0] == 0
    assert sf.Study.open("study.db").fold.results[1].score == 1.0


def test_exit_codes_are_read_only_when_asked_for(study_here, capsys):
    create(capsys)
    for code, score in ((0, 1.0), (1, 0.0)):
        words = ("run", "--command", f"exit {code}", "--exit-code", "--turns", "1")
        assert said(capsys, *words)[0] == 0
        assert sf.Study.open("study.db").fold.results[len(sf.Study.open("study.db").fold.results)].score == score
    assert said(capsys, "run", "--command", "exit 2", "--exit-code", "--turns", "1")[0] == 0
    assert sf.Study.open("study.db").fold.results[3].ended == "crash"


# --- several turns by one command ---

BATCH = """
import json, random, sys
turns = [json.loads(line) for line in sys.stdin]
print(len(turns), file=open("sizes.txt", "a"))
print("loading the model")
for turn in turns[::-1]:
    lucky = random.Random(f"{turn['condition']} {turn['policy']}").random() < {"new": 0.9, "old": 0.3}[turn["policy"]]
    print(json.dumps({"turn": turn["number"], "result": lucky, "note": "ran"}))
"""


def listed(here, capsys):
    (here / "batch.py").write_text(BATCH)
    (here / "items.csv").write_text("item\n" + "".join(f"issue {number}\n" for number in range(60)))
    words = ("--policies", "new,old", "--items", "items.csv", "--assume", "0.9,0.3")
    assert said(capsys, "create", "plan.toml", *words)[0] == 0


@pytest.mark.parametrize("workers", ["1", "3"])
def test_one_command_runs_several_turns_and_they_enter_in_order(study_here, capsys, workers):
    listed(study_here, capsys)
    words = ("--command", f"{sys.executable} batch.py", "--batch", "8", "--workers", workers)
    code, out, err = said(capsys, "run", *words, "--turns", "12")
    assert code == 0, err
    assert sorted((study_here / "sizes.txt").read_text().split()) == ["4", "8"]
    assert out.count(" done; ") == 12
    assert said(capsys, "run", *words)[0] == 0
    study = sf.Study.open("study.db")
    assert study.finished
    assert study.verdict is sf.Verdict.BETTER
    assert {one.note for one in study.fold.results.values()} == {"ran"}
    assert all(one.duration is not None for one in study.fold.results.values())
    assert said(capsys, "verify", "study.db")[0] == 0


@pytest.mark.parametrize(
    ("program", "scores", "hint"),
    [
        ("print(json.dumps({'turn': turns[0]['number'], 'result': True}))", [1.0, 0.0], "there must be a line such as"),
        ("print(json.dumps({'turn': turns[0]['number'], 'result': True})); sys.exit(3)", [1.0, 0.0], "exit code 3"),
        ("print(json.dumps({'turn': turns[1]['number'], 'result': 7}))", [0.0, 0.0], "`result` must be true or false"),
        (
            "print(json.dumps({'turn': turns[0]['number'], 'result': True}), flush=True); time.sleep(60)",
            [1.0, 0.0],
            "not done after",
        ),
    ],
)
def test_a_turn_that_a_batch_does_not_answer_gave_no_result(study_here, capsys, program, scores, hint):
    listed(study_here, capsys)
    (study_here / "batch.py").write_text(
        f"import json, sys, time\nturns = [json.loads(line) for line in sys.stdin]\n{program}"
    )
    words = ("--command", f"{sys.executable} batch.py", "--batch", "2", "--turns", "2", "--time-limit", "1.5")
    code, _, err = said(capsys, "run", *words)
    assert code == 0, err
    results = sf.Study.open("study.db").fold.results
    assert [results[number].score for number in (1, 2)] == scores
    assert any(hint in one.note for one in results.values())


def test_a_batch_whose_command_is_not_there_hands_all_turns_back(study_here, capsys):
    listed(study_here, capsys)
    code, _, err = said(capsys, "run", "--command", "no-such-command-here", "--batch", "4")
    assert code == 65
    assert "The command cannot be run" in err
    study = sf.Study.open("study.db")
    assert not study.fold.results
    assert not study.held()


@pytest.mark.parametrize(("idle", "more"), [("exit-code", ("--command", "true")), ("gym", ("CartPole-v1",))])
def test_a_batch_needs_a_function_or_a_command_that_prints(study_here, capsys, idle, more):
    listed(study_here, capsys)
    code, _, err = said(capsys, "run", f"--{idle}", *more, "--batch", "4")
    assert code == 64
    assert f"`--{idle}` must be left out with `--batch`" in err
