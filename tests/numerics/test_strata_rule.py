"""Tests of `surefoot.numerics.strata_rule`."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from surefoot.numerics import strata_rule
from tests.oracles import strata as twin
from tests.support.strata import blocks, drawn, rows, shares

ERRORS = (0.05, 0.01, 0.0011)


# --- Twins and laws


@given(data=drawn, gain=st.floats(-1, 1))
@settings(max_examples=80, deadline=None)
def test_rule_x_is_that_of_its_twin(data, gain):
    table = rows(data)
    weights = shares([(n, m) for _, n, _, m in table], "tasks")
    hits, trials = strata_rule.cells([row[:2] for row in table], [row[2:] for row in table])
    found = strata_rule.p_values(hits, trials, np.tile(weights, 2), np.array([gain, 0.0]))
    assert found[0] == pytest.approx(twin.rule_x(table, weights, gain), rel=1e-7, abs=1e-12)
    assert found[1] == pytest.approx(twin.rule_x(table, weights, 0.0), rel=1e-7, abs=1e-12)


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
