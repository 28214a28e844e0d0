"""A runner of another package carries out the turns of a study by its name."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.runners.added_runners import runner_names, runner_of
from tests.support.plugins import installed, put, put_toy

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
