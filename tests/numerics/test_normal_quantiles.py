"""Tests of `surefoot.numerics.normal_quantiles`."""

import pytest

from surefoot import Tally, stats
from surefoot.numerics import normal_quantiles
from tests.reference import cases


def test_every_stored_z() -> None:
    # Through the public API: the half-width of Wald at one half is z / (2 sqrt(n)), far from being clipped.
    for given_, wanted in cases("z_two_sided"):
        interval = stats.wald(Tally(5_000, 10_000), confidence=given_["conf"])
        assert (interval.high - interval.low) * 100.0 == pytest.approx(wanted["z"], rel=1e-10), given_
        assert normal_quantiles.upper_quantile((1 - given_["conf"]) / 2) == pytest.approx(wanted["z"], rel=1e-10)
