"""Tests of `surefoot.sequential.rules`."""

import dataclasses
import inspect
import json

import pytest

from surefoot.core.record import Record
from surefoot.sequential import (
    ExactBinary,
    ExactPairedBinary,
    FiniteHorizonMixture,
    FixedSize,
    NScore,
    Rule,
    Savi,
    State,
    Wsr,
    run,
)
from surefoot.sequential.betting import BettingRule
from surefoot.sequential.exact_rules import ExactState
from tests.support.conformance import draws, every_claim, every_kind


@pytest.mark.parametrize("make", [ExactBinary, ExactPairedBinary, FiniteHorizonMixture, Wsr, NScore])
def test_futility_out_of_range_is_refused_and_old_rules_read_as_0(make):
    for value in (-0.01, 0.21, 1.0):
        with pytest.raises(ValueError, match=r"`futility` must be between 0 and 0.2; got"):
            make(20, futility=value)
    data = make(20).to_dict()
    del data["futility"]
    assert make.from_dict(data) == make(20, futility=0)
    state = make(20).step(make(20).start(), (1, 0))
    data = state.to_dict()
    del data["overridden"]
    assert type(state).from_dict(data) == state


def test_rules_without_futility_have_none_and_never_stop_for_it():
    for make in (Savi, FixedSize):
        rule = make(20)
        assert rule.futility == 0.0
        with pytest.raises(TypeError):
            make(20, futility=0.02)
        state = run(rule, [(1, 1), (0, 0)] * 10)[-1]
        assert (state.ending, state.futile, state.hopeless) == ("horizon", False, False)


@pytest.mark.parametrize("unfinished", [Rule, State, BettingRule, ExactState])
def test_a_rule_that_lacks_a_part_cannot_be_made(unfinished):
    assert inspect.isabstract(unfinished)
    with pytest.raises(TypeError, match="abstract"):
        unfinished()


@every_kind
def test_states_are_frozen_and_keep_their_own_past(kind):
    rule = kind.make(10)
    assert isinstance(rule, Record)
    before = rule.step(rule.start(), (1.0, 0.0))
    text = json.dumps(before.to_dict())
    one, other = rule.step(before, (1.0, 0.0)), rule.step(before, (0.0, 1.0))
    assert json.dumps(before.to_dict()) == text
    assert one != other
    assert rule.step(before, (1.0, 0.0)) == one
    assert one.p_value <= before.p_value
    for name in ("pairs", "p_value", "verdict"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(before, name, 0)


@every_kind
@every_claim
def test_rules_and_states_come_back_from_json(kind, claim):
    rule = kind.make(25, claim=claim, confidence=0.9)
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule
    first, second = draws(kind, 5, 2, 25, gap=0.5)
    for state in [rule.start(), *run(rule, zip(first[0], second[0], strict=True))]:
        back = State.from_dict(json.loads(json.dumps(state.to_dict())))
        assert back == state
        assert back.interval == state.interval
        if not state.finished:
            assert rule.step(back, (1.0, 0.0)) == rule.step(state, (1.0, 0.0))


@every_kind
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"horizon": 0}, "`horizon` must be at least 1; got 0"),
        ({"horizon": 2.5}, "`horizon` must be a whole number"),
        ({"horizon": 9, "confidence": 95}, "Write 0.95 for 95%"),
        ({"horizon": 9, "claim": "second better"}, "`claim` must be one of first better, either"),
        ({"horizon": 9, "low": 1.0, "high": 0.0}, "`low` must be below `high`"),
        ({"horizon": 9, "low": -1e308, "high": 1e308}, "`high` must be finitely far from `low`"),
        ({"horizon": 9, "margin": -0.1}, "`margin` must be 0 or more"),
    ],
)
def test_a_bad_declaration_is_refused(kind, arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        kind.make(**arguments)


@every_kind
def test_a_state_of_another_rule_is_refused(kind):
    with pytest.raises(ValueError, match="`state` must come from this rule"):
        kind.make(10).step(kind.make(11).start(), (1.0, 0.0))
