"""Tests of `surefoot.numerics.rates.bradley_terry`."""

import numpy as np
import pytest

from surefoot.numerics.rates.bradley_terry import fit


def test_two_policies_have_a_closed_form():
    theta, _ = fit(np.array([[0.0, 30.0], [10.0, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(np.log(3.0))
    assert theta.sum() == pytest.approx(0.0, abs=1e-12)


def test_davidson_of_two_has_a_closed_form():
    won, lost, tied = 30.0, 10.0, 12.0
    points = np.array([[0.0, won + tied / 2], [lost + tied / 2, 0.0]])
    theta, eta = fit(points, ties=np.array(tied))
    assert theta[0] - theta[1] == pytest.approx(np.log(won / lost))
    assert np.exp(eta) == pytest.approx(tied / np.sqrt(won * lost))


def test_what_was_won_is_what_is_expected_of_the_strengths():
    rng = np.random.default_rng(4)
    points = rng.integers(1, 20, (3, 5, 5)).astype(float) * (1.0 - np.eye(5))
    theta, _ = fit(points)
    games = points + points.swapaxes(-1, -2)
    chance = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
    assert (games * chance).sum(axis=-1) == pytest.approx(points.sum(axis=-1))
    alone = np.array([fit(one)[0] for one in points])
    assert theta == pytest.approx(alone)


def test_a_prior_holds_who_never_lost():
    points = np.array([[0.0, 5.0], [0.0, 0.0]])
    weak, strong = fit(points, ridge=0.1)[0], fit(points, ridge=1.0)[0]
    assert 0.0 < strong[0] < weak[0] < 10.0
    half = weak[0]  # where 5 x (1 - P(win)) is the pull of the prior
    assert 5.0 / (1.0 + np.exp(2.0 * half)) == pytest.approx(0.1 * half)
