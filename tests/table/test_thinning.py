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
    with pytest.raises(DataError, match="must tell which rollouts share an environment"):
        thinned(table, 1)


@pytest.mark.parametrize("name", ["scene", "task", "zz"])
def test_an_environment_is_a_unit_under_any_name_with_all_its_repeats(name):
    rows = [(policy, f"s{unit}", trial, trial % 2) for policy in "ab" for unit in range(30) for trial in range(3)]
    table = sf.read(pl.DataFrame(rows, schema=["policy", name, "trial", "success"], orient="row"))
    kept = thinned(table, 1)
    met = [group.key[1] for group in kept.summary(by=("policy", table.key(name)))]
    assert len(met) == len(set(met)) == 30
    assert len(kept) == 90
