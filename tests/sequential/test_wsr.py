"""Tests of `surefoot.sequential.wsr`."""

import math

import numpy as np
import pytest

from surefoot.sequential import Wsr, run
from tests.oracles import sequential as twin
from tests.reference import cases
from tests.support.betting import gains, sequence


@pytest.mark.parametrize(("given_", "expected"), cases("wsr_trace"))
def test_wsr_stakes_and_capital_are_the_reference_ones(given_, expected):
    if given_["variance_mean"].startswith("mu_hat_t"):  # the algorithm as printed; ours is the original one
        lams = twin.wsr_bets([(z + 1) / 2 for z in given_["z"]], given_["alpha"], 2, running=False)[0]
        assert lams == pytest.approx(expected["lam"], rel=1e-10)
        return
    rule = Wsr(50, confidence=0.95, claim="either")
    state = rule.start()
    for z in given_["z"]:
        state = rule.step(state, (max(z, 0.0), max(-z, 0.0)))
    lams = np.minimum(np.array(expected["lam"]), 2 * given_["c"])  # truncated at c/m, m = 1/2
    assert list(state.sides[0].stakes) == pytest.approx(list(lams / 2), rel=1e-10)
    middle = given_["m"].index(0.5)
    assert math.exp(state.sides[0].log_wealth) == pytest.approx(expected["Mplus_final"][middle], rel=1e-10)
    assert math.exp(state.sides[1].log_wealth) == pytest.approx(expected["Mminus_final"][middle], rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_wsr_is_its_twin(seed):
    first, second = sequence(seed, 50)
    states = run(Wsr(50), zip(first, second, strict=True))
    trace = twin.wsr_one_sided(gains(first, second))
    assert [s.evidence for s in states] == pytest.approx(trace["X"][: len(states)], rel=1e-9)
    both = run(Wsr(50, claim="either"), zip(first, second, strict=True))
    trace = twin.wsr_two_sided(gains(first, second))
    assert [s.p_value for s in both] == pytest.approx(trace["p"][: len(both)], rel=1e-9)
