"""Tests of `surefoot.numerics.rates.randomised_counts`."""

from typing import Any

import numpy as np
import pytest

from surefoot import stats
from surefoot.numerics.rates import binomial, randomised_counts

# --- The promise, counted from the bound itself ----------------------------------------------------------------------


def draws_that_hold(kernel: Any, trials: int, rates: np.ndarray, tail: float) -> np.ndarray:
    """For every count and rate, the share of draws whose bound holds the rate: bisection on the bound itself.

    Any bound that only tightens as the draw grows holds a rate for the draws up to some share; where the two extreme
    draws agree no search is needed.
    """
    counts = np.arange(trials + 1.0)[:, None]
    lower = kernel is randomised_counts.low

    def holds(draw: Any, count: Any, rate: Any) -> np.ndarray:
        ends = kernel(count, draw, float(trials), tail)
        return ends <= rate if lower else ends >= rate

    always = holds(1.0, counts, rates) & np.ones((trials + 1, len(rates)), bool)
    never = ~holds(0.0, counts, rates)
    share = np.where(always, 1.0, 0.0)
    rows, columns = np.nonzero(~always & ~never)
    low, high = np.zeros(len(rows)), np.ones(len(rows))
    for _ in range(44):
        middle = (low + high) / 2
        inside = holds(middle, counts[rows, 0], rates[columns])
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    share[rows, columns] = (low + high) / 2
    return share


@pytest.mark.sample(4)
@pytest.mark.parametrize("trials", range(1, 31))
def test_the_bounds_hold_exactly_as_often_as_they_say(trials: int) -> None:
    rates = np.linspace(0.001, 0.999, 37)
    chances = binomial.pmf(np.arange(trials + 1)[:, None], trials, rates)
    for kernel in (randomised_counts.low, randomised_counts.high):
        covered = (chances * draws_that_hold(kernel, trials, rates, 0.05)).sum(axis=0)
        np.testing.assert_allclose(covered, 0.95, atol=1e-9)


@pytest.mark.sample(7)
@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("trials", range(1, 31))
def test_the_bounds_hold_exactly_as_often_as_they_say_on_a_fine_grid(trials: int, confidence: float) -> None:
    rates = np.linspace(0.0005, 0.9995, 1000)
    chances = binomial.pmf(np.arange(trials + 1)[:, None], trials, rates)
    for kernel in (randomised_counts.low, randomised_counts.high):
        covered = (chances * draws_that_hold(kernel, trials, rates, 1 - confidence)).sum(axis=0)
        np.testing.assert_allclose(covered, confidence, atol=1e-9)


def test_the_bound_is_the_tightest_valid_one() -> None:
    # Uniformly most accurate: no rate below the truth is left above the bound more often than by Clopper-Pearson.
    for trials, rate in ((10, 0.6), (30, 0.9)):
        below = np.linspace(0.01, rate - 0.01, 40)
        chances = binomial.pmf(np.arange(trials + 1)[:, None], trials, rate)
        best = (chances * draws_that_hold(randomised_counts.low, trials, below, 0.05)).sum(axis=0)
        plain = (chances * (randomised_counts.low(np.arange(trials + 1.0)[:, None], 0.0, trials, 0.05) <= below)).sum(
            axis=0
        )
        assert (best <= plain + 1e-9).all()
        assert (best < plain - 1e-4).any()


@pytest.mark.parametrize("confidence", [1e-9, 0.01, 0.3, 0.999999, 1 - 1e-12])
def test_odd_confidences_give_ordered_ends_without_a_warning(confidence: float) -> None:
    asked = [
        (k, u, n)
        for n in (1, 2, 3, 50, 10**6, 10**9)
        for k in {0, 1, n // 2, n - 1, n}
        for u in (0.0, 1e-12, 0.3, 0.97, 1.0)
    ]
    k, u, n = np.array(asked).T
    low, high = randomised_counts.unbiased(k, u, n, 1.0 - confidence)
    assert ((low >= 0.0) & (low <= high) & (high <= 1.0)).all()
    for kernel in (randomised_counts.low, randomised_counts.high):
        bound = kernel(k, u, n, 1.0 - confidence)
        assert ((bound >= 0.0) & (bound <= 1.0)).all()


def test_falling_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="`lows` must rise with the count"):
        randomised_counts.steps([0.3, 0.2, 0.5])


def test_a_proof_cut_short_is_wider_and_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stats.max_expected_shortage(20, tolerance=1e-9)
    monkeypatch.setattr(randomised_counts, "_ROUNDS", 1)
    short = stats.max_expected_shortage(20, tolerance=1e-9)
    assert short.low <= whole.high <= short.high
    assert short.high - short.low > 1e-4 > whole.high - whole.low
