"""Tests of `surefoot.numerics.paired_rates`."""

import math

import numpy as np
import pytest

from surefoot.numerics import gain_scores, normal_quantiles, paired_rates, two_rates


def test_the_paired_statistic_rises_and_falls_as_proved():
    for n in (5, 12):
        grid = [-0.97, -0.5, -0.1, -1e-6, 0.0, 1e-6, 0.2, 0.7, 0.99]
        b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        z = np.array([np.where(b + c <= n, paired_rates.statistic(b, c, n, d), np.nan) for d in grid])
        for axis, sign in ((1, 1), (2, -1), (0, -1)):
            steps = sign * np.diff(z, axis=axis)
            assert not (steps < -1e-9).any()


def trinomial(n, pb, pc, inside):
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if inside(b, c):
                total += math.comb(n, b) * math.comb(n - b, c) * pb**b * pc**c * (1 - pb - pc) ** (n - b - c)
    return total


def test_staircase_probabilities_are_the_sums_of_their_terms():
    first = np.array([2, 3, 3, 6, 8])
    p = np.array([0.0, 0.3, 0.85, 1.0])
    q = np.array([0.2, 0.3, 0.5, 1.0])
    found = two_rates.above(7, 4, (p, 1 - p, q, 1 - q), first, 1e-14)
    for i in range(4):
        wanted = sum(
            math.comb(7, a) * p[i] ** a * (1 - p[i]) ** (7 - a) * math.comb(4, b) * q[i] ** b * (1 - q[i]) ** (4 - b)
            for a in range(8)
            for b in range(5)
            if a >= first[b]
        )
        assert found[i] == pytest.approx(wanted, abs=1e-14)
    steps = paired_rates.staircase(9, 0.1, 1.3)
    pb, pc = np.array([0.4, 0.0, 1.0, 0.2]), np.array([0.1, 0.5, 0.0, 0.8])
    found = paired_rates.above(9, pb, pc, 1 - pb - pc, steps)
    for i in range(4):
        assert found[i] == pytest.approx(trinomial(9, pb[i], pc[i], lambda b, c: b >= steps[c]), abs=1e-13)


@pytest.mark.parametrize("count", [500, 1225, 19900])
def test_the_score_limits_keep_the_share_of_very_many(count):
    error = 0.05 / (2 * count)
    z, t = normal_quantiles.upper_quantile(error), np.linspace(0.0, 1.0, 1501)
    for n in (20, 50, 100, 200, 500):
        up = paired_rates.staircase(n, 0.0, z)
        assert paired_rates.above(n, *paired_rates.chances(0.0, t), up).max() <= 1.15 * error
    for n1, n2 in ((20, 20), (50, 50), (50, 46), (46, 50), (200, 200)):
        up = gain_scores.staircase(n1, n2, 0.0, z / math.sqrt(1 - 1 / (n1 + n2)))
        assert two_rates.above(n1, n2, two_rates.rates(0.0, t), up, 1e-16).max() <= 1.15 * error
