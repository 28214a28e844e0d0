"""Tests of `surefoot.numerics.betting.wealth`."""

import math

import numpy as np
import pytest

from surefoot.numerics.betting.wealth import best_stake, log_wealth
from tests.reference import cases

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
