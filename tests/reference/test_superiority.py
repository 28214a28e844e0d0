"""Tests of `surefoot.reference.superiority`."""

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import Scores
from surefoot.reference import chance_first_higher
from tests.support.betting_gains import pairs, split


def test_chance_first_higher_against_brute_force_and_scipy():
    from scipy.stats import brunnermunzel

    rng = np.random.default_rng(9)
    x, y = np.round(rng.beta(3, 2, 25), 1), np.round(rng.beta(2, 2, 18), 1)
    found = chance_first_higher(Scores(x), Scores(y))
    brute = np.mean([(a > b) + 0.5 * (a == b) for a in x for b in y])
    assert found.estimate == pytest.approx(brute, abs=1e-14)
    # scipy's statistic tells the standard error that the interval on the log-odds scale is made of
    peer = brunnermunzel(x, y)
    error = (0.5 - brute) / peer.statistic
    lengths = np.log([found.high / (1 - found.high), found.low / (1 - found.low)])
    from scipy.special import stdtrit

    one = np.var([np.mean((y < a) + 0.5 * (y == a)) for a in x], ddof=1) / 25
    other = np.var([np.mean((x < b) + 0.5 * (x == b)) for b in y], ddof=1) / 18
    freedom = (one + other) ** 2 / (one**2 / 24 + other**2 / 17)
    wanted = 2 * stdtrit(freedom, 0.975) * abs(error) / (brute * (1 - brute))
    assert lengths[0] - lengths[1] == pytest.approx(wanted, rel=1e-9)


@given(data=pairs)
@settings(max_examples=40)
def test_chance_first_higher_mirrors_and_stays_inside(data):
    first, second = split(data)
    here, there = chance_first_higher(first, second), chance_first_higher(second, first)
    assert here.estimate + there.estimate == pytest.approx(1)
    assert here.low == pytest.approx(1 - there.high, abs=1e-9)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    assert here.width > 0


def test_chance_first_higher_where_samples_do_not_overlap():
    found = chance_first_higher(Scores([0.9] * 10), Scores([0.1] * 10))
    assert (found.method, found.high) == ("Newcombe", 1.0)
    assert 0.7 < found.low < 0.95
    assert chance_first_higher(Scores([0.9]), Scores([0.1])).width > 0.5


@pytest.mark.parametrize("confidence", [1e-15, 1e-9, 1e-4])
@pytest.mark.parametrize("other", [0.1, 0.9])
def test_chance_first_higher_at_hardly_any_confidence_is_hardly_wider_than_the_estimate(confidence, other):
    found = chance_first_higher(Scores([0.9] * 4), Scores([other] * 5), confidence=confidence)
    assert found.low <= found.estimate <= found.high
    assert found.width < 1e-3
