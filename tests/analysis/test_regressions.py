"""What changed between two runs, by benchmark and category: verdicts at one error, the culprit, costs beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis.overview import overview
from surefoot.analysis.regressions import Regression, change, flips, regression
from surefoot.core.verdict import Verdict
from tests.support.comparisons import streams, table


def frames(
    seed: int, *, benchmarks: int = 3, categories: int = 2, items: int = 30, fall: float = 0.0, tokens: float = 1.0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two runs of one model; the first category of the first benchmark falls by this, and tokens are so many times."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[tuple[Any, ...]]] = {"now": [], "before": []}
    for bench in range(benchmarks):
        for category in range(categories):
            for item in range(items):
                rate, latent = rng.beta(3, 2), rng.random()
                for run, each in rows.items():
                    luck = latent if rng.random() < 0.7 else rng.random()
                    down = fall if run == "now" and bench == category == 0 else 0.0
                    spent = rng.lognormal(6, 0.4) * (tokens if run == "now" else 1.0)
                    each.append(("m", f"b{bench}", f"c{category}", f"b{bench}c{category}q{item}",
                                 int(luck < rate - down), round(spent)))  # fmt: skip
    names = ["model", "benchmark", "category", "id", "success", "tokens"]
    now, before = (pl.DataFrame(each, schema=names, orient="row") for each in rows.values())
    return now, before


def runs(seed: int, **more: Any) -> tuple[sf.Rollouts, sf.Rollouts]:
    now, before = map(sf.read, frames(seed, **more))
    return now, before


def found(now: sf.Rollouts, before: sf.Rollouts, **more: Any) -> Regression:
    margin = more.pop("margin", 0.0)
    names = ("pr", "main")
    (overall,) = change(now, before, names=names, margin=margin)
    return regression(now, before, overall, names=names, **more)


def test_a_planted_fall_is_first_and_the_culprit():
    made = found(*runs(1, benchmarks=6, categories=4, fall=0.6))
    assert made.columns == ("benchmark", "category")
    assert len(made.rows) == 6 + 4 + 24
    assert made.rows[0].name == made.culprit.name == made.surest == "b0, c0"
    assert made.rows[0].verdict is Verdict.WORSE
    assert made.rows[0].gain.high <= 0.0
    assert str(made).startswith("Worse in b0, c0: -")
    assert all(name.startswith("b0c0q") for name in made.rows[0].flipped.lost)
    order = [row.gain.estimate for row in made.rows if row.verdict is Verdict.UNDECIDED]
    assert order == sorted(order)


@pytest.mark.parametrize("seed", range(3))
def test_the_other_way_round_everything_is_mirrored(seed):
    now, before = runs(seed, fall=0.6, tokens=0.8)
    one, other = found(now, before), found(before, now)
    mirrored = {Verdict.WORSE: Verdict.BETTER, Verdict.BETTER: Verdict.WORSE}
    theirs = {row.name: row for row in other.rows}
    for row in one.rows:
        back = theirs[row.name]
        assert back.gain.estimate == pytest.approx(-row.gain.estimate)
        assert (back.gain.low, back.gain.high) == pytest.approx((-row.gain.high, -row.gain.low))
        assert back.verdict is mirrored.get(row.verdict, row.verdict)
        assert row.gain.low <= row.gain.estimate <= row.gain.high
    (price,), (dear,) = one.prices, other.prices
    assert (price.verdict, dear.verdict) == (Verdict.BETTER, Verdict.WORSE)
    assert price.ratio == pytest.approx(1.0 / dear.ratio)


def test_less_and_not_worse_is_said_in_the_row_of_the_cost():
    now, before = runs(3, items=60, tokens=0.5, fall=0.2)
    (price,) = found(now, before).prices
    assert (price.measure, price.verdict, price.dominates) == ("tokens", Verdict.BETTER, False)
    (price,) = found(now, before, margin=0.2).prices
    assert price.dominates
    assert price.low < price.ratio < price.high < 1.0
    assert price.now == pytest.approx(price.ratio * price.before)


def test_rows_are_of_the_columns_that_are_named():
    now, before = runs(1)
    assert [row.where[0][0] for row in found(now, before, by=["benchmark"]).rows] == ["benchmark"] * 3
    with pytest.raises(sf.DataError, match="tokens"):
        found(now, before, by=["tokens"])


def test_a_run_against_itself_changes_nothing():
    now, _ = runs(1)
    made = found(now, now)
    assert {row.verdict for row in made.rows} == {Verdict.UNDECIDED}
    assert made.flipped.lost == made.flipped.won == ()
    assert made.prices[0].ratio == 1.0
    assert (made.culprit, str(made)) == (None, "No benchmark or category is shown to be worse.")


def test_without_columns_there_are_no_rows():
    frame = pl.DataFrame({"model": ["m"] * 40, "id": [f"q{at}" for at in range(40)], "success": [0, 1] * 20})
    made = found(sf.read(frame), sf.read(frame))
    assert (made.rows, made.columns, made.prices) == ((), (), ())


def test_a_cost_that_some_rows_lack_is_named_and_left_out():
    now, before = frames(1)
    frame = now.with_columns(pl.when(pl.col("id") == "b0c0q0").then(None).otherwise("tokens").alias("tokens"))
    made = found(sf.read(frame), sf.read(before))
    assert made.prices == ()
    assert "tokens: not compared. every row must have `tokens`; 1 sample lacks it" in made.notes[0]


@pytest.mark.slow
def test_two_equal_runs_have_a_false_row_in_at_most_five_percent():
    wrong, tables = 0, 300
    for seed in range(tables):
        made = found(*runs(seed, benchmarks=4, categories=3, items=15))
        wrong += any(row.verdict is not Verdict.UNDECIDED for row in made.rows)
    assert binom.sf(wrong - 1, tables, 0.05) > 1e-4


def columns_of(**columns: list[object]) -> sf.Rollouts:
    return sf.read(pl.DataFrame(columns))


def test_items_that_flipped() -> None:
    rollouts = columns_of(policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, success=[1, 0, 1, 0, 1, 1, 0, 0])
    found = flips(rollouts, "new", "old")
    assert found is not None
    assert (found.lost, found.won, found.pairs) == (("b",), ("c",), 4)
    swapped = flips(rollouts, "old", "new")
    assert swapped is not None
    assert (swapped.lost, swapped.won) == (found.won, found.lost)


def test_scores_come_with_the_greatest_change_first() -> None:
    rollouts = columns_of(
        policy=["new"] * 3 + ["old"] * 3, condition=[*"abc"] * 2, score=[0.5, 0.0, 0.4, 0.6, 0.9, 0.4]
    )
    found = flips(rollouts, "new", "old", measure="score")
    assert found is not None
    assert (found.lost, found.won) == (("b", "a"), ())


def test_tasks_and_repeats_are_named_where_they_tell() -> None:
    rollouts = columns_of(
        policy=["new"] * 4 + ["old"] * 4,
        task=["cut", "cut", "cut", "pour"] * 2,
        condition=["a", "a", "b", "a"] * 2,
        repeat=["1", "2", "1", "1"] * 2,
        success=[0, 1, 1, 1, 1, 1, 1, 1],
    )
    found = flips(rollouts, "new", "old")
    assert found is not None
    assert found.lost == ("a / cut / 1",)  # the unit first


def test_pairs_that_the_user_declared() -> None:
    rollouts = columns_of(policy=["new", "new", "old", "old"], order=[1, 2, 1, 2], success=[1, 0, 1, 1])
    assert flips(rollouts, "new", "old") is None
    found = flips(rollouts, "new", "old", on=("order",))
    assert found is not None
    assert found.lost == ("2",)


def test_without_pairs_there_are_none() -> None:
    assert flips(columns_of(policy=["new", "old"], success=[1, 0]), "new", "old") is None


def test_what_an_item_belongs_to_is_no_part_of_its_name() -> None:
    rollouts = columns_of(
        policy=["new"] * 4 + ["old"] * 4, condition=[*"abcd"] * 2, user=[*"xxyy"] * 2, success=[0, 1, 1, 1] + [1] * 4
    )
    for role in ("setting", "cluster"):
        found = flips(rollouts.declare(**{role: "user"}), "new", "old")
        assert found is not None
        assert found.lost == ("a",)


def test_a_change_against_the_previous_run_is_a_comparison():
    found = change(streams(17, 8), streams(9, 8))
    assert [(one.first, one.second) for one in found] == [
        ("new (now)", "new (previous run)"),
        ("old (now)", "old (previous run)"),
    ]
    alone = sf.reference.central_gain(sf.Tally(17, 20), sf.Tally(9, 20), confidence=0.975)
    assert found[0].interval.low == alone.interval.low
    assert found[1].gain.estimate == 0.0


def test_runs_without_a_common_policy_have_no_change():
    with pytest.raises(sf.DataError, match="must share a policy by name"):
        change(streams(17, 8).where(policy="new"), streams(17, 8).where(policy="old"))


def test_runs_scored_on_different_ranges_have_no_change():
    frame = pl.DataFrame({"policy": ["a"] * 4, "score": [0.0, 0.5, 1.0, 0.5]})
    with pytest.raises(sf.DataError, match="must use one range of scores; they do not"):
        change(sf.read(frame), sf.read(frame, low=0.0, high=2.0))
    scores = sf.Scores(sorted(frame["score"]))
    assert change(sf.read(frame), sf.read(frame))[0].gain == sf.stats.score_gain(scores, scores)
    ended = frame.with_columns(success=pl.Series([1, 0, 1, 1]))
    now = sf.read(ended.with_columns(pl.col("score") * 100), low=0.0, high=100.0)
    for before in (sf.read(ended), sf.read(ended.drop("score"))):
        (found,) = change(now, before)  # a change of success has nothing to do with the range of scores
        assert found.gain == sf.stats.exact_gain(sf.Tally(3, 4), sf.Tally(3, 4))


def test_a_task_or_a_previous_run_without_outcomes_stops_no_report_either():
    cells = [("a", "x", 1), ("b", "x", 0), ("b", "y", 1), ("a", "y", None)]
    rows = [(policy, task, place, k) for policy, task, k in cells for place in range(12)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "order", "success"], orient="row"))
    assert [one.task for one in sf.replay(rollouts, "a", "b").comparisons] == ["x"]
    assert [one.task for one in overview(rollouts).curves] == ["x"]
    now = table(policy=["a"] * 10 + ["b"] * 10, success=[1, 0] * 10)
    before = table(policy=["a"] * 10 + ["b"] * 10, success=[0] * 10 + [None] * 10)
    assert [one.first for one in change(now, before)] == ["a (now)"]
    assert change(now, before)[0].gain == change(now, before.where(policy="a"))[0].gain
    with pytest.raises(sf.DataError, match="with a success in both; they share none"):
        change(now, before.where(policy="b"))
