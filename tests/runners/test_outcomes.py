"""Tests of `surefoot.runners.outcomes`."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.runners.outcomes import runner_names, runner_of
from tests.support.plugins import installed, put, put_toy
from tests.support.studies import begun


def test_outcomes_are_kept_whole():
    study = begun(measure="score", levels=(0.0, 0.5, 1.0))
    outcome = sf.Outcome(score=0.5, failure="dropped it", duration=12.5, steps=212, notes="lid left")
    sf.run_study(study, lambda _: outcome, turns=1)
    kept = study.fold.results[1]
    assert (kept.score, kept.failure, kept.duration, kept.steps, kept.note) == (
        0.5,
        "dropped it",
        12.5,
        212,
        "lid left",
    )
    with pytest.raises(ValueError, match="a `success` or a `score`"):
        sf.Outcome()


@pytest.mark.parametrize("answer", [None, "yes", 0.5, [1]])
def test_an_answer_that_cannot_be_read_is_an_outcome(answer):
    study = begun()
    sf.run_study(study, lambda _: answer, turns=1)
    assert (study.fold.results[1].ended, study.fold.results[1].score) == ("unreadable", 0.0)


TEXT = "def certain(turn):\n    return True\n\n\nclass Wrong:\n    pass\n"


@pytest.fixture
def added(tmp_path):
    """The toy package, and one with a function and with a class that takes no turn."""
    points = {"runners": {"certain": "lab:certain", "wrong": "lab:Wrong"}}
    with installed(put_toy(tmp_path / "site"), put(tmp_path / "lab", "lab", points, {"lab": TEXT})):
        yield


def test_a_class_is_made_and_a_function_taken_as_it_is(added):
    assert runner_names() == ("always", "certain", "wrong")
    study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=20), ":memory:")
    assert sf.run_study(study, runner_of("always")).decision == "stop: decided"
    assert runner_of("always") is not runner_of("always")
    assert runner_of("certain") is runner_of("certain")


def test_what_is_no_runner_is_refused(added):
    with pytest.raises(ValueError, match="A runner must be one of always, certain, wrong; got 'nobody'"):
        runner_of("nobody")
    with pytest.raises(ValueError, match=r"A runner must take a turn; 'wrong' of lab 1\.0 takes none"):
        runner_of("wrong")


def test_the_command_line_says_how_a_runner_is_named(added, capsys):
    assert run(("study", "run", "study.db", "--runner", "nobody")) == 64
    assert "`--runner` must name module:function" in capsys.readouterr().err
