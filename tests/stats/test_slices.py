"""Tests of `surefoot.stats.slices`."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

import surefoot as sf
from surefoot import Tally
from surefoot.stats import slice_gains
from surefoot.stats.slices import by_holm, least_drop
from tests.reference import listed

SLICES = {"a=0": "01", "a=1": "23", "b=0": "02", "b=1": "13", "00": "0", "01": "1", "10": "2", "11": "3"}
CASES = [case for case in listed("slice.cases") if case["what"].startswith("slice_p_values exact")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_slices_of_tallies_are_those_of_the_enumeration(case):
    names = ("successes_first", "first", "successes_second", "second")
    each = zip(*(case[name] for name in names), strict=True)
    cells = {str(place): (Tally(x, n), Tally(y, m)) for place, (x, n, y, m) in enumerate(each)}
    found = np.asarray(slice_gains(cells, {name: list(inside) for name, inside in SLICES.items()}).worse)
    wanted = np.asarray(case["value"])
    assert (np.abs(found - wanted) <= 4 * np.sqrt(wanted * (1 - wanted) / 19_999) + 1e-4).all()


def test_a_cell_that_is_not_there_is_refused():
    with pytest.raises(sf.ArgumentError, match="name cells that there are"):
        slice_gains({"a": (Tally(1, 2), Tally(1, 2))}, {"all": ["b"]})


def test_holm_keeps_the_order_and_the_error():
    found = by_holm([0.001, 0.02, 0.5], [1.0, 1.0, 1.0], confidence=0.95, claim="worse")
    assert found.worse == pytest.approx((0.003, 0.04, 0.5))
    assert [str(one) for one in found.verdicts] == ["worse", "worse", "undecided"]


@pytest.mark.parametrize(("n", "m", "rate"), [(20, 20, 0.85), (40, 40, 0.85), (10, 30, 0.9)])
def test_the_least_drop_has_the_power_that_is_said(n, m, rate):
    """By drawing tables: the statistic of one cell passes the limit in 8 of 10 of them, and in fewer a point below."""
    error = 0.0005
    drop = least_drop(n, m, rate, error)
    rng, limit = np.random.default_rng(1), -scipy_stats.norm.ppf(error)
    powers = []
    for one in (drop, drop - 0.03):
        x, y = rng.binomial(n, rate - one, 20_000), rng.binomial(m, rate, 20_000)
        total, size = x + y, n + m
        v = n * m * total * (size - total) / (size**2 * (size - 1))
        k = -v * (size - 2 * total) * (m - n) / (size * (size - 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (n * total / size - x) / np.sqrt(v)
            t = z - np.clip(k / v**1.5, -0.5, 0.5) * (np.clip(z, -5, 5) ** 2 - 1) / 6
        powers.append(float((np.nan_to_num(t, nan=-math.inf) >= limit).mean()))
    assert powers[0] >= 0.79
    assert powers[1] < 0.8
