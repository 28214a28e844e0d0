"""Tests of `surefoot.numerics.betting.finite_lists`."""

import math
from itertools import permutations

import numpy as np
import pytest

from surefoot.numerics.betting import finite_lists

LIST = np.array([1.0, -0.5, 0.25, 0.0, -1.0])


def test_what_the_items_left_must_average_by_hand():
    assert finite_lists.means_left(0.1, LIST, 5).tolist() == pytest.approx([0.1, -0.125, 0.0, -0.125, -0.25])


def test_a_bet_against_the_true_mean_is_fair():
    """Over every order of the list the mean wealth is 1, whatever the stakes."""
    stakes, mean = np.array([0.4, 0.1, 0.3, 0.2]), LIST.mean()
    wealth = [
        math.exp(finite_lists.log_wealth(mean, np.array(order[:4]), stakes, 5)) for order in permutations(LIST.tolist())
    ]
    assert np.mean(wealth) == pytest.approx(1.0)


def test_wealth_falls_in_the_candidate_and_is_infinite_where_it_is_impossible():
    stakes = np.full(4, 0.3)
    wealth = [finite_lists.log_wealth(candidate, LIST[:4], stakes, 5) for candidate in np.linspace(-0.04, 0.3, 12)]
    assert (np.diff(wealth) < 0.0).all()
    assert finite_lists.log_wealth(-0.9, LIST[:4], stakes, 5) == math.inf


def test_what_the_list_can_still_average():
    assert finite_lists.certain(LIST[:3], 5) == pytest.approx(((0.75 - 2) / 5, (0.75 + 2) / 5))
    assert finite_lists.certain(LIST, 5) == pytest.approx((LIST.mean(), LIST.mean()))


def test_the_end_is_where_the_wealth_reaches_its_goal():
    outcomes, stakes = np.array([1.0, 0.5, 1.0, 0.75]), np.full(4, 0.6)
    end = finite_lists.excluded_below(outcomes, stakes, 1.0, (-1.0, 1.0), 20)
    assert finite_lists.log_wealth(end, outcomes, stakes, 20) == pytest.approx(1.0, abs=1e-9)
    assert end < finite_lists.mean_by_stakes(outcomes, stakes, 20)


def test_paces_grow_as_the_list_runs_out():
    found = finite_lists.paces(3, 6)
    assert found.pace.tolist() == pytest.approx([1.0, 6 / 5, 6 / 4])
    assert found.room.tolist() == pytest.approx([1.0 + 1.44 + 2.25, 1.44 + 2.25, 2.25])
    with pytest.raises(ValueError, match="read-only"):
        found.pace[0] = 2.0
    assert finite_lists.paces(10, 20).early == pytest.approx(sum((20 / (20 - k)) ** 2 for k in range(8)))
    assert finite_lists.paces(1, 6).early == 1.0


def test_at_most_99_in_100_of_the_wealth_are_at_risk():
    one = np.array([1.0])
    assert finite_lists.log_wealth(0.5, one, np.array([50.0]), 4) == pytest.approx(math.log(1 + 0.99 / 1.5 * 0.5))
    lost = finite_lists.log_wealth(0.5, -one, np.array([50.0]), 4)
    assert lost == pytest.approx(math.log(0.01))
    # after a success the other three must average (4 c - 1) / 3, which is below -1 from c = -1/2 on
    two = np.array([1.0, 0.0])
    assert finite_lists.log_wealth(-0.51, two, np.full(2, 0.1), 4) == math.inf
    assert math.isfinite(finite_lists.log_wealth(-0.5, two, np.full(2, 0.1), 4))


def test_the_mean_by_stakes_balances_the_bets():
    stakes = np.array([0.1, 0.4, 0.2, 0.3, 0.1])
    mean = finite_lists.mean_by_stakes(LIST, stakes, 9)
    assert np.sum(stakes * (LIST - finite_lists.means_left(mean, LIST, 9))) == pytest.approx(0.0, abs=1e-12)
