"""Tests of `surefoot.stats.many_gains`."""

import pytest
from scipy.stats import norm

from surefoot import PairTally, Tally, Verdict
from surefoot.stats import central_gains, central_paired_gain, paired_gain_sides, step_down_gains, tango
from tests.oracles import one_sided


def test_very_many_comparisons_take_the_score_limits_together():
    pairs = [PairTally(60 - b, b, 5, 35) for b in range(3, 53, 2)] * 24
    found = central_gains(pairs, confidence=1 - 0.05 / len(pairs), margin=0.02)
    assert len(found) == 600
    for (gain, sides), one in list(zip(found, pairs, strict=True))[:25]:
        plain = tango(one, confidence=1 - 0.05 / len(pairs))
        assert (gain.interval.low, gain.interval.high) == pytest.approx((plain.low, plain.high), abs=1e-12)
        assert gain.method == "Tango"
        up, down = (one_sided.paired_z(one.first_only, 5, 100, edge) for edge in (0.02, -0.02))
        twin = norm.sf(up), norm.cdf(down), norm.sf(down), norm.cdf(up)
        assert (sides.better, sides.worse, sides.not_worse, sides.not_better) == pytest.approx(twin, rel=1e-4)
    few = central_gains(pairs[:3], margin=0.02)
    for (gain, sides), one in zip(few, pairs, strict=False):
        assert gain == central_paired_gain(one, margin=0.02)
        assert sides == paired_gain_sides(one, margin=0.02)
    even, uneven = (Tally(10, 20), Tally(12, 20)), (Tally(10, 20), Tally(12, 30))
    methods = [gain.method for gain, _ in central_gains([even, uneven] * 251)]
    assert methods[:2] == ["Miettinen-Nurminen", "central exact unconditional"]
    stepped = step_down_gains(pairs)
    assert {one.gain.verdict for one in stepped} == {Verdict.UNDECIDED, Verdict.BETTER}
    assert len(stepped) == 600
