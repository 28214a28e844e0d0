"""Tests of `surefoot.table.positions`."""

from __future__ import annotations

import pytest

import surefoot as sf
from surefoot.core.notes import Note
from tests.support.comparisons import table


@pytest.mark.parametrize("order", [None, [1, 2, 3, 1, 2, 3] * 2, [*range(1, 13)]])
def test_when_told_to_the_nth_rollouts_of_each_task_are_pairs(order):
    columns = {
        "policy": ["new"] * 6 + ["old"] * 6,
        "task": ["x", "x", "x", "y", "y", "y"] * 2,
        "success": [1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1],
    }
    found = sf.compare(table(**columns, **({} if order is None else {"order": order})), "new", "old", paired=True)
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(1, 3, 1, 1))
    assert found.why.startswith("Paired by task and order: 6 pairs.")
    assert Note("declared pairs") in found.notes


def test_rollouts_beyond_the_shorter_policy_have_no_partner():
    found = sf.compare(table(policy=["a"] * 4 + ["b"] * 2, success=[1, 0, 1, 1, 0, 1]), "a", "b", paired=True)
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(0, 1, 1, 0))
    assert Note("no partner", {"count": 2}) in found.notes
