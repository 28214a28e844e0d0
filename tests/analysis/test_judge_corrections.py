"""A judge's rates corrected by the rollouts that a human labelled too."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.analysis.judge_corrections import Correction
from surefoot.files.label_files import labels_used
from surefoot.stats import Calibration
from tests.support.judge_corrections import judged


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
