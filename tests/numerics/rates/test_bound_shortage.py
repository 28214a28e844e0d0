"""Tests of `surefoot.numerics.rates.bound_shortage`."""

import pytest

from surefoot import stats
from surefoot.numerics.rates import bound_shortage


def test_falling_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="`lows` must rise with the count"):
        bound_shortage.steps([0.3, 0.2, 0.5])


def test_a_proof_cut_short_is_wider_and_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stats.max_expected_shortage(20, tolerance=1e-9)
    monkeypatch.setattr(bound_shortage, "_ROUNDS", 1)
    short = stats.max_expected_shortage(20, tolerance=1e-9)
    assert short.low <= whole.high <= short.high
    assert short.high - short.low > 1e-4 > whole.high - whole.low
