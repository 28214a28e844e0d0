"""Tests of `surefoot.reporting.conduct_pages`."""

from __future__ import annotations

from dataclasses import replace

import pytest

import surefoot as sf
from surefoot.reporting.conduct_pages import conduct_figures, conduct_lines, conduct_sections, failures_figure
from surefoot.reporting.rollout_pages import RolloutLinks
from tests.support.conduct import two_days


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_the_report_shows_it(form):
    study = two_days()
    study.unblind(reason="a look")
    text = getattr(sf.report(study), form)()
    for said in (
        "What went wrong", "dropped it", "segmentation fault", "Pairs that do not count", "the gripper lost a finger",
        "Time to success", "Over the course of the study", "last third", "towel", "Who, where and when", "Ann", "arm 2",
        "Run in 2 sessions", "The longest pause between two sessions was 14.1 hours.",
    ):  # fmt: skip
        assert said in text, said
    assert "1 rollout gave no result" in text


def test_the_course_is_drawn_once_it_may_be_known():
    study = two_days()
    assert sf.report(study).study.conduct.modes == ()
    study.unblind(reason="a look")
    report = sf.report(study)
    drawn = conduct_figures(report.study)
    assert list(drawn) == ["failures", "times", "thirds"]
    cells = drawn["failures"].axes[0]
    ways, policies = ([text.get_text() for text in each] for each in (cells.get_yticklabels(), cells.get_xticklabels()))
    assert ways == ["dropped it", "crash"]
    counts = {(one.policy, one.failure): one.count for one in report.study.conduct.modes}
    assert [text.get_text() for text in cells.texts] == [
        str(counts.get((policy, way), 0)) for way in ways for policy in policies
    ]
    lines = drawn["thirds"].axes[0].lines
    assert [line.get_label() for line in lines] == list(report.study.plan.policies)
    for line in lines:
        means = [100.0 * one.mean for one in report.study.conduct.stages if one.policy == line.get_label()]
        assert list(line.get_ydata()) == means


def test_too_many_ways_to_fail_are_told_by_the_table_alone():
    study = two_days()
    study.unblind(reason="a look")
    conduct = sf.report(study).study.conduct
    many = tuple(replace(conduct.modes[0], failure=f"way {number}") for number in range(13))
    assert failures_figure(replace(conduct, modes=many)) is None
    assert failures_figure(replace(conduct, modes=many[:12])) is not None
    assert conduct_figures(replace(sf.report(study).study, conduct=None)) == {}


def test_a_study_of_which_nothing_is_told_has_no_section():
    study = two_days()
    account = sf.report(study).study
    assert conduct_sections(replace(account, conduct=None), {}, RolloutLinks((), scripts=False)) == []
    assert conduct_lines(replace(account.conduct, sessions=())) == []
