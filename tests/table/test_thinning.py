"""Tests of `surefoot.table.thinning`."""

import polars as pl
import pytest

import surefoot as sf
from surefoot.errors import DataError
from surefoot.table.thinning import thinned


def test_one_policy_is_kept_for_each_environment_and_every_policy_may_be():
    rows = [(policy, seed, seed % 2) for policy in "ab" for seed in range(200)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "seed", "success"], orient="row"))
    kept = thinned(table, 1).polars()
    assert sorted(kept["seed"].cast(pl.Int64)) == list(range(200))
    assert 60 < (kept["policy"] == "a").sum() < 140
    assert thinned(table, 1).hash == table.thin(1).hash != table.thin(2).hash


def test_without_environments_nothing_is_thinned():
    table = sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))
    with pytest.raises(DataError, match="`condition` or a `seed` column"):
        thinned(table, 1)
