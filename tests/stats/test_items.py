"""Tests of `surefoot.stats.items`."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot import Tally, stats
from surefoot.core.notes import Note
from surefoot.stats.items import excess_p_values, reversal_p_values
from tests.oracles import items as twin
from tests.oracles import one_rate
from tests.reference import cases

cells = st.integers(0, 3).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=2, max_size=3))
def test_excess_counts_every_placement(rows):
    marked, drawn = ([[cell[place] for cell in row] for row in rows] for place in (0, 1))
    found = excess_p_values(marked, drawn)
    for item, value in enumerate(found):
        assert value == pytest.approx(twin.excess(marked, drawn, item), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 4), st.integers(0, 4))
def test_reversal_counts_every_placement(weak, strong):
    others = [[0, 4], [1, 4]]
    found = reversal_p_values([[weak, strong], *others], [[4, 4]] * 3)
    assert found[0] == pytest.approx(twin.reversal((weak, 4), (strong, 4)), rel=1e-9)


def test_the_order_of_an_item_is_that_of_the_others():
    """Alone in the world, or with equal policies elsewhere, nothing is stronger, so nothing is reversed."""
    assert reversal_p_values([[0, 9]], [[9, 9]]).tolist() == [1.0]
    assert reversal_p_values([[0, 9], [5, 5]], [[9, 9]] * 2)[0] == 1.0
    assert reversal_p_values([[9, 0], [2, 5]], [[9, 9]] * 2)[0] < 1e-4


@pytest.mark.parametrize("rates", [(0.2, 0.5, 0.5), (0.5, 0.5, 0.5), (0.1, 0.4, 0.8), (0.3, 0.3, 0.9)])
def test_excess_errs_no_more_than_promised_counted_exactly(rates):
    """The first item's chance is at most the others': every table of three items with four draws is summed."""
    weights = [binom.pmf(np.arange(5), 4, rate) for rate in rates]
    for level in (0.05, 0.1, 0.3):
        error = sum(
            weights[0][a] * weights[1][b] * weights[2][c]
            for a in range(5)
            for b in range(5)
            for c in range(5)
            if excess_p_values([[a], [b], [c]], [[4]] * 3)[0] <= level
        )
        assert error <= level + 1e-12


@pytest.mark.parametrize(("weak", "strong"), [(0.5, 0.5), (0.2, 0.2), (0.3, 0.6)])
def test_reversal_errs_no_more_than_promised_counted_exactly(weak, strong):
    others = [[0, 6], [1, 6]]
    table = np.outer(binom.pmf(np.arange(7), 6, weak), binom.pmf(np.arange(7), 6, strong))
    p = np.array([[reversal_p_values([[i, j], *others], [[6, 6]] * 3)[0] for j in range(7)] for i in range(7)])
    for level in (0.05, 0.2):
        assert table[p <= level].sum() <= level + 1e-12


def ends(successes: int, trials: int, population: int, confidence: float = 0.95) -> tuple[float, float]:
    found = stats.population_rate(Tally(successes, trials), population=population, confidence=confidence)
    return found.low, found.high


def test_every_stored_interval() -> None:
    for given_, wanted in cases("hypergeometric_interval"):
        assert ends(**given_) == pytest.approx((wanted["low"], wanted["high"]), abs=1e-12), given_


@st.composite
def samples(draw: st.DrawFn) -> tuple[int, int, int]:
    population = draw(st.integers(1, 60))
    trials = draw(st.integers(1, population))
    return draw(st.integers(0, trials)), trials, population


@given(samples(), st.sampled_from([0.513, 0.807, 0.9037, 0.9511, 0.9907]))  # no tail is half of 1 less these
def test_it_agrees_with_its_slow_twin(sample: tuple[int, int, int], confidence: float) -> None:
    low, high = one_rate.population_rate(*sample, confidence)
    rate = sample[0] / sample[1]
    assert ends(*sample, confidence) == pytest.approx((min(low, rate), max(high, rate)), abs=1e-15)


@pytest.mark.parametrize(("trials", "population"), [(1, 12), (5, 12), (11, 12), (12, 12), (17, 40)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_it_holds_the_rate_of_the_list_as_often_as_it_says(trials: int, population: int, confidence: float) -> None:
    found = [ends(successes, trials, population, confidence) for successes in range(trials + 1)]
    for total in range(population + 1):
        held = sum(
            comb(total, x) * comb(population - total, trials - x)
            for x, (low, high) in enumerate(found)
            if low - 1e-12 <= total / population <= high + 1e-12
        )
        assert Fraction(held, comb(population, trials)) >= Fraction(str(confidence))


@given(samples())
def test_swapping_success_and_failure_mirrors_it(sample: tuple[int, int, int]) -> None:
    successes, trials, population = sample
    low, high = ends(successes, trials, population)
    assert ends(trials - successes, trials, population) == pytest.approx((1 - high, 1 - low), abs=1e-15)


@given(samples())
def test_more_confidence_is_wider_and_a_longer_list_too(sample: tuple[int, int, int]) -> None:
    successes, trials, population = sample
    low, high = ends(*sample)
    wider = ends(successes, trials, population, 0.99)
    assert wider[0] <= low <= high <= wider[1]
    exact = stats.clopper_pearson(Tally(successes, trials))
    assert high - low <= exact.high - exact.low + 2 / population


def test_sizes_for_three_points() -> None:
    # methods.md section 19: within 3 points at a rate of one half
    for trials, population in ((340, 500), (592, 1319), (1018, 14_042)):
        low, high = ends(trials // 2, trials, population)
        assert high - low <= 0.06 + 1e-12
        low, high = ends((trials - 2) // 2, trials - 2, population)
        assert high - low > 0.06


def test_a_complete_run_knows_the_rate() -> None:
    found = stats.population_rate(Tally(7, 12), population=12)
    assert (found.low, found.high, found.estimate) == (7 / 12, 7 / 12, 7 / 12)
    assert found.notes == (Note("of these items", {"items": 12, "run": 12}),)
    assert str(found.notes[0]) == (
        "All 12 items were run: this is what the list shows. It says nothing about other items."
    )


def test_it_says_what_it_is_about() -> None:
    found = stats.population_rate(Tally(50, 100), population=500)
    assert str(found) == "50.0% [41.0%, 59.0%] n=100 (95% hypergeometric interval)."
    assert str(found.notes[0]) == "About these 500 items, of which 100 were run. It says nothing about other items."
    assert len(found.assumptions) == 3


def test_a_list_of_millions() -> None:
    low, high = ends(500, 1000, 1_000_000)
    exact = stats.clopper_pearson(Tally(500, 1000))
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=2e-5)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"`population` must be at least 100, the items run; got 50\. An item counts"):
        stats.population_rate(Tally(50, 100), population=50)
    with pytest.raises(TypeError, match="`population` must be a whole number"):
        stats.population_rate(Tally(50, 100), population=500.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`confidence` must be strictly between 0 and 1"):
        stats.population_rate(Tally(50, 100), population=500, confidence=95)
