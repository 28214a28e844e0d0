"""Tests of `surefoot.stats.confidence_sequences`."""

import json
import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.numerics.betting import mean_bets
from surefoot.reference import wsr_evidence
from surefoot.stats import betting_sequence
from surefoot.stats.confidence_sequences import MeanSequence
from tests.reference import cases


@pytest.mark.parametrize("case", [case for case in cases("wsr_trace") if "running" in case[0]["variance_mean"]])
def test_wsr_trace_of_the_reference(case):
    asked, wanted = case
    z = (np.array(asked["z"]) - asked["L"]) / (asked["U"] - asked["L"])
    mean, variance = mean_bets.wsr_moments(z)
    bets = mean_bets.wsr_bets(z, asked["alpha"] / 2)
    assert bets == pytest.approx(wanted["lam"], rel=1e-10)
    assert mean == pytest.approx(wanted["mu_hat"], rel=1e-10)
    assert variance == pytest.approx(wanted["sigma2_hat"], rel=1e-10)
    given_scores = sf.Scores(asked["z"], low=asked["L"], high=asked["U"])
    for m, plus, minus in zip(asked["m"], wanted["Mplus_final"], wanted["Mminus_final"], strict=True):
        up, down = mean_bets.log_capital(z, bets, m)[-1], mean_bets.log_capital(1 - z, bets, 1 - m)[-1]
        assert (math.exp(up), math.exp(down)) == (pytest.approx(plus, rel=1e-10), pytest.approx(minus, rel=1e-10))
        candidate = asked["L"] + m * (asked["U"] - asked["L"])
        found = wsr_evidence(given_scores, candidate, confidence=1 - asked["alpha"])
        assert (found.above, found.below) == (pytest.approx(plus, rel=1e-10), pytest.approx(minus, rel=1e-10))
        assert found.evidence == max(found.above, found.below) / 2


def test_sequence_holds_and_never_widens():
    z = np.random.default_rng(2).beta(4, 2, 150)
    found = betting_sequence(sf.Scores(z))
    lows, highs = np.array(found.lows), np.array(found.highs)
    assert len(found) == 150
    assert np.all(np.diff(lows) >= 0)
    assert np.all(np.diff(highs) <= 0)
    assert np.all((lows <= 2 / 3) & (highs >= 2 / 3))
    for count in (1, 40, 150):  # the same end, solved afresh for the first scores
        bets = mean_bets.wsr_bets(z[:count], 0.025)
        assert lows[count - 1] == pytest.approx(mean_bets.low_end(z[:count], bets, 0.025), abs=1e-12)
    assert MeanSequence.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert str(found).startswith("After each of 150 rollouts; the latest: ")
