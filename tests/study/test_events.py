"""Tests of `surefoot.study.events`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from surefoot.errors import StudyError
from surefoot.study.events import Event, breaks, broken, chained
from tests.support.ended_studies import finished


def test_only_the_changed_line_is_named():
    lines = finished().store.read()
    event = lines[4].event
    lines[4] = replace(lines[4], event=replace(event, author="Eve"))
    assert len(breaks(lines)) == 1
    assert broken(lines).startswith("line 5 ")


def test_a_newer_log_is_refused_with_a_hint():
    data = {**Event("checked", {"items": [], "note": ""}, "", "2026").to_dict(), "schema": 4}
    with pytest.raises(StudyError, match="Use a newer surefoot"):
        Event.from_dict(data)


def test_events_say_all_and_only_what_their_kind_says():
    with pytest.raises(StudyError, match="must be one of"):
        Event("won", {}, "", "2026")
    with pytest.raises(StudyError, match="must say"):
        Event("checked", {"items": []}, "", "2026")


def test_a_hash_covers_the_line_before():
    event = Event("checked", {"items": [], "note": ""}, "", "2026")
    assert chained("a", 1, event) != chained("b", 1, event) != chained("b", 2, event)
