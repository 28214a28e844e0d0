"""Tests of `surefoot.reporting.conduct_pages`."""

from __future__ import annotations

import pytest

import surefoot as sf
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
