"""Tests of `surefoot.stats.attempts`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot import Scores, Tally, Verdict
from surefoot.reference import pass_all, pass_at
from surefoot.stats import mean_pass_all, mean_pass_at, pass_all_gain, pass_at_gain, score_mean
from tests.oracles import structure as twin
from tests.reference import cases

# --- Attempts


@pytest.mark.parametrize("case", cases("pass_at_k"))
def test_attempts_of_the_reference(case):
    asked, wanted = case
    tally = Tally(asked["c"], asked["n"])
    assert pass_at(tally, asked["k"]) == pytest.approx(wanted["pass_at_k"], rel=1e-12)
    assert pass_all(tally, asked["k"]) == pytest.approx(wanted["pass_hat_k"], rel=1e-12)


@given(total=st.integers(1, 8), data=st.data())
@settings(max_examples=40)
def test_attempts_are_their_twin(total, data):
    right, attempts = data.draw(st.integers(0, total)), data.draw(st.integers(1, total))
    some, every = twin.pass_at_k(total, right, attempts)
    assert pass_at(Tally(right, total), attempts) == pytest.approx(some, abs=1e-12)
    assert pass_all(Tally(right, total), attempts) == pytest.approx(every, abs=1e-12)


def test_a_rare_success_keeps_its_digits():
    assert pass_at(Tally(1, 10**6), 1) == pytest.approx(1e-6, rel=1e-14)
    assert pass_at(Tally(3, 10**5), 2) == pytest.approx(6e-5 - 6e-10 / (1 - 1e-5), rel=1e-6)
    assert (pass_at(Tally(0, 9), 9), pass_at(Tally(1, 9), 9), pass_all(Tally(8, 9), 9)) == (0.0, 1.0, 0.0)


def test_attempts_averaged_over_tasks():
    tasks = [Tally(k, 10) for k in (0, 2, 9, 10, 5, 7, 1, 10)]
    some, every = mean_pass_at(tasks, 3), mean_pass_all(tasks, 3)
    values = [pass_at(t, 3) for t in tasks]
    assert some.estimate == pytest.approx(np.mean(values))
    alone = score_mean(Scores(values))
    assert (some.low, some.high) == (alone.low, alone.high)
    assert every.estimate < some.estimate
    assert (some.trials, some.data, some.scale) == (8, tuple(tasks), "rate")
    assert mean_pass_at(tasks, 1).estimate == pytest.approx(mean_pass_all(tasks, 1).estimate)
    assert mean_pass_at(tasks, 3, confidence=0.8).width < some.width
    clustered = mean_pass_at(tasks, 3, clusters="aabbbbbc")
    assert clustered.width > some.width
    assert clustered.method == "pass@3, guarded cluster t"


def test_one_failure_more_does_not_make_the_interval_narrower_upwards():
    """Version 0.1.0: 20 tasks all 10/10 gave [83.0%, 100%], one of them 5/10 gave [99.9%, 100%]."""
    sure = mean_pass_at([Tally(10, 10)] * 20, 5)
    less = mean_pass_at([*[Tally(10, 10)] * 19, Tally(5, 10)], 5)
    assert less.low <= sure.low < 0.9
    assert sure.high == 1.0


@settings(max_examples=30)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(0, 7), st.integers(1, 10))
def test_one_success_more_never_lowers_an_end(successes, place, attempts):
    place %= len(successes)
    more = [k + (at == place) for at, k in enumerate(successes)]
    for of in (mean_pass_at, mean_pass_all):
        one, other = (of([Tally(k, 10) for k in of_tasks], attempts) for of_tasks in (successes, more))
        assert other.low >= one.low - 1e-9
        assert other.high >= one.high - 1e-9


def test_two_policies_are_compared_on_the_same_tasks():
    new, old = [[Tally(k, 10) for k in of] for of in ((8, 9, 5, 7, 9, 6, 8, 9), (1, 0, 1, 0, 0, 1, 2, 0))]
    found = pass_at_gain(new, old, 2)
    assert found.estimate == pytest.approx(mean_pass_at(new, 2).estimate - mean_pass_at(old, 2).estimate)
    assert (found.verdict, found.interval.scale) == (Verdict.BETTER, "gain")
    assert pass_at_gain(old, new, 2).interval.high == pytest.approx(-found.interval.low)
    assert pass_all_gain(new, old, 2).estimate != found.estimate
    assert pass_at_gain(new, old, 2, clusters="aabbbccd").method == "pass@2, guarded cluster t"
    with pytest.raises(ValueError, match="must hold a tally for each of the 8 tasks; got 7"):
        pass_at_gain(new, old[:-1], 2)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [5, 10, 20, 100])
@pytest.mark.parametrize("law", [(2.0, 0.3), (2.0, 2.0)])
def test_pass_at_five_covers(tasks, law):
    """Version 0.1.0: .69 with 20 easy tasks, .82 with 5."""
    rng = np.random.default_rng(7)
    draws = rng.beta(*law, 200_000)
    truth = float(np.mean(1.0 - (1.0 - draws) ** 5))
    held = 0
    for _ in range(1_000):
        found = mean_pass_at([Tally(int(k), 10) for k in rng.binomial(10, rng.beta(*law, tasks))], 5)
        held += found.low <= truth <= found.high
    assert held >= scipy_stats.binom.isf(0.999, 1_000, 0.95)
