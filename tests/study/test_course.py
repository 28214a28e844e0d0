"""What a report tells of a study's course: what went wrong, voids, scorers, robots, sessions, times, drift, pauses."""

from __future__ import annotations

import json

import surefoot as sf
from surefoot.study.course import Course, course_of
from tests.support.course import two_days
from tests.support.studies import begun


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


def test_rollouts_that_take_no_time_have_no_curve():
    study = begun()
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "new", duration=0.0)
    assert course_of(study.fold).times == ()
