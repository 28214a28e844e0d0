"""Tests of `surefoot.numerics.normal_quantiles`."""

import math

import pytest

from surefoot.numerics.normal_quantiles import chi_squared_below


@pytest.mark.parametrize("distance", [0.0, 0.3, 2.0, 40.0])
def test_two_degrees_are_an_exponential_and_one_is_a_squared_normal(distance):
    assert chi_squared_below(distance, 2) == pytest.approx(1.0 - math.exp(-distance / 2.0), abs=1e-15)
    assert chi_squared_below(distance, 1) == pytest.approx(math.erf(math.sqrt(distance / 2.0)), abs=1e-14)


def test_four_degrees_by_their_poisson_sum():
    half = 3.7 / 2.0
    assert chi_squared_below(3.7, 4) == pytest.approx(1.0 - math.exp(-half) * (1.0 + half), abs=1e-14)
