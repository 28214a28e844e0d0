"""What a report tells of a study's course: what went wrong, voids, scorers, robots, sessions, times, drift, pauses."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from surefoot.study.course import Course, course_of
from surefoot.study.deviations import deviations
from tests.studies import Clock, begun


def two_days(**changes):
    """A study of two sessions with a night between, two scorers and two robots, a void, a crash and failures."""
    clock = Clock()
    study = begun(clock=clock, horizon=12, tasks=("mug", "towel"), time_limit=60.0, rule="fixed", **changes)
    for number in range(14):
        if number == 6:
            clock.on(hours=14)
        clock.on(minutes=4)
        study.author, study.holder = ("Ann", "arm 1") if number < 6 else ("Bob", "arm 2")
        turn = study.next_turn()
        fails = turn.policy == "old" and turn.block % 2 == 0
        if number == 9:
            study.crash(turn, note="segmentation fault")
        else:
            kind = {"failure": "dropped it", "note": f"at turn {turn.number}"} if fails else {}
            study.record(turn, not fails, duration=10.0 + number, steps=5, **kind)
    study.void(3, reason="hardware fault", note="the gripper lost a finger")
    return study


def test_the_course_is_told_once_the_study_is_not_blinded():
    study = two_days()
    study.unblind(reason="a look")
    course = course_of(study.fold)
    assert [(one.name, one.recorded) for one in course.scorers] == [("Bob", 8), ("Ann", 6)]
    assert [(one.name, one.recorded) for one in course.robots] == [("arm 2", 8), ("arm 1", 6)]
    assert [one.recorded for one in course.sessions] == [6, 8]
    assert [(one.turn, one.reason, one.note, one.seen) for one in course.voids] == [
        (3, "hardware fault", "the gripper lost a finger", True)
    ]
    modes = {(one.policy, one.failure): one for one in course.modes}
    assert sum(one.count for (_, failure), one in modes.items() if failure == "dropped it") >= 2
    assert any(failure == "crash" and one.notes == ("segmentation fault",) for (_, failure), one in modes.items())
    assert {one.part for one in course.stages} == {"first third", "second third", "last third"}
    assert {one.part for one in course.conditions} == {"mug", "towel"}
    assert sum(one.rollouts for one in course.stages) == sum(one.rollouts for one in course.conditions) == 12
    for one in course.times:
        assert one.limit == 60.0
        assert 0.0 <= one.by(5.0) <= one.by(15.0) <= one.by(60.0) <= 1.0
        assert one.by(5.0) == 0.0
        own = [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn > 4]
        own += [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn < 3]
        assert one.by(60.0) == sum(r.score for r in own) / len(own)  # a crash without a duration is a failure too
    assert Course.from_dict(json.loads(json.dumps(course.to_dict()))) == course


def test_while_blinded_only_who_where_and_when_is_told():
    study = two_days()
    course = course_of(study.fold)
    assert (course.modes, course.voids, course.stages, course.conditions, course.times) == ((), (), (), (), ())
    assert "Run in 2 sessions, from 2026-01-01 00:04 to" in str(sf.report(study))
    text = json.dumps(course.to_dict())
    assert not any(word in text for word in ("new", "old", "success", "dropped"))


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


def test_a_pause_overnight_is_a_pause():
    """A phone holds six turns; its time runs out overnight and another takes them: only the first may have been run."""
    clock = Clock()
    study = begun(clock=clock)
    held = study.next_turns(6, holder="Ann (0a1b2c3d)")
    clock.on(hours=14)
    taken = study.next_turns(6, holder="Bob (1a2b3c4d)")
    assert taken == held
    (said,) = [line for line in deviations(study.fold) if "run twice" in line]
    assert said.startswith("1 turn went to another holder")
    assert "(turn 1)" in said
    clock = Clock()
    ended = begun(clock=clock)
    ended.next_turns(6, holder="Ann (0a1b2c3d)")
    ended.release(holder="Ann (0a1b2c3d)")  # what End session does
    clock.on(hours=14)
    ended.next_turns(6, holder="Bob (1a2b3c4d)")
    assert not any("run twice" in line for line in deviations(ended.fold))
