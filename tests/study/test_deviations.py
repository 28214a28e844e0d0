"""Tests of `surefoot.study.deviations`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from surefoot.sequential import run
from surefoot.study.deviations import Deviation, deviations, from_earlier, worst_case
from tests.support.ended_studies import finished, untidy
from tests.support.leases import left_behind
from tests.support.studies import Clock, begun, driven, outcomes, said_of


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "changes",
    [{"horizon": 60}, {"confidence": 0.9}, {"claim": "first better"}, {"rule": "nscore"}, {"margin": 0.05}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_binding_change_after_a_result_makes_the_verdict_exploratory(changes):
    study = driven(begun(), outcomes(1, new=0.9, old=0.3), 4)
    study.amend(changes, reason="second thoughts")
    driven(study, outcomes(2, new=0.95, old=0.2))
    study.unblind(reason="done")
    assert study.fold.exploratory
    said = [line for line in said_of(study.fold) if "amended after 4 results" in line]
    assert len(said) == 1
    assert "exploratory" in said[0]
    assert "second thoughts" in said[0]
    made = sf.report(study)
    assert "Exploratory" in str(made)
    assert "exploratory" in made.html()
    assert sf.verify(study.store).sound


def test_a_result_that_was_undone_was_seen_before_the_change():
    study = begun()
    turn = study.next_turn()
    study.record(turn, False)
    study.undo(turn, reason="slip")
    study.amend({"confidence": 0.8}, reason="second thoughts")
    assert study.fold.exploratory
    assert "amended after 1 result (" in said_of(study.fold)[0]
    assert said_of(study.fold)[0].endswith("The verdict is exploratory.")


def test_a_change_of_words_does_not():
    study = driven(begun(), outcomes(1, new=0.9, old=0.3), 4)
    study.amend({"reset": "Home the arm."}, reason="clearer")
    assert not study.fold.exploratory
    (said,) = said_of(study.fold)
    assert "reset from nothing to Home the arm." in said
    assert "exploratory" not in said


@pytest.mark.parametrize("changes", [{"tasks": ["mug"]}, {"conditions": ["left"]}, {"time_limit": 30.0}])
def test_dropping_a_task_after_results_makes_the_verdict_exploratory(changes):
    study = driven(begun(tasks=("mug", "towel"), conditions=("left", "right")), outcomes(1, new=0.9, old=0.3), 8)
    study.amend(changes, reason="it is too hard")
    assert study.fold.exploratory
    (said,) = said_of(study.fold)
    assert said.endswith("The verdict is exploratory.")


# --- deviations ---


def test_a_clean_study_has_none():
    study = finished()
    assert said_of(study.fold) == ()
    study.unblind(reason="done")
    assert said_of(study.fold) == ()


def test_each_departure_is_a_sentence():
    study = untidy()
    said = "\n".join(said_of(study.fold))
    policy = study.fold.turns[5].policy
    for part in (
        "unblinded before it was decided, after 6 results",
        "results after that were not blind",
        "could not wait",
        "1 pair was voided (wrong set-up 1), by the policy whose rollout was voided: ",
        "1 pair was voided after an outcome had been seen (turn 1 (",
        f"Turn 5 ({policy}): a success was undone and recorded again as a failure. Reason: wrong key.",
        f"1 result took longer than the time limit of 90 s: turn 5 ({policy}, 95.5 s).",
        "1 turn went to another holder when the first one's time had run out",
    ):
        assert part in said
    assert len(said_of(study.fold)) == 6


def test_results_after_the_decision_are_counted_apart():
    study = begun()
    ahead = study.next_turns(60)
    for turn in ahead:
        study.record(turn, turn.policy == "new")
    late = 60 - 2 * len(study.fold.counted)
    assert late > 0
    assert worst_case(study.fold) == (study.verdict,)
    assert f"{late} results came in after the decision and did not count." in said_of(study.fold)


def test_results_before_the_decision_of_later_pairs_are_told_as_what_they_are():
    study = begun()
    first, *ahead = study.next_turns(40)
    for turn in ahead:
        study.record(turn, turn.policy == "new")
    study.record(first, first.policy == "new")
    last = max(study.fold.counted)
    assert (
        f"{40 - 2 * last} results of later pairs were recorded while an earlier pair was still being run. The rule "
        f"reads pairs in the order in which they were scheduled and decided at pair {last}, so they were not needed "
        "and did not count."
    ) in said_of(study.fold)
    assert not any("after the decision" in told for told in said_of(study.fold))


def test_a_turn_handed_back_is_no_departure():
    study = begun()
    study.release(study.next_turn(holder="arm 1"))
    study.next_turn(holder="arm 2")
    assert said_of(study.fold) == ()


def test_the_worst_case_counts_seen_voids_against_the_winner():
    study = begun(horizon=40)
    clean = driven(begun(horizon=40), lambda turn: turn.policy == "new")
    needed = len(clean.fold.counted)
    for number in range(3):
        one, two = study.next_turns(2)
        study.record(one, True)
        study.void(two, reason="operator error")
        assert study.fold.voids[number + 1].body["seen"]
    driven(study, lambda turn: turn.policy == "new")
    assert study.verdict is sf.Verdict.BETTER
    assert len(study.fold.counted) == needed
    pairs = [(0.0, 1.0)] * 3 + [(1.0, 0.0)] * needed
    assert worst_case(study.fold) == (run(study.fold.decision.rule, pairs)[-1].verdict,) == (sf.Verdict.UNDECIDED,)
    study.unblind(reason="done")
    assert any("would be 'undecided' instead of 'better'" in line for line in said_of(study.fold))


def test_voids_before_any_outcome_change_no_worst_case():
    study = begun()
    study.void(study.next_turn(), reason="hardware fault")
    driven(study, lambda turn: turn.policy == "old")
    assert worst_case(study.fold) == (study.verdict,) == (sf.Verdict.WORSE,)
    study.unblind(reason="done")
    (said,) = said_of(study.fold)
    assert said.startswith("1 pair was voided (hardware fault 1), by the policy whose rollout was voided: ")


def test_a_list_that_was_changed_is_shown_whole():
    study = begun()
    study.amend({"void_reasons": ["rain", "safety stop"]}, reason="we work outdoors")
    (said,) = said_of(study.fold)
    assert "void reasons from " in said
    assert " to rain, safety stop. " in said


def test_a_pause_overnight_is_a_pause():
    """A phone holds six turns; its time runs out overnight and another takes them: only the first may have been run."""
    clock = Clock()
    study = begun(clock=clock)
    held = study.next_turns(6, holder="Ann (0a1b2c3d)")
    clock.on(hours=14)
    taken = study.next_turns(6, holder="Bob (1a2b3c4d)")
    assert taken == held
    (said,) = [line for line in said_of(study.fold) if "run twice" in line]
    assert said.startswith("1 turn went to another holder")
    assert "(turn 1)" in said
    clock = Clock()
    ended = begun(clock=clock)
    ended.next_turns(6, holder="Ann (0a1b2c3d)")
    ended.release(holder="Ann (0a1b2c3d)")  # what End session does
    clock.on(hours=14)
    ended.next_turns(6, holder="Bob (1a2b3c4d)")
    assert not any("run twice" in line for line in said_of(ended.fold))


def test_a_rule_that_ran_out_of_pairs_is_not_said_to_have_decided():
    study = left_behind()
    study.amend({"horizon": 3}, reason="no time")
    study.record(6, True)
    assert study.finished
    assert study.verdict is sf.Verdict.UNDECIDED
    (said,) = [line for line in said_of(study.fold) if "results of later pairs were recorded" in line]
    assert "scheduled and ended at pair 3, so they were not needed" in said


# --- as values ---


def test_a_deviation_is_a_value_with_its_sentence():
    study = begun(horizon=30)
    study.record(study.next_turn(), True)
    study.undo(1, reason="mistyped")
    study.amend({"time_limit": 60.0}, reason="slow robot")
    found = deviations(study.fold, ("line 3 was changed",))
    assert [one.kind for one in found] == ["fault", "amendment", "undo"]
    assert found[0].values == {"fault": "line 3 was changed"}
    assert found[1].values == {"changes": {"time_limit": 60.0}, "results": 1, "binding": True}
    assert found[2].values == {"undone": 1}  # while blinded, not of which policy
    for one in found:
        assert Deviation.from_dict(json.loads(json.dumps(one.to_dict()))) == one
        assert str(one) == one.says


def test_sentences_of_earlier_reports_are_notes():
    now = Deviation("late", "2 results came in after the decision and did not count.", {"results": 2}).to_dict()
    assert from_earlier(["1 pair was voided.", now]) == [Deviation("note", "1 pair was voided.").to_dict(), now]
