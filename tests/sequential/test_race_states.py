"""Tests of `surefoot.sequential.race`."""

import json

import pytest

from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential import Race, RankingRule


def raced(rule, rates, rounds=1000):
    state = rule.start()
    while not state.finished and state.rounds < rounds:
        state = rule.step(state, {name: [rates[name]] * turns for name, turns in state.turns.items()})
    return state


RATES = {"a": 0.1, "b": 0.9, "c": 0.5}


def test_room_is_counted_in_rounds_and_a_budget_in_rollouts():
    state = raced(Race(tuple(RATES), 60), RATES, 4)
    assert (state.room, state.spent, state.rule.most) == (56, False, 180)
    twelve = Race(tuple(f"p{i}" for i in range(12)), 60)
    assert twelve.most == 60 * (12 + 1)
    bought = raced(Race(tuple(RATES), 60, budget=30), RATES, 4)
    assert (bought.room, bought.rule.most) == ((30 - bought.rollouts_used) // len(bought.running), 30)


def test_of_the_first_policy_it_says_worse_or_nothing():
    assert raced(Race(tuple(RATES), 60), RATES).of_first is Verdict.WORSE
    best = raced(Race(("b", "a", "c"), 60), RATES)
    assert (best.named, best.of_first) == ("b", Verdict.UNDECIDED)


def test_a_round_handed_out_ahead_counts_as_it_was_run():
    rule = Race(tuple(f"p{i}" for i in range(12)), 60)
    state = rule.start()
    host = next(name for name, turns in state.turns.items() if turns > 1)
    other = next(name for name in rule.names if name != host)
    rows = {name: [1.0, 0.0] if name == other else [1.0] for name in rule.names}
    with pytest.raises(ValueError, match="as `turns` asks"):
        rule.step(state, rows)
    after = rule.after_block(state, rows)
    assert dict(zip(rule.names, after.rollouts, strict=True))[other] == 2
    assert dict(zip(rule.names, after.rollouts, strict=True))[host] == 1
    assert rule.after_block(after, {host: [1.0]}) is after  # some who run are missing
    plain = RankingRule(("a", "b", "c"), 9)
    assert plain.after_block(plain.start(), {name: [1.0] for name in "abcd"}).rollouts == (1, 1, 1)


def test_it_is_kept_as_a_record():
    state = raced(Race(tuple(RATES), 60, within=0.2), RATES)
    assert Record.from_dict(json.loads(json.dumps(state.to_dict()))) == state
