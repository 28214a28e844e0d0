"""A judge's rates corrected by the rollouts that a human labelled too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.judge_corrections import Correction, label_lines
from surefoot.files.label_files import labels_used
from surefoot.stats import Calibration
from tests.support.judge_corrections import judged
from tests.support.judged_gains import leaning, table


def test_the_rate_is_that_of_the_statistic_on_the_policys_own_labels():
    (found,) = sf.human_corrections(sf.read(judged()), confidence=0.9)
    plain = sf.stats.prediction_powered_rate(sf.Tally(120, 200), Calibration(40, 5, 4, 31), confidence=0.9)
    assert found.interval == plain.interval
    assert found.judged == sf.stats.wilson(sf.Tally(164, 280), confidence=0.9)
    assert (found.labels, found.agreed) == (80, 71)
    assert Correction.from_dict(found.to_dict()) == found
    assert str(found).startswith("new: corrected by 80 human labels ")


def test_each_policy_by_its_own_labels():
    frame = pl.concat([judged(), judged(20, 0, 0, 20, 10, 90, policy="old"), judged(0, 0, 0, 0, 5, 5, policy="raw")])
    found = sf.human_corrections(sf.read(frame))
    assert [one.policy for one in found] == ["new", "old"]
    assert found[1].interval.estimate == pytest.approx(30 / 140)  # of all its rollouts
    alone = sf.human_corrections(sf.read(judged(20, 0, 0, 20, 10, 90, policy="old")))
    assert alone == found[1:]


def test_everything_labelled_needs_no_judge():
    (found,) = sf.human_corrections(sf.read(judged(passed=0, failed=0)))
    assert (found.interval.low, found.interval.high) == (
        sf.stats.wilson(sf.Tally(45, 80)).low,
        sf.stats.wilson(sf.Tally(45, 80)).high,
    )
    assert found.interval.method == "Wilson, human labels alone"


def test_a_judge_no_better_than_chance_does_no_harm():
    (found,) = sf.human_corrections(sf.read(judged(10, 10, 10, 10)))
    assert found.interval.estimate == 0.5
    assert 0.3 < found.interval.low < 0.5 < found.interval.high < 0.7


def test_labels_may_be_chosen_by_what_the_judge_said():
    """Of 400 passed 320 are right and of 100 failed 90: all failed and a quarter of the passed are labelled."""
    (found,) = sf.human_corrections(sf.read(judged(80, 10, 20, 90, passed=300, failed=0)))
    assert found.interval.estimate == pytest.approx(0.8 * 0.8 + 0.2 * 0.1)


def test_nothing_is_corrected_without_labels_or_by_labels_of_another_kind():
    assert sf.human_corrections(sf.read(judged(0, 0, 0, 0))) == ()
    assert sf.human_corrections(sf.read(judged().drop("human"))) == ()
    halves = judged().with_columns(pl.col("human") / 2)
    assert sf.human_corrections(sf.read(halves)) == ()
    beyond = scored()[0].with_columns(pl.col("score") - 1.0, human=pl.col("human").round())
    assert sf.human_corrections(sf.read(beyond, low=-1.0, high=0.0), measure="score") == ()


def test_void_rollouts_do_not_calibrate():
    frame = judged().with_columns(valid=pl.col("human").is_null() | (pl.col("human") == pl.col("success")))
    (found,) = sf.human_corrections(sf.read(frame))
    assert (found.labels, found.agreed) == (71, 71)


def scored(labels=40, rest=160, policy="new"):
    rng = np.random.default_rng(5)
    truth = rng.beta(3, 2, labels + rest)
    judge = np.clip(truth + 0.15 + rng.normal(0, 0.05, labels + rest), 0, 1)
    human = [*truth[:labels].tolist(), *[None] * rest]
    size = labels + rest
    return pl.DataFrame({"policy": [policy] * size, "judge": ["j"] * size, "score": judge, "human": human}), truth


def test_scores_are_corrected_by_prediction_powered_inference():
    frame, truth = scored()
    (found,) = sf.human_corrections(sf.read(frame), measure="score")
    values, human = frame["score"].to_list(), frame["human"].to_list()
    plain = sf.stats.prediction_powered_mean(sf.Scores(human[:40]), sf.Scores(values[:40]), sf.Scores(values[40:]))
    assert found.interval == plain.interval
    assert truth.mean() in found.interval
    assert truth.mean() not in found.judged  # more judged rollouts would only be more sure of the wrong number
    assert found.agreed is None
    assert sf.human_corrections(sf.read(scored(labels=1)[0]), measure="score") == ()
    (whole,) = sf.human_corrections(sf.read(scored(labels=30, rest=1)[0]), measure="score")
    assert whole.interval.method == "Gaffke"


def test_clusters_and_epochs_are_allowed_for():
    frame = judged().sample(fraction=1.0, shuffle=True, seed=1)
    alone = sf.human_corrections(sf.read(frame))[0].interval
    copies = pl.concat([frame.with_columns(item=pl.int_range(pl.len()), epoch=pl.lit(epoch)) for epoch in range(3)])
    (epochs,) = sf.human_corrections(sf.read(copies))
    assert epochs.interval.method == "judge-corrected"
    assert 0.85 * alone.width < epochs.interval.width < 1.25 * alone.width  # three copies tell what one tells
    (grouped,) = sf.human_corrections(sf.read(copies.drop("item", "epoch").with_columns(cluster=copies["item"] // 4)))
    assert grouped.interval.width > 0.85 * alone.width
    assert (epochs.labels, epochs.agreed) == (240, 213)


def test_labels_alone_leave_the_judge_out():
    frame = judged()
    turned = frame.with_columns(
        pl.when(pl.col("human").is_null()).then(1 - pl.col("success")).otherwise(pl.col("success"))
    )
    for extra in ({}, {"cluster": pl.int_range(pl.len()) // 4}):
        one, other = (
            sf.human_corrections(labels_used(sf.read(each.with_columns(**extra)), "labels"))[0].interval
            for each in (frame, turned)
        )
        assert one == other
        assert one.estimate == pytest.approx(45 / 80)


@pytest.mark.slow
def test_the_corrected_interval_holds_the_truth():
    rng, held, runs = np.random.default_rng(11), 0, 400
    for _ in range(runs):
        truth = rng.random(240) < 0.8
        said = np.where(rng.random(240) < np.where(truth, 0.1, 0.2), ~truth, truth)
        human = [float(t) if i < 60 else None for i, t in enumerate(truth)]
        table = sf.read(pl.DataFrame({"policy": ["a"] * 240, "success": said, "human": human}))
        held += 0.8 in sf.human_corrections(table)[0].interval
    assert held >= 365  # a 95% interval falls below this in fewer than six runs of ten thousand


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
