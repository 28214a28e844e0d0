"""A lab's day: two policies in a simulator by one command, with clips; killed twice, resumed, unblinded, reported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import surefoot as sf
from surefoot.cli.main import run

pytestmark = pytest.mark.end_to_end

pytest.importorskip("gymnasium")
pytest.importorskip("pygame")

LAB = """
def steady(state):
    return int(state[2] + state[3] > 0)

def hasty(state):
    return int(state[2] > 0)

def balanced(end):
    return end.steps == 60
"""
WORDS = ["study", "run", "pole.db", "--gym", "CartPole-v1", "--policy", "steady=my_lab_day:steady"]
WORDS += [
    "--policy",
    "hasty=my_lab_day:hasty",
    "--success",
    "my_lab_day:balanced",
    "--max-steps",
    "60",
    "--video",
    "clips",
]


def killed_after(turns, folder):
    """Run the command as a lab does, and end it without warning once so many turns are done, amid the next."""
    words = [sys.executable, "-u", "-m", "surefoot", *WORDS]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        done = [process.stdout.readline() for _ in range(turns)]
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert all(line.startswith("turn ") for line in done)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_study_with_clips_is_killed_twice_resumed_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_lab_day.py").write_text(LAB)
    create = ["study", "create", "pole.toml", "--store", "pole.db", "--policies", "steady,hasty", "--yes"]
    assert run([*create, "--environments", "shared", "--horizon", "30"]) == 0
    killed_after(2, tmp_path)
    killed_after(3, tmp_path)
    assert run(WORDS) == 0
    assert capsys.readouterr().out.endswith("stop: decided\n")

    study = sf.Study.open("pole.db")
    assert study.fold.results.keys() >= set(range(1, 2 * study.status().blocks + 1))
    for number, result in study.fold.results.items():  # every number has its clip, and it is the one that was recorded
        assert result.clip.name.startswith(f"turn-{number}")
        assert study.clips.fault(result.clip) is None
    recorded = [event.body["turn"] for event in study.fold.history if event.kind == "recorded"]
    assert len(recorded) == len(set(recorded))
    assert not [path.name for path in (tmp_path / "clips").iterdir() if path.name.startswith(".")]

    assert run(["study", "unblind", "pole.db", "--reason", "decided"]) == 0
    assert run(["study", "report", "pole.db", "-o", "pole.html"]) == 0
    page = (tmp_path / "pole.html").read_text(encoding="utf-8")
    assert all(f"pole.clips/{result.clip.file}" in page for result in study.fold.results.values())
    for policy in ("steady", "hasty"):  # the successes and the rollouts of each lead to theirs
        assert f'href="#rollouts?policy={policy}&amp;outcome=success"' in page
        assert f'href="#rollouts?policy={policy}&amp;outcome=counted"' in page
    checked = sf.verify("pole.db")
    assert checked.sound
    study = sf.Study.open("pole.db")
    assert study.verdict is sf.Verdict.BETTER

    # the same rollouts again, each from its note's seed: the study that was never killed
    runner = sf.GymnasiumRunner(
        "CartPole-v1",
        {"steady": _named("steady"), "hasty": _named("hasty")},
        success=lambda end: end.steps == 60,
        max_steps=60,
        seed=lambda turn: int(study.fold.results[turn.number].note.removeprefix("seed ")),
    )
    for turns in study.fold.blocks.values():
        for turn in turns:
            if turn.number in study.fold.results:
                assert float(runner(turn).success) == study.fold.results[turn.number].score


def _named(name):
    import importlib

    return getattr(importlib.import_module("my_lab_day"), name)
