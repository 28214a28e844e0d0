"""Tests of `surefoot.stats.slices`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

import surefoot as sf
from surefoot import Tally
from surefoot.stats import slice_gains
from surefoot.stats import slices as shuffles
from surefoot.stats.slices import by_holm, least_drop
from tests.oracles import slices as twin
from tests.reference import listed

SLICES = {"a=0": "01", "a=1": "23", "b=0": "02", "b=1": "13", "00": "0", "01": "1", "10": "2", "11": "3"}
CASES = [case for case in listed("slice.cases") if case["what"].startswith("slice_p_values exact")]
LISTED = listed("slice.cases")
MEMBERS = np.array([[cell in one for one in twin.two_by_two()] for cell in range(4)], float)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_slices_of_tallies_are_those_of_the_enumeration(case):
    names = ("successes_first", "first", "successes_second", "second")
    each = zip(*(case[name] for name in names), strict=True)
    cells = {str(place): (Tally(x, n), Tally(y, m)) for place, (x, n, y, m) in enumerate(each)}
    found = np.asarray(slice_gains(cells, {name: list(inside) for name, inside in SLICES.items()}).worse)
    wanted = np.asarray(case["value"])
    assert (np.abs(found - wanted) <= 4 * np.sqrt(wanted * (1 - wanted) / 19_999) + 1e-4).all()


def test_a_cell_that_is_not_there_is_refused():
    with pytest.raises(sf.ArgumentError, match="name cells that there are"):
        slice_gains({"a": (Tally(1, 2), Tally(1, 2))}, {"all": ["b"]})


def test_slices_without_a_failure_tell_nothing():
    found = slice_gains({"a": (Tally(3, 3), Tally(4, 4)), "b": (Tally(2, 2), Tally(5, 5))}, {"a": ["a"], "all": "ab"})
    assert found.worse == found.better == (1.0, 1.0)
    assert found.local_error == 0.5  # one slice alone may spend all of one side


def test_arms_of_one_size_are_not_lopsided():
    first, second = np.array([4.0, 8.0, 0.0]), np.array([8.0, 4.0, 5.0])
    each = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 1]])
    assert shuffles.lopsided(first, first, each) == 1.0
    assert shuffles.lopsided(first, second, each) == pytest.approx(2.0)
    assert shuffles.lopsided(first, second, each[:, 2:]) == pytest.approx(1.0)  # one cell makes up for the other


def test_holm_keeps_the_order_and_the_error():
    found = by_holm([0.001, 0.02, 0.5], [1.0, 1.0, 1.0], confidence=0.95, claim="worse")
    assert found.worse == pytest.approx((0.003, 0.04, 0.5))
    assert [str(one) for one in found.verdicts] == ["worse", "worse", "undecided"]


@pytest.mark.parametrize(("n", "m", "rate"), [(20, 20, 0.85), (40, 40, 0.85), (10, 30, 0.9)])
def test_the_least_drop_has_the_power_that_is_said(n, m, rate):
    """By drawing tables: the statistic of one cell passes the limit in 8 of 10 of them, and in fewer a point below."""
    error = 0.0005
    drop = least_drop(n, m, rate, error)
    rng, limit = np.random.default_rng(1), -scipy_stats.norm.ppf(error)
    powers = []
    for one in (drop, drop - 0.03):
        x, y = rng.binomial(n, rate - one, 20_000), rng.binomial(m, rate, 20_000)
        total, size = x + y, n + m
        v = n * m * total * (size - total) / (size**2 * (size - 1))
        k = -v * (size - 2 * total) * (m - n) / (size * (size - 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (n * total / size - x) / np.sqrt(v)
            t = z - np.clip(k / v**1.5, -0.5, 0.5) * (np.clip(z, -5, 5) ** 2 - 1) / 6
        powers.append(float((np.nan_to_num(t, nan=-math.inf) >= limit).mean()))
    assert powers[0] >= 0.79
    assert powers[1] < 0.8


def of(kind: str) -> list[dict]:
    return [case for case in LISTED if case["what"].startswith(kind)]


def near(found, wanted, draws: int = shuffles.DRAWS) -> bool:
    """Within four standard errors of the draws, and the one that is added to both counts."""
    wanted = np.minimum(np.asarray(wanted), 1.0)
    slack = 4.0 * np.sqrt(wanted * (1.0 - wanted) / draws) + 1.0 / draws
    return bool((np.abs(np.asarray(found) - wanted) <= slack).all())


def numbers(*columns) -> list[np.ndarray]:
    return [np.asarray(column, float) for column in columns]


# --- Oracle


@pytest.mark.parametrize("case", of("slice_p_values exact"), ids=lambda case: str(case["id"]))
def test_adjusted_p_values_of_successes_are_those_of_the_enumeration(case):
    names = ("successes_first", "first", "successes_second", "second")
    assert twin.of_successes(*(case[name] for name in names)) == pytest.approx(case["value"], abs=1e-12)
    shuffle = shuffles.of_successes(*numbers(*(case[name] for name in names)), MEMBERS)
    assert near(shuffles.step_down(shuffle).worse, case["value"])


@pytest.mark.parametrize("case", of("slice_p_values pairs exact"), ids=lambda case: str(case["id"]))
def test_adjusted_p_values_of_pairs_are_those_of_the_enumeration(case):
    assert twin.of_pairs(case["lost"], case["won"]) == pytest.approx(case["value"], abs=1e-12)
    shuffle = shuffles.of_pairs(*numbers(case["lost"], case["won"]), MEMBERS)
    assert near(shuffles.step_down(shuffle).worse, case["value"])


@pytest.mark.parametrize("case", of("hypergeometric mean"), ids=lambda case: str(case["id"]))
def test_moments_of_the_hypergeometric(case):
    found = shuffles.hypergeometric_moments(*numbers(*([arg] for arg in case["args"])))
    assert [float(one[0]) for one in found] == pytest.approx(case["value"], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("case", of("information kept"), ids=lambda case: str(case["id"]))
def test_the_information_that_cells_keep(case):
    first, second = numbers(case["first"], case["second"])
    assert shuffles.kept(first, second, np.zeros(len(first), int)) == pytest.approx(case["value"])


# --- Twins


counts = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))


@given(cells=st.lists(counts, min_size=4, max_size=4))
@settings(max_examples=25)
def test_successes_are_those_of_the_twin(cells):
    x, n, y, m = zip(*((min(a, b), b, min(c, d), d) for a, b, c, d in cells), strict=True)
    if any(a + b == 0 for a, b in zip(n, m, strict=True)):
        return
    worse, better = twin.of_successes(x, n, y, m), twin.of_successes(y, m, x, n)
    found = shuffles.step_down(shuffles.of_successes(*numbers(x, n, y, m), MEMBERS))
    assert near(found.worse, worse)
    assert near(found.better, better)


@given(
    scores=st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.booleans()), min_size=8, max_size=12),
)
@settings(max_examples=20)
def test_scores_are_those_of_the_twin(scores):
    values, first = zip(*scores, strict=True)
    cell = [place % 2 for place in range(len(scores))]
    slices = [(0,), (1,), (0, 1)]
    members = np.array([[1.0, 0, 1], [0, 1, 1]])
    shuffle = shuffles.of_scores(np.array(values), np.array(first), np.array(cell), members)
    assert near(shuffles.step_down(shuffle).worse, twin.of_scores(values, first, cell, slices))


@given(st.lists(st.tuples(*[st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])] * 4), min_size=4, max_size=9))
@settings(max_examples=20)
def test_signs_of_units_that_span_cells_are_those_of_the_twin(gaps):
    found = shuffles.step_down(shuffles.of_units(np.array(gaps) @ MEMBERS))
    assert near(found.worse, twin.of_units(gaps, twin.two_by_two()))


# --- Laws


def test_a_cell_that_one_policy_never_met_tells_nothing():
    x, n, y, m = numbers([0, 3], [3, 0], [3, 0], [3, 5])
    x[1] = 0.0
    members = np.array([[1.0, 0, 1], [0, 1, 1]])
    found = shuffles.step_down(shuffles.of_successes(x, n, y, m, members))
    assert found.worse[1] == found.better[1] == 1.0
    assert found.worse[0] == found.worse[2]
    assert near(found.worse[:1], [0.05])


def test_exchanging_the_policies_exchanges_worse_and_better():
    x, n, y, m = numbers([2, 9, 5, 7], [10, 12, 9, 8], [8, 6, 5, 6], [11, 10, 9, 9])
    found = shuffles.of_successes(x, n, y, m, MEMBERS)
    turned = shuffles.of_successes(y, m, x, n, MEMBERS)
    assert found.observed == pytest.approx(-turned.observed, abs=1e-12)


def test_whole_cells_dealt_give_the_statistic_of_cells():
    """Where a slice's margins are those of its strata, shuffling inside strata is shuffling inside cells."""
    x, n, y, m = numbers([2, 9, 5, 7], [10, 12, 9, 8], [8, 6, 5, 6], [11, 10, 9, 9])
    plain = shuffles.of_successes(x, n, y, m, MEMBERS)
    dealt = shuffles.of_dealt(x, n, y, m, np.arange(4), MEMBERS)
    assert dealt.observed == pytest.approx(plain.observed, abs=1e-12)
    assert near(shuffles.step_down(dealt).worse, shuffles.step_down(plain).worse, 5_000)


def test_the_same_seed_gives_the_same_answer_whatever_the_blocks(monkeypatch):
    lost, won = numbers([6, 1, 0, 2], [0, 1, 1, 1])
    shuffle = shuffles.of_pairs(lost, won, MEMBERS)
    first, again = (shuffles.step_down(shuffle, draws=999) for _ in range(2))
    assert (first.worse == again.worse).all()
    assert math.isclose(first.worse_maxima[0], first.worse_maxima.max())


def test_the_statistic_of_scores_goes_by_the_moments_over_every_deal():
    """Its variance and its skewness are those of all ways to deal two of seven scores to the first policy."""
    values, first = np.array([0.0, 0.1, 0.2, 0.9, 1.0, 0.3, 0.05]), np.array([1, 0, 0, 0, 0, 1, 0], bool)
    rest = values - values.mean()
    sums = np.array([-rest[list(dealt)].sum() for dealt in itertools.combinations(range(7), 2)])
    variance, third = (sums**2).mean(), (sums**3).mean()
    z = -rest[first].sum() / math.sqrt(variance)
    wanted = z - float(np.clip(third / variance**1.5, -0.5, 0.5)) * (z**2 - 1.0) / 6.0
    found = shuffles.of_scores(values, first, np.zeros(7, int), np.ones((1, 1)))
    assert found.observed == pytest.approx([wanted], rel=1e-12)
