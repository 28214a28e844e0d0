"""A message names an argument as its reader writes it."""

from __future__ import annotations

import threading

import polars as pl
import pytest

import surefoot as sf
from surefoot._arguments import as_options, in_python, named, write
from surefoot.cli.main import OPTIONS


@pytest.mark.parametrize(
    ("argument", "value", "python", "option"),
    [
        ("rng", 7, "rng=7", "--seed 7"),
        ("low", None, "low=", "--low"),
        ("policy", "in pairs", 'policy="in pairs"', "--policy 'in pairs'"),
        ("columns", {"score": None}, 'columns={"score": ...}', "--column score=YOURS"),
        ("columns", {"score": "rng=7"}, "columns={\"score\": 'rng=7'}", "--column score=rng=7"),
        ("policies_in", ["a b", "c"], 'policies_in=["a b", "c"]', "--policies-in 'a b,c'"),
        ("policies_in", [], "policies_in=[...]", "--policies-in A,B"),
        ("stages", ["reach"], 'stages=["reach"]', 'stages=["reach"]'),  # the command line has no such option
    ],
)
def test_an_argument_is_written_in_python_or_as_an_option(argument, value, python, option):
    assert write(argument, value) == python
    with as_options(OPTIONS):
        assert write(argument, value) == option
    assert write(argument, value) == python


def test_an_argument_is_named_by_its_option():
    assert named("first_rate") == "first_rate"
    with as_options(OPTIONS):
        assert (named("first_rate"), named("trials")) == ("--first", "trials")


def test_what_only_python_has_is_left_out_on_the_command_line():
    assert in_python(" Narrow it.") == " Narrow it."
    with as_options(OPTIONS):
        assert in_python(" Narrow it.") == ""


def test_an_error_inside_ends_the_options():
    with pytest.raises(TypeError, match="`--seed` must be a whole-number seed; got None"), as_options(OPTIONS):
        sf.stats.optimal_lower(sf.Tally(1, 2))
    with pytest.raises(TypeError, match="`rng` must be a numpy Generator or a whole-number seed; got None"):
        sf.stats.optimal_lower(sf.Tally(1, 2))


def test_another_thread_speaks_python():
    said = []
    with as_options(OPTIONS):
        thread = threading.Thread(target=lambda: said.append(write("rng", 7)))
        thread.start()
        thread.join()
    assert said == ["rng=7"]


def test_an_argument_of_the_version_before_is_taken_and_says_the_new_one():
    rows = [(p, f"t{t}", int(t + n < (3 if p == "a" else 2))) for p in "ab" for t in range(3) for n in range(4 + t)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    new = {weights: sf.compare(table, "a", "b", weights=weights) for weights in ("units", "rollouts")}
    assert new["units"].interval.estimate != new["rollouts"].interval.estimate
    for old, weights in (("tasks", "units"), ("rollouts", "rollouts")):
        with pytest.warns(DeprecationWarning, match=f"`weigh` is called `weights` now.*say weights='{weights}'"):
            assert sf.compare(table, "a", "b", weigh=old) == new[weights]
    for ask in (sf.rank, sf.measure, sf.report):
        with pytest.warns(DeprecationWarning, match="`weigh` is called `weights` now"):
            ask(table, weigh="tasks")
    for ask in (sf.success_rate,):
        with pytest.warns(DeprecationWarning, match="`weigh` is called `weights` now"):
            ask(table.where(policy="a"), weigh="tasks")
