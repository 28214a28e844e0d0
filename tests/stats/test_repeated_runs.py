"""Rollouts that are not independent: clusters, repeats, strata, several attempts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.special import stdtrit

from surefoot import Scores, Tally, Verdict
from surefoot.core.record import Record
from surefoot.stats import (
    cluster_bootstrap,
    cluster_gain,
    cluster_mean,
    cluster_rate,
    mean_on_these_tasks,
    mean_over_tasks,
    mean_pass_all,
    mean_pass_at,
    pass_all,
    pass_all_gain,
    pass_at,
    pass_at_gain,
    score_mean,
    variance_components,
)
from tests.oracles import structure as twin
from tests.reference import cases

outcomes = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), min_size=3, max_size=20).filter(
    lambda rows: len({label for _, label in rows}) > 1
)


def scored(values):
    return Scores(values, min(0, *values), max(1, *values))


# --- Clusters: see test_clusters.py


def test_cluster_bootstrap_near_the_robust_interval():
    rng = np.random.default_rng(8)
    labels = np.repeat(range(60), 5)
    scores = Scores((0.5 + 0.2 * rng.standard_normal(60)[labels] + 0.05 * rng.standard_normal(300)).clip(0, 1))
    robust, boot = cluster_mean(scores, labels.tolist()).interval, cluster_bootstrap(scores, labels.tolist(), rng=1)
    assert (boot.low, boot.high) == pytest.approx((robust.low, robust.high), abs=0.01)
    assert (boot.seed, boot.notes) == (1, ("10,000 resamples of 60 clusters.",))
    few = cluster_bootstrap(Scores(scores.values[:50]), labels[:50].tolist(), rng=1)
    assert "Only 10 units" in few.notes[1]


# --- Repeats


@pytest.mark.parametrize("case", cases("runs_by_tasks"))
def test_components_of_the_reference(case):
    asked, wanted = case
    found = variance_components(asked["matrix"])
    assert found.mean == pytest.approx(wanted["mean"], rel=1e-10)
    assert found.run_means == pytest.approx(wanted["run_means"], rel=1e-10)
    for name, value in (
        ("sd_between_runs", found.between_runs),
        ("se_task_clustered_cr0", found.by_task),
        ("se_run_clustered_cr0", found.by_run),
        ("var_twoway_cr0", found.two_way),
        ("var_within_task", found.within_task),
        ("var_between_task_means", found.between_tasks),
        ("var_task_component", found.task_part),
        ("se_iid_single_run_equivalent", found.one_run_error),
        ("se_mean_random_tasks", found.error),
    ):
        assert value == pytest.approx(wanted[name], rel=1e-10, abs=1e-14), name


def test_shared_runs_add_their_own_spread_and_freedom():
    """Satterthwaite's freedom for the sum of the spread of tasks and that of runs."""
    runs = [[0.2, 0.5, 0.9, 0.4, 0.7], [0.5, 0.7, 1.0, 0.6, 0.9], [0.1, 0.3, 0.8, 0.2, 0.4]]
    found = variance_components(runs, shared_runs=True)
    tasks, added = float(np.mean(runs, axis=0).var(ddof=1)) / 5, found.run_part / 3
    assert added > 0.0
    freedom = (tasks + added) ** 2 / (tasks**2 / 4 + added**2 / 2)
    half = float(stdtrit(freedom, 0.975)) * math.sqrt(tasks + added)
    interval = mean_over_tasks(runs, shared_runs=True)
    assert interval.low == pytest.approx(max(0.0, np.mean(runs) - half), rel=1e-10)
    assert interval.high == pytest.approx(min(1.0, np.mean(runs) + half), rel=1e-10)
    assert interval.low > 0.0
    fixed = mean_on_these_tasks(runs)
    within = np.var(runs, axis=0, ddof=1).mean() / 15
    assert fixed.high - fixed.low == pytest.approx(2 * stdtrit(10, 0.975) * math.sqrt(within), rel=1e-10)


def test_one_run_says_nothing_of_others():
    found = variance_components([[1, 0, 1, 1]])
    assert (found.between_runs, found.one_run_error, found.task_part) == (None, None, None)
    assert found.error == pytest.approx(math.sqrt(0.25 / 4))
    assert str(found).startswith("4 tasks, 1 run, mean 0.750.")
    with pytest.raises(ValueError, match="`runs` must be at least 2 to foresee other runs; got 1"):
        found.error_with(runs=2, tasks=4)


def test_the_noise_of_runs_is_not_counted_twice():
    rng = np.random.default_rng(1)
    rates = rng.beta(2, 1, 4000)
    one = (rng.random((1, 4000)) < rates).astype(int)
    mean = one.mean()
    found = mean_over_tasks(one.tolist())
    half = stdtrit(3999, 0.975) * math.sqrt(mean * (1 - mean) / 4000)
    assert found.width == pytest.approx(2 * half, rel=0.01)
    assert "One run cannot tell" in found.notes[0]
    several = (rng.random((8, 4000)) < rates).astype(int)
    parts = variance_components(several.tolist())
    assert parts.task_part == pytest.approx(rates.var(), rel=0.1)
    assert parts.within_task == pytest.approx(np.mean(rates * (1 - rates)), rel=0.05)
    assert mean_over_tasks(several.tolist()).width == pytest.approx(2 * 1.96 * parts.error, rel=0.02)
    fixed = mean_on_these_tasks(several.tolist())
    assert fixed.width == pytest.approx(2 * 1.96 * math.sqrt(parts.within_task / 32_000), rel=0.02)


def test_which_extra_run_helps_most():
    spread = variance_components([[1, 0, 1, 0, 1, 0, 1, 0]] * 3)
    assert spread.largest == "tasks"
    assert "More tasks help most" in spread.notes[0]
    assert "0% as one more run" in spread.notes[0]
    runs = [[1, 1, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 1, 1, 1]]
    shared = variance_components(runs, shared_runs=True)
    assert shared.largest == "runs"
    assert "More runs help most" in shared.notes[0]
    assert shared.error_with(runs=6, tasks=8, shared_runs=True) < shared.error_with(runs=3, tasks=16, shared_runs=True)
    assert mean_over_tasks(runs, shared_runs=True).width > mean_over_tasks(runs).width
    assert mean_on_these_tasks(runs, shared_runs=True).width > mean_on_these_tasks(runs).width


def test_error_foreseen_for_the_same_design_is_the_error_found():
    found = variance_components([[1, 1, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1, 1, 0]])
    assert found.error_with(runs=2, tasks=8) == pytest.approx(found.error)
    assert Record.from_dict(found.to_dict()) == found


def test_what_whole_runs_share_is_not_taken_from_the_tasks():
    """Task and run effects that add up without noise: each variance is found, and more runs leave that of the tasks."""
    tasks, runs = np.linspace(0.3, 0.5, 8), np.array([0.0, 0.25, 0.5])
    found = variance_components(tasks + runs[:, None], shared_runs=True)
    assert found.task_part == pytest.approx(tasks.var(ddof=1))
    assert found.run_part == pytest.approx(runs.var(ddof=1))
    wanted = tasks.var(ddof=1) / 8 + runs.var(ddof=1) / 1000
    assert found.error_with(runs=1000, tasks=8, shared_runs=True) == pytest.approx(math.sqrt(wanted))


def test_errors_hold_what_whole_runs_share_where_they_were_said_to():
    """The error of the mean is the one its interval has; that of one run follows from the same parts."""
    tasks, runs = np.linspace(0.3, 0.5, 8), np.array([0.0, 0.25, 0.5])
    table = tasks + runs[:, None]
    found = variance_components(table, shared_runs=True)
    each, shared = tasks.var(ddof=1) / 8, runs.var(ddof=1)
    assert found.error == pytest.approx(math.sqrt(each + shared / 3))
    assert found.one_run_error == pytest.approx(math.sqrt(each + shared))
    assert found.error_with(runs=3, tasks=8) == pytest.approx(found.error)
    assert found.error_with(runs=1, tasks=8) == pytest.approx(found.one_run_error)
    assert Record.from_dict(found.to_dict()) == found
    apart = variance_components(table)
    assert apart.error == pytest.approx(math.sqrt(each))
    assert apart.error_with(runs=3, tasks=8, shared_runs=True) == pytest.approx(found.error)


def test_arrays_and_booleans_are_outcomes_too():
    table = np.array([[True, False, True], [True, True, False]])
    assert mean_over_tasks(table) == mean_over_tasks([[1, 0, 1], [1, 1, 0]])
    assert mean_over_tasks(list(table.astype(float))) == mean_over_tasks([[1, 0, 1], [1, 1, 0]])
    assert cluster_rate(table.ravel(), list("aabbcc")) == cluster_rate([1, 0, 1, 1, 1, 0], list("aabbcc"))


def test_repeats_of_scores_and_of_all_successes():
    found = mean_over_tasks([[1.5, 2.0, 0.5], [1.0, 2.5, 0.0]], low=0, high=3)
    assert (found.method, found.scale) == ("clustered t", "score")
    sure = mean_over_tasks([[1] * 6] * 3)
    assert sure.high == 1.0
    assert sure.low < 0.7  # six tasks, not eighteen rollouts
    assert mean_on_these_tasks([[1] * 6] * 3).low > sure.low


# --- Attempts


@pytest.mark.parametrize("case", cases("pass_at_k"))
def test_attempts_of_the_reference(case):
    asked, wanted = case
    tally = Tally(asked["c"], asked["n"])
    assert pass_at(tally, asked["k"]) == pytest.approx(wanted["pass_at_k"], rel=1e-12)
    assert pass_all(tally, asked["k"]) == pytest.approx(wanted["pass_hat_k"], rel=1e-12)


@given(total=st.integers(1, 8), data=st.data())
@settings(max_examples=40, deadline=None)
def test_attempts_are_their_twin(total, data):
    right, attempts = data.draw(st.integers(0, total)), data.draw(st.integers(1, total))
    some, every = twin.pass_at_k(total, right, attempts)
    assert pass_at(Tally(right, total), attempts) == pytest.approx(some, abs=1e-12)
    assert pass_all(Tally(right, total), attempts) == pytest.approx(every, abs=1e-12)


def test_a_rare_success_keeps_its_digits():
    assert pass_at(Tally(1, 10**6), 1) == pytest.approx(1e-6, rel=1e-14)
    assert pass_at(Tally(3, 10**5), 2) == pytest.approx(6e-5 - 6e-10 / (1 - 1e-5), rel=1e-6)
    assert (pass_at(Tally(0, 9), 9), pass_at(Tally(1, 9), 9), pass_all(Tally(8, 9), 9)) == (0.0, 1.0, 0.0)


def test_runs_that_agree_but_for_rounding_show_no_spread():
    """Three runs with the rate 2/3 each: the shared part is not seen, and each run counts once."""
    runs = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    found = mean_on_these_tasks(runs, shared_runs=True)
    assert found.width > 0.5
    assert variance_components([[0.1] * 7] * 3).notes == ("No spread was seen: neither tasks nor runs differed.",)


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
    assert clustered.method == "pass@3, cluster-robust t"


def test_one_failure_more_does_not_make_the_interval_narrower_upwards():
    """Version 0.1.0: 20 tasks all 10/10 gave [83.0%, 100%], one of them 5/10 gave [99.9%, 100%]."""
    sure = mean_pass_at([Tally(10, 10)] * 20, 5)
    less = mean_pass_at([*[Tally(10, 10)] * 19, Tally(5, 10)], 5)
    assert less.low <= sure.low < 0.9
    assert sure.high == 1.0


@settings(deadline=None)
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
    assert pass_at_gain(new, old, 2, clusters="aabbbccd").method == "pass@2, cluster-robust t"
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


REFUSALS = [
    (lambda: cluster_mean(Scores([1, 0]), ["a", "a"]), "One cluster cannot show how clusters differ"),
    (lambda: cluster_rate([1, 0], ["a", "a"]), "One cluster cannot show how clusters differ"),
    (lambda: cluster_rate([1, 0.5], ["a", "b"]), "successes and failures, 1 or 0; got 0.5"),
    (lambda: cluster_mean([1, 0], ["a", "b"]), "`scores` must be a Scores; got a list"),
    (lambda: cluster_bootstrap([1, 0], ["a", "b"], rng=1), "`scores` must be a Scores; got a list"),
    (lambda: cluster_mean(Scores([1, 0]), ["a", math.nan]), "cluster of every observation; got NaN"),
    (lambda: pass_at((3, 10), 2), "`tally` must be a Tally; got a tuple"),
    (lambda: cluster_bootstrap(Scores([1, 0]), ["a", "a"], rng=1), "at least 2 clusters"),
    (lambda: cluster_bootstrap(Scores([0.1, 0.3] * 2), "aabb", rng=1), "must vary between clusters for a bootstrap"),
    (lambda: cluster_mean(Scores([1, 0]), ["a"]), "one cluster per observation"),
    (lambda: cluster_mean(Scores([1, 0]), ["a", "b"], crossed=["x", "x"]), "`crossed` must name at least 2"),
    (lambda: cluster_gain(Scores([1, 1]), Scores([0]), ["a", "b"]), "without its partner"),
    (lambda: variance_components([[1]]), "at least 2 tasks"),
    (lambda: variance_components([[1, 0], [1]]), "every task in every run"),
    (lambda: variance_components([1, 0]), "one list of outcomes per run"),
    (lambda: mean_on_these_tasks([[1, 0, 1]]), "at least 2 runs; got 1"),
    (lambda: mean_over_tasks([[1, 0, 1]], shared_runs=True), "One run cannot show how runs differ"),
    (lambda: variance_components([[1, 0]]).error_with(runs=2, tasks=3), "repeat at least some tasks"),
    (lambda: mean_over_tasks([[0.5, 0.5], [0.5, 0.5]]), "`outcomes` must vary"),
    (lambda: mean_over_tasks([[0.1] * 7] * 3), "`outcomes` must vary"),
    (lambda: mean_on_these_tasks([[0.3, 0.4, 0.6]] * 3), "`outcomes` must vary"),
    (lambda: mean_over_tasks([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]]), "`outcomes` must vary"),
    (lambda: pass_at(Tally(3, 10), 11), "`attempts` must be at most the 10 recorded; got 11"),
    (lambda: pass_all(Tally(3, 10), 11), "`attempts` must be at most the 10 recorded; got 11"),
    (lambda: pass_at(Tally(3, 10), 0), "at least 1"),
    (lambda: mean_pass_at([], 2), "at least one task"),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS, ids=[words for _, words in REFUSALS])
def test_refusals(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
