"""Tests of `surefoot.numerics.rates.hypergeometric`."""

import tracemalloc

import numpy as np
import pytest

from surefoot import Tally
from surefoot.numerics.rates import hypergeometric
from tests.support.two_rates import pmf


def test_the_certified_maximum_bounds_a_fine_grid():
    for first, second in [(Tally(14, 20), Tally(6, 23)), (Tally(3, 40), Tally(9, 35))]:
        n1, n2, m = first.trials, second.trials, first.successes + second.successes
        conditional = hypergeometric.pooled_at_least(n1, n2, first.successes, m)
        peak = hypergeometric.supremum(conditional)
        grid = (pmf(n1 + n2, np.linspace(0, 1, 4001)) @ conditional).max()
        assert grid <= peak.high
        assert peak.high - grid < 1e-6
        assert peak.value == pytest.approx(grid, rel=1e-5)


def test_where_no_table_is_as_extreme_the_chance_is_0():
    assert hypergeometric.supremum(np.zeros(5)) == (0.0, 0.0, 0.0)
    alone = hypergeometric.supremum(np.array([0.0, 0.0, 1.0]))  # both of two succeed: p^2
    assert alone.high == pytest.approx(1.0)


def test_several_suprema_at_once_are_those_one_by_one():
    sets = [hypergeometric.pooled_at_least(20, 23, x, 20) for x in (9, 14, 19)]
    assert hypergeometric.suprema(*sets) == tuple(hypergeometric.supremum(one) for one in sets)


def test_chances_at_ever_more_rates_are_not_all_kept(monkeypatch):
    """A p-value of 1e-87 is looked for at nine sets of rates; all kept, they took three times the room."""
    monkeypatch.setattr(hypergeometric, "HELD", 100_000)
    sets = [hypergeometric.pooled_at_least(200, 200, x, 200) for x in (190, 195)]
    tracemalloc.start()
    small = hypergeometric.suprema(*sets)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.0 < small[1].high < small[0].high < 1e-80
    assert most < 5e6  # bytes; a single set of chances takes 1.3 million
    monkeypatch.undo()
    assert hypergeometric.suprema(*sets) == small
