"""Rules as their papers publish them.

Tests of `surefoot.sequential.nscore`, `surefoot.sequential.savi`, `surefoot.sequential.wsr`.
"""

import math

import numpy as np
import pytest

from surefoot.sequential import NScore, Savi, Wsr, run, simulate
from tests.oracles import sequential as twin
from tests.reference import cases
from tests.support.betting import gains, sequence

# --- Nscore


@pytest.mark.parametrize(
    ("own", "other", "binary"),
    [
        ({"bins": 2}, {"bins": 2}, True),
        ({"bins": 11}, {"bins": 11}, False),
        ({"bins": 21}, {"bins": 21}, False),
        ({"bins": None}, {"bins": None}, False),
        ({"levels": tuple(j / 100 for j in range(101))}, {"levels": [j / 100 for j in range(101)]}, False),
        ({"bins": 11, "mass": 0.5}, {"bins": 11, "mass": 0.5}, False),
    ],
)
def test_nscore_is_its_twin(own, other, binary):
    first, second = sequence(3, 25, binary=binary)
    states = run(NScore(25, **own), zip(first, second, strict=True))
    trace = twin.nscore(second, first, alpha=0.05, **other)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["xi"], abs=1e-9)


def test_uneven_levels_are_their_own_bins():
    levels = (0.0, 0.1, 0.4, 1.0)
    rng = np.random.default_rng(0)
    first, second = rng.choice(levels, 30).tolist(), rng.choice(levels, 30).tolist()
    states = run(NScore(30, levels=levels), zip(first, second, strict=True))
    trace = twin.nscore(second, first, levels=list(levels), alpha=0.05)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    rule = NScore(30, levels=levels)
    with pytest.raises(ValueError, match="`first` must be one of the declared levels"):
        rule.step(rule.start(), (0.2, 0.1))
    with pytest.raises(ValueError, match="`second` must be one of the declared levels"):
        simulate(rule, [0.1], [0.2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Savi(9, margin=0.1), "`margin` must be 0 for theta-SAVI; got 0.1. The betting rules"),
        (lambda: Wsr(9, claim="same"), "`margin` must be above 0 for the claim 'same'"),
        (lambda: Wsr(9, claim="first not worse"), "`margin` must be above 0"),
        (lambda: Wsr(9, margin=1.0), "`margin` must be below the width of the score range"),
        (lambda: Wsr(9, claim="same", margin=0.1, confidence=0.4), "`confidence` must be above 0.5"),
        (lambda: NScore(9, bins=1), "`bins` must be at least 2"),
        (lambda: NScore(9, levels=(0.5,)), "`levels` must be two or more rising numbers"),
        (lambda: NScore(9, levels=(0.0, 2.0)), r"`levels` must be in the range \[0, 1\]"),
        (lambda: NScore(9, mass=0), "`mass` must be above 0"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# --- Savi


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


# --- Wsr


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
