"""Rigs and operators: pairs stay on one, all are met equally often, and only rules that allow for it are admitted."""

from __future__ import annotations

from collections import Counter

import pytest

from surefoot.errors import StudyError
from surefoot.sequential import ExactPairedBinary
from surefoot.study.decision import rule_of
from surefoot.study.plans import Plan
from surefoot.study.schedules import block
from surefoot.study.stores.memory import MemoryStore
from tests.support.studies import LAB, begun

SEED = "c" * 64
TWO = {"policies": ("new", "old"), "rigs": ("left", "right"), "operators": ("Ana", "Ben", "Cleo")}


def met(plan, rounds, seed=SEED):
    size = len(plan.policies)
    return [block(plan, seed, at, size * (at - 1) + 1, plan.policies, schema=3) for at in range(1, rounds + 1)]


def test_pairs_stay_on_one_rig_and_are_balanced_over_rigs_and_operators():
    for plan in (Plan(**TWO, horizon=60, tasks=("mug", "towel"), conditions=5), Plan.from_toml(LAB)):
        turns = met(plan, plan.horizon)
        assert all(len({(one.rig, one.operator, one.task, one.condition) for one in pair}) == 1 for pair in turns)
        for names in (("rig",), ("operator",), ("rig", "operator"), ("task",), ("task", "condition"), ("task", "rig")):
            counts = Counter(tuple(getattr(pair[0], name) for name in names) for pair in turns)
            assert max(counts.values()) - min(counts.values()) <= 1, (names, counts)


def test_tasks_are_met_equally_often_whatever_conditions_they_have():
    plan = Plan(
        policies=("new", "old"),
        environments="shared",
        horizon=60,
        tasks=({"name": "mug", "conditions": 2}, {"name": "towel", "conditions": 20}),
    )
    counts = Counter(pair[0].task for pair in met(plan, 60))
    assert counts == {"mug": 30, "towel": 30}


def test_independent_rollouts_draw_tasks_equally_often():
    tasks = ({"name": "mug", "conditions": 2}, {"name": "towel", "conditions": 18})
    plan = Plan(policies=("new", "old"), horizon=400, tasks=tasks)
    counts = Counter(one.task for pair in met(plan, 400) for one in pair)
    assert abs(counts["mug"] - 400) < 5 * 200**0.5
    within = Counter(one.condition for pair in met(plan, 400) for one in pair if one.task == "mug")
    assert abs(within["1"] - within["2"]) < 5 * counts["mug"] ** 0.5


def test_a_pair_on_one_rig_is_not_independent():
    plan = Plan(**TWO, horizon=50)
    assert plan.environments == "shared"
    assert isinstance(rule_of(plan), ExactPairedBinary)
    with pytest.raises(ValueError, match="not be 'independent'"):
        Plan(**TWO, environments="independent")
    with pytest.raises(ValueError, match="not be 'one' with 6 rigs, operators, tasks and conditions"):
        Plan(**TWO, environments="one")


def test_one_rig_is_only_told():
    plan = Plan(policies=("new", "old"), rigs=("left",))
    assert plan.environments == "independent"
    assert {one.rig for pair in met(plan, 9) for one in pair} == {"left"}


def test_a_pair_runs_where_both_policies_may():
    only = {"name": "new", "rigs": ["left", "right"]}, {"name": "old", "rigs": ["right", "third"]}
    plan = Plan(policies=only, rigs=("left", "right", "third"))
    assert plan.stations == (("right", ""),)
    with pytest.raises(ValueError, match="name one on which every policy may run"):
        Plan(policies=({"name": "new", "rigs": ["a"]}, {"name": "old", "rigs": ["b"]}), rigs=("a", "b"))
    with pytest.raises(ValueError, match=r"leave out third; got .* No policy may run there"):
        Plan(policies=({"name": "new", "rigs": ["a"]}, {"name": "old", "rigs": ["a"]}), rigs=("a", "third"))
    with pytest.raises(ValueError, match="`rigs` must name z"):
        Plan(policies=({"name": "new", "rigs": ["z"]}, "old"), rigs=("a",))


def test_a_study_hands_out_its_rig_and_operator_and_keeps_the_stage():
    study = begun(rigs=("left", "right"), stages={"grasped": 0.5, "placed": 1}, blinded=False, rule=None)
    turn = study.next_turn()
    assert turn.rig in ("left", "right")
    study.record(turn, stage="grasped")
    kept = study.fold.results[turn.number]
    assert (kept.score, kept.stage) == (0.5, "grasped")
    other = study.next_turn()
    assert other.rig == turn.rig
    with pytest.raises(StudyError, match="counts 0"):
        study.record(other, 1.0, stage="grasped")
    with pytest.raises(StudyError, match="`stage` must be one of grasped, placed"):
        study.record(other, stage="thrown")
    study.record(other, 0.0)
    table = study.rollouts().frame.collect()
    assert set(table["robot"]) == {turn.rig}
    assert table["stage"].to_list() == ["grasped", None]


@pytest.mark.parametrize("policies", [("new", "old"), ("new", "old", "third")])
def test_each_rig_gets_its_own_turns_and_the_rule_reads_them_in_scheduled_order(policies):
    study = begun(policies=policies, rigs=("left", "right"), horizon=12, blinded=False, rule=None, futility=0.0)
    planned = {one.number: one for turns in met(study.plan, 12, study.fold.seed.reveal()) for one in turns}
    read = []
    while not study.finished:
        for rig in ("right", "left", "left"):  # the phone at the left is quicker
            turn = study.next_turn(holder=f"phone at the {rig}", rig=rig, wait=False)
            if turn is not None:
                assert turn == planned[turn.number]
                assert turn.rig == rig
                study.record(turn, turn.number % 2 == 0)
        read.append(study.fold.count)
    assert read == sorted(read)
    assert study.fold.counted == list(range(1, study.fold.count + 1))
    kept = [event.body["rig"] for event in study.fold.history if event.kind == "leased" and "rig" in event.body]
    assert {"left", "right"} == set(kept)
    again = type(study).restore(study.export(), MemoryStore())
    assert again.fold.results == study.fold.results
    assert again.fold.turns == study.fold.turns


def test_a_rig_whose_device_is_away_holds_the_other_up_and_is_named():
    study = begun(rigs=("left", "right"), horizon=40)
    while (turn := study.next_turn(holder="phone", rig="left", wait=False)) is not None:
        study.record(turn, True)
        assert turn.rig == "left"
    waits = study.status().waits
    assert study.fold.turns[waits.turn].rig == "right"
    assert f"waits for turn {waits.turn}, which nobody holds: whoever asks next at right gets it" in waits.sentence
    assert len(study.fold.results) < 40
    first = study.next_turn(holder="another", rig="right", wait=False)
    assert first.number == waits.turn
    mine = study.next_turns(3, holder="another", rig="right")
    assert mine[0] == first
    assert {one.rig for one in mine} == {"right"}


def test_a_rig_must_be_one_where_every_policy_may_run():
    study = begun(policies=({"name": "new", "rigs": ["left"]}, "old"), rigs=("left", "right"))
    with pytest.raises(StudyError, match="`rig` must be one of left; got 'right'"):
        study.next_turn(rig="right")
    with pytest.raises(StudyError, match="`rig` must be left out: the plan names no rigs; got 'left'"):
        begun().next_turns(2, rig="left")


def test_a_log_cannot_hand_out_a_later_turn_than_the_next_on_its_rig():
    study = begun(rigs=("left", "right"), horizon=20)
    seed, plan = study.fold.seed.reveal(), study.plan
    later = [turns[0] for turns in met(plan, 20, seed) if turns[0].rig == "right"][1]
    body = {"turn": later.number, "holder": "phone", "seconds": 60.0, "rig": "right"}
    with pytest.raises(StudyError, match=rf"turn \d+ comes next, not turn {later.number}"):
        study._write(lambda _: ("leased", body))
