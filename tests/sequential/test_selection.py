"""Tests of `surefoot.sequential.selection`."""

import pytest

from surefoot import Verdict
from surefoot.sequential import Halve, Race, run_ranking

ROUNDS = [{"a": 1.0, "b": float(i % 2), "c": 0.0} for i in range(80)]


@pytest.mark.parametrize("rule", [Race(("a", "b", "c"), 80), Halve(("a", "b", "c"), budget=60)], ids=["race", "halve"])
def test_one_is_found_and_no_two_are_told_apart(rule):
    state = run_ranking(rule, ROUNDS)[-1]
    assert state.named == "a"
    assert state.verdict("a", "b") is Verdict.UNDECIDED
    assert set(state.letters.letters) == {"a"}
    with pytest.raises(ValueError, match="`second` must be another of a, b, c"):
        state.verdict("a", "a")
    mean = state.mean("b")
    assert mean.low < mean.estimate < mean.high
    assert mean.trials == state.rollouts[1]
    assert state.interval("a", "c").high >= 1.0 - 1e-9
    assert state.claim in str(state)


def test_the_named_one_has_a_bound_and_those_that_join_are_told():
    state = run_ranking(Race(("a", "b", "c"), 80, binary=True), ROUNDS)[-1]
    wider = state.rule.with_policy(state, "d")
    assert state.remarks[0].startswith("a succeeds in at least ")
    assert "for all 3 together" in state.remarks[0]
    assert any(said.startswith("d joined after") for said in wider.remarks)
