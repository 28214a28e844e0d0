"""Tests of `surefoot.numerics.rates.strata_rule`."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot.numerics.rates import strata_rule
from tests.oracles import strata as twin
from tests.support.strata import blocks, drawn, rows, shares

ERRORS = (0.05, 0.01, 0.0011)


# --- Twins and laws


@given(data=drawn, gain=st.floats(-1, 1))
@settings(max_examples=80)
def test_rule_x_is_that_of_its_twin(data, gain):
    table = rows(data)
    weights = shares([(n, m) for _, n, _, m in table], "tasks")
    hits, trials = strata_rule.cells([row[:2] for row in table], [row[2:] for row in table])
    found = strata_rule.p_values(hits, trials, np.tile(weights, 2), np.array([gain, 0.0]))
    assert found[0] == pytest.approx(twin.rule_x(table, weights, gain), rel=1e-7, abs=1e-12)
    assert found[1] == pytest.approx(twin.rule_x(table, weights, 0.0), rel=1e-7, abs=1e-12)


@given(data=drawn, base=st.sampled_from([0.0, 1.0]), share=st.floats(0.02, 0.98))
@settings(max_examples=60)
def test_any_weighted_sum_of_rates_is_that_of_the_twin(data, base, share):
    table = rows(data)
    weights = shares([(n, m) for _, n, _, m in table], "tasks")
    hits, trials = strata_rule.cells([row[:2] for row in table], [row[2:] for row in table])
    both = np.tile(weights, 2) / (1.0 if base else 2.0)
    wanted = float(both.sum()) * share
    (found,) = strata_rule.p_values(hits, trials, both, np.array([wanted - base]), base=base)
    assert found == pytest.approx(twin.of_cells(list(hits), list(trials), list(both), wanted), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("error", ERRORS)
def test_the_ends_of_a_rate_are_where_its_p_value_crosses_the_error(error):
    hits, trials, weights = np.array([3.0, 9, 0]), np.array([4.0, 10, 6]), np.array([0.5, 0.25, 0.25])
    low, high = strata_rule.rate_ends(hits, trials, weights, error)
    for end, outward in ((low, -1e-6), (high, 1e-6)):
        assert twin.of_cells(hits, trials, weights, end) >= error - 1e-7
        if 0.0 < end < 1.0:
            assert twin.of_cells(hits, trials, weights, end + outward) <= error + 1e-7
    assert strata_rule.rate_ends(np.zeros(2), np.array([3.0, 5.0]), np.full(2, 0.5), error)[0] == 0.0
    assert strata_rule.rate_ends(np.array([3.0, 5.0]), np.array([3.0, 5.0]), np.full(2, 0.5), error)[1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "size", "rate"), [(16, 20, 0.5), (16, 20, 0.9), (8, 40, 0.5), (12, 5, 0.8), (10, 10, 0.93)]
)
def test_false_verdicts_with_many_tasks(count, size, rate):
    rng = np.random.default_rng(18)
    trials = np.full(2 * count, float(size))
    hits = rng.binomial(size, rate, (40_000, 2 * count)).astype(float)
    hits[:, count:] = size - hits[:, count:]
    weights = np.full(2 * count, 1 / count)
    found = np.concatenate(
        [strata_rule.p_values(part, trials, weights, np.zeros(len(part))) for part in blocks(hits, 2000)]
    )
    for error, most in zip(ERRORS, (0.0535, 0.0107, 0.0013), strict=True):
        assert (found <= error).sum() <= scipy_stats.binom.ppf(0.999, len(found), most)


def test_strata_need_fewer_rollouts_than_pooling():
    """Rates from .05 to .95 on 16 tasks: 80% power with at most .85 of the rollouts of the pooled score test."""
    count, gain = 16, 0.05
    rates = np.linspace(0.05, 0.95, count)
    first, second = np.clip(rates + gain / 2, 0, 1), np.clip(rates - gain / 2, 0, 1)
    gap = float(np.mean(first - second))
    # pooled: as many rollouts a policy and task as give 80% power when the tasks are thrown together
    mean = np.mean((first + second) / 2)
    within = np.mean(first * (1 - first) + second * (1 - second))
    need = (1.96 * math.sqrt(2 * mean * (1 - mean)) + 0.8416 * math.sqrt(within)) ** 2 / gap**2 / count
    size = int(0.85 * need)
    rng = np.random.default_rng(21)
    hits = np.concatenate(
        (rng.binomial(size, first, (3000, count)), size - rng.binomial(size, second, (3000, count))), axis=1
    ).astype(float)
    trials, weights = np.full(2 * count, float(size)), np.full(2 * count, 1 / count)
    found = np.concatenate(
        [strata_rule.p_values(part, trials, weights, np.zeros(len(part))) for part in blocks(hits, 1000)]
    )
    assert (found <= 0.05).sum() >= scipy_stats.binom.ppf(0.001, len(found), 0.8)


# --- Many cells

MANY = [(10, "tasks", 0.05), (7, "rollouts", 0.2), (5, "tasks", 0.01)]


def many(size, weigh, lift=0.1, tasks=20):
    """Cells of many tasks, none of them small, and their weights."""
    rng = np.random.default_rng(size)
    rates = np.linspace(0.2, 0.85, tasks)
    sizes = rng.integers(size, 2 * size, (2, tasks))
    ours, theirs = rng.binomial(sizes[0], rates + lift), rng.binomial(sizes[1], rates)
    layout = list(zip(*sizes.tolist(), strict=True))
    hits, trials = strata_rule.cells(np.stack((ours, sizes[0]), axis=1), np.stack((theirs, sizes[1]), axis=1))
    table = [(int(x), n, int(y), m) for x, y, (n, m) in zip(ours, theirs, layout, strict=True)]
    return table, hits, trials, shares(layout, weigh)


@pytest.mark.parametrize(("size", "weigh", "error"), MANY)
def test_a_secant_finds_the_ends_that_a_full_set_of_gains_does(size, weigh, error, monkeypatch):
    table, hits, trials, weights = many(size, weigh)
    quick = strata_rule.invert(hits, trials, np.tile(weights, 2), error)
    with monkeypatch.context() as changed:
        changed.setattr(strata_rule, "_MANY_CELLS", 41)
        slow = strata_rule.invert(hits, trials, np.tile(weights, 2), error)
    assert quick == pytest.approx(slow, abs=2e-11)
    assert quick != slow  # they were found in two ways
    for end in quick[:2]:
        assert twin.rule_x(table, weights, end) == pytest.approx(error, rel=1e-7)
    assert quick[2] == pytest.approx(twin.rule_x(table, weights, 0.0), rel=1e-7)


@pytest.mark.parametrize("first", [0, 9])
def test_ends_beyond_which_there_is_no_gain(first):
    """All tasks alike: nothing but successes of one policy and failures of the other."""
    hits, trials, weights = np.full(40, float(first)), np.full(40, 9.0), np.full(40, 1 / 20)
    low, high, p_value = strata_rule.invert(hits, trials, weights, 0.05)
    table = [(first, 9, 9 - first, 9)] * 20
    assert (high if first else low) == (1.0 if first else -1.0)
    assert twin.rule_x(table, [1 / 20] * 20, low if first else high) == pytest.approx(0.05, rel=1e-6)
    assert p_value == pytest.approx(twin.rule_x(table, [1 / 20] * 20, 0.0), rel=1e-6)


def test_many_tasks_without_a_gap_show_none():
    hits, trials = np.full(40, 3.0), np.tile([6.0, 6.0], 20)
    low, high, p_value = strata_rule.invert(hits, trials, np.full(40, 1 / 20), 0.05)
    assert (low, p_value) == (pytest.approx(-high), 1.0)


@pytest.mark.parametrize(
    ("share", "heavy", "others"),
    [
        (0.7, (0, 8, 5, 8), (10, 20, 10, 20)),  # the p-value jumps at an end, and no secant closes in on it
        (0.3, (0, 5, 5, 5), (0, 20, 0, 20)),  # far out it rises again
    ],
)
def test_where_a_secant_fails_a_full_set_of_gains_is_looked_at(share, heavy, others):
    table, weights = [heavy, *[others] * 19], np.array([share, *[(1 - share) / 19] * 19])
    hits, trials = strata_rule.cells([row[:2] for row in table], [row[2:] for row in table])
    estimate = float(np.tile(weights, 2) @ (hits / trials)) - 1
    assert strata_rule._quick(hits, trials, np.tile(weights, 2), 0.05, estimate) is None
    low, high, p_value = strata_rule.invert(hits, trials, np.tile(weights, 2), 0.05)
    for end, outward in ((low, -1e-7), (high, 1e-7)):
        assert twin.rule_x(table, weights, end) >= 0.05 - 1e-6
        assert twin.rule_x(table, weights, end + outward) <= 0.05 + 1e-6
    assert p_value == pytest.approx(twin.rule_x(table, weights, 0.0), rel=1e-6)
