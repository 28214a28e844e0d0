"""Tests of `surefoot.reference.welch_intervals`."""

import pytest

from surefoot import Scores
from surefoot.reference import student_t, welch
from tests.reference import cases


@pytest.mark.parametrize("case", cases("welch_and_t"))
def test_welch_of_the_reference(case):
    asked, wanted = case
    first, second = Scores(asked["a"], -10, 20), Scores(asked["b"], -10, 20)
    found = welch(first, second)
    assert found.p_value == pytest.approx(wanted["p_two_sided"], rel=1e-9)
    assert f"{wanted['t']:.4g}" in found.notes[0]
    half = (found.interval.high - found.interval.low) / 2
    error = found.estimate / wanted["t"]
    from scipy.special import stdtrit

    assert half == pytest.approx(stdtrit(wanted["df"], 0.975) * error, rel=1e-9)
    interval = student_t(first)
    assert (interval.low, interval.high) == pytest.approx(tuple(wanted["a_t_interval_95"]), rel=1e-9)
