"""Tests of `surefoot.analysis.slices`."""

import itertools

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.slices import Slices


def table(rows, columns):
    return sf.read(pl.DataFrame(rows, schema=columns, orient="row"))


def grid(seed=1, *, drop=0.55, each=10, rate=0.85, policies=("new", "old")):
    """Three lightings, two clutters, four poses; the first fails in the dim with some clutter."""
    rng = np.random.default_rng(seed)
    rows = [
        (who, light, clutter, pose, bool(rng.random() < rate - drop * (who == policies[0] and hard)))
        for light in ("dim", "mid", "bright")
        for clutter in ("none", "some")
        for pose in "abcd"
        for hard in [light == "dim" and clutter == "some"]
        for who in policies
        for _ in range(each)
    ]
    return rows, ["policy", "lighting", "clutter", "pose", "success"]


def test_the_slice_that_fails_is_named_and_what_contains_it_stands_under_it():
    found = sf.slices(table(*grid()), "new", "old")
    assert len(found.slices) == 35
    assert found.claimed[0].name == "lighting=dim & clutter=some"
    assert found.claimed[0].verdict is Verdict.WORSE
    assert found.claimed[0].rollouts == (40, 40)
    assert found.claimed[0].interval.high <= 0.0
    under = {one.name for one in found.claimed if one.under == found.claimed[0].name}
    assert "lighting=dim" in under
    assert "contains it: lighting=dim" in str(found)


def test_nothing_is_named_where_nothing_is_shown():
    found = sf.slices(table(*grid(drop=0.0)), "new", "old")
    assert found.claimed == ()
    lines = str(found).splitlines()
    assert lines[1] == "No slice is shown to be different."
    assert "would have been found in 8 of 10 tables" in lines[2]


def test_exchanging_the_policies_exchanges_the_claims():
    data = table(*grid())
    ahead, behind = sf.slices(data, "new", "old"), sf.slices(data, "old", "new")
    assert {one.name for one in ahead.of(Verdict.WORSE)} == {one.name for one in behind.of(Verdict.BETTER)}


def test_all_of_the_error_on_one_side():
    both, worse = (sf.slices(table(*grid(drop=0.35)), "new", "old", claim=claim) for claim in ("both", "worse"))
    assert worse.tests.error == pytest.approx(0.05)
    assert both.tests.error == pytest.approx(0.025)
    assert {one.name for one in both.of(Verdict.WORSE)} <= {one.name for one in worse.of(Verdict.WORSE)}
    assert worse.of(Verdict.BETTER) == ()


def test_one_policy_fails_more_here_than_elsewhere():
    found = sf.slices(table(*grid()), "new")
    assert found.second == ""
    assert found.claimed[0].name == "lighting=dim & clutter=some"
    assert not found.of(Verdict.BETTER)
    assert sf.slices(table(*grid()), "old").claimed == ()


def test_several_policies_share_the_error():
    rows, columns = grid()
    more = [("third", *row[1:]) for row in rows if row[0] == "old"]
    found = sf.slices_against(table([*rows, *more], columns), "old")
    assert [one.first for one in found] == ["new", "third"]
    assert [one.tests.confidence for one in found] == pytest.approx([0.975, 0.975])
    assert found[1].claimed == ()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": "colour"}, "there must be a column 'colour'"),
        ({"by": "success"}, "is the outcome"),
        ({"ways": 3}, "be 1 or 2"),
        ({"claim": "any"}, "be one of both, worse, better"),
        ({"smallest": 1_000}, "no slice has 1000"),
    ],
)
def test_bad_input_is_refused_with_the_fact(options, says):
    with pytest.raises((sf.DataError, sf.ArgumentError), match=says):
        sf.slices(table(*grid()), "new", "old", **options)


def test_a_record_comes_back_the_same():
    found = sf.slices(table(*grid()), "new", "old")
    assert Slices.from_dict(found.to_dict()).to_dict() == found.to_dict()


def in_shared_starts(seed, drop):
    """Five tasks in the same 40 starts; on one task in one light, 13 starts, the new policy is worse by so much."""
    rng, rows = np.random.default_rng(seed), []
    for task, at, who in itertools.product("abcde", range(40), ("new", "old")):
        rate = 0.7 - drop * (who == "new" and task == "a" and at % 3 == 2)
        rows.append((who, task, ("day", "lamp", "dim")[at % 3], f"start {at}", bool(rng.random() < rate)))
    return sf.slices(table(rows, ["policy", "task", "light", "start", "success"]), "new", "old")


def test_no_drop_is_said_to_be_found_that_is_not():
    """Of 13 units the spread seen may be small by chance: drops of 27 points were said to be found, and of 104."""
    found = [in_shared_starts(seed, 0.55) for seed in range(20)]
    hits = sum("task=a & light=dim" in {one.name for one in each.of(Verdict.WORSE)} for each in found)
    assert hits < 0.65 * 20  # so no drop below it may be promised in 8 of 10
    said = [least for seed in range(20) for *_, least in in_shared_starts(seed, 0.0).noticed if least is not None]
    assert all(0.55 < least <= 1.0 for least in said)


def test_the_p_value_of_a_search_on_both_sides_is_of_both_sides():
    found = sf.slices(table(*grid(drop=0.35)), "new", "old")
    one = found.slices[0]
    assert found.p_of(one) == min(1.0, 2.0 * one.p_value)
    for one in found.slices:
        assert (found.p_of(one) <= 0.05) == (one.verdict is not Verdict.UNDECIDED)


def test_what_is_worse_somewhere_may_be_better_on_average():
    """In the dim one task of many rollouts fell, three of few rose: each task weighs the same in the average."""
    sizes = {"A": (200, 120, 180), "B": (9, 6, 4), "C": (9, 6, 4), "D": (9, 6, 4)}
    rows = [
        (who, task, light, int(i < (won if light == "dim" else 0.8 * size)))
        for task, (size, *both) in sizes.items()
        for who, won in zip(("new", "old"), both, strict=True)
        for light in ("dim", "day")
        for i in range(size)
    ]
    found = sf.slices(table(rows, ["policy", "task", "lighting", "success"]), "new", "old")
    dim = next(one for one in found.claimed if one.name == "lighting=dim")
    assert (dim.verdict, dim.somewhere) == (Verdict.WORSE, True)
    assert dim.interval.low < 0.0 < dim.estimate == dim.interval.estimate < dim.interval.high
    assert "138/227 v 192/227, worse in some of its cells, not on average  p < 0.0001" in str(found)


@pytest.mark.parametrize("failures", [0, 1])
def test_where_hardly_anything_failed_no_small_drop_is_promised(failures):
    rows = [(who, light, c, 1) for who in ("new", "old") for light in "ab" for c in "xyz" for _ in range(10)]
    rows[:failures] = [("new", "a", "x", 0)] * failures
    ((ours, theirs, drop),) = sf.slices(table(rows, ["policy", "lighting", "clutter", "success"]), "new", "old").noticed
    assert (ours, theirs) == (10, 10)
    assert drop > 0.6  # six failures of ten are found, five are not


def test_pairs_that_agree_promise_no_drop_of_nothing():
    rows = [(who, f"s{i}", "ab"[i % 2], int(i % 7 > 0)) for who in ("new", "old") for i in range(60)]
    ((_, _, drop),) = sf.slices(table(rows, ["policy", "scene", "lighting", "success"]), "new", "old").noticed
    assert 0.2 < drop < 0.4


def test_a_drop_is_found_more_easily_where_all_of_the_error_is_on_one_side():
    both, worse = (sf.slices(table(*grid(drop=0.0)), "new", "old", claim=claim).noticed for claim in ("both", "worse"))
    assert [one[:2] for one in worse] == [one[:2] for one in both]
    assert [one[2] for one in worse] < [one[2] for one in both]


def test_scores_of_one_mean_are_not_told_apart_by_their_spread():
    """Three rollouts against sixty in every cell, 0 or 1 against about a half: means are the same."""
    rng = np.random.default_rng(4)
    cells = list(itertools.product(("dim", "lamp", "day"), ("none", "some"), "ABCD"))
    rows = [("new", *cell, float(rng.random() < 0.5)) for cell in cells for _ in range(3)]
    rows += [("old", *cell, round(float(rng.beta(5, 5)), 3)) for cell in cells for _ in range(60)]
    found = sf.slices(table(rows, ["policy", "lighting", "clutter", "pose", "score"]), "new", "old")
    assert found.claimed == ()
    assert "Unequal numbers of rollouts: Holm" in found.how
