"""Tests of `surefoot.numerics.decided_tables`."""

from surefoot import Tally, Verdict, stats
from surefoot.stats.exact_power import _steps


def test_decided_tables_are_those_the_gain_decides_on_a_larger_design():
    n1, n2 = 60, 45
    steps = _steps((n1, n2), 0.05, 0.0, True)
    for x2 in (0, 3, 20, 31, 44):
        x1 = int(steps[x2])
        if x1 <= n1:
            assert stats.exact_gain(Tally(x1, n1), Tally(x2, n2)).verdict is Verdict.BETTER
        assert stats.exact_gain(Tally(x1 - 1, n1), Tally(x2, n2)).verdict is not Verdict.BETTER
