"""Tests of `surefoot.numerics.betting.race_stakes`."""

import math

import numpy as np
import pytest

from surefoot.numerics.betting.race_stakes import Purses

TARGET = -math.log(0.05)
KNOWN = np.array([0.5]), np.array([100.0]), np.array([100.0])
FIRST = np.array([0]), np.array([1])


def test_a_bet_changes_one_purse_and_by_what_was_staked():
    before = Purses.begin(2, 3)
    after, stake = before.bet(FIRST, np.array([0.5]), KNOWN, TARGET)
    assert after.wealth[0, 1] == pytest.approx(math.log1p(0.5 * stake[0]))
    assert np.count_nonzero(after.wealth) == np.count_nonzero(after.bets) == 1
    assert np.count_nonzero(before.wealth) == 0


def test_a_fair_outcome_gains_nothing_on_average():
    """The stake knows only the past, so that the wealth of a gambler who is wrong is a martingale."""
    purses, known = Purses.begin(1, 1), KNOWN
    for past in (0.3, -1.0, 0.7):
        purses = purses.bet((np.array([0]), np.array([0])), np.array([past]), known, TARGET)[0]
    at = np.array([0]), np.array([0])
    up, stake = purses.bet(at, np.array([1.0]), known, TARGET)
    down, same = purses.bet(at, np.array([-1.0]), known, TARGET)
    assert stake == same
    mean = (np.exp(up.wealth) + np.exp(down.wealth)) / 2
    assert mean == pytest.approx(np.exp(purses.wealth), rel=1e-12)


def test_no_stake_is_whole_and_none_is_larger_than_the_target_needs():
    purses = Purses.begin(1, 1)
    at = np.array([0]), np.array([0])
    for _ in range(40):
        purses, stake = purses.bet(at, np.array([1.0]), KNOWN, TARGET)
        assert 0.0 <= stake[0] <= 0.99
    assert TARGET <= purses.wealth[0, 0] <= TARGET + 1e-9


def test_purses_are_chosen_widened_and_mixed_by_study_and_column():
    purses = Purses.begin(2, 2).bet(FIRST, np.array([1.0]), KNOWN, TARGET)[0]
    assert purses.of(np.array([True, False])).wealth.shape == (1, 2)
    assert purses.wider(-1.0).wealth[:, 2].tolist() == [-1.0, -1.0]
    other = Purses.begin(2, 2, 7.0)
    mixed = purses.where(np.array([[True, True], [False, True]]), other)
    assert mixed.wealth[1].tolist() == [7.0, 0.0]
    assert mixed.wealth[0].tolist() == purses.wealth[0].tolist()
