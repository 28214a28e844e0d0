"""Tests of `surefoot.sequential.finite_horizon_mixture`."""

import numpy as np
import pytest
from scipy import special

from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, run, simulate
from tests.oracles import sequential as twin
from tests.support.betting import gains, sequence

HAIR = 1e-12


# --- slow twins --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_mixture_is_its_twin(seed, binary):
    first, second = sequence(seed, 60, binary=binary)
    states = run(FiniteHorizonMixture(60, binary=binary), zip(first, second, strict=True))
    pairs = None if binary else list(zip(first, second, strict=True))
    trace = twin.fhm(gains(first, second), 60, v0=0.5 if binary else 0.2, hair=HAIR, scores=pairs)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    assert [s.p_value for s in states] == pytest.approx(trace["p"], rel=1e-9)
    assert list(states[-1].sides[0].stakes) == pytest.approx(trace["xi"], rel=1e-9)
    for n in (1, len(states) // 2, len(states)):
        low = twin.gain_lower(gains(first, second)[:n], trace["xi"][:n], 0.05)
        assert states[n - 1].interval.low == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("rising", [True, False])
def test_the_stake_beyond_one_counts_while_no_pair_could_ruin_it(rising, margin):
    rng = np.random.default_rng(4)
    low, high = (0.1, 0.3) if rising else (0.0, 0.9)  # of the second policy: far below the first's, or across it
    first, second = rng.uniform(0.5, 0.9, 80), rng.uniform(low, high, 80)
    rule = FiniteHorizonMixture(800, margin=margin, binary=False)
    states = run(rule, zip(first, second, strict=True))
    values = ((first - second - margin) / (1 + margin)).tolist()
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    trace = twin.fhm(values, 800, v0=0.2, hair=HAIR, scores=pairs, beyond=margin)
    plain = twin.fhm(values, 800, v0=0.2, hair=HAIR)
    assert [s.evidence for s in states] == pytest.approx(trace["X"], rel=1e-9)
    if rising:
        assert len(trace["X"]) < len(plain["X"])


def test_the_undeclared_mixture_follows_what_it_has_seen():
    scores, successes = sequence(1, 40), sequence(1, 40, binary=True)
    undeclared = FiniteHorizonMixture(40)
    told = run(FiniteHorizonMixture(40, binary=False), zip(*scores, strict=True))
    found = run(undeclared, zip(*scores, strict=True))
    # Before the first pair the stake beyond one does not count: it might be of successes, which lose by it.
    assert found[0].sides[0].stakes[0] < told[0].sides[0].stakes[0]
    assert [s.evidence for s in found] == pytest.approx([s.evidence for s in told], rel=0.05)
    stakes = run(undeclared, zip(*successes, strict=True))[2].sides[0].stakes
    known = run(FiniteHorizonMixture(40, binary=True), zip(*successes, strict=True))[2].sides[0].stakes
    assert stakes[0] != known[0]  # before the first pair it is taken for a score


@pytest.mark.parametrize("claim", ["first better", "first not worse", "either", "same"])
def test_the_error_with_a_margin_is_kept_at_its_edge(claim):
    margin, runs, pairs = 0.2, 4000, 60
    rng = np.random.default_rng(8)
    edge = {"first better": margin, "either": margin, "first not worse": -margin, "same": margin}[claim]
    first = (rng.random((runs, pairs)) < 0.5 + edge / 2).astype(float)
    second = (rng.random((runs, pairs)) < 0.5 - edge / 2).astype(float)
    rule = FiniteHorizonMixture(pairs, claim=claim, margin=margin, confidence=0.9)
    wrong = int(np.sum(simulate(rule, first, second).verdicts != Verdict.UNDECIDED))
    assert special.betainc(max(wrong, 1), runs - max(wrong, 1) + 1, 0.1) > 1e-4
