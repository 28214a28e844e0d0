"""Tests of `surefoot.core.scores`."""

import math
from typing import Any

import pytest

from surefoot import Moments


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((0, 0.0, 0.0), ValueError, "`trials` must be at least 1; got 0"),
        ((4, 8.0, 16.0), ValueError, r"`mean` must lie in the stated range \[0, 1\]; got 2"),
        ((4, 2.0, 9.0), ValueError, "`variance` must be between 0 and 0.333333, the largest around this mean"),
        ((4, 2.0, 1.5, 0.0, math.inf), ValueError, "`high` must be finite"),
    ],
)
def test_moments_refuse_sums_that_no_scores_have(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Moments.of_sums(*arguments)


def test_moments_do_not_lose_a_spread_to_rounding() -> None:
    # Half at each end of a range so far from 0 that the sums cannot tell them apart: as wide as it can be, never 0.
    low, high = 1e6, 1e6 + 1
    moments = Moments.of_sums(1000, 500 * (low + high), 500 * (low * low + high * high), low, high)
    assert moments.variance == pytest.approx(0.25, rel=0.01)
    assert Moments.of_sums(1000, 100.0, 1000 * 0.1**2).variance == 0.0
    assert Moments.of_sums(3, 3 * (1 + 1e-12), 3.0).mean == 1.0  # rounding alone is forgiven
