"""Tests of `surefoot.sequential.savi`."""

import pytest

from surefoot.sequential import Savi, run
from tests.oracles import sequential as twin
from tests.reference import cases
from tests.support.betting import sequence


@pytest.mark.parametrize(("given_", "expected"), cases("theta_savi_bernoulli"))
def test_savi_evidence_is_the_reference_one(given_, expected):
    states = run(Savi(len(given_["y0"])), zip(given_["y1"], given_["y0"], strict=True))
    assert [s.evidence for s in states] == pytest.approx(expected["e"][: len(states)], rel=1e-10)
    assert [s.p_value for s in states] == pytest.approx(expected["p_anytime"][: len(states)], rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_savi_is_its_twin(seed):
    first, second = sequence(seed, 50, binary=True)
    states = run(Savi(50), zip(first, second, strict=True))
    trace = twin.theta_savi([int(v) for v in second], [int(v) for v in first])
    assert [s.evidence for s in states] == pytest.approx(trace["X"][: len(states)], rel=1e-9)
