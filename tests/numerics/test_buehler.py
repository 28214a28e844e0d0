"""Tests of `surefoot.numerics.buehler`."""

import pytest

from surefoot.numerics import buehler
from tests.oracles import one_sided

TABLES = [(7, 8, 2, 5), (3, 3, 1, 6), (5, 6, 5, 7), (0, 4, 3, 4), (6, 6, 0, 5)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("error", [0.025, 0.1])
def test_one_sided_p_values_are_those_of_the_slow_twin(table, error):
    one = buehler.Above(table, error)
    for d in (-0.4, 0.0, 0.25):
        twin = one_sided.unpaired_p(*table, d, error)
        assert twin <= one.p_value(d) * (1 + 1e-9)
        assert one.p_value(d) == pytest.approx(twin, rel=1e-4)


@pytest.mark.parametrize("table", [(5, 0, 8), (4, 3, 9), (1, 4, 7)])
def test_paired_one_sided_p_values_are_those_of_the_slow_twin(table):
    one = buehler.Above(table, 0.025)
    for d in (-0.3, 0.0, 0.2):
        twin = one_sided.paired_p(*table, d, 0.025)
        assert twin <= one.p_value(d) * (1 + 1e-9)
        assert one.p_value(d) == pytest.approx(twin, rel=1e-4)
