"""Tests of `surefoot.sequential.simulation`."""

import math

import pytest

from surefoot.sequential import Rule, run, simulate
from surefoot.sequential.simulation import Simulation
from tests.support.conformance import draws, every_claim, every_kind


@every_kind
@every_claim
def test_live_is_replayed_and_simulated(kind, claim):
    rule = kind.make(40, claim=claim)
    first, second = draws(kind, 1, 6, 40, gap=0.5)
    done = simulate(rule, first, second)
    assert isinstance(done, Simulation)
    for row in range(len(first)):
        states = run(rule, zip(first[row], second[row], strict=True))
        state = rule.start()
        for one, other in zip(first[row], second[row], strict=True):
            state = rule.step(state, (one, other))
            if state.finished:
                break
        assert state == states[-1]
        assert (state.pairs, state.verdict) == (done.stopping_times[row], done.verdicts[row])
        assert [s.pairs for s in states] == list(range(1, state.pairs + 1))
    assert kind.steps == (done.stopping_times.min() < 40)


@every_kind
@every_claim
def test_arrays_say_what_the_loop_of_any_rule_says(kind, claim):
    rule = kind.make(40, claim=claim)
    first, second = draws(kind, 2, 4, 40, gap=0.5)
    for quick, slow in zip(rule.play(first, second), Rule.play(rule, first, second), strict=True):
        assert quick.tolist() == slow.tolist()


@every_kind
def test_arrays_are_checked(kind):
    rule = kind.make(10)
    with pytest.raises(ValueError, match=r"`second` must have the shape of `first`, \(1, 3\); got \(1, 2\)"):
        simulate(rule, [1.0, 0.0, 1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"`first` must be .*; got nan in row 1, pair 2"):
        simulate(rule, [1.0, math.nan], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"`second` must be .*; got 2 in row 2, pair 1"):
        simulate(rule, [[1.0], [1.0]], [[1.0], [2.0]])
    with pytest.raises(TypeError, match="`first` must be an array of numbers"):
        simulate(rule, ["a"], [1.0])
    with pytest.raises(ValueError, match="each with a pair at least"):
        simulate(rule, [], [])
