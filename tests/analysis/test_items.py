"""Tests of `surefoot.analysis.items`."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis.items import Items


def table(rates: dict[str, list[float]], repeats: int = 8, seed: int = 1) -> sf.Rollouts:
    """Rollouts of policies on items q0, q1, ... at these rates."""
    rng = np.random.default_rng(seed)
    rows = [
        (policy, f"q{place}", epoch, int(rng.random() < rate))
        for policy, each in rates.items()
        for place, rate in enumerate(each)
        for epoch in range(repeats)
    ]
    return sf.read(pl.DataFrame(rows, schema=["model", "question", "epoch", "success"], orient="row"))


def test_saturated_flaky_and_suspicious_items_are_named():
    base = [1.0] * 10 + [0.0] * 10
    weak, strong = [*base, *[0.05] * 20, 0.5, 0.95], [*base, *[0.95] * 20, 0.5, 0.05]
    found = sf.items(table({"a": weak, "b": weak, "c": strong, "d": strong}, repeats=10))
    assert {one.name for one in found.always_pass} == {f"q{place}" for place in range(10)}
    assert {one.name for one in found.always_fail} == {f"q{place}" for place in range(10, 20)}
    assert [one.name for one in found.flaky] == ["q40"]
    assert [one.name for one in found.suspicious] == ["q41"]
    said = str(found)
    for words in ("10 always pass", "10 always fail", "Flaky: 'q40'", "Suspicious: 'q41'"):
        assert words in said
    (reversed_item,) = found.suspicious
    assert reversed_item.discrimination is not None
    assert reversed_item.discrimination < -0.9
    assert Items.from_dict(found.to_dict()) == found


def test_counts_are_those_of_the_rows_whatever_their_order():
    rollouts = table({"a": [0.5] * 4, "b": [0.7] * 4}, repeats=5)
    found = sf.items(rollouts)
    rows = rollouts.polars()
    for one in found.items:
        mine = rows.filter(pl.col(rollouts.design.unit_column.key) == one.name)
        assert (one.tally.successes, one.tally.trials) == (mine["success"].sum(), mine.height)
        assert one.disagreements[1] == 4  # of five repeats two pairs each, for two policies
    assert found.table().height == 4
    assert found.table()["rollouts"].sum() == found.rollouts == 40


def test_one_rollout_each_shows_nothing_flaky_and_says_so():
    found = sf.items(table({"a": [0.5] * 30, "b": [0.5] * 30}, repeats=1))
    assert found.flaky == ()
    assert "nothing can be shown to be flaky" in str(found)


def test_what_cannot_be_asked_is_refused():
    rows = pl.DataFrame({"policy": ["a", "b"] * 5, "success": [1, 0] * 5})
    with pytest.raises(sf.DataError, match="tell items apart"):
        sf.items(sf.read(rows))
    scores = pl.DataFrame({"policy": ["a", "b"] * 5, "item": [str(i // 2) for i in range(10)], "score": [0.5] * 10})
    with pytest.raises(sf.DataError):
        sf.items(sf.read(scores))


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [2, 5])
def test_null_tables_name_an_item_in_at_most_five_in_a_hundred(repeats):
    """Items of one law, policies that differ: 2,000 tables of 40 items."""
    named = 0
    for seed in range(2000):
        rates = {name: [rate] * 40 for name, rate in (("a", 0.3), ("b", 0.6), ("c", 0.8))}
        found = sf.items(table(rates, repeats, seed))
        named += bool(found.flaky or found.suspicious)
    assert binom.sf(named - 1, 2000, 0.05) > 1e-3
