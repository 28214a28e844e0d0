"""Tests of `surefoot.core.gain`."""

import pytest

from surefoot import Gain, Interval, PairTally, Tally, Verdict
from surefoot.stats import exact_gain, exact_paired_gain


def test_a_gain_cannot_contradict_its_interval() -> None:
    interval = Interval(0.1, 0.3, 0.2, 0.95, "none", scale="gain")
    assert Gain(interval, None, Verdict.UNDECIDED).mirrored.verdict is Verdict.UNDECIDED
    for margin, verdict in ((0.0, Verdict.WORSE), (0.2, Verdict.BETTER), (0.05, Verdict.SAME)):
        with pytest.raises(ValueError, match=r"`verdict` must be '\w+', which the interval supports, or 'undecided'"):
            Gain(interval, None, verdict, margin=margin)


def test_a_mirrored_gain_is_the_gain_of_the_others() -> None:
    pairs = PairTally(both=5, first_only=8, second_only=1, neither=6)
    swapped = PairTally(both=5, first_only=1, second_only=8, neither=6)
    assert exact_paired_gain(pairs).mirrored == exact_paired_gain(swapped)
    assert exact_gain(Tally(17, 20), Tally(8, 20)).mirrored == exact_gain(Tally(8, 20), Tally(17, 20))
