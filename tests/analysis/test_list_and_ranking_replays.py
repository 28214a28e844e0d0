"""Does a comparison on a declared list say what it is about, and refuse what it cannot be about?"""

import json

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.list_and_ranking_replays import ListComparison
from surefoot.core.notes import Note
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.sequential import (
    ClosedRanking,
    FiniteHorizonMixture,
    ListMean,
    Race,
    RankingRule,
    run,
    run_list,
    run_ranking,
)
from tests.support.lists import listed
from tests.support.ranking_replays import NAMES, outcomes, table

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


def test_a_replay_is_the_run_of_the_rule():
    rows = outcomes((0.9, 0.5, 0.1), 80, 1)
    found = sf.replay_ranking(sf.read(table(rows)), futility=0.05)
    rounds = [dict(zip(NAMES, map(float, row), strict=True)) for row in rows]
    one = found.rankings[0]
    assert one.state == run_ranking(ClosedRanking(NAMES, 80, binary=True, futility=0.05), rounds)[-1]
    assert one.others["Holm"] == run_ranking(RankingRule(NAMES, 80, binary=True), rounds)[-1].rollouts_used
    assert (one.used, one.batch, one.rounds) == (one.state.rollouts_used, 240, 80)
    assert f"{one.used} of 240 rollouts" in str(found)
    assert f"Holm: {one.others['Holm']}." in str(found)
    assert Record.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_rounds_follow_the_environment_where_the_table_tells_it():
    rows = outcomes((0.9, 0.5, 0.1), 40, 2)
    frame = table(rows, condition=range(40))
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=3)
    order = mixed.unique("condition", keep="last", maintain_order=True)["condition"].to_list()  # by the last of each
    found = sf.replay_ranking(sf.read(mixed)).rankings[0]
    rounds = [dict(zip(NAMES, map(float, rows[place]), strict=True)) for place in order]
    assert found.state == run_ranking(ClosedRanking(NAMES, 40, binary=True), rounds)[-1]
    less = frame.filter((pl.col("policy") != "c") | (pl.col("condition") > 4))
    cut = sf.replay_ranking(sf.read(less))
    assert cut.rankings[0].rounds == 35
    assert any("10 rollouts in no round of all policies: left out." in note for note in cut.notes)


def test_every_task_is_ranked_alone_unless_pooled():
    rows = outcomes((0.9, 0.5, 0.1), 60, 4)
    read = sf.read(table(rows, task=["cut", "pour"] * 30))
    found = sf.replay_ranking(read, horizon=25, question="best")
    assert [one.task for one in found.rankings] == ["cut", "pour"]
    assert {one.state.rule.question for one in found.rankings} == {"best"}
    assert found.rankings[0].horizon == 25
    assert str(found).startswith("cut:\n")
    assert len(sf.replay_ranking(read, pooled=True).rankings) == 1
    less = table(rows, task=["cut", "pour"] * 30).filter((pl.col("policy") != "c") | (pl.col("task") == "cut"))
    two = sf.read(less).declare(unit="task")
    assert [one.task for one in sf.replay_ranking(two).rankings] == ["cut"]


def test_scores_and_many_policies():
    rng = np.random.default_rng(5)
    names = tuple("abcdefghijklmnopq")
    frame = pl.DataFrame({"policy": names * 20, "score": rng.random(340).round(2)})
    found = sf.replay_ranking(sf.read(frame))
    assert found.measure == "score"
    assert isinstance(found.rankings[0].state.rule, RankingRule)
    assert "By Holm's ranking." in str(found)
    seven = sf.replay_ranking(sf.read(frame), policies=names[:7], measure="score", confidence=0.8)
    assert seven.rankings[0].state.rule.confidence == 0.8
    raced = sf.replay_ranking(sf.read(frame), question="best", within=0.2)
    assert isinstance(raced.rankings[0].state.rule, Race)
    assert raced.rankings[0].state.rule.within == 0.2
    with pytest.raises(ValueError, match="`question` must be 'ranking' or 'against NAME' for Holm"):
        sf.replay_ranking(sf.read(frame), question="best", rule="holm")
    with pytest.raises(ValueError, match="`within` must be left out unless the question is 'best'"):
        sf.replay_ranking(sf.read(frame), within=0.2, question="ranking")


def test_a_race_is_replayed_with_its_regret_after_every_round():
    rng = np.random.default_rng(7)
    names = tuple(f"step {i}" for i in range(1, 13))
    rates = np.linspace(0.9, 0.2, 12)
    rows = [(name, int(rng.random() < rate)) for _ in range(150) for name, rate in zip(names, rates, strict=True)]
    read = sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row"))
    found = sf.replay_ranking(read, within=0.3).rankings[0]
    state = found.state
    assert len(found.regrets) == state.rounds
    assert found.regrets[-1] == state.regret
    assert found.regrets[0] is None
    assert state.named is not None
    assert state.regret <= 0.3
    assert found.used < 12 * 50
    assert sf.replay_ranking(read, rule="race").rankings[0].state.rule.within is None
    short = sf.replay_ranking(read, within=0.02)
    assert any("ran several times a round and had none left: the race ended there." in note for note in short.notes)


def test_two_policies_may_race():
    read = sf.read(pl.DataFrame({"policy": ["new", "old"] * 60, "success": [1, 1, 1, 0] * 30}))
    found = sf.replay_ranking(read, rule="race").rankings[0]
    assert (found.state.named, found.state.out, found.others) == ("new", ("old",), {})
    with pytest.raises(ValueError, match="be three or more different policies"):
        sf.replay_ranking(read)


def test_refusals():
    rows = outcomes((0.9, 0.5, 0.1), 10, 1)
    read = sf.read(table(rows))
    with pytest.raises(ValueError, match="`policies` must be three or more different policies"):
        sf.replay_ranking(read, policies=("a", "b"))
    with pytest.raises(ValueError, match="`policies` must be one of a, b, c; got 'x'"):
        sf.replay_ranking(read, policies=("a", "b", "x"))
    with pytest.raises(ValueError, match="`horizon` must be at least 1"):
        sf.replay_ranking(read, horizon=0)
    both = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]
    apart = pl.DataFrame(
        [(p, t, 1) for p, t in both for _ in range(5)], schema=["policy", "task", "success"], orient="row"
    )
    with pytest.raises(DataError, match="the policies must share a task"):
        sf.replay_ranking(sf.read(apart).declare(unit="task"))
    places = {"a": (0, 1, 2, 3), "b": (2, 3, 4, 5), "c": (0, 1, 4, 5)}  # each two share some
    met = [(name, f"s{place}", 1) for name, of in places.items() for place in of]
    alone = pl.DataFrame(met, schema=["policy", "condition", "success"], orient="row")
    with pytest.raises(DataError, match="got none that all of them met"):
        sf.replay_ranking(sf.read(alone).declare(unit="condition"))
