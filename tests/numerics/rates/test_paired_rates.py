"""Tests of `surefoot.numerics.rates.paired_rates`."""

import math

import numpy as np
import pytest

from surefoot.numerics.rates import paired_rates
from surefoot.numerics.rates.inversion import Order


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
    steps = paired_rates.thresholds(9, np.arange(10), np.array(0.1), np.array(1.3))
    pb, pc = np.array([0.4, 0.0, 1.0, 0.2]), np.array([0.1, 0.5, 0.0, 0.8])
    found = paired_rates.above(9, pb, pc, 1 - pb - pc, steps)
    part = paired_rates.above(9, pb, pc, 1 - pb - pc, steps[1:4], 1)
    for i in range(4):
        assert found[i] == pytest.approx(trinomial(9, pb[i], pc[i], lambda b, c: b >= steps[c]), abs=1e-13)
        some = trinomial(9, pb[i], pc[i], lambda b, c: 1 <= c < 4 and b >= steps[c])
        assert part[i] == pytest.approx(some, abs=1e-13)


@pytest.mark.parametrize("both", [True, False])
def test_tails_are_the_sums_over_all_tables(both):
    n, d, level = 11, -0.15, 1.2
    tables = paired_rates.PairCounts(n, np.array([0]), np.array([0]), 5e-5)
    shares = np.array([[0.15, 0.4, 0.9, 1.0]])
    found = tables.tails(np.array([d]), shares, Order(np.array([d]), np.array([level])), 1e-12, both=both)[0]
    for share, chance in zip(shares[0], found, strict=True):

        def inside(b, c):
            z = float(paired_rates.statistic(b, c, n, d))
            return z >= level * (1 - 1e-8) or (both and z <= -level * (1 - 1e-8))

        assert chance == pytest.approx(trinomial(n, (share + d) / 2, (share - d) / 2, inside), abs=1e-11)


def test_the_thresholds_of_neighbouring_counts_are_those_of_each_alone():
    n, begin, end = 400, np.array([0, 30, 90]), np.array([400, 75, 91])
    for at, height in ((0.1, 3.0), (-0.3, 0.4), (0.9, 2.0)):
        difference, level = np.full((3, 1), at), np.array([[height], [0.0], [40.0]])
        found = paired_rates.staircases(n, begin, end, difference, level)
        for row, low, high, bar in zip(found, begin, end, level, strict=True):
            c = np.arange(low, high + 1)
            assert row[: len(c)].tolist() == paired_rates.thresholds(n, c, np.array(at), bar).tolist()


def test_questions_asked_together_sum_over_counts_of_their_own(monkeypatch):
    """Asked of rare and of frequent discordance at once, no question looks at the counts of both."""
    looked, made = [], paired_rates.above
    monkeypatch.setattr(paired_rates, "above", lambda n, *rest: looked.append(len(rest[3])) or made(n, *rest))
    share = np.array([[0.02, 0.03], [0.4, 0.41]])
    order = Order(np.full(2, -0.01), np.full(2, 2.0))
    tables = paired_rates.tables(np.array([300]), np.array([200]), 10_000, 1e-7)
    found = tables.tails(np.zeros(2), share, order, 1e-12, both=False)
    assert max(looked) < 1_500
    for row in range(2):
        own = Order(order.at[[row]], order.level[[row]])
        alone = tables.tails(np.zeros(1), share[[row]], own, 1e-12, both=False)
        assert (found[row] == alone[0]).all()
