"""Functions of one number, without scipy.

Tests of `surefoot.numerics.normal_quantiles`, `surefoot.numerics.log_factorials`, `surefoot.numerics.arrays`.
"""

import math
import re
from math import comb, log
from pathlib import Path

import numpy as np
import pytest

from surefoot import Tally, stats
from surefoot.numerics import arrays, log_factorials, normal_quantiles
from surefoot.numerics.normal_quantiles import chi_squared_below
from surefoot.numerics.rates import binomial
from tests.reference import cases

# --- Chi squared


@pytest.mark.parametrize("distance", [0.0, 0.3, 2.0, 40.0])
def test_two_degrees_are_an_exponential_and_one_is_a_squared_normal(distance):
    assert chi_squared_below(distance, 2) == pytest.approx(1.0 - math.exp(-distance / 2.0), abs=1e-15)
    assert chi_squared_below(distance, 1) == pytest.approx(math.erf(math.sqrt(distance / 2.0)), abs=1e-14)


def test_four_degrees_by_their_poisson_sum():
    half = 3.7 / 2.0
    assert chi_squared_below(3.7, 4) == pytest.approx(1.0 - math.exp(-half) * (1.0 + half), abs=1e-14)


# --- Log factorials


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 1001, 3000])
def test_logarithms_of_how_many_ways(n: int) -> None:
    row = log_factorials.log_choose(n)
    assert len(row) == n + 1
    ways = {0, 1, n // 3, n // 2, n - 1, n}
    assert [row[k] for k in ways] == pytest.approx([log(comb(n, k)) for k in ways], rel=1e-12, abs=1e-11)


# --- Normal quantiles


def test_every_stored_z() -> None:
    # Through the public API: the half-width of Wald at one half is z / (2 sqrt(n)), far from being clipped.
    for given_, wanted in cases("z_two_sided"):
        interval = stats.wald(Tally(5_000, 10_000), confidence=given_["conf"])
        assert (interval.high - interval.low) * 100.0 == pytest.approx(wanted["z"], rel=1e-10), given_
        assert normal_quantiles.upper_quantile((1 - given_["conf"]) / 2) == pytest.approx(wanted["z"], rel=1e-10)


# --- Closed-form ends


def test_kernels_take_arrays() -> None:
    counts, totals = np.array([0, 3, 38, 10]), np.array([10, 10, 50, 10])
    z = normal_quantiles.upper_quantile(0.025)
    low, high = binomial.wilson_ends(counts, totals, z)
    np.testing.assert_allclose(low, normal_quantiles.wilson_low(counts, totals, z), rtol=1e-15)
    np.testing.assert_allclose(high, normal_quantiles.wilson_high(counts, totals, z), rtol=1e-15)
    for i, (k, n) in enumerate(zip(counts, totals, strict=True)):
        tally = Tally(int(k), int(n))
        assert (low[i], high[i]) == pytest.approx((stats.wilson(tally).low, stats.wilson(tally).high), rel=1e-14)
        exact = stats.clopper_pearson(tally)
        ends = binomial.exact_low(counts, totals, 0.025)[i], binomial.exact_high(counts, totals, 0.025)[i]
        assert ends == pytest.approx((exact.low, exact.high), rel=1e-14)


# --- Arrays


def test_arrays_have_one_name_each_in_all_rooms():
    assert arrays.Floats.__args__[1].__args__ == (np.float64,)
    assert arrays.Ints.__args__[1].__args__ == (np.int64,)
    assert arrays.Flags.__args__[1].__args__ == (np.bool_,)
    own = re.compile(r"= NDArray\[np\.(float64|int64|bool_)\]$", re.MULTILINE)
    files = Path(arrays.__file__).parent.parent.rglob("*.py")
    assert [file.name for file in files if own.search(file.read_text(encoding="utf-8"))] == ["arrays.py"]
