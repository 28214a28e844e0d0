"""Tests of `surefoot.numerics.betting.mean_bets`."""

import math

import numpy as np
import pytest

from surefoot.numerics.betting import mean_bets


def slow_aimed_low(z, tail, cells, grid):
    """The smallest grid mean not refused, every mean tried by itself with the bets of its cell, from the formula."""
    n = len(z)
    for m in grid:
        edge = math.ceil(m * cells - 1e-12) / cells
        logs, squares, wealth, refused = 0.0, 2 * 0.6 * edge * (1 - edge), 1.0, False
        for t, x in enumerate(z):
            aim = max(0.0, math.log(1 / tail) - logs)
            spread = squares / (2 + t)
            bet = min(0.99 / edge, math.sqrt(2 * aim / ((n - t) * spread))) if spread else 0.99 / edge
            wealth *= 1 + bet * edge * (x - m) / m
            refused |= wealth >= 1 / tail
            logs += math.log(1 + bet * (x - edge))
            squares += (x - edge) ** 2
            if logs >= math.log(1 / tail):
                refused = True  # then the whole cell is
                break
        if not refused:
            return m
    return 1.0


@pytest.mark.parametrize("seed", range(6))
def test_aimed_end_by_trying_every_mean(seed):
    rng = np.random.default_rng(seed)
    z = rng.beta(2 + seed, 1, 25) if seed % 2 else (rng.random(25) < 0.6 + seed / 20).astype(float)
    grid = np.arange(1, 1281) / 1280
    slow = slow_aimed_low(z, 0.025, 64, grid)
    assert mean_bets.aimed_low(z, 0.025, cells=64) == pytest.approx(slow, abs=1.01 / 1280)


@pytest.mark.parametrize("ones", [20, 40])
def test_aimed_end_by_trying_every_mean_where_successes_came_first(ones):
    """Every cell up to the mean is refused before the failures come; without failures the last cell alone is left."""
    z = np.repeat([1.0, 0.0], [ones, 40 - ones])
    slow = slow_aimed_low(z, 0.025, 16, np.arange(1, 321) / 320)
    assert slow > z.mean() - 0.1
    assert mean_bets.aimed_low(z, 0.025, cells=16) == pytest.approx(slow, abs=1.01 / 320)


def test_bets_know_only_the_past():
    z = np.random.default_rng(1).random(30)
    other = np.concatenate((z[:18], 1 - z[18:]))
    assert np.array_equal(mean_bets.aimed_shares(z, 0.5, 0.025)[:19], mean_bets.aimed_shares(other, 0.5, 0.025)[:19])
    assert np.array_equal(mean_bets.wsr_bets(z, 0.025)[:19], mean_bets.wsr_bets(other, 0.025)[:19])
    assert mean_bets.aimed_shares(z, 0.2, 0.025)[19] != mean_bets.aimed_shares(other, 0.2, 0.025)[19]


def test_the_low_end_is_where_the_capital_reaches_its_goal():
    z = np.random.default_rng(8).beta(3, 1, 60)
    low, cells = mean_bets.aimed_low(z, 0.025), mean_bets.cells_for(60)

    def capital(candidate):
        """The most that is won against a candidate by the bets of its own cell."""
        shares = mean_bets.aimed_shares(z, math.ceil(candidate * cells) / cells, 0.025)
        return math.exp(mean_bets.shared_log_capital(z, shares, candidate).max())

    assert capital(low + 1e-9) < 40 <= capital(low - 1e-9)
