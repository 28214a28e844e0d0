"""What changed between two runs, by benchmark and category: verdicts at one error, the culprit, costs beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.analysis.changes import change
from surefoot.analysis.regressions import Regression, regression
from surefoot.core.verdict import Verdict


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


@pytest.mark.sample(3)
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
