"""Tests of `surefoot.table.pairs`."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.analysis.changes import flips
from surefoot.core.notes import Note
from surefoot.errors import DataError
from surefoot.table.pairs import thinned
from tests.support.comparisons import table as comparisons_table
from tests.support.rollouts import ROWS


@pytest.fixture
def table() -> sf.Rollouts:
    return sf.read(pl.DataFrame(ROWS))


def test_pairs(table: sf.Rollouts) -> None:
    pairs = table.pairs("new", "old")
    assert pairs.on == ("task", "seed")
    assert pairs.tally() == sf.PairTally(both=1, first_only=1, second_only=0, neither=1)
    assert [scores.values for scores in pairs.scores()] == [(1.0, 1.0, 0.25), (0.5, 1.0, 0.0)]
    assert str(pairs) == "3 pairs of 'new' and 'old' on task, seed."
    assert pairs.labels(pairs.on) == [("cut", "1"), ("cut", "2"), ("pour", "1")]


def test_what_has_no_partner_is_said() -> None:
    rows = {"policy": ["a", "a", "a", "b", "b"], "seed": [1, 2, 3, 2, 9], "success": [1, 0, 1, 1, 1]}
    pairs = sf.read(pl.DataFrame(rows)).declare(unit="seed").pairs("a", "b")
    assert (pairs.matched, pairs.first_alone, pairs.second_alone) == (1, 2, 1)
    assert str(pairs) == "1 pair of 'a' and 'b' on seed; without a partner: 2 of 'a' and 1 of 'b'."


def test_pairs_that_cannot_be_told(table: sf.Rollouts) -> None:
    bare = sf.read(pl.DataFrame({"policy": ["a", "b"], "success": [1, 0]}))
    assert not bare.pairing("a", "b")
    with pytest.raises(sf.DataError, match="no column tells which rollouts belong together"):
        bare.pairs("a", "b")
    rows = {"policy": ["a", "a", "b", "b"], "seed": [1, 1, 1, 2], "success": [1, 0, 0, 1]}
    twice = sf.read(pl.DataFrame(rows)).declare(unit="seed")
    with pytest.raises(sf.DataError, match=r"'a' has 2 rollouts with seed '1'; a repeat would tell them apart"):
        twice.pairs("a", "b")
    rows = {"policy": ["a", "a", "b", "b", "c", "c"], "seed": [1, 3, 2, 4, 1, 2], "success": [1, 1, 0, 0, 1, 0]}
    apart = sf.read(pl.DataFrame(rows)).declare(unit="seed")
    assert apart.pairs("a", "c").matched == 1
    with pytest.raises(sf.DataError, match="the two share no seed"):
        apart.pairs("a", "b")
    with pytest.raises(ValueError, match="must be different policies; got 'new' twice"):
        table.pairs("new", "new")
    with pytest.raises(sf.DataError, match=r"`policy` must be .*; got 'nobody'"):
        table.pairs("new", "nobody")
    with pytest.raises(sf.DataError, match="there must be a column 'sead'"):
        table.pairs("new", "old", on=["sead"])


def test_declared_pairs(table: sf.Rollouts) -> None:
    rows = {"policy": ["a", "a", "b", "b"], "order": [1, 2, 1, 2], "success": [1, 0, 0, 0]}
    streams = sf.read(pl.DataFrame(rows))
    pairs = streams.pairs("a", "b", on=["order"])
    assert pairs.declared
    assert pairs.tally() == sf.PairTally(0, 1, 0, 1)
    with pytest.raises(sf.DataError, match="each policy must have one rollout per task"):
        table.pairs("new", "old", on=["task"])


def test_a_policy_whose_every_rollout_is_void_has_no_pairs() -> None:
    rows = {"policy": ["a", "a", "b"], "seed": [1, 2, 1], "success": [1, 0, 1], "valid": [1, 1, 0]}
    table = sf.read(pl.DataFrame(rows)).declare(unit="seed")
    assert not table.pairing("a", "b")
    with pytest.raises(sf.DataError, match="must share some seed; they share none"):
        table.pairs("a", "b", on="seed")
    with pytest.raises(sf.DataError, match="at least one rollout must have a known success; got none"):
        sf.compare(table, "a", "b")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    seeds=st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.booleans()),
        min_size=2,
        max_size=40,
        unique_by=lambda row: row[:2],
    )
)
def test_swapping_the_policies_mirrors_the_pairs(seeds: list[tuple[str, int, bool]]) -> None:
    table = sf.read(pl.DataFrame(seeds, schema=["policy", "seed", "success"], orient="row"))
    if not {"a", "b"} <= set(table.policies) or not table.pairing("a", "b"):
        return
    one, two = table.pairs("a", "b").tally(), table.pairs("b", "a").tally()
    assert (one.both, one.first_only, one.second_only, one.neither) == (
        two.both,
        two.second_only,
        two.first_only,
        two.neither,
    )
    outcome = {(name, seed): success for name, seed, success in seeds}
    shared = [seed for seed in range(13) if ("a", seed) in outcome and ("b", seed) in outcome]
    assert one.pairs == len(shared)
    assert one.first_only == sum(outcome["a", seed] and not outcome["b", seed] for seed in shared)


@pytest.mark.parametrize("order", [None, [1, 2, 3, 4, 5, 6] * 2, [*range(1, 13)]])
def test_when_told_to_the_nth_rollouts_are_pairs_where_no_column_tells_units(order):
    columns = {"policy": ["new"] * 6 + ["old"] * 6, "success": [1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 1]}
    more = {} if order is None else {"order": order}
    found = sf.compare(comparisons_table(**columns, **more), "new", "old", paired=True)
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(1, 3, 1, 1))
    assert (found.reading.paired, found.reading.units) == (True, 6)
    assert Note("declared pairs") in found.notes


def test_pairs_of_units_need_no_word():
    rows = {"policy": ["new"] * 6 + ["old"] * 6, "task": ["x", "y", "z"] * 4, "success": [1, 0] * 3 + [0] * 6}
    one, other = (sf.compare(comparisons_table(**rows), "new", "old", paired=said) for said in (True, None))
    assert one.gain == other.gain
    assert one.reading == other.reading


def test_rollouts_beyond_the_shorter_policy_have_no_partner():
    found = sf.compare(
        comparisons_table(policy=["a"] * 4 + ["b"] * 2, success=[1, 0, 1, 1, 0, 1]), "a", "b", paired=True
    )
    assert found.gain == sf.stats.exact_paired_gain(sf.PairTally(0, 1, 1, 0))
    assert Note("no partner", {"count": 2}) in found.notes


SCENES = ["x", "y", "z", "w"]


@pytest.mark.parametrize(
    ("columns", "on"),
    [
        # every rollout draws a seed of its own: the scene is what two policies share
        ({"condition": SCENES * 2, "seed": range(8), "success": [1, 1, 0, 1, 1, 0, 0, 0]}, ("condition",)),
        # one seed for all: nothing tells one rollout from another
        ({"seed": [7] * 8, "success": [1, 1, 0, 1, 1, 0, 0, 0]}, ()),
        # one scene in common of four: nothing is left out for a pair
        ({"condition": [*SCENES, "x", "u", "v", "s"], "success": [1, 1, 0, 1, 1, 0, 0, 0]}, ()),
        # the same scene again, told apart by a repeat
        ({"condition": ["x", "x", "y", "y"] * 2, "repeat": [1, 2] * 4, "success": [1, 0] * 4}, ("condition", "repeat")),
    ],
)
def test_a_table_is_paired_alike_where_it_is_compared_replayed_and_told_item_by_item(columns, on):
    read = sf.read(pl.DataFrame({"policy": ["a"] * 4 + ["b"] * 4, **{name: list(v) for name, v in columns.items()}}))
    found = sf.compare(read, "a", "b")
    assert found.reading.paired == bool(read.pairing("a", "b")) == bool(on)
    assert read.pairing("a", "b").on == on
    assert (flips(read, "a", "b") is not None) == bool(on)
    if on:
        assert read.pairs("a", "b").matched == 4
        assert sum(one.pairs for one in sf.replay(read, "a", "b").comparisons) == 4


def test_declared_as_drawn_is_not_paired_in_a_replay_either():
    rows = {"policy": ["a"] * 4 + ["b"] * 4, "condition": SCENES * 2, "success": [1, 1, 0, 1, 1, 0, 0, 0]}
    read = sf.read(pl.DataFrame(rows), collected="independent")
    assert str(read.pairing("a", "b")) == "Not paired: each rollout drew an environment of its own, as declared."
    assert not sf.compare(read, "a", "b").reading.paired


@pytest.mark.parametrize(("there", "asked"), [("success", "score"), ("score", "success")])
def test_pairs_of_an_outcome_that_the_table_does_not_have_are_refused(there, asked):
    read = sf.read(pl.DataFrame({"policy": ["a"] * 4 + ["b"] * 4, "condition": SCENES * 2, there: [1, 0] * 4}))
    with pytest.raises(sf.DataError, match=f"there must be a `{asked}` column"):
        read.pairs("a", "b", measure=asked)


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
