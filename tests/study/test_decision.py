"""Tests of `surefoot.study.decision`."""

from __future__ import annotations

import random

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import FiniteHorizonMixture, run
from tests.studies import begun, driven, outcomes
from tests.support.ended_studies import finished


@pytest.mark.parametrize("changes", [{"horizon": 80}, {"confidence": 0.99}, {"rule": "wsr"}, {"margin": 0.1}])
def test_a_decision_stays(changes):
    study = finished()
    before = study.store.read()
    with pytest.raises(StudyError, match=r"is decided, and a decision stays: .* To ask again, begin another study"):
        study.amend(changes, reason="more")
    assert study.store.read() == before
    study.amend({"reset": "Home the arm."}, reason="clearer")  # words still may


def test_an_undecided_end_may_be_extended():
    study = driven(begun(horizon=4), lambda turn: True)
    assert study.finished
    study.amend({"horizon": 8}, reason="too short")
    assert not study.finished
    assert study.status().exploratory


def test_a_failure_that_ends_sooner_does_not_bias_the_verdict():
    """Many robots; failures return at once, successes late. In order of completion, true nulls would be rejected."""
    rng, wrong, biased, studies = random.Random(11), 0, 0, 100
    for number in range(studies):
        study = begun(horizon=30, seed=number)
        pending: list[tuple[float, int, bool]] = []
        clock, finished_pairs, seen = 0.0, [], {}
        while not study.finished:
            ahead = study.next_turns(16, holder="arms")
            for turn in ahead:
                if turn.number not in {number for _, number, _ in pending} | set(seen):
                    success = rng.random() < 0.5
                    slow = 8.0 if success == (turn.policy == "new") else 1.0  # what speaks for `old` comes late
                    pending.append((clock + slow, turn.number, success))
            if not pending:
                break
            pending.sort()
            clock, number, success = pending.pop(0)
            study.record(number, success)
            seen[number] = success
            turns = study.fold.blocks[study.fold.turns[number].block]
            if all(turn.number in seen for turn in turns):
                finished_pairs.append({turn.policy: seen[turn.number] for turn in turns})
        wrong += study.verdict is not sf.Verdict.UNDECIDED
        rule = FiniteHorizonMixture(30, claim="either", binary=True)
        states = run(rule, [(pair["new"], pair["old"]) for pair in finished_pairs])
        biased += bool(states) and states[-1].verdict is not sf.Verdict.UNDECIDED
    assert wrong <= 13  # at 5%, more than 13 of 100 happen once in 2,000
    assert biased > 2 * wrong


def test_settled_policies_are_dropped_and_others_go_on():
    study = driven(begun(policies=("a", "b", "c"), horizon=60), outcomes(2, a=0.97, b=0.5, c=0.02))
    sizes = [len(turns) for _, turns in sorted(study.fold.blocks.items())]
    assert sizes[0] == 3
    assert sizes[-1] == 2
    assert sizes == sorted(sizes, reverse=True)
    assert {turn.policy for turn in study.fold.blocks[len(sizes)]} in ({"a", "b"}, {"b", "c"})
    assert study.verdict is sf.Verdict.BETTER
    numbers = [turn.number for _, turns in sorted(study.fold.blocks.items()) for turn in turns]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_policy_that_comes_back_after_an_undo_can_still_be_settled():
    study = begun(policies=("a", "b", "c"), horizon=40)
    rng = random.Random(4)
    while len(study.fold.decision.active) == 3:
        turn = study.next_turn()
        study.record(turn, rng.random() < {"a": 0.9, "b": 0.6, "c": 0.02}[turn.policy])
    for _ in range(6):
        study.record(study.next_turn(), True)
    last = max(n for n in study.fold.results if study.fold.turns[n].policy == "c")
    study.undo(last, reason="wrong key")
    study.record(last, True)
    while (turn := study.next_turn()) is not None:
        study.record(turn, rng.random() < {"a": 0.9, "b": 0.6, "c": 0.02}[turn.policy])
    assert study.finished
    assert sf.verify(study.store).sound


def test_the_horizon_ends_the_study_and_voids_do_not_use_it_up():
    study = begun(horizon=6, rule="fixed", confidence=0.95)
    study.void(study.next_turn(), reason="hardware fault")
    driven(study, lambda turn: True)
    assert study.fold.counted == [2, 3, 4, 5, 6, 7]
    assert study.finished
    assert study.next_turn() is None
    assert study.status().decision == "stop: nothing more can be decided"
