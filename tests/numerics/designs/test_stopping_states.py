"""Tests of `surefoot.numerics.designs.stopped_walks`."""

import pytest

from surefoot.numerics.designs.stopped_walks import endings
from surefoot.sequential import ExactBinary, run


def test_the_estimate_takes_back_what_an_early_verdict_overstates():
    # Design figures at N = 50, .75/.60, no run given up: raw bias +.030, given BETTER +.200; Rao-Blackwell 0 and +.130.
    from scipy.stats import binom

    rule = ExactBinary(50, claim="either")
    found = endings(rule.design.walk(), rule.design.limits, None)
    mass = found.chance * binom.pmf(found.first, found.n, 0.75) * binom.pmf(found.second, found.n, 0.6)
    raw, better = (found.first - found.second) / found.n, found.verdict == 1
    assert (mass * raw).sum() - 0.15 == pytest.approx(0.030, abs=6e-4)
    assert (mass * raw)[better].sum() / mass[better].sum() - 0.15 == pytest.approx(0.200, abs=6e-4)
    assert (mass * found.gain)[better].sum() / mass[better].sum() - 0.15 == pytest.approx(0.130, abs=6e-4)
    state = run(rule, [(1, 0), (1, 1)] * 25)[-1]
    assert state.ending == "verdict"
    assert state.estimate < state.observed
    wide = run(ExactBinary(50, claim="either", low=-1, high=3), [(3, -1), (3, 3)] * 25)[-1]
    assert (wide.observed, wide.estimate) == pytest.approx((4 * state.observed, 4 * state.estimate))
