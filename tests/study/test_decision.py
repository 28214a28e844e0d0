"""Tests of `surefoot.study.decision`."""

from __future__ import annotations

import random

import pytest

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import ClosedRanking, FiniteHorizonMixture, run, run_ranking
from surefoot.sequential.betting import BettingState
from surefoot.study.recording import RefusedError
from surefoot.study.state import folded
from tests.support.ended_studies import finished
from tests.support.studies import begun, driven, outcomes, said_of, score


@pytest.mark.parametrize("changes", [{"horizon": 80}, {"confidence": 0.99}, {"rule": "wsr"}, {"margin": 0.1}])
def test_a_decision_stays(changes):
    study = finished()
    before = study.store.read()
    with pytest.raises(StudyError, match=r"is decided, and a decision is final: .* To ask again, begin another study"):
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
    while len(study.fold.decision.turns) == 3:
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


# --- three policies or more: closed testing ---

RATES = {"a": 0.95, "b": 0.5, "c": 0.1, "d": 0.7}


def ranked(**changes):
    """A study of three policies by the rule that a new plan gets."""
    return begun(**{"policies": ("a", "b", "c"), "rule": None, "horizon": 60, "futility": 0.0, **changes})


def rounds_of(study):
    fold = study.fold
    return [score(study, number) for number in fold.counted]


def added_on_the_way(seed, at=30, **changes):
    study, robot = ranked(**changes), outcomes(seed, **RATES)
    driven(study, robot, at)
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    return study, robot


def test_rounds_are_dealt_only_to_policies_that_still_run():
    study = driven(ranked(horizon=200), outcomes(1, **RATES))
    fold = study.fold
    assert study.plan.rule == "closed"
    assert fold.decision.ending == "verdict"
    assert fold.decision.state.complete
    sizes = [len(fold.blocks[number]) for number in fold.counted]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 3
    assert sizes[-1] == 2
    assert sum(sizes) == fold.decision.state.rollouts_used == len(fold.results)
    assert sf.verify(study.store).sound


@pytest.mark.parametrize(("question", "best"), [("best", ("a",)), ("best or tied", ("a",)), ("against c", ())])
def test_a_plan_may_ask_for_less(question, best):
    study = driven(ranked(question=question, horizon=200), outcomes(2, **RATES))
    state = study.fold.decision.state
    assert (state.complete, state.best) == (True, best)
    whole = driven(ranked(horizon=200), outcomes(2, **RATES)).fold.decision.state
    assert state.rollouts_used <= whole.rollouts_used
    assert sf.verify(study.store).sound
    assert question in study.plan.to_toml()
    assert sf.Plan.from_toml(study.plan.to_toml()) == study.plan


@pytest.mark.parametrize("seed", range(4))
def test_a_policy_added_on_the_way_is_what_the_rule_says_of_one_that_joined(seed):
    study, robot = added_on_the_way(seed)
    joined = study.fold.decision.taken
    driven(study, robot)
    fold, state = study.fold, study.fold.decision.state
    assert fold.exploratory is False
    assert fold.joins == {"d": joined}
    rule = ClosedRanking(("a", "b", "c", "d"), 60, binary=True, joined=(0, 0, 0, joined))
    assert run_ranking(rule, rounds_of(study))[-1] == state
    assert state.rollouts[3] > 0
    found = sf.verify(study.store)
    assert found.sound, found.faults
    (said,) = said_of(fold)
    assert said.startswith("d was added after 30 results (2026-")
    assert f"to run from round {joined + 1} on. The promise holds as declared" in said
    assert "a new checkpoint" in said
    assert f"d joined after {joined} rounds." in str(state)


def test_one_added_while_a_round_is_run_joins_after_it():
    study, robot = ranked(), outcomes(5, **RATES)
    driven(study, robot, 4)
    turn = study.next_turn()
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    assert study.fold.joins == {"d": 2}
    assert "d" not in study.fold.decision.rule.names
    assert study.verdict is sf.Verdict.UNDECIDED
    study.record(turn, robot(turn))
    driven(study, robot, 1)
    assert study.fold.decision.rule.joined == (0, 0, 0, 2)
    driven(study, robot, 4)
    assert {turn.policy for turn in study.fold.blocks[3]} == set("abcd")


def test_rounds_handed_out_before_it_has_joined_have_its_turns_too():
    study, robot = ranked(), outcomes(5, **RATES)
    driven(study, robot, 3)
    late = study.next_turns(3, holder="slow")
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    quick = study.next_turns(4, holder="quick")
    assert {turn.policy for turn in quick} == set("abcd")
    for turn in (*quick, *late):
        study.record(turn, robot(turn), holder="quick" if turn in quick else "slow")
    assert study.fold.counted == [1, 2, 3]
    assert study.fold.decision.state.rollouts == (3, 3, 3, 1)
    assert sf.verify(study.store).sound


def test_one_added_to_a_ranking_that_is_complete_sets_it_going_again():
    study, robot = ranked(horizon=200), outcomes(1, **RATES)
    driven(study, robot)
    before = study.fold.decision.state
    assert study.next_turn() is None
    study.amend({"policies": ["a", "b", "c", "d"]}, reason="a new checkpoint")
    driven(study, robot)
    after = study.fold.decision.state
    assert after.rollouts_used > before.rollouts_used
    for one, other in before.rule.pairs:
        assert after.verdict(one, other) is before.verdict(one, other)
    assert sf.verify(study.store).sound


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_undone_or_voided_around_it_the_log_verifies(seed):
    rng = random.Random(seed)
    study, robot = added_on_the_way(seed, at=rng.randint(1, 40), futility=rng.choice((0.0, 0.1)))
    for _ in range(12):
        driven(study, robot, rng.randint(1, 5))
        done = sorted(study.fold.results)
        if rng.random() < 0.5:
            study.undo(rng.choice(done), reason="misread")
        else:
            study.void(rng.choice(done), reason="hardware fault")
    driven(study, robot)
    found = sf.verify(study.store)
    assert found.sound, found.faults
    again = folded(study.store.read())
    assert again.decision.state == study.fold.decision.state
    assert again.counted == study.fold.counted
    assert len(again.counted) == again.count == again.decision.taken


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policies": ["a", "b", "d"]}, "`policies` can only grow once turns were handed out"),
        ({"policies": ["d", "a", "b", "c"]}, "then the new one, and change nothing else"),
        ({"policies": ["a", "b", "c", "d"], "horizon": 80}, "change nothing else"),
        ({"policies": ["a", "b", "c", "a"]}, "not repeat a name"),
        ({"policies": ["a", "b", "c", *"defgh"]}, "None can join so that 8 policies run by closed ranking."),
        ({"policies": ["a", "b", "c", 4]}, "non-empty names"),
        ({"question": "against nobody"}, "`question` must be one of ranking, best"),
    ],
)
def test_what_cannot_join_is_refused_and_changes_nothing(changes, said):
    study = driven(ranked(), outcomes(6, **RATES), 7)
    before = (study.version, study.fold.decision.state)
    with pytest.raises(RefusedError, match=said):
        study.amend(changes, reason="why not")
    assert (study.version, study.fold.decision.state) == before


def test_nobody_joins_at_the_horizon_or_a_ranking_by_holm():
    over = driven(ranked(horizon=4), lambda turn: True)
    with pytest.raises(RefusedError, match="all others have reached the horizon"):
        over.amend({"policies": ["a", "b", "c", "d"]}, reason="late")
    holm = driven(ranked(rule="holm"), outcomes(6, **RATES), 7)
    with pytest.raises(RefusedError, match="`policies` cannot change once turns were handed out"):
        holm.amend({"policies": ["a", "b", "c", "d"]}, reason="late")


def test_pairs_that_will_hardly_be_decided_are_paused_and_may_be_run_all_the_same():
    study = driven(ranked(horizon=100, futility=0.1), outcomes(7, a=0.9, b=0.5, c=0.5))
    decision = study.fold.decision
    assert decision.state.paused == (("b", "c"),)
    assert "b and c: not decidable within 100 rounds." in str(decision.state)
    assert study.verdict is sf.Verdict.BETTER
    assert study.status().decision == "stop: hardly any chance left to decide"  # of b and c, which were asked about too
    tied = driven(ranked(horizon=100, futility=0.1), outcomes(8, a=0.5, b=0.5, c=0.5))
    assert tied.status().decision == "stop: hardly any chance left to decide"
    used = tied.fold.decision.state.rollouts_used
    tied.override(reason="the robot is free")
    driven(tied, outcomes(9, a=0.9, b=0.5, c=0.1))
    assert tied.fold.decision.state.rollouts_used > used
    found = sf.verify(tied.store)
    assert found.sound, found.faults
    assert "Every claim of the ranking holds as declared. Reason: the robot is free." in said_of(tied.fold)[0]


def test_two_policies_have_one_question():
    with pytest.raises(ValueError, match="`question` must be 'ranking' or 'best' for two policies, or left out"):
        sf.Plan(policies=("a", "b"), question="against a")
    assert "question =" not in sf.Plan(policies=("a", "b")).to_toml()


def test_how_a_rule_stands_is_found_once_for_each_pair(monkeypatch):
    asked = []
    monkeypatch.setattr(BettingState, "futile", property(lambda state: bool(asked.append(state.pairs))))
    study = driven(begun(), lambda turn: turn.block % 2 == 0, 6)
    before = len(asked)
    for _ in range(20):
        assert study.status().decision == "continue"
        assert not study.finished
    assert len(asked) == before
    assert study.fold.decision.ending is None
