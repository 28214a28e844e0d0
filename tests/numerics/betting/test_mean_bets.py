"""Tests of `surefoot.numerics.betting.mean_bets`."""

import math

import numpy as np
import pytest

from surefoot.numerics.betting import mean_bets
from surefoot.numerics.betting.mean_bets import best_stake, log_wealth
from tests.reference import cases


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


# --- published numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_xi_star"))
def test_the_best_stake_is_the_reference_one(given_, expected):
    ours, theirs, at = (np.array(given_[name]) for name in ("p1", "p0", "c"))
    weights, values = (ours[:, None] * theirs).reshape(-1, 1), (at[:, None] - at).ravel()
    assert best_stake(weights, values, 1.0)[0] == pytest.approx(expected["xi"], abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_trace_literal"))
def test_the_literal_algorithm_gives_the_reference_trace(given_, expected):
    """Algorithm 1 as printed, stakes up to 1 and no added mass, on our best stake."""
    r0, r1, bins = given_["r0"], given_["r1"], given_["bins"]
    wealth, best = 1.0, 1.0
    for i, (a, b) in enumerate(zip(r0, r1, strict=True)):
        stake = 0.0
        if i:
            rounded = [
                [math.floor((bins - 1) * r + 1e-9) / (bins - 1) if bins else r for r in side[:i]] for side in (r1, r0)
            ]
            values = np.array([one - other for one in rounded[0] for other in rounded[1]])
            stake = best_stake(np.full((len(values), 1), 1.0 / len(values)), values, 1.0)[0]
        assert stake == pytest.approx(expected["xi_used"][i], abs=1e-9)
        wealth *= 1.0 + stake * (b - a)
        best = max(best, wealth)
        assert wealth == pytest.approx(expected["X"][i], abs=1e-9)
        assert 1.0 / best == pytest.approx(expected["p_anytime"][i], abs=1e-9)


@pytest.mark.parametrize(("given_", "expected"), cases("nscore_process_given_xi"))
def test_wealth_of_given_stakes_is_the_reference_one(given_, expected):
    outcomes = np.array(given_["r1"]) - np.array(given_["r0"])
    stakes = np.array(given_["xi"], float)
    found = [math.exp(log_wealth(0.0, outcomes[: n + 1], stakes[: n + 1])) for n in range(len(stakes))]
    assert found == pytest.approx(expected["X"], rel=1e-12)
    assert [1 / max(1.0, *found[: n + 1]) for n in range(len(found))] == pytest.approx(expected["p_anytime"], rel=1e-12)


STREAMS = {
    "scores": lambda rng: rng.beta(3, 2, 700),
    "successes": lambda rng: (rng.random(700) < 0.7).astype(float),
    "rare successes": lambda rng: (rng.random(700) < 0.02).astype(float),
    "all one": lambda rng: np.ones(400),
    "all the same": lambda rng: np.full(400, 0.3),
    "ever larger": lambda rng: np.linspace(0.0, 1.0, 400),
    "none, then all": lambda rng: np.repeat([0.0, 1.0], 250),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("tail", [0.4, 0.025, 1e-6])
def test_the_end_after_each_score_is_the_largest_end_of_any_fixed_size_up_to_it(stream, tail):
    z = STREAMS[stream](np.random.default_rng(8))
    bets = mean_bets.wsr_bets(z, tail)
    one_by_one = [mean_bets.low_end(z[:size], bets[:size], tail) for size in range(1, z.size + 1)]
    assert mean_bets.low_ends(z, bets, tail) == pytest.approx(np.maximum.accumulate(one_by_one), abs=1e-12)


@pytest.mark.parametrize("stream", ["scores", "all one"])
def test_eight_times_as_many_scores_take_less_than_twice_the_steps_for_each(stream, monkeypatch):
    """An end that moves with every score made the work grow with the square of their number."""
    plain, steps = np.log1p, []

    def counted(values, *args, **kwargs):
        steps.append(np.size(values))
        return plain(values, *args, **kwargs)

    each = []
    monkeypatch.setattr(mean_bets.np, "log1p", counted)
    for size in (500, 4_000):
        z = np.ones(size) if stream == "all one" else np.random.default_rng(5).beta(3, 2, size)
        steps.clear()
        mean_bets.low_ends(z, mean_bets.wsr_bets(z, 0.025), 0.025)
        each.append(sum(steps) / size)
    assert each[1] < 2.0 * each[0]
