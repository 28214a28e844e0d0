"""Does a rule about a declared list say what a complete run would, as often as it promises?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc

from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, Rule, admit, run, simulate
from surefoot.sequential.betting import Games
from tests.oracles import finite_lists as twin


def pairs_of(gains):
    """Successes and failures with these gains."""
    gains = np.asarray(gains, float)
    return (gains > 0).astype(float), (gains < 0).astype(float)


def listed(items, differ, gain):
    """The gains of a list: so many items differ, so many more of them for the first policy."""
    better = (differ + gain) // 2
    return np.repeat([1.0, -1.0, 0.0], [better, differ - better, items - differ])


def orders(gains, runs, seed, horizon=None):
    """The list in many random orders, one a row."""
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.asarray(gains, float), (runs, 1)), axis=1)[:, :horizon]


def every_order(gains):
    """All different orders of a list, and how many permutations each stands for: all as many."""
    found = set()
    values, counts = np.unique(gains, return_counts=True)

    def grow(prefix, left):
        if not any(left):
            found.add(tuple(prefix))
            return
        for i, count in enumerate(left):
            if count:
                grow([*prefix, values[i]], [c - (j == i) for j, c in enumerate(left)])

    grow([], counts.tolist())
    return np.array(sorted(found))


def within(trials, wrong, promise):
    """Whether an honest rule would show at least so many errors in more than one of ten thousand such tests."""
    return wrong == 0 or betainc(wrong, trials - wrong + 1, promise) > 1e-4


# --- the slow twin ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("population", "margin"), [(60, 0.0), (200, 0.0), (60, 0.05)])
@pytest.mark.parametrize("seed", range(3))
def test_the_mixture_is_its_twin(seed, binary, population, margin):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 60)) ** np.array([[0.7], [1.3]])
    if binary:
        first, second = first.round(), second.round()
    rule = FiniteHorizonMixture(60, binary=binary, population=population, margin=margin)
    states = run(rule, zip(first, second, strict=True))
    gains = (first - second).tolist()
    scores = None if binary else list(zip(first, second, strict=True))
    trace = twin.mixture(gains, 60, population, v0=0.5 if binary else 0.2, scores=scores, beyond=margin)
    assert len(states) == len(trace["X"])
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["stakes"], rel=1e-9)
    evidence = [min(s.evidence, 1e300) for s in states]
    assert evidence == pytest.approx([min(x, 1e300) for x in trace["X"]], rel=1e-9)
    for n in (1, len(states) // 2, len(states)):
        low = twin.lower(gains[:n], trace["stakes"][:n], 0.05, population)
        assert states[n - 1].interval.low == pytest.approx(low, abs=1e-9)


# --- the promise, counted ---------------------------------------------------------------------------------------------


@pytest.mark.sample(5)
@pytest.mark.parametrize("items", range(1, 13))
@pytest.mark.parametrize("claim", ["first better", "either"])
def test_the_error_at_exact_ties_counted_over_every_order(items, claim):
    for differ in range(0, items + 1, 2):
        every = every_order(listed(items, differ, 0))
        for horizon in {items, max(1, items - 3)}:
            rule = FiniteHorizonMixture(horizon, claim=claim, population=items, binary=True)
            wrong = simulate(rule, *pairs_of(every[:, :horizon])).verdicts != Verdict.UNDECIDED
            assert wrong.mean() <= 0.05


@pytest.mark.parametrize(
    ("scores", "margin", "claim"),
    [
        ([0.9, 0.4, 0.3, -0.2, -0.4, -0.5, -0.5], 0.0, "either"),
        ([1.0, 1.0, 0.5, 0.5, 0.0, -0.3, -0.6], 0.3, "first better"),
        ([1.0, 0.0, -0.5, -0.5, -0.5, -0.5, -0.4], -0.2, "first not worse"),
        ([0.2] * 4 + [0.1, 0.3, 0.2], 0.2, "same"),
    ],
)
def test_the_error_with_scores_and_margins_counted_over_every_order(scores, margin, claim):
    assert np.mean(scores) == pytest.approx(margin)
    every = np.array(list(itertools.permutations(scores)))
    rule = FiniteHorizonMixture(7, claim=claim, population=7, margin=abs(margin))
    done = simulate(rule, np.maximum(every, 0.0), np.maximum(-every, 0.0))
    assert np.mean(done.verdicts != Verdict.UNDECIDED) <= 0.05


def test_every_interval_of_a_run_holds_the_lists_gain_counted_over_every_order():
    for gains in (listed(6, 4, 0), listed(6, 3, 1), listed(6, 2, -2)):
        every, mean, missed = every_order(gains), gains.mean(), 0
        rule = FiniteHorizonMixture(6, claim="either", population=6, binary=True, confidence=0.8)
        for row in every:
            state, ever = rule.start(), False
            for pair in zip(*pairs_of(row), strict=True):
                state = rule.step(state, pair)
                ever = ever or not state.interval.low - 1e-12 <= mean <= state.interval.high + 1e-12
                if state.finished:
                    break
            missed += ever
        assert missed / len(every) <= 0.2


@pytest.mark.parametrize(("items", "differ", "claim"), [(8, 8, "either"), (9, 4, "first better"), (7, 6, "either")])
def test_no_bet_gains_on_average_over_every_order_of_a_list_without_a_gain(items, differ, claim):
    """The mean wealth is 1 at every moment: with Ville's inequality this is the promise itself."""
    every = every_order(listed(items, differ, 0))
    rule = FiniteHorizonMixture(items, claim=claim, population=items, binary=True, confidence=0.9)
    games, first, second = Games.begin(rule, len(every)), *pairs_of(every)
    for item in range(items):
        games.bet(first[:, item], second[:, item])
        assert np.exp(games.log_wealth).mean(axis=1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("items", [100, 200, 500])
def test_the_error_at_exact_ties_in_many_orders(items):
    rule = FiniteHorizonMixture(items, claim="either", population=items, binary=True)
    for differ in range(items // 10, items + 1, items // 10):
        wrong = simulate(rule, *pairs_of(orders(listed(items, differ, 0), 20_000, differ))).verdicts
        count = int(np.sum(wrong != Verdict.UNDECIDED))
        assert within(20_000, count, 0.05), (items, differ, count)


# --- what it is for ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "points", "most"), [(500, 0.05, 270), (1319, 0.02, 930), (5000, 0.01, 3650), (14_042, 0.1, None)]
)
def test_items_to_a_decision(items, points, most):
    rows = orders(listed(items, round(0.2 * items), round(points * items)), 2000, 1, horizon=min(items, 6000))
    rule = FiniteHorizonMixture(items, claim="either", population=items, binary=True)
    done = simulate(rule, *pairs_of(rows))
    assert np.all(done.verdicts != Verdict.UNDECIDED)
    if most is None:
        plain = FiniteHorizonMixture(items, claim="either", binary=True)
        most = simulate(plain, *pairs_of(rows)).mean_pairs
    assert done.mean_pairs <= most


def test_few_items_tell_what_the_whole_list_would_show():
    rows = pairs_of(orders(listed(500, 100, 25), 200, 2))
    of_list = simulate(FiniteHorizonMixture(500, claim="either", population=500, binary=True), *rows)
    plain = simulate(FiniteHorizonMixture(500, claim="either", binary=True), *rows)
    assert np.mean(of_list.verdicts == Verdict.BETTER) > 0.97
    assert of_list.mean_pairs < 300 < 380 < plain.mean_pairs


# --- what a complete run shows is known -------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=12))
@settings(max_examples=60)
def test_a_complete_run_is_decided_by_its_mean(gains):
    rule = FiniteHorizonMixture(len(gains), claim="either", population=len(gains))
    state = run(rule, [(max(g, 0.0), max(-g, 0.0)) for g in gains])[-1]
    if state.pairs < len(gains):
        return
    assert state.verdict.value == ["undecided", "better", "worse"][int(np.sign(sum(gains)))]
    assert (state.interval.low, state.interval.high) == pytest.approx((np.mean(gains),) * 2, abs=1e-9)


@pytest.mark.parametrize("gain", [1.0, -1.0])
def test_certainty_decides_before_the_end(gain):
    # Six of ten for one policy: the four left cannot turn it, whatever the confidence.
    rule = FiniteHorizonMixture(10, claim="either", population=10, confidence=0.9999)
    state = run(rule, [(1.0, 0.0) if gain > 0 else (0.0, 1.0)] * 10)[-1]
    assert state.pairs == 6
    assert state.verdict is (Verdict.BETTER if gain > 0 else Verdict.WORSE)
    assert 0.0 < state.p_value < 1e-12
    ends = (state.interval.low, state.interval.high)
    assert ends == pytest.approx((0.2, 1.0) if gain > 0 else (-1.0, -0.2))


def test_the_verdict_is_on_the_side_of_the_interval_and_the_estimate():
    for row in orders(listed(40, 20, 4), 60, 3):
        rule = FiniteHorizonMixture(40, claim="either", population=40, binary=True)
        state = run(rule, zip(*pairs_of(row), strict=True))[-1]
        sign = {Verdict.BETTER: 1, Verdict.WORSE: -1}[state.verdict]
        low, high = sorted((sign * state.interval.low, sign * state.interval.high))
        assert 0.0 < low <= sign * state.interval.estimate <= high


def test_a_long_list_is_like_no_list():
    # m moves by less than a millionth: what differs is the weights that the grid opens with.
    pairs = list(zip(*pairs_of(orders(listed(200, 100, 40), 1, 4)[0]), strict=True))
    far = run(FiniteHorizonMixture(200, population=10**9, binary=True), pairs)[-1]
    plain = run(FiniteHorizonMixture(200, binary=True), pairs)[-1]
    assert far.verdict is plain.verdict is Verdict.BETTER
    assert abs(far.pairs - plain.pairs) < 20
    assert far.interval.low == pytest.approx(plain.interval.low, abs=0.02)


# --- what is said -----------------------------------------------------------------------------------------------------


def test_the_claim_is_worded_as_one_of_the_list():
    rule = FiniteHorizonMixture(500, claim="either", population=500, binary=True)
    assert str(rule) == (
        "finite-horizon mixture, at most 500 of 500 items, met in random order: shows that one policy is better on "
        "these items (95% over all looks)."
    )
    gains = orders(listed(500, 100, 40), 1, 0)[0]
    state = run(rule, zip(*pairs_of(gains), strict=True))[-1]
    assert str(state.on_the_list("new")) == (
        f"On these 500 items new is better ({state.pairs} run; error 5% for what a complete run would show). "
        "It says nothing about other items."
    )
    assert str(state).startswith("On these 500 items the first policy is better (")
    assert Note("of these items", {"items": 500, "run": state.pairs}) in state.interval.notes
    assert "drawn at random" in str(state.interval.assumptions[0])


def test_a_complete_run_has_no_error_left_to_name():
    rule = FiniteHorizonMixture(4, claim="either", population=4)
    state = run(rule, [(1, 0), (0, 1), (0, 0), (1, 0)])[-1]
    said = "On these 4 items the first policy is better (all run). It says nothing about other items."
    assert str(state) == said


@pytest.mark.parametrize(
    ("claim", "pair", "said"),
    [
        ("first not worse", (1, 0), "the first policy is not worse by more than 0.1 ("),
        ("same", (1, 1), "the policies differ by less than 0.1 ("),
        ("either", (0, 1), "the first policy is worse by more than 0.1 ("),
    ],
)
def test_margins_are_said(claim, pair, said):
    state = run(FiniteHorizonMixture(80, claim=claim, margin=0.1, population=80), [pair] * 80)[-1]
    assert f"On these 80 items {said}" in str(state)


def test_a_rule_without_a_list_says_nothing_of_one():
    state = FiniteHorizonMixture(10).start()
    with pytest.raises(ValueError, match="must be declared with a population"):
        state.on_the_list()


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"horizon": 600, "population": 500}, "`horizon` must be at most 500, the population; got 600. An item counts"),
        ({"horizon": 5, "population": 0}, "`population` must be at least 1; got 0"),
        ({"horizon": 5, "population": 5, "futility": 0.02}, "`futility` must be 0 with a population; got 0.02"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        FiniteHorizonMixture(**arguments)
    with pytest.raises(TypeError, match="`population` must be a whole number"):
        FiniteHorizonMixture(5, population=5.5)


def test_a_list_in_the_order_of_its_file_is_refused():
    rule = FiniteHorizonMixture(5, population=5)
    assert admit(rule, "shared", randomised=True) == rule
    with pytest.raises(ValueError, match="must hold for an order that was not randomised"):
        admit(rule, "shared", randomised=False)
    assert admit(FiniteHorizonMixture(5), "shared", randomised=False)


def test_a_rule_reads_back_and_one_of_an_earlier_version_too():
    rule = FiniteHorizonMixture(50, population=60)
    assert Rule.from_dict(rule.to_dict()) == rule
    old = FiniteHorizonMixture(50).to_dict()
    del old["population"]
    assert Rule.from_dict(old) == FiniteHorizonMixture(50)
    assert math.isfinite(run(rule, [(1, 0)] * 50)[-1].evidence)
