"""Tests of `surefoot.numerics.designs.stopped_intervals`."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import gammaln

from surefoot.numerics.designs import stopped_intervals
from surefoot.sequential import ExactBinary, ExactPairedBinary, after_stop, designs
from surefoot.sequential.exact_rules import Counts
from tests.oracles import after_stop as twin
from tests.oracles import exact_designs as tables
from tests.support.exact_rules import every_rule, moves, slow_rule

every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


# --- each end by the twin ---


@pytest.mark.sample(3)
@every_rule
@every_claim
@pytest.mark.parametrize("futility", [0.0, 0.1])
def test_each_end_is_where_its_own_test_ends(make, claim, futility):
    horizon = 12
    rule = make(horizon, claim=claim, confidence=0.8, futility=futility)
    streams, error = make is ExactBinary, rule.error
    slow = tables.rule_from(rule.design.limits.tolist(), claim == "either")
    moves = twin.STREAMS if streams else twin.PAIRS

    def ends(share):
        given = make(horizon, claim=claim, confidence=0.8, futility=share)
        return twin.reached(
            slow, horizon, moves, lambda n, s, f: given.hopeless(n, Counts(f, s)) or given.futile(n, Counts(f, s))
        )

    every, plain = ends(futility), ends(0.0)
    mirrored = {(n, f, s): (-verdict, q) for (n, s, f), (verdict, q) in every.items()}
    shares = np.linspace(0.0, 1.0, 41)
    centres = stopped_intervals.CENTRES[not streams]
    seen = set()
    places = sorted(every)
    decided = [place for place in places if every[place][0]]
    for place in sorted({*places[:: max(1, len(places) // 12)], decided[0], decided[-1]}):
        n, s, f = place
        verdict = every[place][0]
        low, high = after_stop.ends(rule.design.declared, futility, n, f, s, certified=True)

        def rejected(states, at, gain, streams=streams):
            cell = max(i for i in range(5) if twin.EDGES[i] <= gain)
            tails = (twin.lower_tail(states, at, gain, share, centres[cell], streams=streams) for share in shares)
            return max(tails) <= error

        if verdict >= 0:
            assert high == 1.0 or all(rejected(every, place, gain) for gain in np.linspace(high + 1e-9, 1.0, 12)[:-1])
            if 0.004 < high < 0.999 and high - 0.004 > max(e for e in twin.EDGES if e < high):
                assert not rejected(every, place, high - 0.004)
        if verdict <= 0:
            gains = np.linspace(1e-9 - low, 1.0, 12)[:-1]
            assert low == -1.0 or all(rejected(mirrored, (n, f, s), gain) for gain in gains)
        if verdict:
            end, at = (low, place) if verdict > 0 else (-high, (n, f, s))  # a mirrored table: its own mirror image
            chances = [
                max(twin.upper_tail(plain, at, gain, s, streams=streams) for s in shares) for gain in (end, end + 0.004)
            ]
            assert chances[0] <= error
            if end and end + 0.004 < abs(
                designs.endings(rule.design.declared, 0.0).gain[designs.endings(rule.design.declared, 0.0).at(n, f, s)]
            ):
                assert chances[1] > error
        seen.add(verdict)
    assert {0, 1} <= seen


# --- tiny designs at any error ---

LEVELS = (0.999, 0.67, 0.3, 0.15, 0.05, 0.01)
SHARES = np.linspace(0.0, 1.0, 21)


def tiny(make):
    """All endings of three pairs, fast and slow."""
    rule = make(3, claim="either", confidence=0.5)
    space = designs.space(rule.design.declared, 0.0)
    every = twin.reached(slow_rule(rule), 3, moves(make), lambda n, s, f: rule.hopeless(n, Counts(f, s)))
    ends = space.endings
    places = [tuple(map(int, place)) for place in zip(ends.n, ends.second, ends.first, strict=True)]
    assert set(places) == set(every)
    return space, every, places


@every_rule
@pytest.mark.parametrize("slack", [0.0005, 1e-9])  # so little is not enough for a proof, and is doubled
def test_near_ends_are_proved_at_any_error(make, slack, monkeypatch):
    monkeypatch.setattr(stopped_intervals, "_SLACK", slack)
    space, every, places = tiny(make)
    streams = make is ExactBinary
    for place, state in enumerate(places):
        if every[state][0] <= 0:
            continue

        def most(gain, state=state):
            return max(twin.upper_tail(every, state, gain, share, streams=streams) for share in SHARES)

        for level in (*LEVELS, 1.0001 * most(0.0), 0.9999 * most(0.0)):
            end = stopped_intervals.near_end(space, place, level)
            assert 0.0 <= end <= space.endings.gain[place]
            assert end == 0.0 or max(most(gain) for gain in np.linspace(0.0, end, 6)) <= level
            if end + 0.002 < space.endings.gain[place]:
                assert most(end + 0.002) > level


@every_rule
def test_far_ends_are_proved_at_any_error(make):
    space, every, places = tiny(make)
    streams = make is ExactBinary
    centres = stopped_intervals.CENTRES[not streams]
    found = set()
    for place, state in enumerate(places):
        if every[state][0] < 0:
            continue
        for level in (0.999, 0.15):
            end = stopped_intervals.far_end(space, place, level, certified=True)

            def most(gain, state=state):
                cell = max(i for i in range(5) if twin.EDGES[i] <= gain)
                tails = (twin.lower_tail(every, state, gain, share, centres[cell], streams=streams) for share in SHARES)
                return max(tails)

            gains = [end + 1e-9, *np.linspace(end, 1.0, 6)[1:-1], *(edge for edge in twin.EDGES[1:-1] if edge > end)]
            assert end == 1.0 or all(most(gain) <= level for gain in gains)
            rough = stopped_intervals.far_end(space, place, level, certified=False)
            assert rough <= end <= rough + 0.032
            found.add(end)
    assert {0.0, 1.0} < found


@every_rule
def test_orders_are_those_of_the_twin_and_swapping_swaps(make):
    space, _, places = tiny(make)
    streams = make is ExactBinary
    for centre in stopped_intervals.CENTRES[not streams]:
        found = stopped_intervals.score(space.endings, centre, paired=not streams)
        assert found == pytest.approx([twin.score(state, centre, streams=streams) for state in places])
    differ = [at for at, (_, second, first) in enumerate(places) if first + second]
    roots = stopped_intervals.signed_root(space.endings.first[differ], space.endings.second[differ])
    assert roots == pytest.approx([twin.root(places[at]) for at in differ], abs=1e-7)
    swapped = space.swapped()
    again = stopped_intervals.counted(swapped.endings, paired=not streams)
    assert np.array_equal(swapped.counted.counts, again.counts)
    assert swapped.counted.weights == pytest.approx(again.weights)
    assert swapped.endings.verdict.tolist() == (-space.endings.verdict).tolist()


# --- where the chance has two peaks in the nuisance ---


def two_peaks(share):
    """Of 30 pairs of streams: 3 v 0 successes, a share of the time, or 30 v 24."""
    counts = np.array([[3.0, 27.0, 0.0, 30.0], [30.0, 0.0, 24.0, 6.0]])
    ways = 2.0 * gammaln(31.0) - gammaln(counts + 1.0).sum(axis=1)
    return stopped_intervals.Counted(ways + np.log([share, 1.0]), counts, False)


@pytest.mark.parametrize(
    ("share", "between", "level"),
    [
        (0.1, (1e-5, 0.2), 0.05),  # the low peak leads at first, and never gets there
        (1.0, (0.1, 0.6), 0.01),  # the low peak falls first, and the high one later
    ],
)
def test_the_crossing_is_that_of_the_higher_peak(share, between, level):
    of = two_peaks(share)
    grid = np.sin(np.linspace(1e-4, np.pi / 2 - 1e-4, 2001)) ** 2
    wanted = brentq(lambda gain: stopped_intervals.chances(of, gain, grid).max() - level, *between)
    near = stopped_intervals.peak(of, between[0])[1]
    found = stopped_intervals._crossing(of, between, level, near)
    assert found == pytest.approx(wanted, abs=5e-4)


# --- bounds over regions ---


@every_rule
@given(data=st.data())
@settings(max_examples=30)
def test_a_region_is_called_below_only_when_it_is(make, data):
    rule = make(20, claim="either")
    space = designs.space(rule.design.declared, 0.0)
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    chosen = space.counted.chosen(rng.random(len(space.endings.n)) < data.draw(st.sampled_from([0.02, 0.1, 0.5])))
    low = data.draw(st.floats(0.0, 0.9))
    high = data.draw(st.floats(low, 1.0))
    shares = np.sin(np.linspace(0.001, np.pi / 2 - 0.001, 60)) ** 2
    largest = max(
        stopped_intervals.chances(chosen, gain, shares).max() for gain in np.linspace(low, min(high, 0.9999), 60)
    )
    assume(largest > 0.0)  # an empty set is at most 0
    for rising in (False, True):
        assert not stopped_intervals.is_below(chosen, (low, high), 0.98 * largest, rising=rising)
        assert stopped_intervals.is_below(chosen, (low, high), 1.05 * largest + 1e-6, rising=rising)


def test_an_empty_set_is_below_everything():
    space = designs.space(ExactBinary(20).design.declared, 0.0)
    assert stopped_intervals.is_below(space.counted.chosen(space.endings.n < 0), (0.0, 1.0), 1e-9)


def test_what_is_not_settled_is_not_called_below(monkeypatch):
    space = designs.space(ExactBinary(20).design.declared, 0.0)
    better = space.counted.chosen(space.endings.verdict > 0)
    level = 1.02 * stopped_intervals.peak(better, 0.1)[0]
    assert stopped_intervals.is_below(better, (0.1, 0.1), level)
    monkeypatch.setattr(stopped_intervals, "_SPLITS", 1)
    assert not stopped_intervals.is_below(better, (0.1, 0.1), level)


every_list_claim = pytest.mark.parametrize("claim", ["first better", "either"])


# --- the gain on the list itself ---


@every_list_claim
@pytest.mark.parametrize("futility", [0.0, 0.1])
def test_the_interval_of_the_list_covers_every_list(claim, futility):
    horizon = 20
    rule = ExactPairedBinary(horizon, claim=claim, confidence=0.9, futility=futility)
    declared = rule.design.declared
    ends = designs.endings(declared, futility)
    places = list(zip(ends.n.tolist(), ends.first.tolist(), ends.second.tolist(), strict=True))
    shown = [after_stop.of_list(rule, declared, place, gain) for place, gain in zip(places, ends.gain, strict=True)]
    low, high = np.array([(one.low, one.high) for one in shown]).T
    assert (low <= high).all()
    # Near the end of a list its gain may be known to be above 0 without a verdict.
    sure = (ends.first - ends.second - horizon + ends.n > 0, ends.second - ends.first - horizon + ends.n > 0)
    assert ((low > 0) == ((ends.verdict > 0) | sure[0]))[ends.n < horizon].all()
    assert ((high < 0) == ((ends.verdict < 0) | sure[1]))[ends.n < horizon].all()
    whole = ends.n == horizon
    assert np.allclose(low[whole], (ends.first - ends.second)[whole] / horizon)
    worst = 1.0
    for won, lost in itertools.product(range(horizon + 1), repeat=2):
        if won + lost > horizon:
            continue
        law = {}
        gain = (won - lost) / horizon
        for (n, x, y), q, a, b in zip(places, ends.chance, low, high, strict=True):
            ways = math.comb(won, x) * math.comb(lost, y) * math.comb(horizon - won - lost, n - x - y)
            law[n, x, y] = q * ways / math.comb(horizon, n), a - 1e-9 <= gain <= b + 1e-9
        assert sum(chance for chance, _ in law.values()) == pytest.approx(1.0)
        worst = min(worst, sum(chance for chance, inside in law.values() if inside))
    assert worst >= 1 - 2 * rule.error
