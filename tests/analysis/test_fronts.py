"""Quality and cost."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import DataError
from surefoot.core import formatting
from surefoot.stats import holm, ratio_test
from surefoot.stats.one_sided_gains import gain_sides


def table(*policies: tuple[str, float, float], size: int = 250, seed: int = 2):
    rng = np.random.default_rng(seed)
    rows = [
        (name, int(at < rate * size), round(float(rng.gamma(9, cost / 9)), 1))
        for name, rate, cost in policies
        for at in range(size)
    ]
    return sf.read(pl.DataFrame(rows, schema=["policy", "success", "tokens"], orient="row"))


def test_cheaper_and_not_worse_dominates():
    found = sf.pareto(table(("new", 0.9, 500), ("old", 0.9, 900)), "tokens", limit=5000, margin=0.1)
    assert [(one.winner, one.loser) for one in found.dominated] == [("new", "old")]
    assert found.front == ("new",)
    assert "new is cheaper than old and not worse by 10 points" in str(found)


def test_cheaper_but_perhaps_worse_does_not():
    found = sf.pareto(table(("new", 0.7, 500), ("old", 0.9, 900)), "tokens", limit=5000, margin=0.1)
    assert found.dominated == ()
    both_ways = formatting.p_value(min(1.0, 2.0 * found.pairs[0].not_worse_p))
    assert f"Neither dominates; new against old: cheaper, but not shown not worse by 10 points ({both_ways})" in str(
        found
    )


def test_a_p_value_below_the_error_was_shown():
    """Both directions are looked at, so that 3.6% one way is not shown at 5%, and is not printed as 3.6%."""
    found = sf.pareto(table(("new", 0.9, 500), ("old", 0.86, 500), size=400), "tokens", limit=5000)
    assert 0.025 < found.pairs[0].not_worse_p < 0.05
    shown = re.findall(r"not shown [a-z ]+\(p = ([0-9.]+)\)", str(found))
    assert len(shown) == 2
    assert all(float(p) > 0.05 for p in shown)


def test_a_claim_is_two_needs_and_holm_over_both_directions():
    rows = table(("new", 0.85, 800), ("old", 0.83, 900))
    found = sf.pareto(rows, "tokens", limit=5000, margin=0.1)
    sides = gain_sides(rows.where(policy="new").tally(), rows.where(policy="old").tally(), margin=0.1)
    own = (rows.where(policy=name).polars()["tokens"].cast(pl.Float64).sort() for name in ("new", "old"))
    costs = [sf.Scores(values.to_list(), 0, 5000) for values in own]
    ratio = ratio_test(*costs, 1.0)
    first, second = found.pairs
    assert first.not_worse_p == pytest.approx(sides.not_worse)
    assert second.not_worse_p == pytest.approx(sides.not_better)
    assert first.cheaper_p == pytest.approx(ratio.below, rel=1e-3)
    largest = [max(one.cheaper_p, one.not_worse_p) for one in found.pairs]
    assert [one.adjusted_p for one in found.pairs] == list(holm(largest))


def test_the_front_of_several_says_what_is_shown_and_what_is_not():
    rows = table(("big", 0.9, 3000), ("mid", 0.9, 1500), ("small", 0.7, 500), ("near", 0.9, 1520))
    found = sf.pareto(rows, "tokens", limit=20_000, margin=0.1)
    assert set(found.front) == {"small", "mid", "near"}
    assert "Shown off it: big, by " in str(found)
    assert "Off it by the estimates, but not shown: " in str(found)


def test_a_limit_that_nobody_stated_is_said():
    found = sf.pareto(table(("new", 0.9, 500), ("old", 0.9, 900)), "tokens", margin=0.1)
    assert not found.stated
    assert "twice the largest seen" in str(found)


def test_what_cannot_be_priced_is_refused():
    rows = table(("new", 0.9, 500), ("old", 0.9, 900))
    with pytest.raises(DataError, match="'price' is none"):
        sf.pareto(rows, "price")
    with pytest.raises(DataError, match="2 to 12"):
        sf.pareto(rows.where(policy="new"), "tokens")
    with pytest.raises(DataError, match="the limit"):
        sf.pareto(rows, "tokens", limit=10)
