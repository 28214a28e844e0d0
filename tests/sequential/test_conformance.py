"""What every sequential rule must do. A new rule is one more line in KINDS."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.core.verdict import Verdict
from surefoot.sequential import (
    FiniteHorizonMixture,
    NScore,
    Rule,
    interval_kind,
    run,
    simulate,
)
from tests.support.conformance import KINDS, draws, every_claim, every_kind


@pytest.mark.parametrize(
    ("margin", "said"), [(0.0, "the first policy is worse."), (0.2, "the first policy is worse by more than 0.2.")]
)
def test_a_verdict_against_the_first_policy_is_said(margin, said):
    rule = FiniteHorizonMixture(60, claim="either", margin=margin)
    state = run(rule, [(0.0, 1.0)] * 60)[-1]
    assert state.verdict is Verdict.WORSE
    assert str(state).startswith(f"Decided after {state.pairs} pairs, p ")
    assert str(state).endswith(said)


@every_kind
@every_claim
def test_a_verdict_is_final_and_the_horizon_ends(kind, claim):
    rule = kind.make(30, claim=claim)
    decided = run(rule, [(1.0, 0.0)] * 30)[-1]
    assert decided.verdict is Verdict.BETTER
    assert decided.finished
    with pytest.raises(ValueError, match="A verdict is final"):
        rule.step(decided, (1.0, 0.0))
    ended = run(rule, [(1.0, 0.0), (0.0, 1.0)] * 15)[-1]
    assert ended.verdict is Verdict.UNDECIDED
    assert ended.finished
    with pytest.raises(ValueError, match="`state` must be"):
        rule.step(ended, (1.0, 0.0))


@every_kind
def test_swapping_the_policies_mirrors_an_either_claim(kind):
    rule = kind.make(60, claim="either")
    first, second = draws(kind, 2, 20, 60, gap=0.4)
    one, other = simulate(rule, first, second), simulate(rule, second, first)
    assert (one.stopping_times == other.stopping_times).all()
    assert [v.mirrored for v in one.verdicts] == list(other.verdicts)
    assert Verdict.BETTER in one.verdicts
    up = run(rule, zip(first[0], second[0], strict=True))[-1].interval
    down = run(rule, zip(second[0], first[0], strict=True))[-1].interval
    assert (up.low, up.high) == pytest.approx((-down.high, -down.low), abs=1e-12)


@every_kind
def test_first_better_never_says_worse(kind):
    first, second = draws(kind, 3, 20, 60, gap=0.6)
    done = simulate(kind.make(60), second, first)
    assert set(done.verdicts) == {Verdict.UNDECIDED}
    assert set(simulate(kind.make(60), first, second).verdicts) >= {Verdict.BETTER}


@every_kind
@every_claim
def test_the_p_value_never_rises_and_agrees_with_the_verdict(kind, claim):
    rule = kind.make(50, claim=claim)
    first, second = draws(kind, 4, 4, 50, gap=0.5)
    for ones, others in zip(first, second, strict=True):
        states = run(rule, zip(ones, others, strict=True))
        p_values = [1.0] + [state.p_value for state in states]
        assert all(a >= b for a, b in itertools.pairwise(p_values))
        assert all(0.0 < p <= 1.0 for p in p_values)
        for state in states:
            assert (state.verdict is not Verdict.UNDECIDED) == (state.p_value <= 1 - rule.confidence)


@every_kind
@every_claim
def test_the_promised_error_is_kept(kind, claim):
    slow = not kind.steps or getattr(kind.make(30), "remembers_all", False)
    horizon, runs = 30, 100 if slow else 1000
    if kind.listed:  # every item has its mirror image on the list, which so has no gain
        half = draws(kind, 6, runs, 45)
        order = np.random.default_rng(6).random((runs, 90)).argsort(axis=1)
        first, second = (np.take_along_axis(np.hstack(part), order, axis=1) for part in (half, half[::-1]))
        assert (first - second).sum(axis=1) == pytest.approx(0.0, abs=1e-9)
    else:
        first, second = draws(kind, 6, runs, horizon)
    wrong = int(
        np.sum(simulate(kind.make(horizon, claim=claim, confidence=0.9), first, second).verdicts != "undecided")
    )
    # The largest count that an honest rule would pass in all but one of ten thousand such tests.
    limit = next(k for k in range(runs) if binomial_tail(runs, 0.1, k) < 1e-4)
    assert wrong < limit


def binomial_tail(trials: int, rate: float, least: int) -> float:
    from scipy.special import betainc

    return 1.0 if least == 0 else float(betainc(least, trials - least + 1, rate))


@every_kind
@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((math.nan, 0.0), "`first` must be finite; got nan"),
        ((0.0, math.inf), "`second` must be finite"),
        ((1.2, 0.0), r"`first` must be in the range \[0, 1\]; got 1.2"),
        ((0.0, -0.1), r"`second` must be in the range \[0, 1\]; got -0.1"),
        ((1.0,), r"`pair` must be two scores \(first, second\)"),
        ((1.0, 0.0, 1.0), "`pair` must be two scores"),
        (1.0, "`pair` must be two scores"),
    ],
)
def test_a_bad_pair_is_refused_and_changes_nothing(kind, pair, words):
    rule = kind.make(10)
    state = rule.step(rule.start(), (1.0, 0.0))
    text = json.dumps(state.to_dict())
    with pytest.raises(ValueError, match=words):
        rule.step(state, pair)
    assert json.dumps(state.to_dict()) == text


@every_kind
def test_words_are_not_scores(kind):
    rule = kind.make(10)
    with pytest.raises(TypeError, match="`first` must be a number"):
        rule.step(rule.start(), ("1", 0.0))
    assert rule.step(rule.start(), (True, np.bool_(False))) == rule.step(rule.start(), (1, np.float64(0.0)))


@every_kind
@every_claim
@given(data=st.data())
@settings(max_examples=8)
def test_the_interval_is_about_the_gain(kind, claim, data):
    rule = kind.make(12, claim=claim, confidence=0.8)
    score = st.sampled_from([0.0, 1.0]) if kind.binary else st.sampled_from([0.0, 0.25, 0.5, 1.0])
    pairs = data.draw(st.lists(st.tuples(score, score), min_size=1, max_size=12))
    state = run(rule, pairs)[-1]
    seen: Any = state.interval
    assert -1.0 <= seen.low <= seen.high <= 1.0
    assert math.isfinite(seen.estimate)
    if claim == "first better" and interval_kind(seen) == "anytime":
        assert seen.high == 1.0 or kind.listed  # what is left of a list cannot undo what was seen
    assert str(state).endswith(".")


@every_kind
def test_a_range_moves_with_the_scores(kind):
    if kind is KINDS["nscore levels"]:
        wide: Rule = NScore(20, levels=(-10.0, -4.0, 10.0), low=-10.0, high=10.0)
    else:
        wide = kind.make(20, low=-10.0, high=10.0)
    first, second = draws(kind, 7, 10, 20, gap=0.6)
    unit = simulate(kind.make(20), first, second)
    moved = simulate(wide, -10 + 20 * first, -10 + 20 * second)
    assert (unit.stopping_times == moved.stopping_times).all()
    assert (unit.verdicts == moved.verdicts).all()
