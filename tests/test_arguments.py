"""A message names an argument as its reader writes it."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot._arguments import in_python, named, shown, unshown, write
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
    assert shown(f"Say {write(argument, value)}.") == f"Say {python}."
    assert shown(f"Say {write(argument, value)}.", OPTIONS) == f"Say {option}."


def test_an_argument_is_named_by_its_option():
    assert shown(named("first_rate")) == "first_rate"
    assert [shown(named(one), OPTIONS) for one in ("first_rate", "trials")] == ["--first", "trials"]


def test_what_only_python_has_is_left_out_on_the_command_line():
    narrow = in_python(f" Narrow it by {write('low', 1)}.")
    both = f"Stop.{narrow} Use {in_python('FiniteHorizonMixture', 'mixture')}."
    assert shown(both) == "Stop. Narrow it by low=1. Use FiniteHorizonMixture."
    assert shown(both, OPTIONS) == "Stop. Use mixture."


def test_what_a_user_wrote_is_never_taken_for_an_argument():
    theirs = 'a \ue000["named", "rng"]\ue001 name'
    assert shown(write("policy", theirs), OPTIONS) == f"--policy '{theirs}'"
    error = sf.ArgumentError(f"{write('policy', theirs)}")
    assert str(error) == f'policy="{theirs}"'


def test_an_error_says_python_and_the_command_line_its_options():
    with pytest.raises(TypeError) as caught:
        sf.stats.optimal_lower(sf.Tally(1, 2))
    assert caught.value.argument == "rng"
    assert str(caught.value).startswith("`rng` must be a numpy Generator or a whole-number seed; got None.")
    told = shown(unshown(caught.value), OPTIONS)
    assert told.startswith("`--seed` must be a whole-number seed; got None.")
    assert "--seed 7" in told


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
