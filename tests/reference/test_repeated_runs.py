"""Rollouts that are not independent: clusters, repeats, strata, several attempts."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from surefoot import Scores, Tally
from surefoot.core.record import Record
from surefoot.reference import (
    cluster_bootstrap,
    mean_on_these_tasks,
    mean_over_tasks,
    pass_all,
    pass_at,
    variance_components,
)
from surefoot.stats import cluster_gain, cluster_mean, cluster_rate, mean_pass_at
from tests.reference import cases

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


def test_runs_that_agree_but_for_rounding_show_no_spread():
    """Three runs with the rate 2/3 each: the shared part is not seen, and each run counts once."""
    runs = [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    found = mean_on_these_tasks(runs, shared_runs=True)
    assert found.width > 0.5
    assert variance_components([[0.1] * 7] * 3).notes == ("No spread was seen: neither tasks nor runs differed.",)


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
