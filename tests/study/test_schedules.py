"""Which rollout comes next: fixed by plan, seed and log, balanced, mixed, blind, and never handed out twice."""

from __future__ import annotations

import gc
import math
import os
import random
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import StudyError
from surefoot.sequential import FiniteHorizonMixture, run
from surefoot.study import leases
from surefoot.study.schedules import ALPHABET, STICK, block, code, shuffle
from surefoot.study.state import folded
from surefoot.study.stores.memory import MemoryStore
from surefoot.study.studies import Study
from tests.studies import Clock, begun, driven, outcomes, plan, score

SEED = "a" * 64
MANY = plan(tasks=("mug", "towel", "drawer"), conditions=("left", "right"))


def scheduled(declared, count, seed=SEED, schema=2):
    size, names = len(declared.policies), declared.policies
    return [block(declared, seed, n, size * (n - 1) + 1, names, schema=schema) for n in range(1, count + 1)]


# --- a pure function ---


def test_the_same_plan_seed_and_log_give_the_same_turns():
    assert scheduled(MANY, 30) == scheduled(MANY, 30)
    assert scheduled(MANY, 30) != scheduled(MANY, 30, seed="b" * 64)


@pytest.mark.parametrize(("schema", "orders"), [(1, "ononnonononoononononnono"), (2, "onnononononoonnononoonno")])
def test_a_schedule_is_fixed_for_ever(schema, orders):
    """Old logs are read by recomputing their turns: a change here would turn their verdicts round."""
    turns = [turn for turns in scheduled(MANY, 12, schema=schema) for turn in turns]
    assert "".join(turn.policy[0] for turn in turns) == orders
    assert [(t.code, t.task, t.condition) for t in turns[:4]] == [
        ("TQKY", "mug", "right"),
        ("PYJJ", "mug", "left"),
        ("BN5C", "towel", "left"),
        ("LYWA", "towel", "left"),
    ]


def test_replaying_the_log_gives_the_same_turns_and_verdict():
    study = driven(begun(tasks=("a", "b")), outcomes(3, new=0.9, old=0.5))
    again = folded(study.store.read())
    assert again.turns == study.fold.turns
    assert again.results == study.fold.results
    assert again.decision.verdict is study.verdict


@given(st.integers(0, 10**6), st.lists(st.integers(0, 5), min_size=1, max_size=60))
@settings(max_examples=40, deadline=None)
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


# --- balance and mixing ---


def guesses(count, seed, schema):
    """How many of the next orders somebody guesses right who knows all before: by counting, in groups and in all."""
    firsts = [turns[0].policy for turns in scheduled(MANY, count, seed=seed, schema=schema)]
    right = 0.0
    for place, policy in enumerate(firsts):
        before = firsts[:place]
        lead = before.count("new") - before.count("old")
        group = firsts[place - place % 4 : place]
        behind = {1: "old", -1: "new"}.get((lead > 0) - (lead < 0)) if abs(lead) >= STICK else None
        if schema == 1:  # two of each order in every four: whichever is behind in the group comes more likely
            ahead = group.count("new") - group.count("old")
            behind = {1: "old", -1: "new"}.get((ahead > 0) - (ahead < 0))
        right += 0.5 if behind is None else behind == policy
    return right


def test_the_next_order_is_guessed_at_most_56_times_in_a_hundred():
    seeds, count = range(20), 300
    new, old = (sum(guesses(count, f"{seed:064x}", schema) for seed in seeds) / (count * 20) for schema in (2, 1))
    assert 0.5 < new <= 0.56
    assert old > 0.65  # groups of four gave the order away
    for seed in seeds:
        lead = 0
        for turns in scheduled(MANY, count, seed=f"{seed:064x}"):
            lead += 1 if turns[0].policy == "new" else -1
            assert abs(lead) <= STICK


def test_orders_of_the_first_schema_balance_in_every_four_pairs():
    firsts = [turns[0].policy for turns in scheduled(MANY, 400, schema=1)]
    for start in range(0, 400, 4):
        assert Counter(firsts[start : start + 4]) == {"new": 2, "old": 2}
    assert len({tuple(firsts[start : start + 4]) for start in range(0, 400, 4)}) == 6


@pytest.mark.parametrize("schema", [1, 2])
def test_every_policy_is_as_often_at_every_place(schema):
    declared = plan(policies=("a", "b", "c"))
    orders = [tuple(turn.policy for turn in turns) for turns in scheduled(declared, 400, schema=schema)]
    places = Counter((policy, place) for order in orders for place, policy in enumerate(order))
    assert all(abs(count - 400 / 3) < 5 * math.sqrt(400 * 2 / 9) for count in places.values())
    for start in range(0, 400 if schema == 1 else 0, 4):
        group = orders[start : start + 4]
        assert Counter(group) == Counter(order[::-1] for order in group)


@pytest.mark.parametrize("environments", ["shared", "stratified"])
def test_contexts_are_dealt_evenly_and_mixed(environments):
    declared = MANY.amended({"environments": environments})
    met = [turns[0] for turns in scheduled(declared, 120)]
    contexts = [(turn.task, turn.condition) for turn in met]
    assert all(turns[0].task == turns[1].task for turns in scheduled(declared, 120))
    for start in range(0, 120, 6):
        assert Counter(contexts[start : start + 6]) == Counter(declared.contexts)
    changes = sum(one != other for one, other in pairwise(contexts))
    assert changes > 0.75 * 119
    assert len({tuple(contexts[start : start + 6]) for start in range(0, 120, 6)}) > 15


def test_independent_rollouts_draw_each_their_own_context():
    turns = [turn for turns in scheduled(MANY, 600) for turn in turns]
    counts = Counter((turn.task, turn.condition) for turn in turns)
    assert all(abs(count - 200) < 5 * math.sqrt(1200 * 5 / 36) for count in counts.values())
    same = sum((a.task, a.condition) == (b.task, b.condition) for a, b in scheduled(MANY, 600))
    assert abs(same - 100) < 5 * math.sqrt(600 * 5 / 36)


def test_policies_do_not_follow_contexts():
    counts = Counter((turn.policy, turn.task) for turns in scheduled(MANY, 600) for turn in turns)
    assert all(abs(count - 200) < 5 * math.sqrt(200) for count in counts.values())


def test_a_shuffle_keeps_its_items():
    assert sorted(shuffle(SEED, "x", range(50))) == list(range(50))
    firsts = Counter(shuffle(SEED, str(i), range(4))[0] for i in range(4000))
    assert all(abs(count - 1000) < 5 * math.sqrt(750) for count in firsts.values())


# --- blind codes ---


def test_codes_never_repeat():
    codes = [code(SEED, number) for number in range(1, 30_001)]
    assert len(set(codes)) == len(codes)
    assert all(len(word) == 4 and set(word) <= set(ALPHABET) for word in codes)
    assert len(code(SEED, 32**4 + 1)) == 6


def test_codes_tell_nothing_of_the_policy():
    letters: dict[str, Counter] = {"new": Counter(), "old": Counter()}
    for turns in scheduled(MANY, 2000):
        for turn in turns:
            letters[turn.policy][turn.code[0]] += 1
    chi = sum(
        (letters[policy][letter] - both / 2) ** 2 / (both / 2)
        for letter in ALPHABET
        for both in [letters["new"][letter] + letters["old"][letter]]
        for policy in letters
    )
    assert chi < 70  # 31 degrees of freedom: above 70 once in 10,000


def test_a_seed_is_secret_and_fresh():
    one, other = (Study.create(plan(), ":memory:") for _ in range(2))
    assert one.fold.seed != other.fold.seed
    assert len(one.fold.seed.reveal()) == 64
    assert one.fold.seed.reveal() not in str(one.store.read()[0].to_dict())
    assert one.fold.seed.reveal() not in repr(one.fold) + repr(one.store.read())


# --- several robots ---


def test_two_robots_hold_different_turns_and_get_theirs_back():
    study = begun()
    one, two = study.next_turn(holder="arm 1"), study.next_turn(holder="arm 2")
    assert (one.number, two.number) == (1, 3)  # a pair stays with one robot
    assert study.next_turn(holder="arm 1") == one
    study.record(two, True)
    assert study.next_turn(holder="arm 2").number == 4


def test_a_lease_that_has_run_out_frees_the_turn():
    clock = Clock()
    study = begun(clock=clock)
    first = study.next_turn(holder="arm 1", lease=timedelta(minutes=10))
    clock.on(minutes=9)
    assert study.next_turn(holder="arm 2") != first
    clock.on(minutes=2)
    assert study.next_turn(holder="arm 3") == first
    study.record(first, True, holder="arm 3")
    with pytest.raises(StudyError, match=r"already has a result\. It was not overwritten: undo it first"):
        study.record(first, False, holder="arm 3")


def test_a_result_after_the_lease_counts_while_nobody_else_gave_one():
    clock = Clock()
    study = begun(clock=clock)
    turn = study.next_turn(holder="arm 1", lease=timedelta(minutes=10))
    clock.on(hours=2)
    study.record(turn, True)
    assert study.fold.results[turn.number].score == 1.0


def test_a_turn_handed_back_is_free_at_once():
    study = begun()
    turn = study.next_turn(holder="arm 1")
    study.release(turn)
    study.release(turn)
    assert study.next_turn(holder="arm 2") == turn


def test_turns_can_be_held_ahead():
    study = begun()
    ahead = study.next_turns(5, holder="phone")
    assert [turn.number for turn in ahead] == [1, 2, 3, 4, 5]
    assert study.next_turn(holder="other").number == 7  # the fifth's pair stays where it was begun


def test_no_lease_ends_while_the_next_turn_is_taken():
    class Slow(Clock):
        def __call__(self):
            self.on(seconds=1)
            return self.now

    study = begun(clock=Slow())
    assert len(study.next_turns(5, holder="phone", lease=timedelta(minutes=2))) == 5
    assert study.version == 6


def test_two_programs_without_a_name_never_share_a_turn():
    store = MemoryStore()
    one, two = begun(store), Study.open(store)
    assert one.next_turn().number != two.next_turn().number
    assert one.next_turn().number == 1


def test_a_program_without_a_name_that_ended_leaves_its_turn_to_the_next():
    store = MemoryStore()
    study = begun(store)
    first = study.next_turn()
    del study
    gc.collect()
    assert Study.open(store).next_turn() == first


CRASH = """
import os, sys
from surefoot import Study
study = Study.open(sys.argv[1])
print(study.next_turn().number, flush=True)
os._exit(9)
"""


def test_a_crashed_process_leaves_its_turn_to_the_next(tmp_path):
    begun(tmp_path / "study.db")
    words = [sys.executable, "-c", CRASH, tmp_path / "study.db"]
    assert [subprocess.run(words, capture_output=True, check=False).stdout for _ in range(2)] == [b"1\n", b"1\n"]
    assert Study.open(tmp_path / "study.db").next_turn().number == 1


def test_whether_a_holder_is_gone_is_never_guessed():
    living = leases.Unnamed()
    assert not leases.gone(living.name)
    assert not leases.gone("arm 1")
    assert not leases.gone("unnamed@elsewhere/1/1")
    assert not leases.gone("unnamed@")
    assert not leases.gone(living.name.replace(f"/{os.getpid()}/", "/1/"))
    assert not leases.gone(living.name.replace(f"/{os.getpid()}/", f"/{10**30}/"))  # no process has this number
    assert leases.gone(living.name.replace(f"/{os.getpid()}/", "/4194000/"))


def test_a_clock_that_jumps_holds_no_lease_for_ever_and_is_named():
    clock = Clock()
    study = begun(clock=clock)
    turn = study.next_turn(holder="arm 1")
    clock.on(days=400)
    study.check(["homed"])  # one line of a date to come
    clock.on(days=-400)
    study.record(turn, True)
    held = study.next_turn(holder="arm 1")
    clock.on(hours=2)
    again = Study.open(study.store, clock=clock)
    assert again.next_turn(holder="arm 2") == held
    found = sf.verify(study.store)
    assert found.sound
    assert "400 days before line 3: the clock of whoever wrote one of them was wrong" in str(found)


def test_a_lease_is_measured_by_the_clock_that_saw_it_handed_out():
    ahead, here = Clock(), Clock()
    ahead.on(days=900)
    study = begun(clock=here)
    other = Study.open(study.store, clock=ahead)
    first = other.next_turn(holder="arm 1")
    study.refresh()
    assert study.next_turn(holder="arm 2", wait=False) != first
    here.on(minutes=61)  # the same hour as for every lease, whatever the date was said to be
    assert first in study.next_turns(9, holder="arm 3")


# --- the rule sees pairs in scheduled order ---


def test_pairs_enter_in_scheduled_order_as_the_completed_prefix_grows():
    study = begun()
    ahead = study.next_turns(6)
    for number in (3, 4, 5, 6):
        study.record(ahead[number - 1], True)
        assert study.fold.counted == []
    study.record(ahead[0], False)
    assert study.fold.counted == []
    study.record(ahead[1], True)
    assert study.fold.counted == [1, 2, 3]
    state = study.fold.decision.state
    pairs = [tuple(score(study, n)[policy] for policy in ("new", "old")) for n in (1, 2, 3)]
    assert state == run(state.rule, pairs)[-1]


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
