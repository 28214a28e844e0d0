"""Tests of `surefoot.numerics.stopped_intervals`."""

import numpy as np
import pytest

from surefoot.numerics import stopped_intervals
from surefoot.sequential import ExactBinary, after_stop, design_properties
from surefoot.sequential.exact_rules import Counts
from tests.oracles import after_stop as twin
from tests.oracles import exact_designs as tables
from tests.support.exact_rules import every_rule

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
                design_properties.endings(rule.design.declared, 0.0).gain[
                    design_properties.endings(rule.design.declared, 0.0).at(n, f, s)
                ]
            ):
                assert chances[1] > error
        seen.add(verdict)
    assert {0, 1} <= seen
