"""Crossing probabilities: against determinants in rationals, plain counting, and a second fast algorithm."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from surefoot.numerics.scores import boundary_crossing
from tests.oracles.crossing import crossing_probability, equal_local_level, steck
from tests.reference import cases


def counted(lows: np.ndarray, highs: np.ndarray) -> float:
    """A second algorithm: no Poisson clock, but the binomial number of the points left that fall before a limit."""
    n = lows.size
    logs = np.concatenate(([np.longdouble(0)], np.cumsum(np.log(np.arange(1, n + 1, dtype=np.longdouble)))))
    first, state, now = 0, np.ones(1, np.longdouble), np.longdouble(0)
    for limit in np.unique(np.concatenate((lows[lows > 0], highs[highs < 1]))):
        chance = (np.longdouble(limit) - now) / (1 - now)
        last = min(n, first + state.size - 1 + int(n * float(chance) * 2 + 60))
        j, k = np.arange(first, first + state.size)[:, None], np.arange(first, last + 1)[None, :]
        more, left = np.maximum(k - j, 0), n - j
        terms = logs[left] - logs[more] - logs[np.maximum(left - more, 0)]
        terms = terms + more * np.log(chance) + (left - more) * np.log1p(-chance)
        state = (state[:, None] * np.where(k >= j, np.exp(terms), 0)).sum(axis=0)
        least, most = int((highs <= limit).sum()), int((lows < limit).sum())
        kept = (np.arange(first, last + 1) >= least) & (np.arange(first, last + 1) <= most) & (state > 1e-40)
        if not kept.any():
            return 0.0
        places = np.flatnonzero(kept)
        state, first, now = state[places[0] : places[-1] + 1], first + int(places[0]), np.longdouble(limit)
    return float(state.sum())  # whoever is left falls into the rest of [0, 1]


@pytest.mark.parametrize("case", cases("ks_one_sided_eps"))
def test_offsets_of_the_reference(case):
    given_, wanted = case
    assert boundary_crossing.one_sided_offset(given_["n"], given_["alpha"]) == pytest.approx(wanted["eps"], rel=1e-12)


@pytest.mark.parametrize(("n", "tail"), [(2, 0.999), (3, 1e-3), (7, 1e-15), (50, 1e-100), (400, 0.3), (5000, 1e-8)])
def test_offsets_where_scipy_is_right(n, tail):
    assert boundary_crossing.one_sided_offset(n, tail) == pytest.approx(float(special.smirnovi(n, tail)), rel=1e-9)


def test_offset_of_a_million_rollouts_solves_its_equation():
    offset = boundary_crossing.one_sided_offset(10**6, 0.05)
    assert boundary_crossing.one_sided_tail(10**6, offset) == pytest.approx(0.05, rel=1e-12)
    assert boundary_crossing.one_sided_tail(10**6, 0.001) == pytest.approx(
        float(special.smirnov(10**6, 0.001)), rel=1e-9
    )


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("level", [0.3, 0.01])
def test_inside_chance_is_the_determinant(n, sides, level):
    lows, highs = boundary_crossing.local_limits(n, level, sides)
    exact = steck([Fraction(float(x)) for x in lows], [Fraction(float(x)) for x in highs])
    assert boundary_crossing.inside_chance(lows, highs) == pytest.approx(float(exact), abs=1e-13)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_inside_chance_is_plain_counting(pairs):
    lows = sorted(min(pair) for pair in pairs)
    highs = sorted(max(pair) for pair in pairs)
    assert boundary_crossing.inside_chance(lows, highs) == pytest.approx(crossing_probability(lows, highs), abs=1e-12)


def test_limits_that_cross_leave_nothing():
    assert boundary_crossing.inside_chance([0.5, 0.6], [0.4, 0.9]) == 0.0


def test_the_largest_of_all_is_never_quite_one():
    assert boundary_crossing.inside_chance([0.0, 1.0], [1.0, 1.0]) == 0.0


def test_an_offset_of_nothing_is_always_exceeded_and_one_of_everything_never():
    assert [boundary_crossing.one_sided_tail(10, offset) for offset in (-0.1, 0.0, 1.0, 1.2)] == [1.0, 1.0, 0.0, 0.0]
    assert boundary_crossing.one_sided_tail(1, 0.3) == 0.7  # of a single draw: that it falls above the offset


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("n", [1, 5, 10, 40, 200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tail", [0.05])
def test_joint_level_by_the_second_algorithm(n, sides, tail):
    limits = boundary_crossing.local_limits(n, boundary_crossing.local_level(n, tail, sides), sides)
    assert counted(*limits) == pytest.approx(1 - tail, abs=1e-9)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("tail", [0.5, 1e-4])
def test_other_levels_by_the_second_algorithm(sides, tail):
    limits = boundary_crossing.local_limits(60, boundary_crossing.local_level(60, tail, sides), sides)
    assert counted(*limits) == pytest.approx(1 - tail, abs=1e-9)


@pytest.mark.parametrize(("n", "sides"), [(1, 1), (3, 2), (6, 1), (6, 2)])
def test_level_by_the_slow_twin(n, sides):
    assert boundary_crossing.local_level(n, 0.05, sides) == pytest.approx(
        equal_local_level(n, 0.95, sides)[0], rel=1e-8
    )


@pytest.mark.parametrize(
    ("tried", "solve"),
    [
        ("one_sided_tail", lambda: boundary_crossing.one_sided_offset(10**6, 0.05)),
        ("inside_chance", lambda: boundary_crossing.local_level(200, 0.05, 2)),
    ],
)
def test_large_sizes_are_solved_in_few_tries(tried, solve, monkeypatch):
    tries, real = [], getattr(boundary_crossing, tried)
    monkeypatch.setattr(boundary_crossing, tried, lambda *given: tries.append(given) or real(*given))
    solve()
    assert 0 < len(tries) <= 20
