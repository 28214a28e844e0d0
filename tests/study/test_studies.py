"""A study from its first event to its report: what it records, refuses, lists and finds when it was tampered with."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import run
from surefoot.study.deviations import worst_case
from surefoot.study.events import Event, Line
from surefoot.study.recording import RefusedError
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from surefoot.study.verification import verified
from tests.support.studies import Clock, begun, driven, said_of

OLD = sorted(Path(__file__).parents[1].joinpath("fixtures", "studies").glob("*.jsonl"))


# --- the public road ---


def test_from_plan_to_verdict_and_table(tmp_path):
    study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=50), str(tmp_path / "study.db"))
    rng = random.Random(1)
    while (turn := study.next_turn()) is not None:
        study.record(turn, rng.random() < {"new": 0.95, "old": 0.3}[turn.policy])
    assert study.finished
    assert study.verdict is sf.Verdict.BETTER
    study.unblind(reason="decided")
    rollouts = study.rollouts()
    assert sorted(rollouts.policies) == ["new", "old"]
    assert len(rollouts) == len(study.fold.results)
    pairs = [
        tuple(study.fold.results[t.number].score for p in ("new", "old") for t in turns if t.policy == p)
        for _, turns in sorted(study.fold.blocks.items())
    ]
    assert run(study.fold.decision.rule, pairs)[-1].verdict is study.verdict
    assert sf.Study.open(sf.open_store(tmp_path / "study.db")).verdict is study.verdict


@pytest.mark.parametrize("turn", [0, True, "1", 1.0])
def test_a_turn_is_a_turn_or_its_number(turn):
    with pytest.raises((TypeError, ValueError), match="`turn` must be"):
        begun().record(turn, True)


def test_every_event_says_who_and_when():
    clock = Clock()
    study = begun(clock=clock)
    study.author = "Ann"
    clock.on(seconds=5)
    study.record(study.next_turn(), True)
    event = study.store.read()[-1].event
    assert (event.author, event.time, event.schema) == ("Ann", "2026-01-01T00:00:05+00:00", 3)
    assert event.role == "local"


# --- amendments ---


def test_a_binding_change_before_the_first_result_binds():
    study = begun()
    study.next_turn()
    study.amend({"horizon": 60, "confidence": 0.9}, reason="more robots")
    assert study.plan.horizon == 60
    assert not study.fold.exploratory
    assert study.fold.declared.horizon == 40


def test_the_log_keeps_a_change_as_the_plan_has_it():
    study = begun()
    study.amend({"horizon": np.int64(60), "rule": None, "confidence": np.float32(0.75)}, reason="from a notebook")
    changes = study.store.read()[-1].event.body["changes"]
    assert changes == {"horizon": 60, "rule": "exact", "confidence": 0.75}
    assert {type(value) for value in changes.values()} == {int, str, float}


def test_a_range_that_results_have_left_cannot_be_declared():
    study = begun(measure="score", high=2.0)
    study.record(study.next_turn(), 1.5)
    with pytest.raises(StudyError, match=r"score in \[0, 1\]"):
        study.amend({"high": 1.0}, reason="tidy")


# --- futility ---

EXACT = {"rule": "exact", "horizon": 50, "environments": "independent"}


def alike(turn):
    """Both policies succeed in every second pair."""
    return turn.block % 2 == 0


def test_a_study_of_equal_policies_stops_early_and_says_why():
    study = driven(begun(**EXACT), alike)
    assert study.plan.futility == 0.02
    status = study.status()
    assert (status.decision, status.finished) == ("stop: hardly any chance left to decide", True)
    assert status.blocks < len(driven(begun(**EXACT, futility=0), alike).fold.counted) < 50
    assert sf.verify(study.store).sound


def test_an_override_goes_on_and_is_a_deviation():
    study = driven(begun(**EXACT, blinded=False), alike)
    stopped = study.status()
    assert study.next_turn() is None
    status = study.override(reason="the robot is free until Friday").status
    assert (status.decision, status.version) == ("continue", stopped.version + 1)
    driven(study, lambda turn: turn.policy == "new")
    state = study.fold.decision.state
    assert (state.overridden, state.verdict, state.ending) == (True, sf.Verdict.BETTER, "verdict")
    assert state.interval == state.anytime_interval
    (said,) = said_of(study.fold)
    assert f"the study was continued after {stopped.recorded} results" in said
    assert "Reason: the robot is free until Friday." in said
    assert not study.fold.exploratory
    assert sf.verify(study.store).sound
    again = sf.Study.restore(study.export(), MemoryStore())
    assert again.fold.decision == study.fold.decision


def test_an_override_stands_when_an_earlier_result_is_corrected():
    study = driven(begun(**EXACT, blinded=False), alike)
    study.override(reason="more time")
    driven(study, alike, 4)
    study.undo(1, reason="a wrong tap")
    study.record(1, True, reason="corrected")
    assert study.fold.decision.state.overridden
    assert not study.finished
    assert sf.verify(study.store).sound


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (lambda: driven(begun(**EXACT), alike, 6), "The study goes on: there is no stop to override"),
        (lambda: driven(begun(**EXACT), lambda turn: turn.policy == "new"), "Only a stop for futility can be"),
        (lambda: driven(begun(**EXACT, futility=0), alike), "Only a stop for futility can be overridden"),
    ],
    ids=["goes on", "decided", "out of reach"],
)
def test_only_a_stop_for_futility_is_overridden(study, said):
    made = study()
    lines = made.version
    with pytest.raises(RefusedError, match=said):
        made.override(reason="why not")
    assert made.version == lines


def test_an_override_needs_a_reason_the_owner_and_the_log_as_it_stands():
    study = driven(begun(**EXACT), alike)
    with pytest.raises(RefusedError, match="A reason must be given"):
        study.override(reason=" ")
    with pytest.raises(RefusedError, match="The study has changed since"):
        study.override(reason="more time", version=study.version - 1)
    study.role = "operator"
    with pytest.raises(RefusedError, match="Only the owner may do this"):
        study.override(reason="more time")
    study.role = "owner"
    assert study.override(reason="more time", version=study.version).status.decision == "continue"


def test_a_log_with_an_override_out_of_place_does_not_verify():
    study = driven(begun(**EXACT), alike, 6)
    forged = Line.after(study.fold.last, Event("overridden", {"reason": "x"}, "", study.fold.last.event.time))
    assert any("had not stopped for futility" in fault for fault in verified([*study.store.read(), forged]).faults)


def test_voids_in_the_worst_way_follow_an_override():
    def went_on(turns=None):
        study = begun(**EXACT, blinded=False)
        for _ in range(2):
            turn = study.next_turn()
            study.record(turn, True)
            study.void(turn, reason="hardware fault")
        driven(study, alike)
        study.override(reason="more time")
        before = len(study.fold.results)
        return driven(study, lambda turn: turn.policy == "new", turns), before

    study, before = went_on()
    assert study.verdict is sf.Verdict.BETTER
    study, _ = went_on(len(study.fold.results) - before - 2)  # one pair short of it
    assert study.verdict is sf.Verdict.UNDECIDED
    assert worst_case(study.fold) == (sf.Verdict.UNDECIDED, sf.Verdict.BETTER)


def test_there_are_old_logs():
    assert len(OLD) >= 3


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_old_logs_open_for_ever(path, tmp_path):
    """Made by an earlier version (tests/fixtures/studies/README.md); they and their verdicts never change."""
    text = path.read_text(encoding="utf-8")
    known = json.loads(path.with_suffix(".json").read_text())
    study = Study.restore(text, tmp_path / "study.db")
    assert study.export().startswith(text)  # a later version adds the log's length and head at its end
    assert study.verdict.value == known["verdict"]
    assert study.plan.fingerprint == known["fingerprint"]
    assert [study.fold.turns[n].policy for n in sorted(study.fold.turns)] == known["policies"]
    assert len(study.fold.counted) == known["counted"]
    assert len(said_of(study.fold)) == known["deviations"]
    found = sf.verify(study.store)
    assert found.sound
    assert found.head == known["head"]


@given(st.integers(0, 10**6), st.lists(st.integers(0, 5), min_size=1, max_size=60))
@settings(max_examples=40)
def test_opening_again_at_any_moment_changes_nothing(seed, steps):
    rng, store = random.Random(seed), MemoryStore()
    study = begun(store, horizon=20, policies=("a", "b", "c"))
    for step in steps:
        if step == 0:
            study = Study.open(store)
        turn = study.next_turn(holder=f"arm {step % 2}", wait=False)
        if turn is None:
            break
        if step == 1 and study.fold.results:
            study.undo(rng.choice(sorted(study.fold.results)), reason="slip")
        elif step == 2:
            study.void(turn, reason="hardware fault")
        else:
            study.record(turn, rng.random() < {"a": 0.9, "b": 0.5, "c": 0.1}[turn.policy], holder=f"arm {step % 2}")
    again = Study.open(store).fold
    assert again.turns == study.fold.turns
    assert again.waiting == study.fold.waiting
    assert again.counted == study.fold.counted
    assert again.decision.verdict is study.verdict
    assert sf.verify(store).sound
