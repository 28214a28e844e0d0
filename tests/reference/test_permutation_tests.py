"""Tests of `surefoot.reference.permutation_tests`."""

import itertools

import numpy as np
import pytest

from surefoot import Scores, Verdict
from surefoot.reference import paired_permutation


def slow_permutation(gaps, confidence):
    """Every pattern of signs; shifts tried on a fine grid of the values where the p-value can change."""
    gaps = np.asarray(gaps)
    signs = np.array(list(itertools.product((1, -1), repeat=len(gaps))))

    def p(shift):
        away = gaps - shift
        return np.mean(abs(signs @ away) >= abs(away.sum()) - 1e-9)

    tries = np.linspace(-1, 1, 4001)
    kept = [t for t in tries if p(t) > 1 - confidence]
    return p(0.0), min(kept), max(kept)


@pytest.mark.parametrize("seed", range(4))
def test_exact_permutation_is_its_slow_twin(seed):
    rng = np.random.default_rng(seed)
    first, second = Scores(rng.random(7)), Scores(rng.random(7) * 0.5)
    found = paired_permutation(first, second, rng=1)
    p, low, high = slow_permutation(np.subtract(first.values, second.values), 0.95)
    assert found.p_value == pytest.approx(p, abs=1e-12)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize(
    "sizes", [[0.1, 0.2, 0.3, 0.35, 0.5, 0.6, 0.7, 0.9], [0.5] * 8, [0.0, 0.0, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0]]
)
def test_permutation_size_counted_over_every_pattern_of_signs(sizes):
    """Differences symmetric about no gain: every pattern of signs is equally likely, so the error is a count."""
    rejected = total = 0
    for signs in itertools.product((1, -1), repeat=len(sizes)):
        gaps = np.multiply(signs, sizes)
        found = paired_permutation(Scores(np.maximum(gaps, 0)), Scores(np.maximum(-gaps, 0)), rng=1)
        rejected += found.verdict is not Verdict.UNDECIDED
        total += 1
    assert rejected / total <= 0.05


def test_monte_carlo_permutation_is_near_the_exact_one():
    rng = np.random.default_rng(2)
    first, second = rng.random(16), rng.random(16) * 0.8
    exact = paired_permutation(Scores(first), Scores(second), rng=1)
    doubled = paired_permutation(
        Scores(np.append(first, 0.5)), Scores(np.append(second, 0.5)), rng=1, resamples=50_000
    )  # one pair without a difference changes nothing but the number of patterns
    assert "Monte Carlo" in doubled.method
    assert doubled.p_value == pytest.approx(exact.p_value, abs=0.01)
    assert doubled.seed == 1


def test_permutation_p_value_is_never_zero_and_its_edges():
    nine = paired_permutation(Scores([1.0] * 30), Scores([0.0] * 30), rng=3, resamples=999)
    assert nine.p_value == pytest.approx(1 / 1000)
    one = paired_permutation(Scores([1.0]), Scores([0.0]), rng=3)
    assert (one.p_value, one.interval.low, one.interval.high) == (1.0, -1.0, 1.0)
    same = paired_permutation(Scores([0.5] * 8), Scores([0.5] * 8), rng=3)
    assert same.p_value == 1.0
