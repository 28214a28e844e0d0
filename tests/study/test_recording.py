"""Tests of `surefoot.study.recording`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from surefoot.errors import StudyError
from tests.support.studies import begun, driven, outcomes, said_of


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda s: s.record(9, True), "Turn 9 was never handed out; ask for the next turn first"),
        (lambda s: s.record(1, 0.5), "true or false"),
        (lambda s: s.record(1, True, duration=-1.0), "0 or more"),
        (lambda s: s.undo(2, reason="x"), "no result to undo"),
        (lambda s: s.void(1, reason="it failed"), "one that the plan names"),
        (lambda s: s.void(7, reason="hardware fault"), "never handed out"),
        (lambda s: s.amend({"horizn": 3}, reason="x"), "no field horizn"),
        (lambda s: s.amend({}, reason="x"), "must change something"),
        (lambda s: s.amend({"policies": ["a", "b"]}, reason="x"), "cannot change once turns were handed out"),
        (lambda s: s.amend({"blinded": False}, reason="x"), "unblind the study"),
        (lambda s: s.amend({"horizon": 0}, reason="x"), "cannot be amended in this way"),
        (lambda s: s.amend({"horizon": 50}, reason=" "), "reason must be given"),
        (lambda s: s.unblind(reason=""), "reason must be given"),
        (lambda s: s.unblind(reason=None), "`reason` must be a str"),
        (lambda s: s.void(1, reason="hardware fault", note=None), "`note` must be a str"),
        (lambda s: s.check("lid closed"), "`items` must be a list of texts"),
        (lambda s: s.check([1]), "`items` must be a str"),
        (lambda s: s.next_turns(0), "`count` must be at least 1"),
        (lambda s: s.next_turn(lease=timedelta(0)), "`lease` must be above 0"),
        (lambda s: s.rollouts(), "blinded"),
        (lambda s: s.export(), "blinded"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(act, said):
    study = begun()
    study.next_turns(2)
    before = study.store.read()
    with pytest.raises((StudyError, TypeError, ValueError), match=said):
        act(study)
    assert study.store.read() == before


def test_the_same_request_records_once_and_is_for_one_turn():
    study = begun()
    one, two = study.next_turns(2)
    first = study.record(one, True, request="word")
    assert study.record(one, True, request="word") == replace(first, repeated=True)
    with pytest.raises(StudyError, match="with another result"):
        study.record(one, False, request="word")
    with pytest.raises(StudyError, match="cannot record turn 2"):
        study.record(two, True, request="word")
    study.undo(one, reason="slip")
    assert study.record(one, True, request="word").repeated  # it was recorded once, and undone since
    assert 1 not in study.fold.results


def test_undo_gives_the_turn_back_and_both_results_stay_in_the_log():
    study = begun()
    turn = study.next_turn()
    study.record(turn, True)
    study.undo(turn, reason="wrong key")
    assert study.next_turn() == turn
    study.record(turn, False)
    kinds = [(line.event.kind, line.event.body.get("result")) for line in study.store.read()[2:]]
    assert kinds == [("recorded", True), ("undone", None), ("recorded", False)]


def test_a_void_takes_the_whole_pair_out_and_another_is_scheduled():
    study = begun()
    one, two = study.next_turns(2)
    study.record(one, True)
    study.void(one, reason="hardware fault")
    with pytest.raises(StudyError, match=r"was voided meanwhile\. Ask for the next turn"):
        study.record(two, True)
    assert study.next_turn().block == 2
    driven(study, outcomes(1, new=0.9, old=0.2))
    assert 1 not in study.fold.counted


def test_a_result_undone_before_the_void_was_seen_too():
    study = begun()
    turn = study.next_turn()
    study.record(turn, False)
    study.undo(turn, reason="looked bad")
    study.void(turn, reason="hardware fault")
    assert study.fold.voids[1].body["seen"]


def test_what_is_voided_or_unblinded_already_is_not_so_again():
    study = begun()
    turn = study.next_turn()
    study.void(turn, reason="hardware fault")
    assert study.void(turn, reason="hardware fault").repeated
    study.unblind(reason="enough")
    before = study.store.read()
    assert study.unblind(reason="enough").repeated
    assert study.store.read() == before


def test_a_safety_stop_counts_as_the_plan_declared():
    declared = {"safety_stops": ("joint limit",), "on_crash": "retry", "blinded": False}
    failed = begun(**declared)
    turn = failed.next_turn()
    failed.crash(turn, ended="safety stop", note="joint limit")
    assert failed.fold.results[turn.number].score == 0.0
    assert failed.fold.results[turn.number].ended == "safety stop"
    (said,) = [one for one in said_of(failed.fold) if "safety stop" in one]
    assert (
        said == f"1 rollout ended by a safety stop ({turn.policy}: 1 safety stop); the plan counts that as a failure."
    )
    voided = begun(**declared, on_safety_stop="void")
    turn = voided.next_turn()
    voided.crash(turn, ended="safety stop", note="joint limit")
    (void,) = voided.fold.voids.values()
    assert (void.body["reason"], void.body["note"]) == ("safety stop", "joint limit")
    again = voided.next_turn()
    voided.crash(again, ended="crash")
    assert again.number not in voided.fold.results  # is run again
