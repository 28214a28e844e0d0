"""What a report tells of a study's conduct: what went wrong, voids, scorers, robots, sessions, times, drift, pauses."""

from __future__ import annotations

import json
import re

import pytest

import surefoot as sf
from surefoot.study.conduct import Conduct, conduct_of
from tests.support.conduct import two_days
from tests.support.studies import begun, driven, outcomes


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


def test_stages_tags_rigs_and_operators_are_counted_by_policy():
    stages = {"grasped": 0.25, "lifted": 0.5, "placed": 1.0}
    lab = {"stages": stages, "failure_tags": ("dropped",), "rigs": ("left", "right"), "operators": ("Ann", "Bob")}
    made = begun(blinded=False, policies=("new", "old"), tasks=("mug", "cup"), horizon=12, futility=0.0, **lab)
    reached = {"new": ("placed", "lifted"), "old": ("grasped", "")}
    while (turn := made.next_turn()) is not None:
        stage = reached[turn.policy][turn.block % 2]
        failure = "" if stage == "placed" else "dropped"
        made.record(turn, **({"stage": stage} if stage else {"result": 0.0}), duration=90.0, failure=failure)
    fold, conduct = made.fold, conduct_of(made.fold)
    blocks = len(made.fold.counted)
    even, odd = blocks // 2, blocks - blocks // 2
    told = {(one.policy, one.stage): (one.reached, one.rollouts) for one in conduct.funnel}
    assert told == {
        ("new", "grasped"): (blocks, blocks),
        ("new", "lifted"): (blocks, blocks),
        ("new", "placed"): (even, blocks),
        ("old", "grasped"): (even, blocks),
        ("old", "lifted"): (0, blocks),
        ("old", "placed"): (0, blocks),
    }
    modes = {one.policy: one for one in conduct.modes}
    assert (modes["new"].count, modes["old"].count) == (odd, blocks)
    assert modes["new"].share == sf.stats.clopper_pearson(sf.Tally(odd, blocks))
    for kind, levels in (("rig", lab["rigs"]), ("by", lab["operators"])):
        parts = [one for one in conduct.places if one.part.split()[0] == kind]
        assert {one.part for one in parts} <= {f"{kind} {level}" for level in levels}
        assert sum(one.rollouts for one in parts) == 2 * blocks
    assert conduct.minutes == pytest.approx(1.5 * len(fold.results))
    page, text = sf.report(made).html(), sf.report(made).markdown()
    for said in ("How far rollouts got", f"{even}/{blocks}", "by Ann", "rig left", "minutes were saved"):
        assert said in page
        assert said in text


def test_conditions_that_were_met_a_few_times_are_folded():
    poses = tuple(f"pose {number}" for number in range(20))
    made = driven(begun(blinded=False, conditions=poses, horizon=30, futility=0.0), outcomes(1, new=0.6, old=0.5))
    page = sf.report(made).html()
    course = page[page.index("Over the course of the study") : page.index("Who, where and when")]
    course = re.sub(r"\s+", " ", course)
    assert re.search(r"The \d\d conditions were met by each policy fewer than 5 times on average", course)
    assert "pose 7" not in course
