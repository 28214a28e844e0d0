"""Tests of `surefoot.numerics.designs.list_intervals`."""

import itertools
import math

import numpy as np
import pytest

from surefoot.sequential import ExactPairedBinary, after_stop, design_properties

every_claim = pytest.mark.parametrize("claim", ["first better", "either"])


# --- the gain on the list itself ---


@every_claim
@pytest.mark.parametrize("futility", [0.0, 0.1])
def test_the_interval_of_the_list_covers_every_list(claim, futility):
    horizon = 20
    rule = ExactPairedBinary(horizon, claim=claim, confidence=0.9, futility=futility)
    declared = rule.design.declared
    ends = design_properties.endings(declared, futility)
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
