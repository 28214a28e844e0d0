"""What version 0.2.0 wrote opens, with its numbers and verdicts (tests/fixtures/v0_2_0/README.md)."""

import importlib
import json
from pathlib import Path

import pytest

import surefoot as sf
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


def test_public_names_of_0_2_0_answer_or_are_told_to_have_gone():
    names = (Path(__file__).parents[1] / "fixtures" / "v0_2_0" / "names.txt").read_text(encoding="utf-8").split()
    told = (Path(__file__).parents[2] / "docs" / "migrating-0.3.md").read_text(encoding="utf-8")
    for name in names:
        room, _, last = name.rpartition(".")
        if last not in importlib.import_module(room)._HOMES:
            assert f"`{name.removeprefix('surefoot.')}" in told, f"{name} is gone, and the page does not say so"
