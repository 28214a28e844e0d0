"""Tests of `surefoot.table.run_order`."""

import polars as pl
import pytest

import surefoot as sf
from surefoot.table.run_order import declared_order, in_blocks


@pytest.mark.parametrize(
    ("contexts", "blocked"),
    [
        ("aaaaabbbbbccccc", True),
        ("abcabcabcabcabc", False),
        ("aaaaaaaaaaaaaaa", False),
        ("abcdefghijklmno", False),
        ("aaabbb", False),
    ],
)
def test_blocks_are_runs_longer_than_chance(contexts, blocked):
    assert in_blocks(tuple(contexts)) is blocked


@pytest.mark.parametrize("name", ["task", "scene", "zz"])
def test_an_order_may_begin_anew_in_each_level_whatever_it_is_called(name):
    rows = [(policy, f"s{unit}", n, n % 2) for policy in "ab" for unit in range(4) for n in range(10)]
    table = pl.DataFrame(rows, schema=["policy", name, "order", "success"], orient="row")
    assert declared_order(sf.read(table))
    assert not declared_order(sf.read(pl.concat([table, table])))
