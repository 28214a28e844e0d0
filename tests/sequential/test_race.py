"""Tests of `surefoot.sequential.race`."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.numerics.betting.race_bets import running_low
from surefoot.sequential import Race, registry, run_ranking, simulate_ranking
from surefoot.sequential.race import RaceState
from surefoot.sequential.registry import Setting
from tests.oracles import race as oracle

STORED = json.loads((Path(__file__).parents[1] / "reference" / "oracle3.json").read_text(encoding="utf-8"))["race"]
CODES = {"out": 0, "running": 1, "settled": 2, "withdrawn": 3}


def in_order(size):
    """Names whose ties are broken in list order, as the reference does."""
    some = [f"p{i}" for i in range(size)]
    places = Race(tuple(some)).places(size)[0]
    return tuple(some[i] for i in np.argsort(places))


def raced(streams, **told):
    rule = Race(in_order(len(streams)), told.pop("horizon"), **told)
    state, read = rule.start(), dict(zip(rule.names, streams, strict=True))
    while not state.finished:
        at = dict(zip(rule.names, state.rollouts, strict=True))
        turns = state.turns.items()
        state = rule.step(state, {n: [read[n][(at[n] + q) % len(read[n])] for q in range(k)] for n, k in turns})
    return state


def told(state):
    names = state.rule.names
    return {
        "rounds": state.rounds,
        "used": state.rollouts_used,
        "state": [CODES[one] for one in state.standings],
        "champion": None if state.champion is None else names.index(state.champion),
        "champions": state.champions,
        "regret": state.regret,
    }


@pytest.mark.parametrize("case", [one for one in STORED if one["kind"] == "race"], ids=lambda one: str(one["id"]))
def test_whole_races_of_the_reference(case):
    streams = [[float(one) for one in row] for row in case["streams"]]
    keys = ("horizon", "confidence", "within", "binary", "shared")
    state = raced(streams, **{key: case[key] for key in keys})
    value = dict(case["value"])
    assert np.allclose(state.bets.plain.wealth[0], value.pop("log_wealth"), atol=1e-8, rtol=0)
    assert told(state) == value


@pytest.mark.parametrize(
    "case", [one for one in STORED if one["kind"] == "running_low"], ids=lambda one: str(one["id"])
)
def test_the_running_bound_of_the_reference(case):
    low = running_low(case["successes"], case["trials"] - case["successes"], case["error"])
    assert low == pytest.approx(case["value"], abs=1e-7)


@pytest.mark.sample(3)
@pytest.mark.parametrize("within", [None, 0.1])
@pytest.mark.parametrize(("shared", "budget", "binary"), [(False, None, True), (True, None, False), (False, 260, True)])
@pytest.mark.parametrize("seed", range(4))
def test_the_slow_twin_agrees(within, shared, budget, binary, seed):
    rng = np.random.default_rng(seed)
    rates = rng.permutation([0.9, 0.8, 0.75, 0.4, 0.3][: 3 + seed % 3])
    scores = rng.random((len(rates), 400)) < rates[:, None]
    streams = np.where(scores, 1.0, 0.0 if binary else rng.integers(0, 4, scores.shape) / 4).tolist()
    keys = {"within": within, "binary": binary, "shared": shared, "budget": budget}
    state = raced(streams, horizon=150, **keys)
    want = oracle.race(streams, 150, **keys)
    assert np.allclose(state.bets.plain.wealth[0], want.pop("log_wealth"), atol=1e-8, rtol=0)
    assert told(state) == want
    names = in_order(len(rates))
    one = simulate_ranking(Race(names, 150, **keys), np.array(streams).T[None])
    assert one.rollouts[0].tolist() == list(state.rollouts)
    assert bool(one.complete[0]) is state.complete


@given(st.integers(0, 10**6), st.permutations(range(5)))
def test_the_order_of_the_list_does_not_matter(seed, order):
    rng = np.random.default_rng(seed)
    scores = rng.random((60, 5)) < [0.9, 0.7, 0.6, 0.5, 0.2]
    names = tuple("abcde")
    rounds = [dict(zip(names, map(float, row), strict=True)) for row in scores]
    first = run_ranking(Race(names, 40), rounds)[-1]
    other = run_ranking(Race(tuple(names[i] for i in order), 40), rounds)[-1]
    assert (first.named, first.rounds, set(first.out)) == (other.named, other.rounds, set(other.out))
    assert all(first.p_value(name) == pytest.approx(other.p_value(name)) for name in names)


@given(st.integers(0, 10**6), st.booleans())
def test_who_is_out_stays_out_and_p_values_never_rise(seed, near):
    rng = np.random.default_rng(seed)
    rates = rng.random(6)
    rounds = [dict(zip("abcdef", map(float, row), strict=True)) for row in rng.random((90, 6)) < rates]
    states = run_ranking(Race(tuple("abcdef"), 60, within=0.1 if near else None), rounds)
    for before, after in itertools.pairwise(states):
        assert set(before.out) <= set(after.out)
        assert all(b >= a for b, a in zip(before.p_values, after.p_values, strict=True))
    last = states[-1]
    alpha = 1 - last.rule.confidence
    assert all((last.p_value(name) <= alpha) >= (name in last.out) for name in "abcdef")
    assert last.leaders  # one is best
    assert RaceState.from_dict(last.to_dict()) == last


def test_a_policy_joins_and_another_is_withdrawn():
    rounds = [{"a": 1.0, "b": float(i % 4 > 0)} for i in range(200)]
    state = run_ranking(Race(("a", "b"), 200, within=0.2), rounds)[-1]
    assert state.named == state.champion == "a"
    wider = state.rule.with_policy(state, "c")
    assert wider.rule.names == ("a", "b", "c")
    assert (wider.named, wider.running[-1], wider.p_value("c")) == (None, "c", 1.0)
    assert set(wider.out) == set(state.out)
    back = wider.rule.without_policy(wider, "c")
    assert back.withdrawn == ("c",)
    assert "unless it is c" in back.claim
    assert back.named == "a"
    declared = wider.rule.start()
    assert declared.running == ("a", "b")
    with pytest.raises(ValueError, match="`name` must be one of a"):
        back.rule.without_policy(back, "c")


def test_futility_stops_a_race_that_cannot_end():
    rule = Race(("a", "b", "c"), 60, futility=0.05)
    rounds = [{"a": i % 2, "b": (i + 1) % 2, "c": i % 2} for i in range(60)]
    state = run_ranking(rule, rounds)[-1]
    assert state.futile
    assert state.rounds < 60
    assert state.claim.startswith("In 60 rounds none of 3 of 3 can be shown best")
    on = rule.override(state)
    assert (on.finished, on.rule.futility) == (False, 0.0)
    with pytest.raises(ValueError, match="stopped for futility"):
        on.rule.override(on)


def test_the_bound_of_the_one_named_holds_for_all():
    state = run_ranking(Race(("a", "b"), 50, binary=True), [{"a": 1.0, "b": 0.0}] * 50)[-1]
    used = state.rollouts[0]
    assert state.named == "a"
    assert state.lower("a") == pytest.approx(running_low(used, 0, 0.025))
    partial = run_ranking(Race(("a", "b"), 50), [{"a": 0.75, "b": 0.25}] * 50)[-1]
    assert 0.0 < partial.lower("a") < 0.75
    gain = partial.interval("a", "b")
    assert gain.low < 0.5 < gain.high


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"names": ("a",)}, "two or more different"),
        ({"names": ("a", "a")}, "two or more different"),
        ({"names": tuple(map(str, range(1001)))}, "at most 1,000 policies; got 1,001"),
        ({"within": 0.0}, "`within` must be above 0 and below 1, the width of the scores; got 0"),
        ({"within": 1.0}, "got 1"),
        ({"within": float("nan")}, "within"),
        ({"horizon": 1}, "`horizon` must be"),
        ({"budget": 5}, "`budget` must be at least 6, two rollouts of each policy; got 5"),
        ({"futility": 0.05, "within": 0.1}, "0 beside `within`"),
        ({"joined": (0, 1, 1)}, "joined"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_bad_declarations_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Race(**({"names": ("a", "b", "c")} | given))


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": 1, "b": 0}, "name the running policies"),
        ({"a": 1, "b": 0, "c": 1, "d": 1}, "name the running policies"),
        ({"a": 1, "b": 0, "c": 1.5}, r"scores\['c'\].*must be in the range \[0, 1\]; got 1.5"),
        ({"a": 1, "b": 0, "c": float("nan")}, "scores"),
        ({"a": [1, 1], "b": 0, "c": 1}, "hold 1 score of a, as `turns` asks; got 2"),
    ],
)
def test_a_bad_round_is_refused_and_changes_nothing(scores, words):
    rule = Race(("a", "b", "c"), 50)
    state = rule.start()
    with pytest.raises(ValueError, match=words):
        rule.step(state, scores)
    assert state == rule.start()


def test_a_round_after_the_end_is_refused():
    state = run_ranking(Race(("a", "b"), 50), [{"a": 1.0, "b": 0.0}] * 50)[-1]
    with pytest.raises(ValueError, match="unfinished"):
        state.rule.step(state, {"a": 1.0})
    read = RaceState.from_dict(state.to_dict())
    with pytest.raises(ValueError, match="read from a file"):
        read.rule.with_policy(read, "c")


def test_it_is_chosen_where_the_best_of_many_is_asked():
    many, few = tuple("abcdefgh"), tuple("abc")
    assert registry.advised(Setting(policies=many, question="best")) == "race"
    assert registry.advised(Setting(policies=many)) == "closed"
    assert registry.advised(Setting(policies=few, question="best")) == "closed"
    assert registry.advised(Setting(policies=few, question="best", within=0.05)) == "race"
    rule = registry.one_of("race", Setting(policies=many, question="best")).made(
        Setting(policies=many, question="best", within=0.05, environments="shared")
    )
    assert (rule.within, rule.shared) == (0.05, True)
    with pytest.raises(ValueError, match="`question` must be 'best' for race"):
        Race.made(Setting(policies=many))


def test_the_class_is_offered():
    assert sf.sequential.Race is Race
