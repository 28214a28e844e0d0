"""Does a comparison on a declared list say what it is about, and refuse what it cannot be about?"""

import json

import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.list_comparisons import ListComparison
from surefoot.core.notes import Note
from surefoot.core.verdict import Verdict
from surefoot.sequential import FiniteHorizonMixture, ListMean, run, run_list
from tests.support.lists import listed

ASKED = {"population": 120, "randomised": True}


def read(frame, **columns):
    return sf.read(frame, columns={"condition": "item", "forecast": "guess", **columns})


def test_two_systems_on_part_of_a_list():
    frame, gain = listed(in_full=False)
    found = sf.compare_on_list(read(frame), "new", "old", **ASKED)
    wide = frame.pivot("policy", index="item", values="success", maintain_order=True)
    order = frame.filter(pl.col("policy") == "new")["item"].to_list()
    scores = {row["item"]: (row["new"], row["old"]) for row in wide.to_dicts()}
    rule = FiniteHorizonMixture(120, claim="either", population=120, binary=True)
    state = run(rule, [scores[item] for item in order])[-1]
    assert (found.verdict, found.run, found.p_value) == (state.verdict, state.pairs, state.p_value)
    assert found.interval == state.interval
    assert found.verdict is Verdict.BETTER
    assert found.interval.low <= gain <= found.interval.high
    assert not found.in_full
    assert found.notes[0] == state.on_the_list("new")
    assert found.notes[-1] == Note("items not looked at", {"run": found.run, "more": 80 - found.run})
    assert found.elsewhere == sf.compare(read(frame), "new", "old", paired=True)


@pytest.mark.parametrize("helped", [True, False])
def test_only_the_new_system_runs_where_the_other_ran_all(helped):
    frame, gain = listed()
    found = sf.compare_on_list(read(frame), "new", "old", **ASKED, helped=helped)
    old, new = (frame.filter(pl.col("policy") == name) for name in ("old", "new"))
    places = {item: place for place, item in enumerate(old["item"])}
    predictions = tuple(old["guess"]) if helped else None
    rule = ListMean(120, incumbent=tuple(old["success"]), helped_by=predictions)
    state = run_list(rule, [(places[item], score) for item, score in zip(new["item"], new["success"], strict=True)])[-1]
    assert found.in_full
    assert (found.verdict, found.run, found.p_value) == (state.verdict, state.run, state.p_value)
    assert found.verdict is Verdict.BETTER
    assert found.interval.scale == "gain"
    assert found.interval.low <= gain <= found.interval.high
    assert Note("predictions", {"explained": state.explained, "saved": round(state.saved)}) in found.notes
    assert str(found).startswith("On these 120 items new is better (")
    assert "At this number of items: For items like these 80, new against old: " in str(found)
    assert ListComparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_margin_and_the_confidence_matter():
    table = read(listed(in_full=False)[0])
    plain = sf.compare_on_list(table, "new", "old", **ASKED)
    assert sf.compare_on_list(table, "new", "old", **ASKED, margin=0.05).run > plain.run
    assert sf.compare_on_list(table, "new", "old", **ASKED, confidence=0.8).run < plain.run
    scored = read(listed(in_full=False)[0].with_columns(pl.col("success").cast(float)), score="success", success="")
    assert sf.compare_on_list(scored, "new", "old", **ASKED, measure="score").measure == "score"


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        (lambda f: f, {"randomised": False}, "in file order 11 to 21% of such verdicts were false"),
        (lambda f: f, {"population": 100}, "`population` must be at least 120, the items that old ran; got 100"),
        (lambda f: f, {"margin": 0.1}, "`margin` must be 0 where 'old' was run in full"),
        (lambda f: pl.concat([f, f.tail(1)]), {}, "an item must be run once by 'new'; got item-"),
        (
            lambda f: f.with_columns(success=pl.when(pl.col("item") == f["item"][-1]).then(None).otherwise("success")),
            {},
            "every item run must have an outcome; got none for item-.* counts with the lowest score: write it so",
        ),
        (
            lambda f: f.with_columns(
                item=pl.when(pl.int_range(pl.len()) == len(f) - 1).then(pl.lit("x")).otherwise("item")
            ),
            {},
            "every item run must be on the list; got x, which is not",
        ),
        (
            lambda f: f.with_columns(guess=pl.when(pl.col("item") == "item-3").then(None).otherwise("guess")),
            {"helped": True},
            "every item of the list must have a prediction; got none for item-3",
        ),
        (
            lambda f: f.with_columns(guess=pl.int_range(pl.len()) / len(f)),
            {"helped": True},
            "an item must have one prediction; got two for item-",
        ),
        (lambda f: f.with_columns(guess=pl.col("guess") + 1.0), {"helped": True}, r"in the range \[0, 1\]; got 1"),
        (
            lambda f: f,
            {"population": 130, "helped": True},
            "a prediction for every one of the 130 items; got 120 items",
        ),
    ],
)
def test_lists_that_do_not_fit_are_refused(change, asked, words):
    table = read(change(listed()[0]))
    with pytest.raises((ValueError, sf.DataError), match=words):
        sf.compare_on_list(table, "new", "old", **{**ASKED, **asked})


def test_items_must_be_told_apart_and_shared():
    bare = sf.read(pl.DataFrame({"policy": ["new", "old"], "success": [1, 0]}))
    with pytest.raises(sf.DataError, match="some column must tell items apart; none does"):
        sf.compare_on_list(bare, "new", "old", **ASKED)
    met = {"policy": ["new", "old", "all", "all"], "condition": ["a", "b"] * 2, "success": [1, 0, 1, 0]}
    apart = sf.read(pl.DataFrame(met)).declare(unit="condition")
    with pytest.raises(sf.DataError, match="'new' and 'old' must have items in common; got none"):
        sf.compare_on_list(apart, "new", "old", **ASKED)
    without = sf.read(listed()[0].drop("guess"), columns={"condition": "item"})
    with pytest.raises(sf.DataError, match="there must be a column of predictions, `forecast`"):
        sf.compare_on_list(without, "new", "old", **ASKED, helped=True)
    with pytest.raises(ValueError, match="`policy` must be one of new, old; got 'newer'"):
        sf.compare_on_list(without, "newer", "old", **ASKED)
