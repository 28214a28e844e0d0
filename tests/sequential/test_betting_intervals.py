"""Tests of `surefoot.sequential.betting`: intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from surefoot.core.verdict import Verdict
from surefoot.numerics.betting import mean_bets
from surefoot.sequential import FiniteHorizonMixture, NScore, Wsr, run
from surefoot.sequential.history import Trail
from tests.support.betting import sequence

# --- margins, claims, intervals ----------------------------------------------------------------------------

CLAIMS = [
    ("first better", 0.0),
    ("first better", 0.1),
    ("either", 0.0),
    ("either", 0.1),
    ("first not worse", 0.2),
    ("same", 0.2),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("claim", "margin"), CLAIMS)
@pytest.mark.parametrize("make", [FiniteHorizonMixture, NScore, Wsr])
def test_the_interval_excludes_the_tested_gain_exactly_when_decided(make, claim, margin):
    rule = make(80, claim=claim, margin=margin, confidence=0.9)
    verdicts = set()
    for seed in range(6):
        first, second = sequence(seed, 80, gap=0.3 + 0.1 * seed)
        if seed % 3 == 0:
            first, second = second, first
        for state in run(rule, zip(first, second, strict=True)):
            seen = state.interval
            shown = {
                "first better": seen.low > margin,
                "first not worse": seen.low > -margin,
                "either": seen.low > margin or seen.high < -margin,
                "same": -margin < seen.low and seen.high < margin,
            }[claim]
            assert shown == (state.verdict is not Verdict.UNDECIDED)
        verdicts.add(state.verdict)
    assert len(verdicts) > 1


@pytest.mark.parametrize("claim", ["first better", "either"])
def test_rounding_never_puts_the_tested_gain_back(claim, monkeypatch):
    state = run(FiniteHorizonMixture(80, claim=claim), [(1.0, 0.0)] * 80)[-1]
    monkeypatch.setattr(mean_bets, "excluded_below", lambda gains, staked, target, within: within[0])
    assert state.interval.low > 0.0


def test_the_sequence_of_intervals_covers_the_gain_at_every_moment_together():
    rng = np.random.default_rng(11)
    misses, runs, gap = 0, 80, 0.3
    rule = FiniteHorizonMixture(30, claim="either", confidence=0.8)
    for _ in range(runs):
        first, second = rng.random(30) < 0.4 + gap, rng.random(30) < 0.4
        states = run(rule, zip(first.tolist(), second.tolist(), strict=True))
        misses += any(gap not in state.interval for state in states)
    assert special.betainc(max(misses, 1), runs - max(misses, 1) + 1, 0.2) > 1e-4


@pytest.mark.parametrize("claim", ["first better", "either"])
def test_the_interval_says_how_sure_it_is(claim):
    state = run(FiniteHorizonMixture(30, claim=claim), [(0.5, 0.5)] * 25)[-1]
    assert state.interval.confidence == pytest.approx(0.95, abs=1e-12)
    assert (state.interval.high == 1.0) == (claim == "first better")


def test_an_interval_holds_the_gain_observed_even_when_gains_drift():
    """The finding: sorted pairs gave an interval that left out its own estimate."""
    rule = FiniteHorizonMixture(400, claim="either")
    state = rule.start()
    for gap in [0.6] * 12 + [-0.45] * 200:
        if state.finished:
            break
        state = rule.step(state, (0.5 + gap / 2, 0.5 - gap / 2))
    assert state.interval.estimate in state.interval
    slow = FiniteHorizonMixture(400, claim="first better", margin=0.2)
    later = slow.start()
    for gap in [0.1] * 60 + [-0.8] * 120:
        later = slow.step(later, (0.5 + gap / 2, 0.5 - gap / 2))
        assert later.interval.estimate in later.interval


def test_a_verdict_is_not_taken_back_by_an_unweighted_mean():
    """Small losses staked on with little, then wins staked on with much: the mean of the pairs is below 0."""
    rule = FiniteHorizonMixture(50, claim="first better")
    state = rule.step(rule.start(), (1.0, 0.0))
    sizes = np.array([0.001] * 6 + [0.9] * 5)
    gaps = np.array([-0.99] * 6 + [0.97] * 5)
    wealth = float(np.log1p(sizes * gaps).sum())
    assert wealth >= -math.log(rule.error)
    side = replace(state.sides[0], log_wealth=wealth, log_best=wealth, stakes=Trail(sizes))
    shown = replace(state, first=Trail(0.5 + gaps / 2), second=Trail(0.5 - gaps / 2), sides=(side,))
    assert shown.observed < 0.0 < shown.interval.low <= shown.interval.estimate
    assert shown.interval.notes[0].kind == "gain by stakes"
