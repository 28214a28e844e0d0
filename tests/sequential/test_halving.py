"""Tests of `surefoot.sequential.halving`."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Tally
from surefoot.sequential import Halve, Race, run_ranking, simulate_ranking
from surefoot.sequential.halving import HalveState
from surefoot.stats import clopper_pearson_lower


def slow(streams, budget, order, share=0.7):
    """Halving, one policy and one rollout at a time."""
    size = len(streams)
    sizes = [size]
    while sizes[-1] > 2:
        sizes.append(math.ceil(sizes[-1] / 2))
    running, counts = list(range(size)), [0] * size
    read = lambda i, n: [streams[i][q % len(streams[i])] for q in range(n)]  # noqa: E731
    for place, k in enumerate(sizes):
        each = math.floor(share * budget / (len(sizes) * k) + 1e-9)
        for i in running:
            counts[i] += each
        means = {i: sum(read(i, counts[i])) / counts[i] for i in running}
        keep = sizes[place + 1] if place + 1 < len(sizes) else 1
        running = sorted(running, key=lambda i: (-means[i], order[i]))[:keep]
    pick = running[0]
    fresh = budget - sum(counts)
    seen = counts[pick]
    counts[pick] += fresh
    return pick, counts, [streams[pick][(seen + q) % len(streams[pick])] for q in range(fresh)]


@given(st.integers(2, 23), st.integers(0, 10**6))
def test_the_slow_twin_agrees(size, seed):
    rng = np.random.default_rng(seed)
    budget = int(rng.integers(10 * size, 30 * size))
    streams = (rng.random((budget, size)) < rng.random(size)).astype(float)
    rule = Halve(tuple(f"p{i}" for i in range(size)), budget=budget, binary=True)
    pick, counts, fresh = slow(streams.T.tolist(), budget, rule.places(size)[0].tolist())
    state = run_ranking(rule, [dict(zip(rule.names, row, strict=True)) for row in streams[: rule.horizon]])[-1]
    assert state.finished
    assert state.named == rule.names[pick]
    assert list(state.rollouts) == counts
    assert sum(counts) == budget == rule.most
    many = simulate_ranking(rule, streams[None])
    assert many.rollouts[0].tolist() == counts
    number = state.number
    assert number is not None
    assert number.value == clopper_pearson_lower(Tally(int(state.confirmed.array().sum()), len(fresh))).value
    assert HalveState.from_dict(state.to_dict()) == state


@given(st.permutations(range(6)), st.integers(0, 10**6))
def test_the_order_of_the_names_does_not_matter(order, seed):
    rng = np.random.default_rng(seed)
    rows = rng.random((80, 6)) < [0.9, 0.8, 0.7, 0.7, 0.7, 0.1]
    names = tuple("abcdef")
    rounds = [dict(zip(names, map(float, row), strict=True)) for row in rows]
    first = run_ranking(Halve(names, budget=80), rounds)[-1]
    other = run_ranking(Halve(tuple(names[i] for i in order), budget=80), rounds)[-1]
    assert first.claim == other.claim


def test_the_report_is_of_fresh_rollouts_alone():
    rule = Halve(("a", "b"), budget=20, binary=True)
    assert [tuple(stage) for stage in rule.stages] == [(2, 7)]
    rounds = [{"a": 1.0, "b": 0.0}] * 7 + [{"a": 0.0}] * 6
    states = run_ranking(rule, rounds)
    assert states[6].claim == "a is picked; 0 of 6 fresh rollouts of it are in."
    assert states[6].number is None
    assert states[-1].number.estimate == 0.0
    assert "In 6 fresh rollouts it succeeded in 0.0%: at least 0.0% (95%)" in states[-1].claim
    assert states[3].claim == "Stage 1 of 1, round 4 of 7: 2 of 2 run."
    assert states[-1].mean("b").high < 1.0


def test_scores_are_confirmed_by_their_mean():
    rule = Halve(("a", "b"), budget=40, low=0.0, high=10.0)
    state = run_ranking(rule, [{"a": 8.0, "b": 2.0}] * 40)[-1]
    assert state.number.estimate == pytest.approx(8.0)
    assert 0.0 < state.number.value < 8.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "`budget` must be"),
        ({"budget": 5}, "`budget` must be at least 9 for 3 policies; got 5"),
        ({"budget": 50, "share": 1.0}, "`share` must be strictly between 0 and 1"),
        ({"budget": 50, "names": ("a",)}, "two or more different"),
        ({"budget": 50, "names": ("a", "a")}, "two or more different"),
        ({"budget": 5000, "names": tuple(map(str, range(1001)))}, "at most 1,000 policies; got 1,001"),
    ],
)
def test_bad_declarations_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Halve(**({"names": ("a", "b", "c")} | given))
    if "budget" in words:
        return
    assert Halve(("a", "b", "c"), budget=9).stages[0].rollouts == 1


def test_a_round_after_the_end_is_refused():
    rule = Halve(("a", "b"), budget=20)
    state = run_ranking(rule, [{"a": 1.0, "b": 0.0}] * 20)[-1]
    with pytest.raises(ValueError, match="unfinished"):
        rule.step(state, {"a": 1.0})


@pytest.mark.parametrize("rule", [Halve(("a", "b"), budget=60, binary=True), Race(("a", "b"), 20, binary=True)])
def test_half_a_success_is_refused_where_successes_are_declared(rule):
    """The bound of the one named is that of a count of successes."""
    with pytest.raises(ValueError, match=r"`scores\['a'\]` must be a success or a failure, as `binary` says; got 0.5"):
        rule.step(rule.start(), {"a": 0.5, "b": 1.0})
