"""One success rate against another: verdicts, their errors, the interval after the end, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.core.record import Record
from surefoot.numerics.designs import acceptance
from surefoot.sequential import AcceptanceTest
from surefoot.sequential.acceptance import AcceptanceState
from tests.oracles import acceptance as twin

RULES = [
    AcceptanceTest(0.95, 0.8),
    AcceptanceTest(0.9, 0.7),
    AcceptanceTest(0.99, 0.9),
    AcceptanceTest(0.95, 0.8, horizon=20),
    AcceptanceTest(0.6, 0.4, error=0.1),
]


def ended(rule: AcceptanceTest) -> list[AcceptanceState]:
    """Every state in which the test can end, worst first."""
    every = acceptance.endings(rule.boundaries, 0.5)
    words = {1: "accepted", 0: "undecided", -1: "rejected"}
    return [
        AcceptanceState(rule=rule, rollouts=int(n), failures=int(f), verdict=words[int(verdict)])
        for n, f, verdict in zip(every.rollouts, every.failures, every.verdict, strict=True)
    ]


def played(rule: AcceptanceTest, outcomes: list[bool]) -> AcceptanceState:
    state = rule.start()
    for outcome in outcomes:
        if state.finished:
            break
        state = rule.step(state, outcome)
    return state


@pytest.mark.parametrize("rule", RULES[:3], ids=str)
def test_both_errors_are_at_most_five_percent(rule):
    assert rule.operating(rule.unacceptable)["accepted"] <= 0.05
    assert rule.operating(rule.at_least)["rejected"] <= 0.05
    assert rule.operating(rule.at_least)["undecided"] == pytest.approx(0.0, abs=1e-12)
    assert rule.operating(rule.at_least)["accepted"] >= 0.95


def test_a_good_rate_passes_nearly_always():
    found = AcceptanceTest(0.95, 0.8).operating(0.97)
    assert found["accepted"] >= 0.8
    assert found["accepted"] == pytest.approx(0.9901, abs=1e-4)


def test_steps_follow_the_boundaries():
    rule = RULES[0]
    limits = rule.boundaries.accept.tolist(), rule.boundaries.reject.tolist()
    chances = {}
    for number in range(1000):
        outcomes = (np.random.default_rng(number).random(75) < 0.9).tolist()
        state = played(rule, outcomes)
        assert state.finished
        failures = [sum(not one for one in outcomes[:n]) for n in range(76)]
        stops = [n for n in range(1, 76) if failures[n] <= limits[0][n] or failures[n] >= limits[1][n]]
        assert (state.rollouts, state.failures) == (stops[0], failures[stops[0]])
        chances[state.verdict] = chances.get(state.verdict, 0) + 1
    assert chances["accepted"] / 1000 == pytest.approx(float(twin.chance(*limits, 0.9, "accepted")), abs=0.06)


def test_all_successes_and_all_failures():
    assert str(played(RULES[0], [True] * 75)) == (
        "Accepted after 18 rollouts: 100.0% [84.6%, 100.0%] n=18 (90% acceptance test, final interval)."
    )
    assert played(RULES[0], [False] * 75).rollouts == 2
    assert str(played(RULES[0], [True] * 5)) == "Undecided after 5 rollouts, 0 failed."


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_each_end_of_the_interval_is_wrong_with_at_most_the_error(rule):
    states = ended(rule)
    intervals = [state.interval for state in states]
    every = acceptance.endings(rule.boundaries, 0.5)
    for rate in [*np.linspace(0.005, 0.995, 67), rule.at_least, rule.unacceptable]:
        chance = every.at(float(rate))
        assert chance[[one.low > rate for one in intervals]].sum() <= rule.error + 1e-12
        assert chance[[one.high < rate for one in intervals]].sum() <= rule.error + 1e-12


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_interval_agrees_with_the_verdict_and_with_the_order_of_the_endings(rule):
    states = ended(rule)
    for state in states:
        if state.verdict == "accepted":
            assert state.interval.low >= rule.unacceptable
        if state.verdict == "rejected":
            assert state.interval.high <= rule.at_least
    lows = [state.interval.low for state in states]
    highs = [state.interval.high for state in states]
    assert lows == sorted(lows)
    assert highs == sorted(highs)


def test_ends_are_where_the_twin_puts_the_chance_at_the_error():
    rule = RULES[1]
    limits = rule.boundaries.accept.tolist(), rule.boundaries.reject.tolist()
    state = played(rule, [True] * 4 + [False] + [True] * 60)
    assert (state.rollouts, state.failures, state.verdict) == (18, 1, "accepted")
    found = state.interval
    law = twin.law(*limits, twin.frac(found.low))
    above = sum(p for (n, _, v), p in law.items() if v == "accepted" and n <= 18)
    assert float(above) == pytest.approx(0.05, abs=1e-8)
    law = twin.law(*limits, twin.frac(found.high))
    below = sum(p for (n, _, v), p in law.items() if v != "accepted" or n >= 18)
    assert float(below) == pytest.approx(0.05, abs=1e-8)


def test_a_shorter_horizon_keeps_both_errors_and_may_stay_undecided():
    rule = AcceptanceTest(0.95, 0.8, horizon=20)
    found = rule.operating(0.9)
    assert rule.horizon == 20
    assert found["undecided"] > 0.1
    assert rule.operating(0.8)["accepted"] <= 0.05
    assert rule.operating(0.95)["rejected"] <= 0.05
    state = played(rule, [False] + [True] * 19)
    assert (state.verdict, state.finished) == ("undecided", True)
    assert str(state).startswith("Undecided after 20 rollouts: 95.0% [")


def test_a_longer_horizon_is_cut_to_what_is_always_enough():
    assert AcceptanceTest(0.95, 0.8, horizon=500) == AcceptanceTest(0.95, 0.8)
    assert AcceptanceTest(0.95, 0.8).horizon == 75


def test_every_parameter_matters():
    base = AcceptanceTest(0.95, 0.8).boundaries
    for other in (
        AcceptanceTest(0.96, 0.8),
        AcceptanceTest(0.95, 0.75),
        AcceptanceTest(0.95, 0.8, error=0.02),
        AcceptanceTest(0.95, 0.8, horizon=40),
    ):
        assert other.boundaries.accept.tolist() != base.accept.tolist()


def test_rules_and_states_are_records():
    state = played(RULES[3], [True, False])
    assert Record.from_dict(state.to_dict()) == state
    assert AcceptanceTest.from_dict(RULES[0].to_dict()) == RULES[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"at_least": 0.8, "unacceptable": 0.95}, "`unacceptable` must be below `at_least`; got unacceptable=0.95"),
        ({"at_least": 95}, r"`at_least` must be strictly between 0 and 1; got 95. Write 0.95 for 95%"),
        ({"unacceptable": 0.0}, "`unacceptable` must be strictly between 0 and 1"),
        ({"error": 0.4}, "`error` must be at most 0.25; got 0.4"),
        ({"error": 0}, "`error` must be strictly between 0 and 1"),
        ({"horizon": 13}, "`horizon` must be at least 14; got 13. Fewer rollouts cannot be accepted"),
        (
            {"unacceptable": 0.949},
            "must be far enough apart to be distinguished within 10,000 rollouts; got 0.95 and 0.949",
        ),
    ],
)
def test_what_a_rule_cannot_be(given, said):
    with pytest.raises(ValueError, match=said):
        AcceptanceTest(**({"at_least": 0.95, "unacceptable": 0.8} | given))


def test_types_are_checked():
    with pytest.raises(TypeError, match="`at_least` must be a number; got '95%'"):
        AcceptanceTest("95%", 0.8)
    with pytest.raises(TypeError, match=r"`horizon` must be a whole number; got 20\.5"):
        AcceptanceTest(0.95, 0.8, horizon=20.5)


def test_what_a_step_refuses():
    rule = RULES[0]
    with pytest.raises(ValueError, match="`state` must come from this rule"):
        rule.step(RULES[1].start(), True)
    with pytest.raises(ValueError, match=r"`success` must be True or False; got 0\.5"):
        rule.step(rule.start(), 0.5)
    with pytest.raises(ValueError, match="`state` must be unfinished; got one that ended after 2 rollouts"):
        rule.step(played(rule, [False, False]), True)
    with pytest.raises(ValueError, match="`interval` must be asked for once the test has ended"):
        _ = rule.start().interval
