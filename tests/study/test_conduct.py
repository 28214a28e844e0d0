"""What a report tells of a study's conduct: what went wrong, voids, scorers, robots, sessions, times, drift, pauses."""

from __future__ import annotations

import json

import surefoot as sf
from surefoot.study.conduct import Conduct, conduct_of
from tests.support.conduct import two_days
from tests.support.studies import begun


def test_the_conduct_is_told_once_the_study_is_not_blinded():
    study = two_days()
    study.unblind(reason="a look")
    conduct = conduct_of(study.fold)
    assert [(one.name, one.recorded) for one in conduct.scorers] == [("Bob", 8), ("Ann", 6)]
    assert [(one.name, one.recorded) for one in conduct.robots] == [("arm 2", 8), ("arm 1", 6)]
    assert [one.recorded for one in conduct.sessions] == [6, 8]
    assert [(one.turn, one.reason, one.note, one.seen) for one in conduct.voids] == [
        (3, "hardware fault", "the gripper lost a finger", True)
    ]
    modes = {(one.policy, one.failure): one for one in conduct.modes}
    assert sum(one.count for (_, failure), one in modes.items() if failure == "dropped it") >= 2
    assert any(failure == "crash" and one.notes == ("segmentation fault",) for (_, failure), one in modes.items())
    assert {one.part for one in conduct.stages} == {"first third", "second third", "last third"}
    assert {one.part for one in conduct.conditions} == {"mug", "towel"}
    assert sum(one.rollouts for one in conduct.stages) == sum(one.rollouts for one in conduct.conditions) == 12
    for one in conduct.times:
        assert one.limit == 60.0
        assert 0.0 <= one.by(5.0) <= one.by(15.0) <= one.by(60.0) <= 1.0
        assert one.by(5.0) == 0.0
        own = [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn > 4]
        own += [r for r in study.fold.results.values() if study.fold.turns[r.turn].policy == one.policy and r.turn < 3]
        assert one.by(60.0) == sum(r.score for r in own) / len(own)  # a crash without a duration is a failure too
    assert Conduct.from_dict(json.loads(json.dumps(conduct.to_dict()))) == conduct


def test_while_blinded_only_who_where_and_when_is_told():
    study = two_days()
    conduct = conduct_of(study.fold)
    assert (conduct.modes, conduct.voids, conduct.stages, conduct.conditions, conduct.times) == ((), (), (), (), ())
    assert "Run in 2 sessions, from 2026-01-01 00:04 to" in str(sf.report(study))
    text = json.dumps(conduct.to_dict())
    assert not any(word in text for word in ("new", "old", "success", "dropped"))


def test_rollouts_that_take_no_time_have_no_curve():
    study = begun()
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "new", duration=0.0)
    assert conduct_of(study.fold).times == ()


def test_a_success_without_a_time_leaves_failures_without_one_out_too():
    study = begun()
    for number in range(1, 9):
        turn = study.next_turn()
        assert turn is not None
        study.record(turn, number % 2 == 1, duration=4.0 if number <= 4 else None)
    study.unblind(reason="a look")
    times = conduct_of(study.fold).times
    assert sum(one.rollouts for one in times) == 4
    assert sum(len(one.seconds) for one in times) == 2
    assert "had succeeded after 4 s." in sf.report(study).html()
