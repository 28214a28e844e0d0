"""Tests of `surefoot.analysis.labelled_comparisons`."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

import surefoot as sf
from surefoot.analysis.labelled_comparisons import label_lines
from tests.support.judge_corrections import judged
from tests.support.judged_gains import leaning, table


def test_labels_decide_the_rank_and_the_page(tmp_path):
    frame = leaning(tmp_path / "runs.csv")
    assert sf.rank(sf.read(frame.drop("human"))).names == ("a", "b")
    ranking = sf.rank(sf.read(frame))
    assert ranking.names == ("b", "a")
    assert ranking.intervals[0].estimate > ranking.intervals[1].estimate
    page = sf.report(sf.read(frame)).markdown()
    assert "a is worse than b." in page or "b is better than a." in page
    assert "Approximate; measured coverage at least 93.5%" in page
    assert "By the judge alone, not corrected" in page


def test_how_many_labels_would_do_takes_the_place_of_how_many_rollouts():
    found = sf.compare(sf.read(table(labels=60, rates=(0.66, 0.64))), "a", "b")
    assert found.verdict is sf.Verdict.UNDECIDED
    assert found.outlook is None
    assert [note.values["items"] for note in found.notes if note.kind == "labels needed"] == [300]


def test_settings_that_weigh_the_same_have_no_corrected_gain():
    one, two = (table(seed).with_columns(pl.lit(f"t{seed}").alias("task")) for seed in (1, 2))
    frame = pl.concat([one, two.with_columns(item=pl.lit("x") + pl.col("item"))])
    found = sf.compare(sf.read(frame), "a", "b", weights="settings")
    assert (found.refused.kind, found.verdict) == ("labels weigh items", sf.Verdict.UNDECIDED)
    assert sf.compare(sf.read(frame), "a", "b").refused is None


def test_a_comparison_without_labels_of_its_own_says_that_it_is_the_judges():
    three = pl.concat([judged(policy=name) for name in ("new", "old", "raw")])
    some = three.with_columns(pl.when(pl.col("policy") == "raw").then(pl.col("human")))
    kinds = [note.kind for note in sf.compare(sf.read(some), "new", "old").notes]
    assert "not corrected" in kinds
    assert sf.compare(sf.read(three.drop("human")), "new", "old").notes == ()
    refused = sf.compare(sf.read(three), "new", "old")  # labels of items that nothing tells apart
    assert (refused.refused.kind, refused.verdict) == ("labels without items", sf.Verdict.UNDECIDED)


def test_what_labels_did_to_a_family_of_comparisons(tmp_path):
    decided = sf.compare(sf.read(leaning(tmp_path / "runs.csv")), "a", "b")
    by_judge = replace(decided, judged=None)
    assert label_lines([by_judge]) == []
    lines = label_lines([decided, by_judge])
    assert lines[0] == "1 of the 2 pairs are corrected by human labels: verdicts, ranks and letters follow that."
    assert lines[-1] == "Approximate; measured coverage at least 93.5% at a confidence of 95%."
    undecided = sf.compare(sf.read(table(items=120, labels=40, rates=(0.66, 0.6))), "a", "b")
    (needed,) = (note for note in undecided.notes if note.kind == "labels needed")
    assert label_lines([undecided])[0].startswith("The gain is corrected by human labels")
    assert label_lines([undecided, undecided])[-1] == f"To tell a from b: {needed}"  # once
    few = sf.compare(sf.read(table(items=20, labels=8)), "a", "b")
    assert few.judged.found.guaranteed
    assert not any(line.startswith("Approximate") for line in label_lines([few]))
    refused = sf.compare(sf.read(table(items=40).drop("item")), "a", "b")
    assert label_lines([refused]) == [f"a against b, no verdict: {refused.refused}"]
