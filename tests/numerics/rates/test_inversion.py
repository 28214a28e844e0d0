"""Tests of `surefoot.numerics.rates.inversion`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from surefoot import PairTally, Tally, stats
from surefoot.numerics import normal_quantiles
from surefoot.numerics.rates import inversion, paired_rates, two_rates
from tests.oracles import coherent
from tests.reference import listed

ORDERING = 0.05


def p_at(table, d, gamma, *, both=True):
    """p(d) on the side of the estimate that the table lies on."""
    x1, n1, x2, n2 = table
    tables = two_rates.tables(np.array([x1]), n1, np.array([x2]), n2, gamma, None if both else ORDERING)
    side = 0 if tables.estimate[0] > d else 1
    return float(inversion.p_values(tables, np.array([side]), np.array([d if side == 0 else -d]), both=both)[0])


def ends(table, a, *, both=True):
    if len(table) == 4:
        x1, n1, x2, n2 = table
        tables = two_rates.tables(np.array([x1]), n1, np.array([x2]), n2, a / 1000, None if both else a)
    else:
        b, c, n = table
        tables = paired_rates.tables(np.array([b]), np.array([c]), n, a / 1000, None if both else a)
    low, tail = inversion.lower_ends(tables, a, both=both)
    return float(low[0]), -float(low[1]), float(tail.min())


@pytest.mark.parametrize(
    "case", [case for case in listed("score.cases") if case["what"] == "rates p(d)"], ids=lambda c: str(c["table"])
)
def test_p_values_are_those_of_the_reference(case):
    assert p_at(case["table"], case["d"], case["gamma"]) == pytest.approx(case["p"], abs=case["abs_tol"])


@settings(max_examples=20)
@given(
    st.integers(1, 9), st.integers(1, 9), st.data(), st.floats(-0.9, 0.9), st.booleans(), st.sampled_from([5e-7, 1e-4])
)
def test_the_supremum_is_above_the_slow_twin_and_close(n1, n2, data, d, both, gamma):
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    if x1 / n1 - x2 / n2 <= d + 1e-6:
        return
    twin = coherent.unpaired_p(x1, n1, x2, n2, d, 400, gamma, None if both else ORDERING)
    found = p_at((x1, n1, x2, n2), d, gamma, both=both)
    assert twin * (1 - 1e-9) <= found <= twin * (1 + 1e-3) + 0.1 * gamma


@settings(max_examples=20)
@given(st.integers(1, 12), st.data(), st.floats(-0.9, 0.9), st.booleans())
def test_the_paired_supremum_is_above_the_slow_twin_and_close(n, data, d, both):
    b = data.draw(st.integers(0, n))
    c = data.draw(st.integers(0, n - b))
    if (b - c) / n <= d + 1e-6:
        return
    tables = paired_rates.tables(np.array([b]), np.array([c]), n, 5e-7, None if both else ORDERING)
    found = float(inversion.p_values(tables, np.array([0]), np.array([d]), both=both)[0])
    twin = coherent.paired_p(b, c, n, d, 400, 5e-7, None if both else ORDERING)
    assert twin * (1 - 1e-9) <= found <= twin * (1 + 1e-3) + 1e-6


@pytest.mark.parametrize(("n1", "n2"), [(300, 200), (3000, 40), (20_000, 20_000)])
def test_the_supremum_of_a_large_design_is_above_a_fine_grid_and_close(n1, n2):
    x1, x2, d = round(0.6 * n1), round(0.45 * n2), 0.02
    tables = two_rates.tables(np.array([x1]), n1, np.array([x2]), n2, 5e-5)
    which, at = np.array([0]), np.array([d])
    (low,), (high,) = tables.segment(which, at)
    t = np.linspace(low, high, 201)[None, :]
    values = tables.tails(at, t, inversion.Order(at, tables.statistic(which, at)), 1e-12, both=True)
    found = float(inversion.p_values(tables, which, at, both=True)[0])
    assert values.max() + 5e-5 <= found <= values.max() * (1 + 1e-3) + 5.1e-5


def test_where_the_line_misses_the_limits_only_gamma_is_left():
    assert p_at((90, 100, 10, 100), -0.5, 5e-5) == 5e-5


@pytest.mark.parametrize("table", [(17, 20, 14, 20), (25, 995, 1, 5), (7, 9, 2, 30), (12, 2, 50), (3, 0, 10)])
@pytest.mark.parametrize("both", [True, False])
def test_ends_lie_just_outside_the_accepted_set(table, both):
    low, high, _ = ends(table, 0.05, both=both)
    if len(table) == 4:
        order = None if both else ORDERING
        tables = two_rates.tables(np.array([table[0]]), table[1], np.array([table[2]]), table[3], 5e-5, order)
    else:
        tables = paired_rates.tables(
            np.array([table[0]]), np.array([table[1]]), table[2], 5e-5, None if both else ORDERING
        )
    grid = np.linspace(-0.99, 0.99, 300)
    for side, end in ((0, low), (1, -high)):
        inside = end + 1.01e-5 * tables.spread[side]
        assert inversion.p_values(tables, np.array([side]), np.array([inside]), both=both)[0] > 0.05
        beyond = grid[grid < end]
        assert inversion.p_values(tables, np.full(len(beyond), side), beyond, both=both).max(initial=0.0) <= 0.05


def size(n1, n2, a, edge=0.0, *, both=True):
    """The largest chance, over a grid of rates with this difference, that the interval lies beyond it."""
    up = inversion.decided((n1, n2), a, edge, np.arange(n2 + 1), both=both)
    down = inversion.decided((n1, n2), a, -edge, np.arange(n2 + 1), both=both) if both else None
    x2, largest = np.arange(n2 + 1), 0.0
    low, high = max(0.0, -edge), min(1.0, 1.0 - edge)
    middle = np.sin(np.linspace(0.0, np.pi / 2, 401)) ** 2
    few = np.array([2.0**k / max(n1, n2) for k in range(-2, 8)])
    for q in np.unique(np.clip(np.concatenate([low + (high - low) * middle, low + few, high - few]), low, high)):
        p, mass = min(1.0, q + edge), binom.pmf(x2, n2, q)
        found = float(mass @ binom.sf(up - 1, n1, p))
        if down is not None:
            found += float(mass @ binom.cdf(n1 - down[::-1], n1, p))
        largest = max(largest, found)
    return largest


@pytest.mark.parametrize("a", [0.05, 0.0005])
@pytest.mark.parametrize("n2", [5, 10, 20])
def test_a_thousand_against_few_keeps_the_error(n2, a):
    assert size(1000, n2, a) <= a


@pytest.mark.slow
@pytest.mark.parametrize("a", [0.05, 0.0005])
@pytest.mark.parametrize(("n1", "n2"), [(1000, 100), (100_000, 20)])
def test_many_against_few_keep_the_error(n1, n2, a):
    assert size(n1, n2, a) <= a


@pytest.mark.slow
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("n1", range(1, 16))
def test_every_small_design_keeps_the_error(n1, both):
    for n2 in range(1, n1 + 1):
        assert size(n1, n2, 0.05, both=both) <= 0.05


@pytest.mark.parametrize(("n1", "n2"), [(15, 15), (14, 3), (7, 6), (5, 1)])
def test_some_small_designs_keep_the_error(n1, n2):
    for edge in (0.0, -0.2, 0.1):
        assert size(n1, n2, 0.05, edge) <= 0.05
        assert size(n1, n2, 0.05, edge, both=False) <= 0.05


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["separate", "paired"])
def test_one_rollout_more_moves_an_end_by_what_one_rollout_is_worth(kind):
    """T26: no size at which another method takes over, and so no end that jumps."""
    rng = np.random.default_rng(26)
    moves = []
    for _ in range(24):
        n1, n2 = (int(n) for n in np.exp(rng.uniform(np.log(30), np.log(2000), 2)))
        if kind == "separate":
            x1, x2 = int(rng.binomial(n1, 0.6)), int(rng.binomial(n2, 0.5))
            one, more = (x1, n1, x2, n2), (x1 + 1, n1 + 1, x2, n2)
            scale = 1.0 / n1
        else:
            b, c, _ = (int(v) for v in rng.multinomial(n1, [0.2, 0.15, 0.65]))
            one, more = (b, c, n1), (b, c, n1 + 1)
            scale = 1.0 / n1
        before, after = ends(one, 0.05), ends(more, 0.05)
        moves += [abs(after[i] - before[i]) / scale for i in (0, 1)]
    assert max(moves) <= 5 * np.median(moves)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("n1", "n2", "edge"), [(12, 9, 0.0), (9, 12, 0.1), (14, 3, -0.2)])
@pytest.mark.parametrize("both", [True, False])
def test_decided_tables_are_those_that_every_single_comparison_decides(n1, n2, edge, both):
    steps = inversion.decided((n1, n2), 0.05, edge, np.arange(n2 + 1), both=both)
    for x1 in range(n1 + 1):
        for x2 in range(n2 + 1):
            tallies = Tally(x1, n1), Tally(x2, n2)
            low = stats.exact_gain(*tallies).interval.low if both else stats.gain_bounds(*tallies)[0].value
            assert (low > edge) == (x1 >= steps[x2])


def test_decided_tables_are_those_the_gain_decides_on_a_larger_design():
    n1, n2 = 160, 145
    steps = inversion.decided((n1, n2), 0.05, 0.0, np.arange(n2 + 1), both=True)
    for x2 in (0, 3, 20, 31, 72, 130):
        x1 = int(steps[x2])
        assert stats.exact_gain(Tally(x1, n1), Tally(x2, n2)).p_value <= 0.05
        assert stats.exact_gain(Tally(x1 - 1, n1), Tally(x2, n2)).p_value > 0.05


@pytest.mark.sample(2)
@pytest.mark.parametrize("both", [True, False])
def test_decided_pairs_are_those_that_every_single_comparison_decides(both):
    n = 14
    steps = inversion.decided((n,), 0.05, 0.0, np.arange(n + 1), both=both)
    for b in range(n + 1):
        for c in range(n + 1 - b):
            pairs = PairTally(n - b - c, b, c, 0)
            gain = stats.exact_paired_gain(pairs).interval.low if both else stats.paired_gain_bounds(pairs)[0].value
            assert (gain > 0.0) == (b >= steps[c])


def test_the_interpolated_critical_value_is_close():
    second = np.arange(150, 260)
    exact = inversion.decided((400, 400), 0.05, 0.0, second, both=True)
    rough = inversion.decided_at((400, 400), 0.05, 0.0, second, both=True, rough=True)
    assert np.abs(exact - rough).max() <= 1
    assert (exact != rough).mean() < 0.05


def test_many_against_few_are_decided_as_every_single_comparison_is():
    n1, n2 = 2000, 12
    steps = inversion.decided((n1, n2), 0.05, 0.0, np.arange(n2 + 1), both=True)
    for x2 in (0, 1, 4, 9):
        x1 = int(steps[x2])
        assert stats.exact_gain(Tally(x1, n1), Tally(x2, n2)).p_value <= 0.05
        assert stats.exact_gain(Tally(x1 - 1, n1), Tally(x2, n2)).p_value > 0.05


@pytest.mark.parametrize(
    ("design", "rates", "least"),
    [((4, 24), (0.9, 0.207), 0.88), ((5, 33), (0.568, 0.1), 0.70), ((23, 3), (0.5, 0.01), 0.32)],
)
def test_one_side_of_unequal_sizes_decides_as_often_as_in_version_0_2(design, rates, least):
    """Ordered by the statistic at each difference, these had .658, .516 and .102."""
    assert stats.power(*rates, design[0], second_rollouts=design[1], claim="first better").better >= least


def test_the_published_interval():
    """Newcombe (1998), Statistics in Medicine 17, 873-890, Table II, 56/70 - 48/80, method 6: 0.0528 to 0.3382."""
    low, high, p = inversion.score_interval((56, 70, 48, 80), 0.05)
    assert (round(low, 4), round(high, 4)) == (0.0528, 0.3382)
    assert p < 0.05


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (9, 4, 40)])
def test_swapping_mirrors(table):
    swapped = (*table[2:], *table[:2]) if len(table) == 4 else (table[1], table[0], table[2])
    low, high, p = inversion.score_interval(table, 0.05)
    assert inversion.score_interval(swapped, 0.05) == pytest.approx((-high, -low, p))


def test_the_pooled_statistic_of_no_difference():
    """z = (p1 - p2) / sqrt(p (1 - p) (1 / n1 + 1 / n2)), with the factor N / (N - 1)."""
    x1, n1, x2, n2 = 14, 20, 6, 18
    pooled = (x1 + x2) / (n1 + n2)
    z = (x1 / n1 - x2 / n2) / np.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    shrunk = z * np.sqrt(1 - 1 / (n1 + n2))
    p = inversion.score_interval((x1, n1, x2, n2), 0.05)[2]
    assert p == pytest.approx(2.0 * normal_quantiles.tail(float(shrunk)))


@pytest.mark.parametrize("table", [(7, 10, 3, 12), (9, 4, 40), (10, 10, 10, 10)])
def test_an_end_at_the_error_of_the_test_is_0(table):
    p = inversion.score_interval(table, 0.05)[2]
    low, high, _ = inversion.score_interval(table, min(p, 0.999))
    assert min(abs(low), abs(high)) == pytest.approx(0.0, abs=1e-6) or p == 1.0
