"""Tests of `surefoot.core.tally`."""

import math
from typing import Any

import pytest

from surefoot import PairTally, Tally


@pytest.mark.parametrize(
    ("successes", "trials", "error", "text"),
    [
        (12, 10, ValueError, "`successes` must be at most `trials`; got 12 successes in 10 trials"),
        (-1, 5, ValueError, "`successes` must be at least 0; got -1"),
        (1, -5, ValueError, "`trials` must be at least 0; got -5"),
        (2.5, 10, TypeError, "`successes` must be a whole number; got 2.5"),
        (5.0, 10, TypeError, "`successes` must be a whole number; got 5.0"),
        (True, 3, TypeError, "`successes` must be a whole number; got True"),
        (0, 0, ValueError, "`trials` must be at least 1; got 0. Without a rollout there is no rate"),
        (math.nan, 10, TypeError, "`successes` must be a whole number; got nan"),
        ("3", 10, TypeError, "`successes` must be a whole number; got '3'"),
        (3, None, TypeError, "`trials` must be a whole number; got None"),
    ],
)
def test_a_tally_refuses_nonsense(successes: Any, trials: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tally(successes, trials)


def test_numpy_whole_numbers_become_plain_ones() -> None:
    import numpy as np

    tally = Tally(np.int64(3), np.int32(10))
    assert type(tally.successes) is int
    assert type(tally.trials) is int
    assert tally == Tally(3, 10)


def test_pair_tally() -> None:
    pairs = PairTally(both=20, first_only=12, second_only=2, neither=16)
    assert (pairs.first, pairs.second, pairs.gain) == (Tally(32, 50), Tally(22, 50), 0.2)
    assert str(pairs) == "50 pairs: both succeeded in 20, only the first in 12, only the second in 2, neither in 16."
    with pytest.raises(ValueError, match="`pairs` must be at least 1; got 0"):
        PairTally(0, 0, 0, 0)
    with pytest.raises(ValueError, match="`second_only` must be at least 0"):
        PairTally(1, 1, -1, 1)
