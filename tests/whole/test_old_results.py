"""What version 0.2.0 wrote opens, with its numbers and verdicts (tests/fixtures/v0_2_0/README.md)."""

import importlib
import inspect
import json
import pkgutil
import re
import runpy
from pathlib import Path

import pytest
import typer

import surefoot as sf
from surefoot import _moved
from surefoot.cli.main import application
from surefoot.core.record import Record
from surefoot.reporting.reports import Report

OLD = json.loads((Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "results.json").read_text(encoding="utf-8"))


def each():
    for name, found in OLD.items():
        many = found if isinstance(found, list) else [found]
        yield from ((f"{name}-{place}", one) for place, one in enumerate(many))


@pytest.mark.parametrize(("name", "data"), list(each()), ids=[name for name, _ in each()])
def test_every_result_opens_and_can_be_written_and_shown(name, data):
    found = Record.from_dict(data)
    assert Record.from_dict(found.to_dict()) == found
    assert str(found)
    assert found._repr_html_()


@pytest.mark.parametrize("name", ["compare", "by_rollouts", "repeats"])
def test_a_comparison_keeps_its_numbers_its_weights_and_what_was_paired(name):
    data = OLD[name]
    found = sf.Comparison.from_dict(data)
    ends = data["gain"]["interval"]
    assert (found.interval.low, found.interval.high) == (ends["low"], ends["high"])
    assert (found.p_value, found.verdict.value) == (data["gain"]["p_value"], data["gain"]["verdict"])
    assert found.weights == "rollouts"
    structure = data["structure"]
    assert found.reading.paired == (structure["unpaired"] is None)
    assert found.reading.groups == structure["groups"]
    if structure["environment"]:
        assert found.reading.design.units == structure["environments"]
        assert found.reading.design.unit == " and ".join(structure["named"][key] for key in structure["environment"])


def test_a_comparison_on_a_task_keeps_its_task():
    assert [sf.Comparison.from_dict(one).task for one in OLD["tasks"]] == [one["task"] for one in OLD["tasks"]]


def test_a_report_makes_its_pages_again():
    found = Report.from_dict(OLD["report"])
    assert found.overview.comparisons[0].verdict.value == OLD["compare"]["gain"]["verdict"]
    assert "<html" in found.html()
    assert found.markdown()


ROOT = Path(__file__).parents[2]
LISTS = ROOT / "tests" / "fixtures" / "v0_2_0"
NAMES = (LISTS / "names.txt").read_text(encoding="utf-8").split()
COMMANDS = (LISTS / "commands.txt").read_text(encoding="utf-8").splitlines()
PARAMETERS = (LISTS / "parameters.txt").read_text(encoding="utf-8").splitlines()
PAGE = (ROOT / "docs" / "migrating-0.3.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_public_names_of_0_2_0_answer_or_are_told_to_have_gone(name):
    room, _, last = name.rpartition(".")
    module = importlib.import_module(room)
    if last in vars(module).get("_HOMES", ()):
        assert getattr(module, last) is not None
    elif name in _moved.moved():
        vars(module).pop(last, None)  # a room that something imported is an attribute of the package
        now = _moved.moved()[name]
        with pytest.warns(DeprecationWarning, match=f"^{re.escape(name)} is {re.escape(now)} now; the old name goes"):
            found = getattr(module, last)
        assert found is pkgutil.resolve_name(now)
    else:
        assert f"`{name.removeprefix('surefoot.')}" in PAGE, f"{name} is gone, and the page does not say so"


@pytest.mark.parametrize("line", PARAMETERS, ids=lambda line: line.split()[0])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_parameters_of_0_2_0_are_taken_or_are_told_to_have_gone(line):
    name, *parameters = line.split()
    room, _, last = name.rpartition(".")
    try:
        taken = inspect.signature(getattr(importlib.import_module(room), last)).parameters
    except AttributeError:
        assert f"`{name.removeprefix('surefoot.')}" in PAGE
        return
    gone = [one for one in parameters if one not in taken and f'`{one}="' not in PAGE]
    assert gone == []


def options(command, path=()):
    """Every command by its words, with its options."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*path, name))
    if not getattr(command, "commands", {}):
        yield " ".join(path), {option for one in command.params for option in (*one.opts, *one.secondary_opts)}


def test_commands_and_options_of_0_2_0_are_there_or_are_told_to_have_gone():
    today = dict(options(typer.main.get_command(application())))
    for line in COMMANDS:
        command, _, taken = line.partition(":")
        gone = {one for one in taken.split() if one not in today[command] and f"`{one}`" not in PAGE}
        assert not gone, f"surefoot {command}"


def test_the_page_lists_every_name_that_moved():
    program = runpy.run_path(str(ROOT / "tools" / "moved_names.py"))
    assert program["page"](PAGE) == PAGE, "run `python tools/moved_names.py`"
