"""Tests of `surefoot.analysis.overview`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

import surefoot as sf
from surefoot import Verdict
from surefoot.analysis.overview import EvidenceCurve, overview
from surefoot.table.given_letters import GivenLetters
from tests.support.comparisons import table


def test_comparisons_come_best_first():
    rows = [(name, i < k) for name, k in (("mid", 10), ("new", 19), ("old", 2)) for i in range(20)]
    found = overview(sf.read(pl.DataFrame(rows, schema=["policy", "success"], orient="row")))
    assert [(one.first, one.second) for one in found.comparisons] == [("new", "mid"), ("new", "old"), ("mid", "old")]


def test_what_is_known_of_judges_datasets_and_the_previous_run_is_kept():
    frame = pl.DataFrame(
        {"policy": ["a"] * 20, "success": [1] * 15 + [0] * 5, "judge": ["m1"] * 20, "dataset": ["v2"] * 20}
    )
    before = sf.read(frame.with_columns(success=pl.Series([1] * 5 + [0] * 15)))
    found = overview(sf.read(frame), previous=before)
    assert (found.judges, found.datasets) == (("m1",), ("v2",))
    assert found.changes[0].verdict is Verdict.BETTER
    assert found.previous == "another table"


def test_letters_that_join_what_is_told_apart_here_are_named_too():
    rows = [(name, task, i < k) for name, k in (("new", 19), ("old", 4)) for task in ("x", "y") for i in range(20)]
    rollouts = sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row"))
    theirs = GivenLetters("x", (("new", "a"), ("old", "a")), "a test of theirs")
    (found,) = overview(replace(rollouts, letters=(theirs,))).disagreements
    assert not found.theirs
    assert "do not separate new and old on x; here the first of them is better." in str(found)


def test_no_band_is_drawn_where_no_score_was_given():
    rollouts = table(policy=["a"] * 10, success=[1, 0] * 5, score=pl.Series([None] * 10, dtype=pl.Float64))
    found = overview(rollouts)
    assert found.bands == ()
    assert str(found) == str(found.policies[0])


def test_the_evidence_is_followed_only_when_the_order_is_recorded():
    rows = [(name, n, level) for n in range(30) for name, level in (("new", 0.9), ("old", 0.2 + 0.02 * (n % 3)))]
    table = sf.read(pl.DataFrame(rows, schema=["policy", "order", "score"], orient="row"))
    curves = overview(table).curves
    assert len(curves) == 1
    assert curves[0].verdict is Verdict.BETTER
    assert curves[0].evidence[-1] >= curves[0].threshold
    assert "would have decided after" in str(curves[0])
    assert overview(sf.read(table.polars().drop("order"))).curves == ()


def test_a_curve_says_whether_the_rule_would_have_decided():
    curve = EvidenceCurve("cut", 40, 3.0, (0.5, 1.0), Verdict.UNDECIDED, "Exact")
    assert str(curve) == "cut: Exact would not have decided in 2 pairs."
    decided = EvidenceCurve(None, 40, 3.0, (0.5, 3.5), Verdict.WORSE, "Exact")
    assert str(decided) == "Exact would have decided after 2 of 40 pairs."
