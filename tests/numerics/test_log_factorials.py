"""Tests of `surefoot.numerics.log_factorials`."""

from math import comb, log

import pytest

from surefoot.numerics import log_factorials


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 1001, 3000])
def test_logarithms_of_how_many_ways(n: int) -> None:
    row = log_factorials.log_choose(n)
    assert len(row) == n + 1
    ways = {0, 1, n // 3, n // 2, n - 1, n}
    assert [row[k] for k in ways] == pytest.approx([log(comb(n, k)) for k in ways], rel=1e-12, abs=1e-11)
